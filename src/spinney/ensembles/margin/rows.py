"""The training rows of a booster of margins: their signs, their weights, what is said of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data.weights import read_weights
from spinney.ensembles.weak.hypothesis import Hypothesis
from spinney.errors import InvalidInput
from spinney.typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class VotingRows:
    """Rows of two classes. A row without weight is no row: its margin does not count."""

    signs: FloatArray
    """-1 or 1."""
    prior: FloatArray
    """Shares of the rows, sum 1: their weights."""

    def votes(self, hypothesis: Hypothesis) -> FloatArray:
        """Say for each row how much the hypothesis is right, from -1 to 1."""
        answers = np.asarray(hypothesis.answers, dtype=np.float64)
        if answers.shape != self.signs.shape:
            raise InvalidInput(
                f"The weak learner gave answers of shape {answers.shape}: expected one number per "
                f"training row, {self.signs.shape}."
            )
        wrong = ~(np.abs(answers) <= 1.0)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InvalidInput(
                f"The weak learner answers {answers[row]} for row {row}: expected numbers from -1 "
                "to 1. Divide its answers by their largest absolute value, or give their signs."
            )
        return self.signs * answers + 0.0  # no negative zeros: equal votes have equal bytes

    def are_perfect(self, votes: FloatArray) -> bool:
        """Tell whether every row that counts is fully right."""
        return self.least(votes) >= 1.0

    def least(self, margins: FloatArray) -> float:
        """Give the least margin of the rows that count."""
        return float(margins[self.prior > 0.0].min())

    def most(self, nu: float = 0.0) -> float:
        """Say how many times its share a row may get; beyond some multiple there is no limit."""
        lightest = float(self.prior[self.prior > 0.0].min())
        return 1.0 / max(nu, lightest)

    def caps(self, nu: float = 0.0) -> FloatArray:
        """Give the most that each row may get of a distribution."""
        return np.minimum(self.prior * self.most(nu), 1.0)


def edge_of(distribution: FloatArray, votes: FloatArray) -> float:
    """Sum votes by a distribution, the same for any number of threads: BLAS may share the work."""
    return float(np.sum(distribution * votes))


def voting_rows(signs: Any, prior: Any = None) -> VotingRows:
    """Check signs and weights.

    Examples
    --------
    >>> voting_rows([1, -1, 1], [1, 2, 1]).prior
    array([0.25, 0.5 , 0.25])
    """
    checked = np.asarray(signs, dtype=np.float64)
    if checked.ndim != 1 or not len(checked):
        raise InvalidInput(
            f"signs has shape {checked.shape}: expected one number per row, and a row at least."
        )
    strange = np.abs(checked) != 1.0
    if strange.any():
        row = int(np.argmax(strange))
        raise InvalidInput(
            f"signs[{row}] is {checked[row]}: expected 1 for the second class and -1 for the first."
        )
    weights = read_weights(prior, len(checked))
    shares = np.ones(len(checked)) if weights is None else weights / weights.max()
    return VotingRows(checked, shares / shares.sum())
