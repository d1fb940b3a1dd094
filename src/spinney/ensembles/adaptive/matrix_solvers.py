"""Four ways down: one column at a time, all that were chosen, all there are, inside a ball.

Each takes a descent as far as it goes and says why it went no further.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from scipy.optimize import nnls

from spinney.ensembles.adaptive.matrix_descent import (
    EPS_CLIP,
    LARGEST_STEP,
    Descent,
    Point,
    Rows,
)
from spinney.typing import FloatArray

_FLAT = "every row is beyond the margin from which on the loss is flat"
_NO_EDGE = "no column has an edge"
_OPTIMAL = "the weights are optimal: no slope is left to follow"
_SEPARATED = "the columns separate the rows, and the objective is as good as its infimum 0"
_PRECISION = "no step lowers the objective by more than rounding"
_MOST_INNER = 200
_ARMIJO = 1e-4
_UNMEASURABLE = 1e-12
"""A promised decrease, relative to the objective, that its rounding would hide."""
_HOLD = 1e-3
"""Pull back to where a weight was, beside the largest slope."""
_ROUNDING = 1e-14
"""Weights so small beside the largest are zeros."""


def coordinate(descent: Descent) -> str:
    """Go along the column of the largest edge to its lowest point, again and again."""
    sizes = np.abs(descent.votes)
    largest = sizes.max(axis=0)
    has_closed_form = ((sizes == 0.0) | (sizes == 1.0)).all(axis=0)
    has_closed_form &= descent.rows.loss.name == "exponential"
    for _ in range(descent.n_rounds):
        if descent.is_flat:
            return _FLAT
        column = descent.best_column()
        edge = descent.edge(column)
        if edge <= descent.tol:
            return _NO_EDGE
        sign, point = descent.sign(column), descent.point
        change = sign * descent.votes[:, column]
        most = LARGEST_STEP / float(largest[column])
        if has_closed_form[column]:
            step = _adaboost_step(point.view.distribution, change, edge)
        else:
            step = descent.rows.best_step(point.scores, point.view, change, most)
        if step <= 0.0:
            return f"the loss has a kink here, and no step along column {column} lowers it"
        descent.move_along(column, sign * step, step * change)
        if step >= most and point.view.distribution[change <= 0.0].sum() <= EPS_CLIP:
            return f"column {column} is right on every row: no weight would be large enough"
    return _all_done(descent)


def _adaboost_step(distribution: FloatArray, votes: FloatArray, edge: float) -> float:
    """Give ½ ln(right / wrong): the best step along votes that are -1, 0 or 1."""
    wrong = float(np.add.reduce(distribution[votes < 0.0]))
    if wrong <= EPS_CLIP * (edge + wrong):
        return LARGEST_STEP
    return 0.5 * math.log1p(edge / wrong)


def totally_corrective(descent: Descent) -> str:
    """Add the column of the largest edge, then find the best weights of all columns chosen."""
    chosen: list[int] = []
    for _ in range(descent.n_rounds):
        if descent.is_flat:
            return _FLAT
        column = descent.best_column()
        if descent.edge(column) <= descent.tol:
            return _OPTIMAL
        if column in chosen:
            return _PRECISION
        chosen.append(column)
        columns = descent.votes[:, chosen]
        inner = Point(descent.point.weights[chosen], descent.point.scores, descent.point.view)
        for _ in range(_MOST_INNER):
            if _optimality(inner, columns, descent) <= 0.5 * descent.tol:
                break
            better = _newton_step(descent.rows, columns, inner, signed=descent.signed)
            if better is None:
                break
            inner = better
        weights = np.zeros_like(descent.point.weights)
        weights[chosen] = inner.weights
        descent.move(column, Point(weights, inner.scores, inner.view))
        if _is_separated(descent.point, descent):
            return _SEPARATED
    return _all_done(descent)


def newton(descent: Descent) -> str:
    """Find the best weights of all columns at once; a round is a step of Newton's method."""
    for _ in range(descent.n_rounds):
        if descent.is_flat:
            return _FLAT
        if _is_separated(descent.point, descent):
            return _SEPARATED
        if _optimality(descent.point, descent.votes, descent) <= descent.tol:
            return _OPTIMAL
        better = _newton_step(descent.rows, descent.votes, descent.point, signed=descent.signed)
        if better is None:
            return _PRECISION
        descent.move(descent.best_column(), better)
    return _all_done(descent)


def _is_separated(point: Point, descent: Descent) -> bool:
    """Tell whether the objective is within ``tol`` of 0, and scaling weights up takes it there."""
    so_small = point.view.log_objective - descent.start <= math.log(descent.tol)
    return so_small and float(point.scores.min()) > 0.0


def _optimality(point: Point, columns: FloatArray, descent: Descent) -> float:
    """Largest slope, as an edge, that a weight could still follow downhill."""
    if point.view.log_unit == -math.inf or _is_separated(point, descent):
        return 0.0
    return _largest_slope(point, point.view.distribution @ columns, signed=descent.signed)


def _largest_slope(point: Point, edges: FloatArray, *, signed: bool) -> float:
    can_fall = point.weights > 0.0
    slopes = np.where(can_fall | signed, np.abs(edges), edges)
    return max(float(slopes.max()), 0.0)


def _newton_step(rows: Rows, columns: FloatArray, point: Point, *, signed: bool) -> Point | None:
    """Take one step of Newton's method with backtracking; None if nothing is to be gained."""
    edges = point.view.distribution @ columns
    direction = _newton_target(rows, columns, point, edges, signed=signed) - point.weights
    rate = math.exp(point.view.log_unit - point.view.log_objective)
    for _ in range(80):
        weights = point.weights + direction
        if not signed:
            weights[weights <= _ROUNDING * weights.max()] = 0.0
        scores = columns @ weights
        moved = Point(weights, scores, rows.look(scores))
        promised = rate * float(edges @ direction)
        change = math.expm1(min(moved.view.log_objective - point.view.log_objective, 700.0))
        if promised > _UNMEASURABLE:
            if change <= -_ARMIJO * promised:
                return moved
        elif change <= _UNMEASURABLE:
            after = _largest_slope(moved, moved.view.distribution @ columns, signed=signed)
            if after < _largest_slope(point, edges, signed=signed):
                return moved
        direction = direction / 2.0
    return None


def _newton_target(
    rows: Rows, columns: FloatArray, point: Point, edges: FloatArray, *, signed: bool
) -> FloatArray:
    """Minimise the parabola that touches the objective here, over the weights there may be.

    As least squares, with a line for each row. Columns may repeat each other or outnumber the rows
    that still pull, so a line for each weight holds it where it is, by less and less as slopes
    vanish (Levenberg and Marquardt).
    """
    pulls = point.view.distribution
    curvatures = rows.curvatures(point.scores, point.view.log_unit)
    curvatures = np.maximum(curvatures, 1e-6 * np.abs(pulls))  # where the loss is straight
    roots = np.sqrt(curvatures)
    residuals = np.divide(pulls, roots, out=np.zeros_like(pulls), where=roots > 0.0)
    hold = math.sqrt(_HOLD * _largest_slope(point, edges, signed=signed))
    lines = np.vstack([roots[:, np.newaxis] * columns, hold * np.eye(len(edges))])
    wanted = np.append(residuals, np.zeros(len(edges)))
    if signed:
        step: FloatArray = np.linalg.lstsq(lines, wanted)[0]
        return point.weights + step
    try:
        found: FloatArray = nnls(lines, lines @ point.weights + wanted)[0]
    except RuntimeError:  # it went round in circles; a step downhill leads out
        found = np.maximum(point.weights + edges, 0.0)
    return found


def frank_wolfe(descent: Descent, radius: float) -> tuple[str, float]:
    """Shift weight, out of a budget, from the worst column that has some to the best one.

    Corners are all of the budget on one column, or on none. The last number given is the duality
    gap: the objective is at most this much above its minimum over the ball.
    """
    n_columns = descent.votes.shape[1]
    spent = np.zeros(n_columns * (2 if descent.signed else 1))
    for _ in range(descent.n_rounds):
        gains = _gains(descent)
        gap = _gap(descent, gains, spent, radius)
        if gap <= descent.tol:
            return "the duality gap is below tol", gap
        masses = np.append(spent, radius - spent.sum())
        best = int(np.argmax(gains))
        holders = np.flatnonzero(masses > 0.0)
        worst = int(holders[np.argmin(gains[holders])])
        shift = np.zeros_like(masses)
        shift[best], shift[worst] = 1.0, -1.0
        change = descent.votes @ _merged(shift[:-1], n_columns)
        step = descent.rows.best_step(
            descent.point.scores, descent.point.view, change, float(masses[worst])
        )
        if step <= 0.0:
            return _PRECISION, gap
        spent = np.maximum(spent + step * shift[:-1], 0.0)
        if step >= masses[worst] and worst < len(spent):
            spent[worst] = 0.0
        weights = _merged(spent, n_columns)
        scores = descent.votes @ weights
        column = (best if best < len(spent) else worst) % n_columns
        descent.move(column, Point(weights, scores, descent.rows.look(scores)))
    return _all_done(descent), _gap(descent, _gains(descent), spent, radius)


def _gains(descent: Descent) -> FloatArray:
    """Slopes downhill of the corners, divided by the radius; the last is that of no weight."""
    negatives = -descent.edges if descent.signed else descent.edges[:0]
    return np.concatenate([descent.edges, negatives, [0.0]])


def _gap(descent: Descent, gains: FloatArray, spent: FloatArray, radius: float) -> float:
    here = float(gains[:-1] @ spent)
    return max(math.exp(descent.point.view.log_unit) * (radius * float(gains.max()) - here), 0.0)


def _merged(spent: FloatArray, n_columns: int) -> FloatArray:
    """Weights of columns, from those of columns and then of their negatives, if there are."""
    return spent if len(spent) == n_columns else spent[:n_columns] - spent[n_columns:]


def _all_done(descent: Descent) -> str:
    return f"all {descent.n_rounds} rounds were done"


SOLVERS: Mapping[str, Callable[[Descent], str]] = MappingProxyType(
    {"coordinate": coordinate, "totally_corrective": totally_corrective, "newton": newton}
)
"""Those that need nothing but the descent."""
