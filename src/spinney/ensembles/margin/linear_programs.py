"""LPBoost: after every round the best weights of all hypotheses so far, by a linear program."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from spinney.ensembles.margin.pool import Pool
from spinney.ensembles.margin.program import REPEATS, Look, Program, Step
from spinney.ensembles.margin.settings import MarginSettings
from spinney.ensembles.weak.signed_rows import SignedRows
from spinney.errors import InvalidInput
from spinney.typing import FloatArray

_FEW_ROWS = 400
"""Up to this many rows a program is solved as it is."""
_AT_BOUND = 1e-9
_WRONG_SIDE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Both sides of the game between rows and hypotheses."""

    value: float
    distribution: FloatArray
    weights: FloatArray
    threshold: float
    """Rows of smaller margins have all the weight they may have, those of larger ones none."""


def soft_margin_program(
    matrix: FloatArray, caps: FloatArray, last: Solution | None = None
) -> Solution:
    """Find the weights of the largest soft margin, and the distribution that proves it.

    Solved on the side of the rows: least beta with d·column <= beta for each column, sum d = 1,
    0 <= d <= caps; the weights are the multipliers of the columns. ``last`` is the answer for the
    first columns: of many rows most will keep what they had there, 0 or their cap. Only the others
    are solved for, together with every row that proves to be on the wrong side of the threshold;
    the answer is exact all the same.

    Examples
    --------
    >>> found = soft_margin_program(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.ones(2))
    >>> found.value, found.weights
    (0.0, array([0.5, 0.5]))
    """
    free = np.arange(len(matrix)) if last is None else _open_rows(matrix, caps, last)
    while len(free) < len(matrix) / 2 and last is not None:
        held = np.where(last.distribution > caps / 2, caps, 0.0)
        held[free] = 0.0
        found = _solve(matrix, caps, free, held)
        margins, is_held = matrix @ found.weights, np.ones(len(matrix), bool)
        is_held[free] = False
        low, high = found.threshold - _WRONG_SIDE, found.threshold + _WRONG_SIDE
        wrong = is_held & np.where(held > 0.0, margins > high, margins < low)
        if not wrong.any():
            return found
        free = np.flatnonzero(wrong | ~is_held)
    return _solve(matrix, caps, np.arange(len(matrix)), np.zeros(len(matrix)))


def _open_rows(matrix: FloatArray, caps: FloatArray, last: Solution) -> npt.NDArray[np.intp]:
    """Give the rows that are between their bounds, and those whose margins are next to them."""
    if len(matrix) <= _FEW_ROWS:
        return np.arange(len(matrix))
    slack = _AT_BOUND * caps
    between = (last.distribution > slack) & (last.distribution < caps - slack)
    margins = matrix[:, : len(last.weights)] @ last.weights
    distance = np.where(between, -1.0, np.abs(margins - last.threshold))
    n_open = int(between.sum()) + max(_FEW_ROWS // 4, len(matrix) // 20)
    return np.sort(np.argsort(distance, kind="stable")[:n_open])


def _solve(
    matrix: FloatArray, caps: FloatArray, free: npt.NDArray[np.intp], held: FloatArray
) -> Solution:
    """Solve for some rows; the others have what is held."""
    n_rows, n_columns = len(free), matrix.shape[1]
    low, high = np.append(np.zeros(n_rows), -np.inf), np.append(caps[free], np.inf)
    found = linprog(
        np.append(np.zeros(n_rows), 1.0),
        A_ub=np.column_stack([matrix[free].T, -np.ones(n_columns)]),
        b_ub=-(held @ matrix),
        A_eq=np.append(np.ones(n_rows), 0.0)[None, :],
        b_eq=np.array([1.0 - held.sum()]),
        bounds=np.column_stack([low, high]),
        method="highs",
    )
    if found.status != 0:
        raise InvalidInput(
            f"The linear program of {n_columns} hypotheses and {len(matrix)} rows was not solved: "
            f"{found.message} Expected votes and weights of ordinary size; try another nu, or "
            "algorithm='corrective_erlpboost', which needs no programs."
        )
    weights = np.maximum(-found.ineqlin.marginals, 0.0)
    distribution = held.copy()
    distribution[free] = np.clip(found.x[:-1], 0.0, caps[free])
    return Solution(
        float(found.fun),
        distribution / distribution.sum(),
        weights / weights.sum(),
        float(found.eqlin.marginals[0]),
    )


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
        self._solution = found = soft_margin_program(matrix, self.caps, self._solution)
        return Step(found.distribution, found.weights, matrix @ found.weights, found.value)

    def final_weights(self, pool: Pool) -> FloatArray:
        """Give those of the last program."""
        if self._solution is None:
            return soft_margin_program(pool.matrix(), self.caps).weights
        return self._solution.weights
