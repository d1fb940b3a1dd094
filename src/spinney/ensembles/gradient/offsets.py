"""``offset=``: what is known of the raw score of a row before anything is learnt."""

from typing import Any

import numpy as np

from spinney.data.sources.vector import read_vector
from spinney.errors import InvalidInput
from spinney.model.links import apply_link
from spinney.typing import FloatArray

_FAR = 40.0
"""Offsets farther from their median than this have no say in a mean, or all of it."""


def read_offset(given: Any, n_rows: int, n_outputs: int, what: str = "offset") -> FloatArray:
    """Read one number per row, or one per row and class or output, as (n_rows, n_outputs).

    Examples
    --------
    >>> read_offset([0.0, 1.5], 2, 1).tolist()
    [[0.0], [1.5]]
    """
    try:
        values = read_vector(given, what)
        if values.dtype.kind not in "biufO":
            raise TypeError(f"its type is {values.dtype}.")  # noqa: TRY301 - told as NumPy's own
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(
            f"{what} is a {type(given).__name__} that holds no numbers: {error} Give one number "
            "per row, on the scale of raw scores."
        ) from error
    shape = (n_rows,) if n_outputs == 1 else (n_rows, n_outputs)
    if numbers.shape not in (shape, (n_rows, n_outputs)):
        raise InvalidInput(
            f"{what} has the shape {numbers.shape}: expected {shape}, one number per row"
            f"{'' if n_outputs == 1 else ' and class or output'}, on the scale of raw scores."
        )
    numbers = numbers.reshape(n_rows, n_outputs)
    if not np.isfinite(numbers).all():
        row, _ = np.argwhere(~np.isfinite(numbers))[0]
        raise InvalidInput(
            f"{what} is {numbers[row].tolist()} in row {row}: expected finite numbers. An exposure "
            "of 0 has no logarithm: leave such rows out."
        )
    return np.asfortranarray(numbers)


def without_offset(
    y: FloatArray, weights: FloatArray | None, offset: FloatArray, link: str
) -> tuple[FloatArray, FloatArray | None]:
    """Give targets and weights whose means tell what is left to learn beside an offset.

    Of numbers it is the difference. With a log link the offset multiplies, as an exposure does:
    what is left are rates, each as heavy as its exposure. Classes are left as they are.

    Examples
    --------
    >>> claims, years = np.array([[2.0], [3.0], [1.0]]), np.array([[1.0], [2.0], [1.0]])
    >>> rates, weights = without_offset(claims, None, np.log(years), "log")
    >>> rates.ravel().tolist(), weights.tolist()
    ([2.0, 1.5, 1.0], [1.0, 2.0, 1.0])
    """
    if link == "identity":
        return y - offset, weights
    if link != "log" or offset.shape[1] > 1:
        return y, weights
    near = np.clip(offset - np.median(offset), -_FAR, _FAR)
    exposures = apply_link("log", near)[:, 0]
    return y / exposures[:, np.newaxis], exposures if weights is None else weights * exposures


def same_presence(offset: Any, offset_val: Any, *, has_table: bool) -> None:
    """Refuse an offset of the training rows without one of ``X_val``, and the reverse."""
    if offset_val is not None and not has_table:
        raise InvalidInput("offset_val is provided, but X_val and y_val are not. Give them.")
    if has_table and (offset is None) != (offset_val is None):
        here, missing = ("offset", "offset_val") if offset_val is None else ("offset_val", "offset")
        raise InvalidInput(
            f"{here} is provided, but {missing} was not: rounds would be measured on another scale "
            "than they learn on. Give both."
        )


def check_same_offset(offset: FloatArray | None, *, had_one: bool) -> None:
    """Refuse to go on without the offset that rounds were learnt beside, or beside a new one."""
    if (offset is not None) != had_one:
        before, now = ("with", "without") if had_one else ("without", "with")
        raise InvalidInput(
            f"warm_start=True goes on with a model that was fitted {before} offset=, but this fit "
            f"is {now} one: the rounds so far would be on another scale. Give the same offset, or "
            "set warm_start=False to begin anew."
        )
