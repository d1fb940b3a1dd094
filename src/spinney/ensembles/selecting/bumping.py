"""Bumping: fits to bootstrap samples, of which the one is kept that fits all rows best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone

from spinney.data.row_keys import KEYS
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.fitting import IntakeSettings, Reading, read_rows
from spinney.ensembles.forests.row_order import groups_by_content, order_of_rows, row_keys
from spinney.ensembles.parameters import VERBOSE, BaseLearner, Integer, Jobs, Rule, Seed
from spinney.ensembles.selecting.fast_measures import measure_of
from spinney.ensembles.selecting.folds import read_keys
from spinney.ensembles.selecting.measures import Answers, Metric, first_best
from spinney.ensembles.selecting.members import (
    GivenRows,
    Member,
    ask_member,
    check_takes_weights,
    check_task,
    fit_member,
    joint_input_tags,
    prepared,
    run_all,
    table_for_members,
)
from spinney.ensembles.trees.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from spinney.ensembles.weak.checks import check_squares
from spinney.ensembles.weak.foreign import flat_rows
from spinney.errors import InvalidInput, InvalidModel
from spinney.model import Model
from spinney.model.member_sum import MemberSum
from spinney.model.model import State
from spinney.progress import at_least
from spinney.randomness import seed_from
from spinney.resampling.bags_drawn import BlockBootstrap, GroupBootstrap
from spinney.resampling.tickets import draw_tickets, rows_of_tickets, tickets_of_weights
from spinney.results import Result, read_only
from spinney.typing import AnyArray, FloatArray, IntArray, RandomState, TableLike

DEFAULT_DEPTH = 3
"""Of the tree, if the user gives no base learner."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Candidates(Result):
    """Every fit, and what it is worth on all rows."""

    scores: FloatArray
    """The first is that of the fit to all rows as they are; more is better."""
    chosen: int
    """The fit that is kept."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", read_only(self.scores))

    def __len__(self) -> int:
        return len(self.scores)

    def title(self) -> str:
        """Say in a line what the table shows."""
        kept = f"that of bootstrap sample {self.chosen}" if self.chosen else "the plain one"
        return f"{len(self)} fits; kept is {kept}"

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the fits as named columns."""
        names = ["all rows", *(f"bootstrap {number}" for number in range(1, len(self)))]
        kept = [number == self.chosen for number in range(len(self))]
        return {"fit": names, "score": self.scores.tolist(), "kept": kept}


class Bumping(Estimator):
    """Base of the two estimators."""

    _model_class: ClassVar[type[Model]] = Model  # type: ignore[type-abstract]
    candidates_: Candidates

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 20,
        scoring: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.scoring = scoring
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: TableLike, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None
    ) -> Self:
        """Fit to all rows and to bootstrap samples, and keep the best fit.

        Parameters
        ----------
        X : table of n rows
            What the base learner takes.
        y : n labels or numbers
        sample_weight : n numbers, optional
            A weight of k counts as the row k times, in draws, fits and scores; rows of weight 0
            are as if absent.
        groups : n labels, optional
            Rows of a group are drawn together.
        time : n sortable keys, optional
            Blocks of consecutive times are drawn, as many as the cube root of the number of times
            in each, with all their rows. Not with ``groups``.

        Returns
        -------
        self
        """
        self._check_parameters()
        name = type(self).__name__
        member = Member("estimator", self._base())
        check_task([member], name, classes=self._task == "classification")
        settings = IntakeSettings(
            estimator_name=name,
            task=self._task,
            multi_output=False,
            n_threads=self._n_threads(),
        )
        reading = read_rows(flat_rows(X), y, sample_weight, settings)
        if reading.target.classes is None:
            check_squares(reading.y, name)
        if reading.weights is not None:
            check_takes_weights([member], name)
        if groups is not None and time is not None:
            raise InvalidInput(
                f"{name} draws blocks of consecutive times, which would divide groups. Give groups "
                "or time to fit, not both."
            )
        rows = GivenRows.of(X, reading, *read_keys(groups, time, reading))
        seed = seed_from(self.random_state)
        draws = Draws(reading, seed, rows.groups, rows.time)
        tasks = [
            (prepared(member, seed, number, self.n_jobs), rows, draws, number, self.scoring)
            for number in range(self.n_estimators + 1)
        ]
        with at_least(self.verbose):
            fits = run_all(_scored_fit, tasks, self.n_jobs)
        scores = np.array([score for score, _ in fits])
        chosen = first_best(scores)  # of ties the first: the plain fit, if it is one of them
        self._become(fits[chosen][1], reading)
        self.candidates_ = Candidates(scores, chosen)
        return self

    def _keys_wanted(self) -> tuple[str, ...]:
        return KEYS

    def _become(self, member: Any, reading: Reading) -> None:
        classes = reading.target.classes
        knows_all = classes is None or np.array_equal(member.classes_, classes)
        if isinstance(member, Estimator) and knows_all:
            model: Model = member.model_
        else:  # a learner that is not ours, or one whose sample lacked a class
            model = MemberSum(
                [member],
                np.ones(1),
                form="values" if classes is None else "shares",
                link="identity",
                baseline=np.zeros(reading.target.n_outputs),
                schema=reading.schema,
                target=reading.target,
            )
        super()._adopt(model)
        self.estimator_ = member

    def _adopt(self, model: Model) -> None:
        """Become the fitted estimator of a model from a file, which is one of ours."""
        super()._adopt(model)
        twin = clone(self._base())
        twin._adopt(model)  # noqa: SLF001 - it is ours
        self.estimator_ = twin

    def _predictions(self, X: TableLike) -> Any:
        return super()._predictions(table_for_members(X))

    def _base(self) -> Any:
        return self._default_tree() if self.estimator is None else self.estimator

    def _default_tree(self) -> Estimator:
        raise NotImplementedError

    def _attributes(self) -> State:
        known = self.candidates_
        return {"chosen": known.chosen}, {"scores": np.array(known.scores)}

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        scores = arrays.get("scores", np.empty(0))
        chosen = meta.get("chosen", -1)
        if (
            set(meta) != {"chosen"}
            or set(arrays) != {"scores"}
            or scores.dtype != "<f8"
            or scores.ndim != 1
            or type(chosen) is not int
            or not 0 <= chosen < len(scores)
        ):
            raise InvalidModel("the scores of the fits are missing or contradict each other")
        self.candidates_ = Candidates(scores.copy(), chosen)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        return joint_input_tags(tags, [] if self.estimator is None else [self.estimator])


class Draws:
    """Bootstrap samples of rows, of groups, or of blocks of times: how often each row is drawn."""

    def __init__(
        self,
        reading: Reading,
        seed: int,
        groups: AnyArray | None = None,
        time: IntArray | None = None,
    ) -> None:
        n_rows = len(reading.y)
        self._weights, self._together = reading.weights, _together(reading, seed, groups, time)
        # By what stands in rows, so that repetitions and weights are the same thing.
        self._order = order_of_rows(reading.table, reading.y)
        weights = None if reading.weights is None else reading.weights[self._order]
        self._last, self._n_tickets, self._n_draws = tickets_of_weights(weights, n_rows)
        self._seed = seed
        self._n_rows = n_rows
        self.classes = reading.target.classes
        self.y = reading.y.reshape(n_rows, -1)[:, 0]

    def counts(self, number: int) -> AnyArray:
        """Draw a sample; (n_rows,)."""
        if self._together is not None:
            drawn = self._together.count(number)
            return drawn if self._weights is None else drawn * self._weights
        tickets = draw_tickets(
            self._n_tickets,
            self._n_draws,
            seed=self._seed,
            trees=range(number, number + 1),
            replace=True,
        )
        drawn = self._order[rows_of_tickets(tickets[0], self._last)]
        return np.bincount(drawn, minlength=self._n_rows)


def _together(
    reading: Reading, seed: int, groups: AnyArray | None, time: IntArray | None
) -> GroupBootstrap | BlockBootstrap | None:
    """Give draws of rows that go together; None: each goes its own way."""
    if groups is not None:
        by_content = groups_by_content(groups, row_keys(reading.table, reading.y))
        return GroupBootstrap(by_content, seed=seed)
    if time is None:
        return None
    known, times = np.unique(time, return_inverse=True)
    length = max(1, round(len(known) ** (1 / 3)))
    return BlockBootstrap(len(times), length, seed=seed, times=times)


def _scored_fit(
    member: Member, rows: GivenRows, draws: Draws, number: int, scoring: Any
) -> tuple[float, Any]:
    """Fit to all rows as they are (number 0) or to a sample of them; score on all rows."""
    sample = rows
    if number:
        counts = draws.counts(number)
        if member.is_ours or rows.weights is not None:
            sample = rows.counted(counts)
        else:  # not every learner takes weights, nor for repetitions
            sample = rows.take(np.repeat(np.arange(len(counts)), counts))
    fitted = Member(member.name, fit_member(member, sample))
    said = ask_member(fitted, rows.X, draws.classes)
    answers = Answers(said[np.newaxis], draws.y, rows.weights, draws.classes)
    if scoring is None and draws.classes is not None:
        scoring = "neg_brier_score"
    return measure_of(answers, scoring).score(said), fitted.estimator


_RULES: Mapping[str, Rule] = {
    "estimator": BaseLearner(f"a tree of depth {DEFAULT_DEPTH}"),
    "n_estimators": Integer(1),
    "random_state": Seed(),
    "n_jobs": Jobs(),
    "verbose": VERBOSE,
}


class BumpingClassifier(ClassifierMixin, Bumping):
    """One classifier: the best of many that were fitted to bootstrap samples.

    A learner that looks only one step ahead can be stuck where no first step helps. On a bootstrap
    sample the balance is different, and another first step may be taken. Each fit is scored on all
    training rows, and the best is kept; the plain fit to all rows takes part, so that the score on
    the training rows is never worse than without bumping. All fits must be equally complex for that
    score to compare them: set the limits of the base learner (depth, leaves), do not let it decide.

    Parameters
    ----------
    estimator : classifier or None
        Who is fitted; None for a tree of depth 3.
    n_estimators : int
        Bootstrap samples; 20 to 40 in the paper.
    scoring : None, str or callable
        What is maximised on the training rows; None for "neg_brier_score", the squared error of
        the probabilities. The name of a scorer of scikit-learn, or a callable (estimator, X, y).
    random_state : int, Generator, RandomState or None
        Draws the samples, and seeds a learner that has no seed.
    n_jobs : int or None
        Threads of a learner of ours; others are fitted by so many workers of joblib.
    verbose : int
        1 shows a bar in terminals and notebooks.

    Attributes
    ----------
    estimator_ : classifier
        The fit that is kept.
    candidates_ : Candidates
        The score of every fit.
    model_ : Model
        Of a learner of ours its model, which can be saved and explained; of others, and of one
        whose sample lacked a class, a :class:`MemberSum` of one, which pickles.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Tibshirani and Knight (1999), Model search by bootstrap "bumping", Journal of Computational and
    Graphical Statistics 8.

    Examples
    --------
    >>> from spinney import BumpingClassifier, DecisionTreeClassifier
    >>> from spinney.datasets import make_xor
    >>> data = make_xor(300, noise=0.0, random_state=1)
    >>> tree = DecisionTreeClassifier(max_depth=2)
    >>> plain = tree.fit(data.X, data.y).score(data.X, data.y)
    >>> bumped = BumpingClassifier(tree, random_state=0).fit(data.X, data.y)
    >>> plain < bumped.score(data.X, data.y)
    True
    """

    _task = "classification"
    _rules: ClassVar[Mapping[str, Rule]] = {**_RULES, "scoring": Metric("neg_brier_score")}
    classes_: AnyArray

    def predict_proba(self, X: TableLike) -> FloatArray:
        """Probability of each class, by the fit that is kept; (n_rows, n_classes)."""
        shares: FloatArray = self._predictions(X)
        return shares

    def predict(self, X: TableLike) -> AnyArray:
        """Likeliest class of each row; ties go to the first of ``classes_``."""
        shares = self.predict_proba(X)
        labels: AnyArray = self.classes_[shares.argmax(axis=1)]
        return labels

    def _default_tree(self) -> Estimator:
        return DecisionTreeClassifier(max_depth=DEFAULT_DEPTH)


class BumpingRegressor(RegressorMixin, Bumping):
    """One regressor: the best of many that were fitted to bootstrap samples.

    The parameters and attributes are those of :class:`BumpingClassifier`; ``scoring`` is None for
    "neg_mean_squared_error".

    Examples
    --------
    >>> from spinney import BumpingRegressor, DecisionTreeRegressor
    >>> from spinney.datasets import make_xor
    >>> data = make_xor(300, noise=0.0, random_state=1)
    >>> tree = DecisionTreeRegressor(max_depth=2)
    >>> bumped = BumpingRegressor(tree, random_state=0).fit(data.X, data.y)
    >>> tree.fit(data.X, data.y).score(data.X, data.y) < bumped.score(data.X, data.y)
    True
    """

    _task = "regression"
    _rules: ClassVar[Mapping[str, Rule]] = {**_RULES, "scoring": Metric("neg_mean_squared_error")}

    def predict(self, X: TableLike) -> FloatArray:
        """Numbers of the fit that is kept; (n_rows,)."""
        means: FloatArray = self._predictions(X)
        return means[:, 0]

    def _default_tree(self) -> Estimator:
        return DecisionTreeRegressor(max_depth=DEFAULT_DEPTH)
