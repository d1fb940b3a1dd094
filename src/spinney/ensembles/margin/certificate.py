"""What a booster of margins can prove about its answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spinney.ensembles.margin.capped import soft_margin
from spinney.errors import InvalidInput
from spinney.results import Result, read_only
from spinney.typing import FloatArray

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MarginCertificate(Result):
    """Two numbers between which the best soft margin lies, and what proves them.

    The primal value is reached, so the best is no less. Under ``distribution`` the learner found
    no hypothesis with an edge above the dual value, so the best is no more: this half is as good
    as the learner. It speaks of all hypotheses if ``finds_best``, and otherwise only of those that
    the learner has given.
    """

    primal: float
    """Soft margin of ``weights`` on the training rows; with caps of 1 their least margin."""
    dual: float
    """Highest edge under ``distribution`` among all hypotheses the learner has given."""
    weights: FloatArray
    """Of the members, not negative, sum 1."""
    distribution: FloatArray
    """Over the training rows: the one with the least highest edge that was seen."""
    caps: FloatArray
    """The most that a distribution may give each row."""
    rounds: int
    promise: float | None = None
    """The largest gap the algorithm promises if it may run to its end; None: it promises none."""
    finds_best: bool = False
    """Whether the learner is known to give the hypothesis of the highest edge, as stumps of least
    weighted error do."""

    def __post_init__(self) -> None:
        for name in ("weights", "distribution", "caps"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def gap(self) -> float:
        """By how much the answer can be improved at most."""
        return self.dual - self.primal

    @property
    def holds(self) -> bool:
        """Whether the values are in order and the gap is what was promised."""
        promise = np.inf if self.promise is None else self.promise
        return bool(-_ROUNDING <= self.gap <= promise + _ROUNDING)

    def verify(self, matrix: npt.ArrayLike) -> bool:
        """Check every number again.

        Parameters
        ----------
        matrix : (n_rows, n_hypotheses) array
            Votes y_i h_j(x_i) on the training rows: of the members in their order, then of any
            other hypotheses, none of which may have an edge above the dual value.

        Returns
        -------
        bool
            Whether weights and distribution are what they must be, the primal value is reached,
            the dual value is not exceeded, and the promise is kept.

        Examples
        --------
        >>> votes = [[1, -1], [-1, 1]]
        >>> half = np.array([0.5, 0.5])
        >>> proof = MarginCertificate(0.0, 0.0, half, half, np.ones(2), rounds=2)
        >>> proof.verify(votes), proof.verify([[1, -1, 1], [-1, 1, 0.5]])
        (True, False)
        """
        votes = np.asarray(matrix, dtype=np.float64)
        n_rows, n_members = len(self.distribution), len(self.weights)
        if votes.ndim != 2 or len(votes) != n_rows or votes.shape[1] < n_members:
            raise InvalidInput(
                f"matrix has shape {votes.shape}: expected {n_rows} rows, one per training row, "
                f"and at least {n_members} columns, one per member."
            )
        reached = soft_margin(votes[:, :n_members] @ self.weights, self.caps)
        highest = float(np.max(self.distribution @ votes))
        return (
            self.holds
            and _is_distribution(self.weights, np.ones(n_members))
            and _is_distribution(self.distribution, self.caps)
            and bool(abs(reached - self.primal) <= _ROUNDING)
            and highest <= self.dual + _ROUNDING
        )

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the numbers with their names."""
        promise = "none" if self.promise is None else f"{self.promise:g}"
        among = "all hypotheses" if self.finds_best else "those the learner gave"
        values = [self.primal, self.dual, among, self.gap, promise, self.rounds, self.holds]
        names = ["margin reached", "no margin above", "among", "gap", "promised gap"]
        names += ["rounds", "holds"]
        return {"quantity": names, "value": [_text(value) for value in values]}

    def title(self) -> str:
        """Say in a line what the table shows."""
        of = "" if self.finds_best else " of what the learner gave"
        return f"The best margin{of} lies between {self.primal:.6g} and {self.dual:.6g}"


def _is_distribution(shares: FloatArray, caps: FloatArray) -> bool:
    inside = np.all(shares >= 0.0) and np.all(shares <= caps + _ROUNDING)
    return bool(inside and abs(shares.sum() - 1.0) <= _ROUNDING)


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
