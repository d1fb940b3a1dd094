"""What numbers must be before a theorem may be applied to them."""

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.theory.trace import Trace
from spinney.typing import AnyArray, BoolArray, FloatArray

ROUNDING = 1e-9
"""Numbers this far outside their range are taken to be at its end."""


def number_array(
    name: str,
    values: Any,
    *,
    n_axes: int = 1,
    low: float = -math.inf,
    high: float = math.inf,
    remedy: str = "",
) -> FloatArray:
    """Read finite numbers in [low, high], at least one; rounding beyond an end is taken off."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InvalidInputType(f"{name} cannot be read as numbers: {problem}. {remedy}") from None
    if array.ndim != n_axes or array.size == 0:
        raise InvalidInput(
            f"{name} has the shape {array.shape}: expected {n_axes} axes, none of them empty. "
            f"{remedy}".rstrip()
        )
    wrong = ~((array >= low - ROUNDING) & (array <= high + ROUNDING) & np.isfinite(array))
    if wrong.any():
        place = tuple(int(axis[0]) for axis in np.nonzero(wrong))
        at = ", ".join(map(str, place))
        found = f"{name}[{at}] is {float(array[place])}: expected {_range(low, high)}."
        raise InvalidInput(f"{found} {remedy}".rstrip())
    return np.clip(array, low, high)


def error_array(errors: Any) -> FloatArray:
    """Read the weighted errors of weak learners."""
    return number_array(
        "errors", errors, low=0.0, high=1.0, remedy="Give each round's weighted error."
    )


def margin_array(margins: Any) -> FloatArray:
    """Read normalised margins."""
    remedy = "Divide y F(x) by the sum of |alphas|; base learners must answer within [-1, 1]."
    return number_array("margins", margins, low=-1.0, high=1.0, remedy=remedy)


def weight_array(sample_weight: Any, n_rows: int) -> FloatArray:
    """Read weights of rows and let them add up to 1; None: rows count alike."""
    if sample_weight is None:
        return np.full(n_rows, 1.0 / n_rows)
    weights = number_array("sample_weight", sample_weight, low=0.0)
    if len(weights) != n_rows or weights.sum() <= 0.0:
        raise InvalidInput(
            f"sample_weight has {len(weights)} numbers that add up to {float(weights.sum())}: "
            f"expected {n_rows}, one for each row, not all of them zero."
        )
    shares: FloatArray = weights / weights.sum()
    return shares


def inside(name: str, value: Any, low: float, high: float, *, closed: str = "") -> float:
    """Read a number strictly between two others; "low", "high" in ``closed`` let in an end."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if real:
        above = value >= low if "low" in closed else value > low
        below = value <= high if "high" in closed else value < high
        if above and below:
            return float(value)
    left, right = "[" if "low" in closed else "(", "]" if "high" in closed else ")"
    raise InvalidParameter(
        f"{name}={value!r}: expected a number in {left}{low:g}, {high:g}{right}. Give {name} in "
        "this range."
    )


def count(name: str, value: Any, low: int = 1) -> int:
    """Read a whole number that is not too small."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if whole and int(value) >= low:
        return int(value)
    raise InvalidParameter(f"{name}={value!r}: expected a whole number, {low} or more.")


def choice(name: str, value: Any, known: Sequence[str]) -> str:
    """Read one of some words."""
    if isinstance(value, str) and value in known:
        return value
    raise InvalidParameter(f"{name}={value!r}: expected one of {', '.join(map(repr, known))}.")


def trace_of(fitted: Any) -> Trace:
    """Read what a booster did, in at least one round."""
    trace = getattr(fitted, "trace_", None)
    if not isinstance(trace, Trace):
        raise InvalidInputType(
            f"{type(fitted).__name__} has no trace_ of votes and their weights: expected a fitted "
            "AdaBoostClassifier, MarginBoostClassifier or RobustBoostClassifier. Call fit first if "
            "it is one of these."
        )
    if len(trace) == 0:
        raise InvalidInput(
            f"{type(fitted).__name__} was fitted in 0 rounds ({trace.stop_reason}): expected at "
            "least one. Give it base learners that are better than chance."
        )
    return trace


def label_array(y: Any, n_rows: int) -> AnyArray:
    """Read labels of rows, one for each."""
    labels = np.asarray(y)
    if labels.ndim != 1 or len(labels) != n_rows or n_rows == 0:
        raise InvalidInput(
            f"y has the shape {labels.shape}: expected one label for each of {n_rows} rows, and "
            "at least one row."
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise InvalidInput(
            f"y[{int(np.isnan(labels).argmax())}] is nan: expected a label. Drop the row, or give "
            "it one."
        )
    return labels


def _range(low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return "a finite number"
    if math.isinf(high):
        return f"a finite number, {low:g} or more"
    return f"a number in [{low:g}, {high:g}]"


def row_counts(sample_weight: Any, n_rows: int) -> FloatArray:
    """Read how often each row counts; None: once."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight_array(sample_weight, n_rows)  # says what is wrong
    return number_array("sample_weight", sample_weight, low=0.0)


def event_array(y: Any, n_rows: int) -> BoolArray:
    """Read what happened: truth values, or numbers 0 and 1."""
    events = np.asarray(y)
    if events.dtype.kind == "O" and all(isinstance(event, bool) for event in events.ravel()):
        events = events.astype(bool)
    if (
        events.shape != (n_rows,)
        or events.dtype.kind not in "biuf"
        or not np.isin(events, (0, 1)).all()
    ):
        raise InvalidInput(
            f"y has the shape {events.shape} and the type {events.dtype}: expected {n_rows} numbers"
            ", 1 where it happened and 0 where it did not. Of labels give y == label."
        )
    return events.astype(bool)
