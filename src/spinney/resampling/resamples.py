"""Resamples: data drawn again, each a function of the seed and its own number."""

import abc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from spinney.randomness import Stream, table_of_bits
from spinney.typing import AnyArray, BoolArray, IntArray

Arrays: TypeAlias = tuple[AnyArray, ...]


class Sample(NamedTuple):
    """What a statistic is given: arrays of rows, and weights of the rows if they have any."""

    arrays: Arrays
    weights: AnyArray | None = None


class Scale(NamedTuple):
    """Factors that lead from resamples of another size to what a whole sample would show."""

    bias: float = 1.0
    spread: float = 1.0
    pivot: float = 1.0
    """For differences divided by the standard errors of the resamples themselves; NaN: none."""


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """What is drawn, or left out, as a whole: rows or groups of some of the arrays."""

    places: tuple[int, ...]
    """Which arrays."""
    codes: IntArray
    """The unit of each of their rows; -1: none of these."""

    @property
    def number(self) -> int:
        """How many there are."""
        return int(self.codes.max(initial=-1)) + 1


class Resamples(abc.ABC):
    """Some number of resamples of given arrays."""

    usual_method = "percentile"
    """How intervals are made if nobody says, and there are no units for BCa."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays

    @property
    def size(self) -> int:
        """About how many numbers a resample holds, to keep memory within bounds."""
        return sum(max(array.size, 1) for array in self.arrays)

    @property
    def whole(self) -> Sample:
        """The data itself."""
        return Sample(self.arrays)

    @property
    def scale(self) -> Scale:
        """How resamples compare with samples of the same size as the data."""
        return Scale()

    @property
    def units(self) -> Sequence[Units]:
        """What is drawn independently, in one entry per stratum; none if nothing can be left out.

        Only where resamples are as large as the data.
        """
        return ()

    @abc.abstractmethod
    def samples(self, numbers: range) -> Iterator[Sample]:
        """Give some resamples one after the other."""

    @abc.abstractmethod
    def stacked(self, numbers: range) -> Sample | None:
        """Give some resamples along a new first axis; None if they differ in length."""

    def omitted(self, numbers: range) -> BoolArray | None:
        """Say which units each resample lacks; (resamples, units). None if that has no meaning."""
        del numbers
        return None

    def again(self, sample: Sample, seed: int) -> "Resamples | None":
        """Say how one of the resamples would be drawn from; None if its rows do not tell."""
        del sample, seed
        return None


class IndexResamples(Resamples):
    """Resamples that are rows of the data, all arrays together."""

    @abc.abstractmethod
    def indices(self, numbers: range) -> IntArray | list[IntArray]:
        """Give the rows of some resamples: (resamples, rows), or a list if lengths differ."""

    def samples(self, numbers: range) -> Iterator[Sample]:
        """Give some resamples one after the other."""
        for index in self.indices(numbers):
            yield Sample(tuple(array[index] for array in self.arrays))

    def stacked(self, numbers: range) -> Sample | None:
        """Give some resamples along a new first axis; None if they differ in length."""
        index = self.indices(numbers)
        if isinstance(index, list):
            return None
        return Sample(tuple(array[index] for array in self.arrays))

    def omitted(self, numbers: range) -> BoolArray | None:
        """Say which units each resample lacks."""
        if not self.units:
            return None
        codes, n_units = joint_codes(self.units)
        lacking = np.ones((len(numbers), n_units), np.bool_)
        for row, index in zip(lacking, self.indices(numbers), strict=True):
            row[codes[index]] = False
        return lacking


class RowResamples(IndexResamples):
    """Rows drawn with replacement, as many of each stratum as it has."""

    def __init__(self, arrays: Arrays, strata: IntArray | None, seed: int) -> None:
        super().__init__(arrays)
        self.n_rows = len(arrays[0])
        self.seed = seed
        codes = np.zeros(self.n_rows, np.int64) if strata is None else strata
        self.order = np.argsort(codes, kind="stable")
        self.sizes = np.bincount(codes)
        """Of the strata."""
        self._starts = np.cumsum(self.sizes) - self.sizes

    @property
    def units(self) -> Sequence[Units]:
        """The rows, stratum by stratum."""
        places = tuple(range(len(self.arrays)))
        parts = []
        for start, size in zip(self._starts, self.sizes, strict=True):
            codes = np.full(self.n_rows, -1)
            codes[self.order[start : start + size]] = np.arange(size)
            parts.append(Units(places, codes))
        return parts

    def again(self, sample: Sample, seed: int) -> Resamples | None:
        """Draw its rows; not with strata, because it does not tell which row is in which."""
        return RowResamples(sample.arrays, None, seed) if len(self.sizes) == 1 else None

    def indices(self, numbers: range) -> IntArray:
        """Draw for each row one of its stratum."""
        bits = table_of_bits(self.seed, Stream.ROWS, numbers, self.n_rows)
        if len(self.sizes) == 1:
            return below(bits, self.n_rows)
        places = np.repeat(self._starts, self.sizes) + below(
            bits, np.repeat(self.sizes, self.sizes)
        )
        return self.order[places]


class BalancedResamples(RowResamples):
    """The same, where all resamples together hold every row equally often.

    Copies of the rows, in random order, are cut into resamples; a cycle of at least ten resamples
    at a time, so that memory stays within bounds.
    """

    def __init__(
        self, arrays: Arrays, strata: IntArray | None, seed: int, n_resamples: int
    ) -> None:
        super().__init__(arrays, strata, seed)
        self._n_resamples = n_resamples
        self._cycle = min(max(10, (1 << 20) // self.n_rows), n_resamples)
        self._known: tuple[int, IntArray] = (-1, np.empty((0, 0), np.int64))

    def indices(self, numbers: range) -> IntArray:
        """Take resamples from the cycles they are in."""
        drawn = np.empty((len(numbers), self.n_rows), np.int64)
        for place, number in enumerate(numbers):
            cycle, own = divmod(number, self._cycle)
            if self._known[0] != cycle:
                self._known = (cycle, self._draw(cycle))
            drawn[place] = self._known[1][own]
        return drawn

    def _draw(self, cycle: int) -> IntArray:
        length = min(self._cycle, self._n_resamples - cycle * self._cycle)
        n_bits = length * self.n_rows
        bits = table_of_bits(self.seed, Stream.ROWS, range(cycle, cycle + 1), n_bits)[0]
        parts = []
        for start, size in zip(self._starts, self.sizes, strict=True):
            own = bits[start * length : (start + size) * length]
            rows = self.order[start + np.argsort(own, kind="stable") % size]
            parts.append(rows.reshape(length, size))
        return np.concatenate(parts, axis=1)


class FewerResamples(IndexResamples):
    """Other numbers of rows than there are, with or without replacement."""

    usual_method = "basic"
    """Percentiles never cover the largest of uniform numbers: all resamples stay below it."""

    def __init__(self, arrays: Arrays, size: int, replace: bool, rate: float, seed: int) -> None:
        super().__init__(arrays)
        self._n_rows, self._n_drawn = len(arrays[0]), size
        self._replace, self._rate, self._seed = replace, rate, seed

    @property
    def scale(self) -> Scale:
        """Bias falls with the number of rows, spread with its power ``rate``."""
        m, n = self._n_drawn, self._n_rows
        ratio = m / n if self._replace else m / (n - m)
        pivot = float(np.sqrt(ratio * n / m)) if self._rate == 0.5 else np.nan
        return Scale(ratio, ratio**self._rate, pivot)

    def again(self, sample: Sample, seed: int) -> Resamples | None:
        """Draw as many rows as it has."""
        return RowResamples(sample.arrays, None, seed)

    def indices(self, numbers: range) -> IntArray:
        """Draw places, or the rows with the smallest bits."""
        if self._replace:
            bits = table_of_bits(self._seed, Stream.ROWS, numbers, self._n_drawn)
            return below(bits, self._n_rows)
        bits = table_of_bits(self._seed, Stream.ROWS, numbers, self._n_rows)
        return smallest(bits, self._n_drawn)


class GroupResamples(IndexResamples):
    """As many groups as there are, with replacement; the rows of a group stay together."""

    def __init__(self, arrays: Arrays, groups: IntArray, seed: int) -> None:
        super().__init__(arrays)
        self._codes, self._seed = groups, seed
        self._rows = _rows_by_code(groups)

    @property
    def units(self) -> Sequence[Units]:
        """The groups."""
        return [Units(tuple(range(len(self.arrays))), self._codes)]

    def indices(self, numbers: range) -> IntArray | list[IntArray]:
        """Draw groups, and put their rows one after the other."""
        n_groups = len(self._rows)
        drawn = below(table_of_bits(self._seed, Stream.ROWS, numbers, n_groups), n_groups)
        return _rows_drawn(self._rows, drawn)


class BlockResamples(IndexResamples):
    """Blocks of consecutive times, for rows that depend on their neighbours in time.

    Rows of the same time stay together, as those of a group do.
    """

    def __init__(self, arrays: Arrays, ranks: IntArray, length: int, kind: str, seed: int) -> None:
        super().__init__(arrays)
        self._rows = _rows_by_code(ranks)
        self._length, self._kind, self._seed = length, kind, seed

    def indices(self, numbers: range) -> IntArray | list[IntArray]:
        """Draw where blocks start, and how long they are if that is random."""
        n, length = len(self._rows), self._length
        if self._kind == "stationary":
            return _rows_drawn(self._rows, self._stationary(numbers))
        n_blocks = -(-n // length)
        n_starts = n if self._kind == "circular" else n - length + 1
        starts = below(table_of_bits(self._seed, Stream.ROWS, numbers, n_blocks), n_starts)
        places = (starts[:, :, np.newaxis] + np.arange(length)) % n
        return _rows_drawn(self._rows, places.reshape(len(starts), -1)[:, :n])

    def _stationary(self, numbers: range) -> IntArray:
        """Start anew at each time with a chance of 1/length, else go on to the next."""
        n = len(self._rows)
        bits = table_of_bits(self._seed, Stream.ROWS, numbers, n)
        starts = (bits & np.uint64(0xFFFFFFFF)) < np.uint64(round(2.0**32 / self._length))
        # Time 0 starts a block in any case: until the next start it is the latest one.
        since = np.maximum.accumulate(np.where(starts, np.arange(n), 0), axis=1)
        first = np.take_along_axis(below(bits, n), since, axis=1)
        return (first + np.arange(n) - since) % n


def _rows_by_code(codes: IntArray) -> list[IntArray]:
    """List the rows of code 0, of code 1, and so on."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes))[:-1])


def _rows_drawn(rows: list[IntArray], drawn: IntArray) -> IntArray | list[IntArray]:
    """Put the rows of the codes of each resample one after the other."""
    if len({len(own) for own in rows}) == 1:
        return np.array(rows)[drawn].reshape(len(drawn), -1)
    return [np.concatenate([rows[code] for code in codes]) for codes in drawn.tolist()]


def below(bits: AnyArray, limit: AnyArray | int) -> IntArray:
    """Make numbers below a limit, or one limit each, of the upper half of random bits."""
    high = bits >> np.uint64(32)
    places: IntArray = ((high * np.asarray(limit, np.uint64)) >> np.uint64(32)).astype(np.int64)
    return places


def smallest(bits: AnyArray, n_drawn: int) -> IntArray:
    """Give the places of the smallest bits in every row, in increasing order."""
    return np.sort(np.argpartition(bits, n_drawn - 1, axis=1)[:, :n_drawn], axis=1)


def joint_codes(units: Sequence[Units]) -> tuple[IntArray, int]:
    """Give the units of several strata of the same rows different codes, and their number."""
    codes, n_units = np.empty(len(units[0].codes), np.int64), 0
    for part in units:
        own = part.codes >= 0
        codes[own] = part.codes[own] + n_units
        n_units += part.number
    return codes, n_units
