"""The rows a booster learns from: signs for labels, and how often each row counts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.ensembles.weak.hypothesis import Ask
from spinney.errors import InvalidInput, shorten
from spinney.typing import AnyArray, FloatArray

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Heard:
    """What a learner said, compared with the labels."""

    member: Any
    agreement: FloatArray
    """b = y h(x): 1 where it is right and sure, -1 where it is wrong and sure."""
    edge: float
    """Mean agreement under the distribution it was asked with."""


@dataclass(frozen=True, slots=True, eq=False)
class SignedRows:
    """Labels of two classes. A row of weight k counts as k rows, one of weight 0 as none."""

    signs: FloatArray
    weights: FloatArray
    prior: FloatArray
    """The weights, as shares of their sum."""

    @classmethod
    def of(cls, signs: AnyArray, weights: AnyArray | None = None) -> "SignedRows":
        """Check what is given; without weights every row counts once.

        Examples
        --------
        >>> SignedRows.of([1, -1, 1], weights=[2, 1, 1]).prior
        array([0.5 , 0.25, 0.25])
        """
        signs = np.asarray(signs, dtype=np.float64)
        if signs.ndim != 1 or len(signs) == 0:
            raise InvalidInput(f"signs of shape {signs.shape}: expected one number for each row.")
        wrong = signs[np.abs(signs) != 1.0]
        if len(wrong):
            raise InvalidInput(
                f"signs hold {shorten(np.unique(wrong).tolist())}: expected 1 for rows of the "
                "second class and -1 for the others."
            )
        given = np.ones(len(signs)) if weights is None else np.asarray(weights, dtype=np.float64)
        if given.shape != signs.shape:
            raise InvalidInput(
                f"weights of shape {given.shape} for {len(signs)} rows: expected one for each."
            )
        total = float(given.sum())
        if not (np.isfinite(total) and total > 0.0 and given.min() >= 0.0):
            raise InvalidInput(
                f"weights from {given.min()} to {given.max()} with sum {total}: expected finite "
                "numbers of at least 0, not all of them 0."
            )
        return cls(signs, given, given / total)

    def distribution(self, log_weights: FloatArray) -> FloatArray | None:
        """Scale prior times exp(log_weights) to sum 1; None when no row has weight left.

        Logarithms, because after many rounds all weights may be too small for a float.
        """
        counted = np.where(self.prior > 0.0, log_weights, -np.inf)
        largest = counted.max()
        if largest == -np.inf:
            return None
        raised = self.prior * np.exp(counted - largest)
        return np.asarray(raised / raised.sum())

    def mean(self, values: FloatArray) -> float:
        """Mean over rows, each as often as it counts."""
        return sum_product(self.prior, values)

    def least(self, values: FloatArray) -> float:
        """Least value of the rows that count."""
        return float(values[self.prior > 0.0].min())

    def hear(self, ask: Ask, distribution: FloatArray) -> Heard:
        """Ask a learner, check its answers and compare them with the labels."""
        hypothesis = ask(distribution)
        answers = np.asarray(hypothesis.answers, dtype=np.float64)
        if answers.shape != self.signs.shape:
            raise InvalidInput(
                f"a weak learner gave answers of shape {answers.shape} for {len(self.signs)} "
                "training rows: expected one number for each row."
            )
        if not np.abs(answers).max() <= 1.0 + _ROUNDING:  # a NaN is not below anything
            raise InvalidInput(
                f"a weak learner gave answers from {answers.min()} to {answers.max()}: expected "
                "numbers in [-1, 1], positive for the second class. Scale them before boosting."
            )
        agreement = self.signs * answers
        return Heard(hypothesis.member, agreement, sum_product(distribution, agreement))


def sum_product(weights: FloatArray, values: FloatArray) -> float:
    """Sum values by their weights, the same for any number of threads: BLAS may share the work."""
    return float(np.sum(weights * values))
