"""Statistics of data drawn again: many evaluations, as few calls and as little memory as can be."""

import contextlib
import inspect
import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from spinney.data.sources.objects import has_value
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.progress import Progress
from spinney.resampling.resamples import Arrays, Resamples, Sample
from spinney.typing import AnyArray, FloatArray

_MOST_NUMBERS = 1 << 20
"""Numbers that the resamples of one call may hold together: 8 MB."""


def read_arrays(rows: tuple[Any, ...], *, paired: bool, what: str) -> Arrays:
    """Read arrays of rows: at least two rows, and equally many if they are paired.

    Examples
    --------
    >>> read_arrays(([1, 2, 3],), paired=True, what="A bootstrap")
    (array([1, 2, 3]),)
    """
    if not rows:
        raise InvalidInput(f"{what} needs data: give at least one array behind the statistic.")
    arrays = tuple(_read_array(array, place) for place, array in enumerate(rows))
    lengths = [len(array) for array in arrays]
    if min(lengths) < 2:
        raise InvalidInput(
            f"{what} needs at least two rows, array {int(np.argmin(lengths))} has {min(lengths)}: "
            "one row drawn again is the same row, and none is left without it."
        )
    if paired and len(set(lengths)) > 1:
        raise InvalidInput(
            f"The arrays have {lengths} rows: expected the same number, because rows are drawn "
            "together. For samples that have nothing to do with each other use draw='separate'."
        )
    return arrays


def _read_array(array: Any, place: int) -> AnyArray:
    if isinstance(array, str | bytes | dict | set):
        raise InvalidInputType(
            f"Array {place} is a {type(array).__name__}: expected an array with a row per entry."
        )
    try:
        known: AnyArray = np.asarray(array)
    except ValueError:
        raise InvalidInput(
            f"Array {place} is a sequence of parts of different length: expected a row per entry."
        ) from None
    if known.ndim == 0:
        raise InvalidInputType(
            f"Array {place} is {type(array).__name__}: expected an array with a row per entry. "
            "Sparse matrices and lazy frames must be made dense first."
        )
    if known.dtype == object and known.ndim == 1:
        _refuse_holes(known, place)
    return known


def _refuse_holes(array: AnyArray, place: int) -> None:
    """Refuse numbers among which some are missing, which is what None makes objects of."""
    there = has_value(array)
    numeric = all(isinstance(value, numbers.Number) for value in array[there].tolist())
    if numeric and not there.all():
        row = int(np.argmin(there))
        raise InvalidInput(
            f"Array {place} is numbers but for {array[row]!r} in row {row}. Leave rows without a "
            "number out, or fill them in."
        )


class Statistic:
    """A function of arrays that gives a number, or an array of always the same shape.

    Parameters
    ----------
    function : takes the arrays
    vectorized : whether it takes many resamples at once: rows along axis 1, resamples along
        axis 0, and ``axis=1`` as a keyword
    """

    def __init__(self, function: Callable[..., Any], *, vectorized: bool) -> None:
        if not callable(function):
            raise InvalidInputType(
                f"The statistic is {function!r}: expected a function of the arrays, and the arrays "
                "behind it."
            )
        self._function, self._vectorized = function, vectorized
        self.shape: tuple[int, ...] | None = None
        """Of the answer; None before there is one."""

    def of(self, sample: Sample) -> FloatArray:
        """Give the statistic of one sample, as a vector."""
        if not self._vectorized:
            return self._read(self._call(sample), leading=())
        batch = Sample(
            tuple(array[np.newaxis] for array in sample.arrays),
            None if sample.weights is None else sample.weights[np.newaxis],
        )
        answer: FloatArray = self._read(self._call(batch), leading=(1,))[0]
        return answer

    def of_data(self, sample: Sample) -> FloatArray:
        """Give the same of the data itself, where it must be finite."""
        answer = self.of(sample)
        if not np.isfinite(answer).all():
            shown = answer if len(answer) > 1 else answer[0]
            raise InvalidInput(
                f"The statistic of the data is {shown}: expected a finite number. Look for missing "
                "values, or for data that does not vary."
            )
        return answer

    def of_all(self, resamples: Resamples, n_resamples: int) -> FloatArray:
        """Give the statistics of resamples 0, 1, ...; (n_resamples, length of the answer)."""
        step = max(1, _MOST_NUMBERS // resamples.size)
        parts = []
        with Progress(n_resamples, "resample") as progress:
            if progress.is_shown:
                step = min(step, max(1, n_resamples // 50))
            for start in range(0, n_resamples, step):
                numbers = range(start, min(start + step, n_resamples))
                parts.append(self._of(resamples, numbers))
                progress.show(numbers.stop)
        return np.concatenate(parts)

    def _of(self, resamples: Resamples, numbers: range) -> FloatArray:
        if self._vectorized:
            stacked = resamples.stacked(numbers)
            if stacked is not None:
                return self._read(self._call(stacked), leading=(len(numbers),))
        return np.stack([self.of(sample) for sample in resamples.samples(numbers)])

    def _call(self, sample: Sample) -> Any:
        extra: dict[str, Any] = {"axis": 1} if self._vectorized else {}
        if sample.weights is not None:
            extra[self._weights_name()] = sample.weights
        return self._function(*sample.arrays, **extra)

    def _weights_name(self) -> str:
        known: Mapping[str, Any] = {}
        with contextlib.suppress(TypeError, ValueError):  # some functions written in C do not tell
            known = inspect.signature(self._function).parameters
        for name in ("weights", "sample_weight"):
            if name in known:
                return name
        raise InvalidParameter(
            f"{getattr(self._function, '__name__', self._function)} has no parameter 'weights' or "
            "'sample_weight'. Weighing rows instead of drawing or leaving them out needs a "
            "statistic that takes weights, such as numpy.average."
        )

    def _read(self, answer: Any, *, leading: tuple[int, ...]) -> FloatArray:
        """Check what the function gave, and flatten it behind the axis of resamples."""
        try:
            array = np.asarray(answer, np.float64)
        except (TypeError, ValueError):
            raise InvalidInputType(
                f"The statistic gave {type(answer).__name__}: expected a number, or an array of "
                "numbers of always the same shape."
            ) from None
        if array.shape[: len(leading)] != leading:
            raise InvalidInput(
                f"The statistic gave the shape {array.shape} for {leading[0]} resamples at once: "
                "expected one answer for each along axis 0, computed along axis=1. Or set "
                "vectorized=False."
            )
        shape = array.shape[len(leading) :]
        if self.shape is None:
            self.shape = shape
        if shape != self.shape:
            raise InvalidInput(
                f"The statistic gave the shape {shape} after {self.shape}: expected always the "
                "same, whatever rows are drawn."
            )
        return array.reshape(*leading, -1)


def check_finite(values: FloatArray, what: str) -> None:
    """Refuse statistics that are not numbers, and say how many there are."""
    bad = ~np.isfinite(values).all(axis=1)
    if bad.any():
        raise InvalidInput(
            f"The statistic is not a finite number in {int(bad.sum())} of {len(values)} {what}, "
            f"first in number {int(np.argmax(bad))}. Expected a number for whatever rows are "
            "drawn: let it answer where a sample lacks a class or does not vary, or draw within "
            "strata."
        )
