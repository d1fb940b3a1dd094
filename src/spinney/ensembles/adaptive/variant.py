"""What all members of the AdaBoost family share: weights from scores, and one round's record."""

import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from spinney.ensembles.weak.learners import SumOutput, WeakLearner
from spinney.losses.row_weights import RowCounts, RowWeights
from spinney.model.elementary import exact_log, exp_of
from spinney.typing import FloatArray, IntArray

Alpha: TypeAlias = str | Callable[[float], float]
"""``"exact"``, ``"line_search"``, or a function from the weighted error to the vote's weight."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """What a round may look at besides the hypothesis."""

    codes: IntArray
    """(n_rows,) classes by number."""
    n_classes: int
    counts: RowCounts
    """Weights the user gave: how often each row counts."""
    prior: FloatArray
    """(n_rows,) the same, of sum 1."""

    @classmethod
    def weighted(
        cls, codes: IntArray, n_classes: int, weights: FloatArray, *, n_threads: int = 1
    ) -> "TrainingRows":
        """Give rows their weights."""
        counts = RowCounts(weights, n_threads=n_threads)
        return cls(codes, n_classes, counts, weights / counts.total)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @property
    def signs(self) -> FloatArray:
        """-1 for the first class, 1 for the second."""
        return np.where(self.codes == 1, 1.0, -1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The user's wishes for every round."""

    alpha: Alpha = "exact"
    learning_rate: float = 1.0
    eps_clip: float = 1e-10
    largest_response: float | None = 4.0
    on_weak_failure: str = "reverse"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Round:
    """What one round did."""

    members: tuple[Any, ...]
    weights: tuple[float, ...]
    """Of the members, in the model."""
    error: float
    edge: float
    alpha: float
    """Largest amount by which the round can move a normalised score."""
    normaliser: float
    objective: float
    min_margin: float
    ends: str = ""
    """Why there cannot be another round; empty if there can."""


class Refusal(str):
    """Why a round adds nothing and boosting ends, in words."""

    __slots__ = ()


class Variant(abc.ABC):
    """One booster: how rows are weighed, what is asked, and what is done with the answer."""

    form: str
    """How members answer: one of ``spinney.model.answers.FORMS``, or "values"."""

    def __init__(self, rows: TrainingRows, rules: Rules) -> None:
        self.rows = rows
        self.rules = rules

    @property
    @abc.abstractmethod
    def weights(self) -> RowWeights:
        """Weights of the rows that the next round sees."""

    def weigh(self, distribution: FloatArray) -> RowWeights:
        """Give a distribution the form that learners are asked in."""
        return RowWeights(distribution, self.rows.counts)

    @abc.abstractmethod
    def round(self, learner: WeakLearner, number: int) -> Round | Refusal:
        """Ask the learner, and move."""

    @abc.abstractmethod
    def output(self, n_members: int) -> SumOutput:
        """Say how the sum of the members becomes probabilities."""

    def reset(self) -> bool:
        """Give the rows their first weights again; tell whether this booster can."""
        return False


def weights_from_logs(logs: FloatArray) -> tuple[FloatArray, float]:
    """Turn logarithms into weights of sum 1, and give the logarithm of the sum before.

    Subtracting the largest first, 10⁵ rounds are no harder than one.
    """
    largest = float(logs.max())
    weights = exp_of(logs - largest)
    total = float(weights.sum())
    return weights / total, exact_log(total) + largest
