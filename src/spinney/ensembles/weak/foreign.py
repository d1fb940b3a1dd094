"""Any scikit-learn estimator as a weak learner."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from spinney.data.fixed_point import exact_total
from spinney.data.schema import FeatureSchema
from spinney.data.target import Target
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.fitting import Reading
from spinney.ensembles.weak.hypothesis import Hypothesis
from spinney.ensembles.weak.learners import SumOutput, WeakLearner
from spinney.errors import InvalidInput, WeakLearnerFailed
from spinney.losses.row_weights import RowWeights
from spinney.model.answers import as_members_take, member_answers
from spinney.model.member_sum import MemberSum
from spinney.randomness import Stream, random_bits
from spinney.resampling import draw_rows
from spinney.typing import AnyArray, FloatArray, TableLike


@dataclass(frozen=True, slots=True, eq=False)
class ForeignRows:
    """The training rows as the user gave them, which is how a foreign learner wants them."""

    X: TableLike
    labels: AnyArray
    """(n_rows,): labels or numbers of the user."""
    schema: FeatureSchema
    target: Target
    total: float
    """How many rows there are, counting repetitions."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What a learner was asked last, and what it said."""

    targets: AnyArray
    weights: FloatArray
    form: str
    round_number: int
    answers: AnyArray


class ForeignLearner(WeakLearner):
    """Clones of an estimator, fitted with weights, or on rows drawn by their weights."""

    def __init__(self, estimator: Any, rows: ForeignRows, *, resample: bool, seed: int) -> None:
        self.n_rows = len(rows.labels)
        self.n_classes = rows.target.n_outputs
        self.resamples = resample or not has_fit_parameter(estimator, "sample_weight")
        self._estimator = estimator
        self._rows = rows
        self._seed = seed
        self._last: Question | None = None
        self._draws = not isinstance(estimator, Estimator) and bool(random_states_of(estimator))
        self._heeds_weights = False
        # Limits of our trees are weights: 1 in all would be less than a row.
        self._scale = rows.total if isinstance(estimator, Estimator) else 1.0
        self._classes = rows.target.classes if rows.target.classes is not None else np.empty(0)

    @property
    def name(self) -> str:
        """What the user calls the estimator."""
        return type(self._estimator).__name__

    def classify(self, weights: RowWeights, form: str, round_number: int) -> Hypothesis:
        """Fit a clone to the labels."""
        return self._heard(self._rows.labels, weights.distribution, form, round_number)

    def regress(self, targets: FloatArray, weights: RowWeights, round_number: int) -> Hypothesis:
        """Fit a clone to numbers."""
        return self._heard(targets, weights.distribution, "values", round_number)

    def freeze(
        self, members: Sequence[Any], weights: FloatArray, form: str, output: SumOutput
    ) -> MemberSum:
        """Make the sum of fitted clones."""
        return MemberSum(
            members,
            weights,
            form=form,
            link=output.link,
            baseline=output.baseline,
            member_output=output.member_output,
            schema=self._rows.schema,
            target=self._rows.target,
        )

    def answers(self, member: Any, X: Any, form: str) -> FloatArray:
        """Ask a member about other rows."""
        return member_answers(member, X, self._classes, form)

    def check_heeds_weights(self) -> None:
        """Refuse a learner that answers the same whatever the weights are.

        Asked twice more when a round has failed or said what the round before said, or if random
        in the second round, with nearly all weight on the rows of one class and then on those of
        another (of numbers: on the larger, on the smaller): who answers the same has not looked at
        the weights.
        """
        if self.resamples or self._last is None or self._heeds_weights:
            return
        last = self._last
        is_number = last.form == "values"
        middle = np.median(last.targets) if is_number else self._classes[0]
        chosen = last.targets > middle if is_number else last.targets == middle
        if chosen.all() or not chosen.any():
            return  # one target: one answer is right whatever the weights are
        for some in (chosen, ~chosen):
            weights = np.where(some, 1.0, 1e-9)
            again = self._ask(last.targets, weights / weights.sum(), last.form, last.round_number)
            if not np.array_equal(again.answers, last.answers):
                self._heeds_weights = True
                return
        raise WeakLearnerFailed(
            f"{self.name} takes sample_weight but answers the same whatever the weights are, so "
            "boosting cannot teach it anything. Give mode='resample', which draws rows by their "
            "weights instead, or another base learner."
        )

    def _heard(
        self, targets: AnyArray, weights: FloatArray, form: str, round_number: int
    ) -> Hypothesis:
        """Ask; the answer of the round before, under other weights, is suspicious.

        Who draws random numbers never answers the same, and is looked at in any case.
        """
        hypothesis = self._ask(targets, weights, form, round_number)
        last = self._last
        self._last = Question(targets, weights, form, round_number, hypothesis.answers)
        if (
            last is not None
            and (self._draws or np.array_equal(last.answers, hypothesis.answers))
            and np.array_equal(last.targets, targets)
            and not np.allclose(last.weights, weights)
        ):
            self.check_heeds_weights()
        return hypothesis

    def check_learnt(self, n_members: int) -> None:
        """Refuse an ensemble without a member: nothing is known of what it should predict."""
        if not n_members:
            raise WeakLearnerFailed(
                f"The base learner {self.name} is worse than random in the first round already, so "
                "there is nothing to boost. Give a stronger base learner."
            )

    def _ask(
        self, targets: AnyArray, weights: FloatArray, form: str, round_number: int
    ) -> Hypothesis:
        member = clone(self._estimator)
        set_random_states(member, random_bits(self._seed, Stream.FEATURES, round_number))
        try:
            self._fit(member, targets, weights, round_number)
            answers = member_answers(member, self._rows.X, self._classes, form)
        except InvalidInput as error:
            raise WeakLearnerFailed(f"Round {round_number + 1}: {error}") from error
        except Exception as error:
            raise WeakLearnerFailed(
                f"Round {round_number + 1}: the base learner {self.name} raised "
                f"{type(error).__name__}: {error}"
            ) from error
        if len(answers) != self.n_rows:
            raise WeakLearnerFailed(
                f"Round {round_number + 1}: {self.name} gave {len(answers)} answers for "
                f"{self.n_rows} rows."
            )
        return Hypothesis(answers, member)

    def _fit(self, member: Any, targets: AnyArray, weights: FloatArray, round_number: int) -> None:
        if not self.resamples:
            member.fit(self._rows.X, targets, sample_weight=self._scale * weights)
            return
        drawn = draw_rows(weights, seed=self._seed, number=round_number)
        member.fit(_safe_indexing(self._rows.X, drawn), targets[drawn])


def random_states_of(estimator: Any) -> list[str]:
    """Give the names of all parameters that seed an estimator and what is inside it."""
    names = estimator.get_params(deep=True)
    return sorted(n for n in names if n == "random_state" or n.endswith("__random_state"))


def set_random_states(estimator: Any, seed: int) -> None:
    """Seed an estimator and everything inside it, as ``random_state`` of each."""
    names = random_states_of(estimator)
    draws = np.random.default_rng(seed).integers(2**31 - 1, size=len(names))
    if names:
        estimator.set_params(**{n: int(d) for n, d in zip(names, draws, strict=True)})


def foreign_rows(X: TableLike, reading: Reading) -> ForeignRows:
    """Give the rows as the user gave them, without those of weight 0."""
    given = as_members_take(X)
    kept = given if reading.kept is None else _safe_indexing(given, reading.kept)
    classes = reading.target.classes
    labels = reading.y.reshape(-1)
    if classes is not None:
        labels = classes[labels.astype(np.int64)]
    total = float(len(labels)) if reading.weights is None else exact_total(reading.weights)
    return ForeignRows(kept, labels, reading.schema, reading.target, total)


def flat_rows(X: TableLike) -> TableLike:
    """Lay rows that are no vectors flat, texts and images for instance, so that they can be read.

    The learner itself gets them as they are.
    """
    is_texts = isinstance(X, list) and len(X) > 0 and isinstance(X[0], str)
    is_odd = isinstance(X, np.ndarray) and X.ndim > 2
    if is_texts or is_odd or getattr(X, "ndim", 2) == 1:
        return np.asarray(X).reshape(len(X), -1)
    return X
