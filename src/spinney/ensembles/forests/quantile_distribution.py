"""A distribution of the target, as a forest predicts it for one row."""

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import InvalidParameter
from spinney.results import Result, read_only
from spinney.typing import AnyArray, FloatArray

_ROUNDING = 2.0**-40
"""Shares are sums of rounded numbers: one that falls short by this much is reached."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConditionalDistribution(Result):
    """What the target may be, given the features of one row: values and how likely each is.

    Examples
    --------
    >>> import numpy as np
    >>> targets, weights = np.array([0.0, 1.0, 1.0]), np.array([0.5, 0.25, 0.25])
    >>> coin = ConditionalDistribution.of_rows(targets, weights)
    >>> print(coin)
    Distribution over 2 values: mean 0.5, median 0
    value  weight  cdf
        0     0.5  0.5
        1     0.5    1
    >>> coin.cdf(0.3), coin.quantile(0.6)
    (0.5, 1.0)
    """

    values: FloatArray
    """Targets of the training rows that count, increasing."""
    weights: FloatArray
    """How likely each is; they add up to 1."""

    @classmethod
    def of_rows(cls, targets: FloatArray, weights: FloatArray) -> "ConditionalDistribution":
        """Join rows with equal targets; these are not decreasing."""
        starts = np.flatnonzero(np.append(True, np.diff(targets) > 0))
        return cls(read_only(targets[starts]), read_only(np.add.reduceat(weights, starts)))

    @property
    def mean(self) -> float:
        """Expected value: what a random forest predicts."""
        return float(np.cumsum(self.values * self.weights)[-1])

    @property
    def std(self) -> float:
        """Standard deviation."""
        return float(np.cumsum((self.values - self.mean) ** 2 * self.weights)[-1] ** 0.5)

    def cdf(self, value: Any) -> Any:
        """Give the chance that the target is at most a value, or each of several."""
        below = np.append(0.0, self._cumulative())
        places = np.searchsorted(self.values, np.asarray(value, np.float64), side="right")
        return below[places] if np.ndim(value) else float(below[places])

    def quantile(self, level: Any) -> Any:
        """Give the smallest value that is not exceeded with a chance, or each of several."""
        levels, is_one = read_levels(level)
        wanted = levels * (1.0 - _ROUNDING)
        places = np.searchsorted(self._cumulative(), wanted, side="left")
        found = self.values[np.minimum(places, len(self.values) - 1)]
        return float(found[0]) if is_one else found

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the values, how likely each is, and the chance of it or a smaller one."""
        return {
            "value": self.values.tolist(),
            "weight": self.weights.tolist(),
            "cdf": self._cumulative().tolist(),
        }

    def title(self) -> str:
        """Say in a line what the table shows."""
        return (
            f"Distribution over {len(self.values)} values: mean {self.mean:.4g}, median "
            f"{self.quantile(0.5):.4g}"
        )

    def _cumulative(self) -> FloatArray:
        sums = np.cumsum(self.weights)
        return np.asarray(sums / sums[-1])


def read_levels(quantiles: Any) -> tuple[FloatArray, bool]:
    """Read shares from 0 to 1; tells whether it was one number.

    Examples
    --------
    >>> read_levels([0.1, 0.9])
    (array([0.1, 0.9]), False)
    """
    is_one = isinstance(quantiles, numbers.Real)
    try:
        given = np.asarray(quantiles)
        usable = given.dtype.kind in "iuf"
        levels: AnyArray = np.atleast_1d(given).astype(np.float64) if usable else np.empty(0)
    except ValueError:  # lists of different lengths
        levels = np.empty(0)
    if levels.ndim != 1 or not len(levels) or not np.all((levels >= 0.0) & (levels <= 1.0)):
        raise InvalidParameter(
            f"quantiles={quantiles!r}: expected a number from 0 to 1, a list of them, or 'mean' "
            "where means can be had."
        )
    return np.ascontiguousarray(levels), is_one
