"""The rows that a booster of two classes learns from: signs for labels, how often each counts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data.weights import read_weights
from spinney.ensembles.weak.hypothesis import Ask, Hypothesis
from spinney.errors import InvalidInput, shorten
from spinney.typing import FloatArray

_ROUNDING = 1e-9
"""Answers may be larger than 1 by this, and are then 1."""


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
    """-1 or 1."""
    weights: FloatArray
    prior: FloatArray
    """The weights, as shares of their sum."""

    @classmethod
    def of(cls, signs: Any, weights: Any = None) -> "SignedRows":
        """Check what is given; without weights every row counts once.

        Examples
        --------
        >>> SignedRows.of([1, -1, 1], weights=[2, 1, 1]).prior
        array([0.5 , 0.25, 0.25])
        """
        checked = np.asarray(signs, dtype=np.float64)
        if checked.ndim != 1 or not len(checked):
            raise InvalidInput(
                f"signs of shape {checked.shape}: expected one number for each row, and a row at "
                "least."
            )
        strange = np.abs(checked) != 1.0
        if strange.any():
            row = int(np.argmax(strange))
            raise InvalidInput(
                f"signs hold {shorten(np.unique(checked[strange]).tolist())}: signs[{row}] is "
                f"{checked[row]}: expected 1 for rows of the second class and -1 for the others."
            )
        given = read_weights(weights, len(checked))
        counts = np.ones(len(checked)) if given is None else given
        return cls(checked, counts, counts / counts.sum())

    def votes(self, hypothesis: Hypothesis) -> FloatArray:
        """Say for each row how much the hypothesis is right, from -1 to 1."""
        answers = np.asarray(hypothesis.answers, dtype=np.float64)
        if answers.shape != self.signs.shape:
            raise InvalidInput(
                f"The weak learner gave answers of shape {answers.shape}: expected one number per "
                f"training row, {self.signs.shape}."
            )
        wrong = ~(np.abs(answers) <= 1.0 + _ROUNDING)  # a NaN is not below anything
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InvalidInput(
                f"The weak learner answers {answers[row]} for row {row}: expected numbers from -1 "
                "to 1, positive for the second class. Divide its answers by their largest absolute "
                "value, or give their signs."
            )
        # No negative zeros: equal votes have equal bytes.
        return np.asarray(self.signs * np.clip(answers, -1.0, 1.0) + 0.0)

    def hear(self, ask: Ask, distribution: FloatArray) -> Heard:
        """Ask a learner and compare its answers with the labels."""
        hypothesis = ask(distribution)
        agreement = self.votes(hypothesis)
        return Heard(hypothesis.member, agreement, sum_product(distribution, agreement))

    def are_perfect(self, votes: FloatArray) -> bool:
        """Tell whether every row that counts is fully right."""
        return self.least(votes) >= 1.0

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

    def most(self, nu: float = 0.0) -> float:
        """Say how many times its share a row may get; beyond some multiple there is no limit."""
        lightest = float(self.prior[self.prior > 0.0].min())
        return 1.0 / max(nu, lightest)

    def caps(self, nu: float = 0.0) -> FloatArray:
        """Give the most that each row may get of a distribution."""
        return np.minimum(self.prior * self.most(nu), 1.0)


def sum_product(weights: FloatArray, values: FloatArray) -> float:
    """Sum values by their weights, the same for any number of threads: BLAS may share the work."""
    return float(np.sum(weights * values))
