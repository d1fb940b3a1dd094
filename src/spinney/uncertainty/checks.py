"""What numbers must be before anything is promised of them."""

import numbers
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.data.weights import read_weights
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.typing import AnyArray, FloatArray

_ROUNDING = 1e-9
"""Probabilities this far outside their range are taken to be at its end."""


def read_level(level: Any) -> Fraction:
    """Read a share between 0 and 1 as the decimal number that was meant: 0.9 is 9/10.

    Ranks are computed from it without rounding: 0.55 of 20 rows are 11 rows, where floats say a
    little more.

    Examples
    --------
    >>> read_level(0.55) * 20
    Fraction(11, 1)
    """
    if isinstance(level, numbers.Real) and not isinstance(level, bool | np.bool_):
        exact = level if isinstance(level, Fraction) else _as_written(float(level))
        if exact is not None and 0 < exact < 1:
            return exact
    raise InvalidParameter(
        f"level={level!r}: expected a number above 0 and below 1, the share of rows that are to be "
        "covered; 0.9 for nine rows in ten."
    )


def _as_written(number: float) -> Fraction | None:
    return Fraction(repr(number)) if np.isfinite(number) else None


def read_array(name: str, values: Any, *, n_axes: int = 1) -> FloatArray:
    """Read finite numbers; no axis may be empty, but that of rows if there are two."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputType(f"{name} cannot be read as numbers: expected an array.") from None
    if array.ndim != n_axes or 0 in array.shape[n_axes - 1 :]:
        raise InvalidInput(
            f"{name} has the shape {array.shape}: expected {n_axes} "
            f"{'axis' if n_axes == 1 else 'axes'}, and something in it."
        )
    finite = np.isfinite(array)
    if not finite.all():
        place = [int(at) for at in np.argwhere(~finite)[0]]
        raise InvalidInput(
            f"{name}{place} is {float(array[tuple(place)])}: expected finite numbers. Leave such "
            "rows out."
        )
    return array


def read_same_length(name: str, values: Any, n_rows: int) -> FloatArray:
    """Read one finite number per row."""
    array = read_array(name, values)
    if len(array) != n_rows:
        raise InvalidInput(f"{name} has {len(array)} numbers: expected {n_rows}, one for each row.")
    return array


def read_row_weights(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Read weights of rows; None where all are 1."""
    weights = read_weights(sample_weight, n_rows)
    return None if weights is None or bool((weights == 1.0).all()) else weights


def read_binary(y: Any, n_rows: int) -> FloatArray:
    """Read what happened as 0 or 1."""
    array = np.asarray(y)
    if (
        array.shape != (n_rows,)
        or array.dtype.kind not in "biuf"
        or not np.isin(array, (0, 1)).all()
    ):
        raise InvalidInput(
            f"y has the shape {array.shape} and the type {array.dtype}: expected {n_rows} numbers, "
            "1 where it happened and 0 where it did not. Of labels give y == label."
        )
    return array.astype(np.float64)


def read_codes(y: Any, n_rows: int, n_classes: int) -> AnyArray:
    """Read classes by their numbers, 0 to n_classes - 1."""
    array = np.asarray(y)
    whole = array.dtype.kind in "biu"
    if array.shape != (n_rows,) or not whole or not ((array >= 0) & (array < n_classes)).all():
        raise InvalidInput(
            f"y has the shape {array.shape} and the type {array.dtype}: expected {n_rows} numbers "
            f"of classes, from 0 to {n_classes - 1}: the column of each row's class."
        )
    return array.astype(np.int64)


def read_probability(values: Any) -> FloatArray:
    """Read one probability per row."""
    return _inside("probability", read_array("probability", values))


def read_probabilities(values: Any) -> FloatArray:
    """Read a probability per row and class; rows add up to 1."""
    array = _inside("probabilities", read_array("probabilities", values, n_axes=2))
    off = np.abs(array.sum(axis=1) - 1.0) > 1e-6
    if off.any():
        raise InvalidInput(
            f"Row {int(off.argmax())} of probabilities adds up to {float(array[off][0].sum())}: "
            "expected 1. Divide each row by its sum."
        )
    return array


def _inside(name: str, array: FloatArray) -> FloatArray:
    wrong = (array < -_ROUNDING) | (array > 1.0 + _ROUNDING)
    if wrong.any():
        raise InvalidInput(
            f"{name} holds {float(array[wrong][0])}: expected numbers from 0 to 1. Give what "
            "predict_proba says, or calibrate scores first."
        )
    return np.clip(array, 0.0, 1.0)
