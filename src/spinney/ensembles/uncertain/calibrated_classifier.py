"""Probabilities that mean what they say, around any classifier."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from spinney.ensembles.gradient.classifier import GradientBoostingClassifier
from spinney.ensembles.parameters import VERBOSE, BaseLearner, Boolean, Choice, Jobs, Rule, Seed
from spinney.ensembles.uncertain.around import FOLDS, Around
from spinney.ensembles.uncertain.calibrating import Calibratable
from spinney.ensembles.uncertain.curves import METHODS, ClassCurves, merged, raw_scores
from spinney.ensembles.uncertain.members import fit_members
from spinney.ensembles.uncertain.rows import GivenRows, divide
from spinney.errors import InvalidInput
from spinney.progress import at_least
from spinney.randomness import seed_from
from spinney.resampling.folds import Fold
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike


class CalibratedClassifier(ClassifierMixin, Calibratable, Around):
    """A classifier whose probabilities are learnt from scores out of folds.

    Scores of rows that were learnt from are too good; so each row is scored by a clone that has not
    seen its fold, and the curve from scores to probabilities is fitted to these. Of more than two
    classes each has a curve against all others, and the probabilities of a row are divided by
    their sum; "temperature" has one number for all classes. ``calibrate(X, y)`` with rows that
    ``fit`` has not seen makes ``predict_set`` of it, as of every ensemble.

    Parameters
    ----------
    estimator : classifier or None
        Any with scikit-learn's methods and ``predict_proba`` or ``decision_function``; None for
        gradient boosting.
    method : {"platt", "isotonic", "beta", "venn_abers", "temperature"}
        "platt": a logistic curve of the log-odds (or raw scores), two parameters. "beta": three,
        and the identity is one of its curves; needs ``predict_proba``. "isotonic": any rising
        curve; wants a thousand rows or more. "venn_abers": isotonic with the new row added under
        either label, which keeps small sets honest; see ``probability_bounds``. "temperature":
        makes all probabilities bolder or more timid, and leaves the order of classes.
    cv : int, float, splitter, iterable of pairs, "prefit" or None
        Folds, by default 5; a float is the share of rows that is held back once; with "prefit"
        the estimator is fitted and the curve learnt from all rows given to ``fit``.
    ensemble : bool
        Whether each fold keeps its clone with a curve of its own, and probabilities are averaged
        (Venn-Abers: by geometric means); else one curve for all folds, and a clone fitted on all
        rows predicts.
    random_state : int, Generator, RandomState or None
        Decides folds, and seeds clones whose own ``random_state`` is None.
    n_jobs : int or None
        Clones that are not ours are fitted by so many processes.
    verbose : int
        1 shows a bar in terminals and notebooks.

    Attributes
    ----------
    estimator_ : classifier
        Fitted on all rows, or on those that were not held back; with ``ensemble`` the first.
    members_ : list of classifiers
        Those that predict.
    curves_ : list of ClassCurves
        From scores to probabilities; one for each member.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Platt (1999); Zadrozny & Elkan (2002), KDD; Kull, Silva Filho & Flach (2017), AISTATS; Vovk,
    Petej & Fedorova (2015), NeurIPS; Guo, Pleiss, Sun & Weinberger (2017), ICML.

    Examples
    --------
    >>> from spinney import CalibratedClassifier, DecisionTreeClassifier
    >>> from spinney.datasets import make_twonorm
    >>> from spinney.uncertainty import log_loss
    >>> train, test = make_twonorm(400, random_state=0), make_twonorm(400, random_state=1)
    >>> tree = DecisionTreeClassifier(min_samples_leaf=3).fit(train.X, train.y)
    >>> model = CalibratedClassifier(tree, method="venn_abers", random_state=0)
    >>> hits = test.y == model.fit(train.X, train.y).classes_[1]
    >>> before, after = (log_loss(hits, m.predict_proba(test.X)[:, 1]) for m in (tree, model))
    >>> after < before / 2
    True
    """

    _task = "classification"
    _rules: ClassVar[Mapping[str, Rule]] = {
        "estimator": BaseLearner("gradient boosting"),
        "method": Choice(METHODS),
        "cv": FOLDS,
        "ensemble": Boolean(),
        "random_state": Seed(),
        "n_jobs": Jobs(),
        "verbose": VERBOSE,
    }
    classes_: AnyArray
    members_: list[Any]
    curves_: list[ClassCurves]

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "platt",
        cv: Any = None,
        ensemble: bool = False,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.ensemble = ensemble
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: TableLike, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None
    ) -> Self:
        """Fit clones without each fold, and the curve from their scores to probabilities.

        Parameters
        ----------
        X : table of n rows
            What the estimator takes.
        y : n labels
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent. Folds divide
            rows, whatever they weigh.
        groups : n labels, optional
            Rows of a group are never divided: all are learnt from, or all are judged.
        time : n sortable keys, optional
            What is judged comes after what was learnt from: folds follow time, and a share that
            is held out is the latest.

        Returns
        -------
        self
        """
        self._check_parameters()
        base = self._base()
        self._check_base(base)
        rows = self._read((X, y, sample_weight), (groups, time))
        cv, seed = self._folds_wanted(5), seed_from(self.random_state)
        self._fitted_by = self.method
        if isinstance(cv, str):
            self.classes_ = self._classes_of_fitted(base, rows)
            self.members_ = [base]
            judges, folds = [base], [(np.arange(0), np.arange(len(rows)))]
        else:
            self.classes_ = np.asarray(rows.target.classes)
            folds = divide(cv, rows, seed, type(self).__name__)
            judges = self._fit_members(base, rows, folds, seed, once=isinstance(cv, float))
        self.estimator_ = self.members_[0]
        self.curves_ = self._curves(judges, rows, folds)
        self._forget_calibration()
        return self

    def _fit_members(
        self, base: Any, rows: GivenRows, folds: list[Fold], seed: int, *, once: bool
    ) -> list[Any]:
        """Fit those that judge, which are returned, and those that predict."""
        parts = [learn for learn, _ in folds]
        alone = once or self.ensemble
        if not alone:
            parts = [*parts, np.arange(len(rows))]
        with at_least(self.verbose):
            fitted = fit_members(base, rows, parts, seed, self.n_jobs)
        self.members_ = fitted if alone else fitted[-1:]
        return fitted[: len(folds)]

    def _curves(
        self, judges: Sequence[Any], rows: GivenRows, folds: Sequence[Fold]
    ) -> list[ClassCurves]:
        """Fit a curve to each fold's scores, or one to all."""
        said = [
            raw_scores(self.method, judge, rows.table(part), self.classes_)
            for judge, (_, part) in zip(judges, folds, strict=True)
        ]
        parts = [part for _, part in folds]
        if not self.ensemble:
            said, parts = [np.concatenate(said)], [np.concatenate(parts)]
        codes = np.searchsorted(self.classes_, rows.y)
        return [
            ClassCurves.fitted(self.method, scores, codes[part], rows.weights_of(part))
            for scores, part in zip(said, parts, strict=True)
        ]

    def predict_proba(self, X: TableLike) -> FloatArray:
        """Calibrated probability of each class; (n_rows, n_classes)."""
        return merged(self._method_of_fit(), self._said(X))

    def predict(self, X: TableLike) -> AnyArray:
        """Likeliest class of each row; ties go to the first of ``classes_``."""
        shares = self.predict_proba(X)
        labels: AnyArray = self.classes_[shares.argmax(axis=1)]
        return labels

    def probability_bounds(self, X: TableLike) -> tuple[FloatArray, FloatArray]:
        """Give the lower and upper probability of each class: for ``method="venn_abers"``.

        Returns
        -------
        lower, upper : (n_rows, n_classes) arrays
            Probabilities of isotonic fits with the row added as not of the class, and as of it; the
            wider apart, the less is known. With ``ensemble`` their means over members.
        """
        self._check_fitted()
        if self._method_of_fit() != "venn_abers":
            raise InvalidInput(
                f"method={self._method_of_fit()!r} gives one probability, not two. Fit with "
                "method='venn_abers'."
            )
        pairs = [curves.bounds(scores) for curves, scores in self._said(X)]
        lower, upper = (np.mean(ends, axis=0) for ends in zip(*pairs, strict=True))
        return lower, upper

    def _said(self, X: TableLike) -> list[tuple[ClassCurves, FloatArray]]:
        given = self._asked(X)
        return [
            (curves, raw_scores(self._method_of_fit(), member, given, self.classes_))
            for member, curves in zip(self.members_, self.curves_, strict=True)
        ]

    def _method_of_fit(self) -> str:
        """Say how curves were fitted; pickles of old do not tell."""
        return getattr(self, "_fitted_by", self.method)

    def _check_fitted(self) -> None:
        check_is_fitted(self)

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return GradientBoostingClassifier(max_iter=100)
