"""LPBoost: after every round the best weights of all hypotheses so far, by a linear program."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from spinney.ensembles.margin.pool import Pool
from spinney.ensembles.margin.program import REPEATS, Look, Program, Step
from spinney.ensembles.margin.settings import MarginSettings
from spinney.ensembles.weak.signed_rows import SignedRows
from spinney.errors import InvalidInput
from spinney.typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Both sides of the game between rows and hypotheses."""

    value: float
    distribution: FloatArray
    weights: FloatArray


def soft_margin_program(matrix: FloatArray, caps: FloatArray) -> Solution:
    """Find the weights of the largest soft margin, and the distribution that proves it.

    Solved on the side of the rows: least beta with d·column <= beta for each column, sum d = 1,
    0 <= d <= caps; the weights are the multipliers of the columns.

    Examples
    --------
    >>> found = soft_margin_program(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.ones(2))
    >>> found.value, found.weights
    (0.0, array([0.5, 0.5]))
    """
    n_rows, n_columns = matrix.shape
    low, high = np.append(np.zeros(n_rows), -np.inf), np.append(caps, np.inf)
    found = linprog(
        np.append(np.zeros(n_rows), 1.0),
        A_ub=np.column_stack([matrix.T, -np.ones(n_columns)]),
        b_ub=np.zeros(n_columns),
        A_eq=np.append(np.ones(n_rows), 0.0)[None, :],
        b_eq=np.ones(1),
        bounds=np.column_stack([low, high]),
        method="highs",
    )
    if found.status != 0:
        raise InvalidInput(
            f"The linear program of {n_columns} hypotheses and {n_rows} rows was not solved: "
            f"{found.message} Expected votes and weights of ordinary size; try another nu, or "
            "algorithm='corrective_erlpboost', which needs no programs."
        )
    weights = np.maximum(-found.ineqlin.marginals, 0.0)
    distribution = np.clip(found.x[:-1], 0.0, caps)
    return Solution(float(found.fun), distribution / distribution.sum(), weights / weights.sum())


class LPBoost(Program):
    """The next distribution is the one that makes the highest edge so far as low as possible.

    Demiriz, Bennett & Shawe-Taylor (2002). Exact up to ``tol``; how many rounds it needs, nobody
    can promise.
    """

    def __init__(self, rows: SignedRows, settings: MarginSettings) -> None:
        super().__init__(rows.caps(settings.nu), settings.tol)
        self._tol = settings.tol
        self._solution: Solution | None = None

    def verdict(self, look: Look) -> str:
        """Stop when no hypothesis has a higher edge than those in use."""
        if self._solution is not None and look.highest <= self._solution.value + self._tol:
            return "no hypothesis has a higher edge than those in use"
        return REPEATS if look.is_repeated else ""

    def advance(self, pool: Pool, distribution: FloatArray) -> Step:  # noqa: ARG002
        """Solve the game with one more hypothesis."""
        matrix = pool.matrix()
        self._solution = found = soft_margin_program(matrix, self.caps)
        return Step(found.distribution, found.weights, matrix @ found.weights, found.value)

    def final_weights(self, pool: Pool) -> FloatArray:
        """Give those of the last program."""
        if self._solution is None:
            return soft_margin_program(pool.matrix(), self.caps).weights
        return self._solution.weights
