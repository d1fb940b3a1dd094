"""Ways to draw data again, as users name them."""

import abc
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import InvalidInput, InvalidParameter, nearest_names
from spinney.resampling.keys import read_codes, read_ranks
from spinney.resampling.resamples import (
    Arrays,
    BalancedResamples,
    BlockResamples,
    FewerResamples,
    GroupResamples,
    Resamples,
    RowResamples,
)
from spinney.resampling.resamples_free import (
    SeparateResamples,
    SimulatedResamples,
    WeightResamples,
)

BLOCKS = ("moving", "circular", "stationary")
"""Kinds of blocks."""


class Draw(abc.ABC):
    """A way to draw resamples."""

    pairs_rows = True
    """Whether the arrays stand side by side: one entry of each is a row."""

    @abc.abstractmethod
    def prepare(self, arrays: Arrays, seed: int, n_resamples: int) -> Resamples:
        """Say how these arrays are drawn."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DrawRows(Draw):
    """Rows with replacement, as many as there are.

    Parameters
    ----------
    strata : one label per row, or None; of each stratum as many rows are drawn as it has
    balanced : whether all resamples together shall hold every row equally often, which takes the
        chance out of the estimate of bias

    References
    ----------
    Davison, Hinkley and Schechtman (1986), Efficient bootstrap simulation, Biometrika 73.
    """

    strata: Any = None
    balanced: bool = False

    def prepare(self, arrays: Arrays, seed: int, n_resamples: int) -> Resamples:
        """Read the strata."""
        strata = None
        if self.strata is not None:
            strata = read_codes(self.strata, len(arrays[0]), "strata")
        if self.balanced:
            return BalancedResamples(arrays, strata, seed, n_resamples)
        return RowResamples(arrays, strata, seed)


@dataclass(frozen=True, eq=False, kw_only=True)
class DrawFewer(Draw):
    """Fewer rows than there are: right for some statistics where as many rows are not.

    Errors and intervals are scaled back to the size of the data: by (m / n) ** rate with
    replacement and by (m / (n - m)) ** rate without, and biases by m / n and m / (n - m). Intervals
    are "basic" ones as a default: of maxima and their like percentiles cover nothing.

    Parameters
    ----------
    size : m, the number of rows drawn
    replace : whether a row can be drawn again
    rate : the power of n by which the error of the statistic falls; 0.5 for means and all that is
        smooth, 1 for the largest of uniform numbers

    References
    ----------
    Bickel, Götze and van Zwet (1997), Resampling fewer than n observations, Statistica Sinica 7.
    Politis and Romano (1994), Large sample confidence regions based on subsamples under minimal
    assumptions, Annals of Statistics 22.
    """

    size: int
    replace: bool = True
    rate: float = 0.5

    def prepare(self, arrays: Arrays, seed: int, n_resamples: int) -> Resamples:
        """Check the size."""
        del n_resamples
        n = len(arrays[0])
        most = n if self.replace else n - 1
        if not _is_count(self.size) or not 1 <= self.size <= most:
            raise InvalidParameter(
                f"DrawFewer(size={self.size!r}): expected an integer from 1 to {most}, for {n} "
                f"rows drawn with{'' if self.replace else 'out'} replacement."
            )
        if not isinstance(self.rate, numbers.Real) or not 0 < float(self.rate) <= 2:
            raise InvalidParameter(
                f"DrawFewer(rate={self.rate!r}): expected a number above 0 and up to 2, such as "
                "0.5."
            )
        return FewerResamples(arrays, int(self.size), self.replace, float(self.rate), seed)


@dataclass(frozen=True, eq=False)
class DrawGroups(Draw):
    """Groups with replacement, as many as there are; rows of a group stay together.

    Parameters
    ----------
    groups : one label per row
    """

    groups: Any

    def prepare(self, arrays: Arrays, seed: int, n_resamples: int) -> Resamples:
        """Read the groups."""
        del n_resamples
        codes = read_codes(self.groups, len(arrays[0]), "groups")
        if codes.max() == 0:
            raise InvalidInput(
                "All rows are in the same group: one group drawn again is the same group. Give "
                "groups with at least two labels."
            )
        return GroupResamples(arrays, codes, seed)


@dataclass(frozen=True, eq=False, kw_only=True)
class DrawBlocks(Draw):
    """Blocks of consecutive rows, for rows that depend on their neighbours in time.

    Rows of the same time stay together, so resamples may differ in size where times do in rows.

    Parameters
    ----------
    length : times of a block (on average if "stationary"), which are rows where all times differ;
        None: the cube root of their number
    kind : "circular" has the first row follow the last, so that all rows are drawn equally often;
        "stationary" does too, and has blocks of random length; "moving" does not, so that rows
        near the ends are drawn less often
    time : a sortable key per row; None: rows are in the order of time

    References
    ----------
    Künsch (1989), The jackknife and the bootstrap for general stationary observations, Annals of
    Statistics 17. Politis and Romano (1994), The stationary bootstrap, JASA 89.
    """

    length: int | None = None
    kind: str = "circular"
    time: Any = None

    def prepare(self, arrays: Arrays, seed: int, n_resamples: int) -> Resamples:
        """Read the times, and check the length."""
        del n_resamples
        n_rows = len(arrays[0])
        ranks = np.arange(n_rows) if self.time is None else read_ranks(self.time, n_rows)
        n = int(ranks.max()) + 1
        if self.kind not in BLOCKS:
            raise InvalidParameter(
                f"DrawBlocks(kind={self.kind!r}): expected 'moving', 'circular' or 'stationary'."
                + nearest_names(str(self.kind), BLOCKS)
            )
        length = max(1, round(n ** (1 / 3))) if self.length is None else self.length
        if not _is_count(length) or not 1 <= length < n:
            raise InvalidParameter(
                f"DrawBlocks(length={length!r}): expected an integer from 1 to {n - 1}, for {n} "
                f"{'rows' if self.time is None else 'times'}: blocks must be shorter than the data."
            )
        return BlockResamples(arrays, ranks, int(length), self.kind, seed)


@dataclass(frozen=True, eq=False)
class DrawSeparately(Draw):
    """Every array is a sample of its own, drawn by itself: for statistics of two samples."""

    pairs_rows = False

    def prepare(self, arrays: Arrays, seed: int, n_resamples: int) -> Resamples:
        """Draw from each array."""
        del n_resamples
        return SeparateResamples(arrays, seed)


@dataclass(frozen=True, eq=False)
class DrawWeights(Draw):
    """Weights instead of rows, from the uniform Dirichlet distribution: the Bayesian bootstrap.

    The statistic must take ``weights`` or ``sample_weight``. Its distribution is the posterior
    under a prior that knows nothing.

    References
    ----------
    Rubin (1981), The Bayesian bootstrap, Annals of Statistics 9.
    """

    def prepare(self, arrays: Arrays, seed: int, n_resamples: int) -> Resamples:
        """Draw weights."""
        del n_resamples
        return WeightResamples(arrays, seed)


@dataclass(frozen=True, eq=False)
class DrawSimulated(Draw):
    """New samples from a model of the data: the parametric bootstrap.

    Parameters
    ----------
    simulate : takes a ``numpy.random.Generator``, gives an array of rows or a tuple of arrays
    """

    simulate: Callable[[np.random.Generator], Any]
    pairs_rows = False

    def prepare(self, arrays: Arrays, seed: int, n_resamples: int) -> Resamples:
        """Keep the sampler."""
        del n_resamples
        if not callable(self.simulate):
            raise InvalidParameter(
                f"DrawSimulated({self.simulate!r}): expected a function that takes a "
                "numpy.random.Generator and gives a sample."
            )
        return SimulatedResamples(arrays, self.simulate, seed)


_BY_NAME = {
    "rows": DrawRows(),
    "balanced": DrawRows(balanced=True),
    "separate": DrawSeparately(),
    "bayesian": DrawWeights(),
}


def read_draw(draw: Any) -> Draw:
    """Read a way to draw, or the name of one."""
    if isinstance(draw, Draw):
        return draw
    if isinstance(draw, str) and draw in _BY_NAME:
        return _BY_NAME[draw]
    hint = nearest_names(draw, _BY_NAME) if isinstance(draw, str) else ""
    raise InvalidParameter(
        f"draw={draw!r}: expected 'rows', 'balanced', 'separate', 'bayesian', or one of DrawRows, "
        f"DrawFewer, DrawGroups, DrawBlocks, DrawSimulated of spinney.resampling.{hint}"
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
