"""What forests of classes and forests of numbers say."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from spinney.data.target import read_labels
from spinney.data.weights import read_weights
from spinney.ensembles.forests.forest import Forest
from spinney.ensembles.forests.growing import hard_votes
from spinney.ensembles.forests.uncertainty import asks_for_errors, standard_errors
from spinney.ensembles.label_answers import logarithms
from spinney.ensembles.number_answers import ScoresNumbers
from spinney.ensembles.trees.several_labels import SeveralLabels
from spinney.ensembles.uncertain.rows_of_fit import refuse_another_order
from spinney.errors import InvalidInput, InvalidModel, InvalidParameter, shorten
from spinney.model.model import State
from spinney.theory.forests import Strength, forest_strength
from spinney.typing import AnyArray, FloatArray, TableLike


class ClassForest(SeveralLabels, ClassifierMixin, Forest):
    """A forest whose trees vote for classes."""

    _task = "classification"
    _oob_name: ClassVar[str] = "oob_decision_function_"
    classes_: Any

    def predict_proba(
        self, X: TableLike, *, return_std: bool = False, std_method: str = "infinitesimal"
    ) -> Any:
        """Give the mean share of each class in the row's leaves, or the share of votes for it.

        Parameters
        ----------
        X : table
        return_std : bool
            Whether to give standard errors as well: of the shares, over draws of training rows.
            Needs trees that draw rows with ``bootstrap=True`` or ``sampler="subsample"``. Weights
            of classes, and of rows if not whole, are taken as chances to be drawn.
        std_method : {"infinitesimal", "jackknife", "mean"}
            How they are estimated; see :func:`spinney.theory.forest_variance`.

        Returns
        -------
        shares : (n_rows, n_classes), of several labels a list; with ``return_std`` a pair of two
            of them
        """
        shares = self._by_label(self._predictions(X))
        if not asks_for_errors(return_std):
            return shares
        by_class = self.get_params(deep=False)["class_weight"] not in (None, "balanced_subsample")
        errors = standard_errors(
            self.model_, self._known, self.apply(X), std_method, weighs_classes=by_class
        )
        return shares, self._by_label(errors)

    def predict_log_proba(self, X: TableLike) -> Any:
        """Logarithm of ``predict_proba``; -inf where a class has no share."""
        return logarithms(self.predict_proba(X))

    def predict(self, X: TableLike, *, return_std: bool = False) -> AnyArray:
        """Class of the largest share; ties go to the first of ``classes_``.

        Of several labels (n_rows, n_labels). ``return_std=True`` is for ``predict_proba``.
        """
        if return_std:
            raise InvalidParameter(
                "return_std=True: a label has no standard error, the share of a class has. Use "
                "predict_proba(X, return_std=True)."
            )
        return self._likeliest(self.predict_proba(X))

    def _shaped(self, answers: FloatArray) -> FloatArray:
        """Give answers out of bag; of several labels (n_rows, n_classes, n_labels), as there."""
        several = self.model_.target.label_classes
        if several is None:
            return answers
        shaped = np.zeros((len(answers), max(map(len, several)), len(several)))
        for place, span in enumerate(self.model_.target.spans()):
            shaped[:, : span.stop - span.start, place] = answers[:, span]
        return shaped

    def _flat(self, answers: FloatArray) -> FloatArray:
        several = self.model_.target.label_classes
        if several is None:
            return answers
        return np.hstack([answers[:, : len(of), place] for place, of in enumerate(several)])

    def _attributes(self) -> State:
        meta, arrays = super()._attributes()
        return meta, arrays if self._shares is None else arrays | {"shares": self._shares}

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        shares = arrays.get("shares")
        if shares is not None and not self._votes_by(shares):
            raise InvalidModel("the shares of classes beside the model are not those it votes by.")
        others = {name: array for name, array in arrays.items() if name != "shares"}
        super()._adopt_attributes(meta, others)
        self._shares = None if shares is None else shares.copy()

    def _votes_by(self, shares: AnyArray) -> bool:
        votes = self.model_.arrays["values"]
        return bool(
            shares.dtype == "<f8"
            and shares.shape == votes.shape
            and np.isfinite(shares).all()
            and np.array_equal(hard_votes(shares, self.model_.target.spans()), votes)
        )

    def strength(self, X: TableLike, y: Any, sample_weight: Any = None) -> Strength:
        """Compute Breiman's strength and correlation of the trees, and the bound they give.

        Parameters
        ----------
        X, y : the table and labels the forest was fitted on
            Trees vote on the rows that they did not see. Rows that had no weight do not count.
        sample_weight : n numbers, optional
            How often each row counts.

        Returns
        -------
        Strength

        Examples
        --------
        >>> from spinney import RandomForestClassifier
        >>> from spinney.datasets import make_twonorm
        >>> data = make_twonorm(300, random_state=0)
        >>> forest = RandomForestClassifier(random_state=0).fit(data.X, data.y)
        >>> found = forest.strength(data.X, data.y)
        >>> found.error < found.bound
        True
        """
        self._check_fitted()
        self._refuse_several("The strength of a forest")
        unseen = self.out_of_bag(X)
        refuse_another_order(self, X, y)
        nodes = self.apply(X) + self.model_.arrays["tree_start"][:-1]
        votes = self.model_.arrays["values"].argmax(axis=1)[nodes]
        kept = slice(None) if self._known.places is None else np.sort(self._known.places)
        weights = read_weights(sample_weight, len(votes))
        return forest_strength(
            votes[kept],
            unseen[kept],
            self._codes(y, len(votes), kept),
            None if weights is None else weights[kept],
        )

    def _codes(self, y: Any, n_rows: int, kept: Any) -> AnyArray:
        """Give the numbers of the labels of some rows."""
        given = read_labels(y, n_rows, type(self).__name__)
        labels = given.classes[given.codes[kept]]
        known = {label: code for code, label in enumerate(self.classes_.tolist())}
        codes = np.array([known.get(label, -1) for label in given.classes.tolist()])
        unknown = codes[given.codes[kept]] < 0
        if unknown.any():
            raise InvalidInput(
                f"y has the label {labels[unknown].tolist()[0]!r}, which the forest was not "
                f"fitted on: there were {shorten(self.classes_.tolist())}. Give the labels of fit."
            )
        found: AnyArray = codes[given.codes[kept]]
        return found


class NumberForest(ScoresNumbers, RegressorMixin, Forest):
    """A forest whose trees say numbers."""

    _task = "regression"
    _oob_name: ClassVar[str] = "oob_prediction_"
    criterion: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.get_params(deep=False)["monotonic_cst"] is None
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags

    def predict(
        self, X: TableLike, *, return_std: bool = False, std_method: str = "infinitesimal"
    ) -> Any:
        """Mean over trees of the mean target in the row's leaf; (n_rows,) or (n_rows, n_outputs).

        Parameters
        ----------
        X : table
        return_std : bool
            Whether to give standard errors as well: of the mean, over draws of training rows. They
            say how far off the forest's own expectation is, not how targets scatter around it.
            Needs trees that draw rows with ``bootstrap=True`` or ``sampler="subsample"``. Sample
            weights are repetitions if whole, else chances to be drawn.
        std_method : {"infinitesimal", "jackknife", "mean"}
            How they are estimated; see :func:`spinney.theory.forest_variance`.

        Returns
        -------
        means : array; with ``return_std`` a pair of two such arrays
        """
        means: FloatArray = self._predictions(X)
        flat = means.shape[1] == 1
        if not asks_for_errors(return_std):
            return means[:, 0] if flat else means
        errors = standard_errors(self.model_, self._known, self.apply(X), std_method)
        return (means[:, 0], errors[:, 0]) if flat else (means, errors)
