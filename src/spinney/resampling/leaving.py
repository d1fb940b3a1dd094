"""Statistics of the data without some of it: what jackknife and BCa are made of."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from spinney.randomness import RowBits, Stream, table_of_bits
from spinney.resampling.resamples import Arrays, Resamples, Sample, Units, smallest
from spinney.resampling.statistic import Statistic
from spinney.typing import AnyArray, FloatArray, IntArray

_MOST_UNITS = 1000
"""Units that are left out one by one to estimate an acceleration; of more, some together."""


class LeftOut(Resamples):
    """The arrays without some units, once for each set of units.

    ``sets`` gives for a range of numbers which units are left out: (numbers, units).
    """

    def __init__(self, arrays: Arrays, units: Units, sets: Callable[[range], IntArray]) -> None:
        super().__init__(arrays)
        self._units, self._sets = units, sets

    def samples(self, numbers: range) -> Iterator[Sample]:
        """Give one after the other."""
        places = self._units.places
        for rows in self._kept(numbers):
            yield Sample(tuple(a[rows] if p in places else a for p, a in enumerate(self.arrays)))

    def stacked(self, numbers: range) -> Sample | None:
        """Give some along a new first axis; None if they differ in length."""
        kept = self._kept(numbers)
        lengths = kept.sum(axis=1)
        if (lengths != lengths[0]).any():
            return None
        rows = np.nonzero(kept)[1].reshape(len(kept), -1)
        places = self._units.places
        return Sample(
            tuple(
                a[rows] if place in places else np.broadcast_to(a, (len(kept), *a.shape))
                for place, a in enumerate(self.arrays)
            )
        )

    def _kept(self, numbers: range) -> AnyArray:
        """Say which rows stay; (numbers, rows)."""
        left_out = np.zeros((len(numbers), self._units.number + 1), np.bool_)
        np.put_along_axis(left_out, self._sets(numbers), values=True, axis=1)
        return ~left_out[:, self._units.codes]  # the code -1 finds the last place: nothing there


def one_by_one(numbers: range) -> IntArray:
    """Leave out the unit of the same number."""
    return np.arange(numbers.start, numbers.stop)[:, np.newaxis]


def sampled_sets(n_units: int, size: int, seed: int) -> Callable[[range], IntArray]:
    """Leave out random sets of so many units."""

    def sets(numbers: range) -> IntArray:
        return smallest(table_of_bits(seed, Stream.ROWS, numbers, n_units), size)

    return sets


def leave_each_out(
    statistic: Statistic, arrays: Arrays, units: Sequence[Units]
) -> list[FloatArray]:
    """Give the statistic without each unit; an array (units, length of the answer) per stratum.

    A stratum of one unit cannot do without it, and tells nothing.
    """
    return [
        statistic.of_all(LeftOut(arrays, part, one_by_one), part.number)
        for part in units
        if part.number > 1
    ]


def some_together(units: Sequence[Units], *, seed: int) -> list[Units]:
    """Join units at random where there are too many to leave out one by one.

    Sums of the influence of several units have the same third moment in all, and a bit of noise.
    """
    joined = []
    for part in units:
        codes = part.codes
        if part.number > _MOST_UNITS:
            bits = RowBits(part.number)(seed, Stream.ROWS, range(part.number))
            places = np.argsort(np.argsort(bits)) % _MOST_UNITS
            codes = np.where(codes >= 0, places[codes], -1)
        joined.append(Units(part.places, codes))
    return joined


def variance_without(values: Sequence[FloatArray]) -> FloatArray:
    """Give the jackknife variance of a statistic from its values without each unit.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 6.0])
    >>> without = (x.sum() - x[:, np.newaxis]) / 2
    >>> np.allclose(variance_without([without]), x.var(ddof=1) / 3)
    True
    """
    parts = [(len(v) - 1) / len(v) * np.square(v - v.mean(axis=0)).sum(axis=0) for v in values]
    return np.asarray(np.sum(parts, axis=0))


def acceleration_without(values: Sequence[FloatArray]) -> FloatArray:
    """Give the acceleration of a statistic from its values without each unit; NaN if all agree.

    References
    ----------
    Efron (1987), Better bootstrap confidence intervals, JASA 82.
    """
    influence = np.concatenate([(len(v) - 1) / len(v) * (v.mean(axis=0) - v) for v in values])
    with np.errstate(invalid="ignore", divide="ignore"):
        skewness = (influence**3).sum(axis=0) / (influence**2).sum(axis=0) ** 1.5
    return np.asarray(skewness / 6)
