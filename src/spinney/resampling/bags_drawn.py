"""Bags that are drawn here, tree by tree, and told to the trees as counts."""

import abc

import numpy as np

from spinney._native import _ext
from spinney.data.fixed_point import exact_sum
from spinney.randomness import RowBits, Stream, random_bits
from spinney.resampling.bags import Bags
from spinney.typing import AnyArray, FloatArray

_MOST_UNITS = 30
"""Bits that the counts of all rows together may take: native sums hold them with room to spare."""
_CYCLE = 10
"""Trees over which a balanced bootstrap counts every row equally often."""


class DrawnBags(Bags):
    """Bags whose counts are drawn by a function of the seed and the tree."""

    leaves_rows_out = True

    def __init__(self, n_rows: int, *, seed: int) -> None:
        super().__init__(n_rows)
        self._seed = seed

    @abc.abstractmethod
    def count(self, tree: int) -> AnyArray:
        """Give how often one tree sees each row."""

    def counts(self, trees: range) -> AnyArray:
        """Give how often each of these trees sees each row; (n_trees, n_rows) uint32."""
        counts = np.empty((len(trees), self.n_rows), np.uint32)
        for place, tree in enumerate(trees):
            counts[place] = self.count(tree)
        return counts

    def given(self, trees: range) -> AnyArray:
        """Give the same: native code draws nothing."""
        return self.counts(trees)

    def _bits(self, tree: int, n: int) -> AnyArray:
        """Draw n times 64 bits for one tree."""
        return RowBits(n)(random_bits(self._seed, Stream.ROWS, tree), Stream.ROWS, range(n))

    def _places(self, tree: int, n: int, below: AnyArray | int) -> AnyArray:
        """Draw n places below a number, or below one number each."""
        high = self._bits(tree, n) >> np.uint64(32)
        return ((high * np.asarray(below, np.uint64)) >> np.uint64(32)).astype(np.int64)


class Subsample(DrawnBags):
    """Every tree draws rows without replacement.

    Examples
    --------
    >>> Subsample(10, 4, seed=0).counts(range(2)).sum(axis=1).tolist()
    [4, 4]
    """

    def __init__(self, n_rows: int, n_draws: int, *, seed: int) -> None:
        super().__init__(n_rows, seed=seed)
        self.n_draws = n_draws
        self.leaves_rows_out = n_draws < n_rows

    @property
    def size(self) -> float:
        """As many as are drawn."""
        return float(self.n_draws)

    def count(self, tree: int) -> AnyArray:
        """Count the rows with the smallest bits."""
        counts = np.zeros(self.n_rows, np.uint32)
        if self.n_draws < self.n_rows:
            chosen = np.argpartition(self._bits(tree, self.n_rows), self.n_draws)[: self.n_draws]
            counts[chosen] = 1
        else:
            counts[:] = 1
        return counts


class BalancedBootstrap(DrawnBags):
    """A bootstrap in which ten trees together draw every row exactly ten times.

    References
    ----------
    Davison, Hinkley and Schechtman (1986), Efficient bootstrap simulation, Biometrika 73.

    Examples
    --------
    >>> BalancedBootstrap(4, seed=0).counts(range(10, 20)).sum(axis=0).tolist()
    [10, 10, 10, 10]
    """

    def __init__(self, n_rows: int, *, seed: int) -> None:
        super().__init__(n_rows, seed=seed)
        self._cycle = (-1, np.empty(0, np.int64))

    def count(self, tree: int) -> AnyArray:
        """Cut ten copies of the rows, in random order, into ten bags."""
        cycle, place = divmod(tree, _CYCLE)
        if self._cycle[0] != cycle:
            order = np.argsort(self._bits(cycle, _CYCLE * self.n_rows), kind="stable")
            self._cycle = (cycle, order % self.n_rows)
        own = self._cycle[1][place * self.n_rows : (place + 1) * self.n_rows]
        return np.bincount(own, minlength=self.n_rows).astype(np.uint32)


class StratifiedBootstrap(DrawnBags):
    """Every tree draws as many rows of each stratum as it has, with replacement.

    Examples
    --------
    >>> strata = np.array([0, 1, 1, 1, 0])
    >>> counts = StratifiedBootstrap(strata, seed=0).counts(range(3))
    >>> counts[:, strata == 1].sum(axis=1).tolist()
    [3, 3, 3]
    """

    def __init__(self, strata: AnyArray, *, seed: int) -> None:
        super().__init__(len(strata), seed=seed)
        self._order = np.argsort(strata, kind="stable")
        sizes = np.bincount(strata)
        self._sizes = sizes[strata][self._order]
        self._starts = (np.cumsum(sizes) - sizes)[strata][self._order]

    def count(self, tree: int) -> AnyArray:
        """Draw for each row one of its stratum."""
        places = self._starts + self._places(tree, self.n_rows, self._sizes)
        return np.bincount(self._order[places], minlength=self.n_rows).astype(np.uint32)


class BlockBootstrap(DrawnBags):
    """Every tree draws blocks of consecutive rows, or of consecutive times with all their rows.

    References
    ----------
    Künsch (1989), The jackknife and the bootstrap for general stationary observations, Annals of
    Statistics 17.

    Examples
    --------
    >>> BlockBootstrap(6, 3, seed=1).counts(range(1)).tolist()
    [[1, 1, 1, 1, 1, 1]]
    """

    def __init__(
        self, n_rows: int, length: int, *, seed: int, times: AnyArray | None = None
    ) -> None:
        super().__init__(n_rows, seed=seed)
        self._times = times
        self._n_times = n_rows if times is None else int(times.max()) + 1
        self._length = min(length, self._n_times)

    @property
    def most(self) -> int:
        """As if the time of most rows were drawn every time."""
        largest = 1 if self._times is None else int(np.bincount(self._times).max())
        return largest * self._n_times

    def count(self, tree: int) -> AnyArray:
        """Draw blocks until there are as many times as the table has; the last may be cut."""
        n_blocks = -(-self._n_times // self._length)
        starts = self._places(tree, n_blocks, self._n_times - self._length + 1)
        drawn = (starts[:, np.newaxis] + np.arange(self._length)).reshape(-1)[: self._n_times]
        counts = np.bincount(drawn, minlength=self._n_times).astype(np.uint32)
        return counts if self._times is None else counts[self._times]


class GroupBootstrap(DrawnBags):
    """Every tree draws groups with replacement: rows of a group stay together.

    Examples
    --------
    >>> groups = np.array([0, 0, 1, 1, 2])
    >>> GroupBootstrap(groups, seed=3).counts(range(2)).tolist()
    [[2, 2, 0, 0, 1], [2, 2, 1, 1, 0]]
    """

    def __init__(self, groups: AnyArray, *, seed: int) -> None:
        super().__init__(len(groups), seed=seed)
        self._groups = groups
        self._n_groups = int(groups.max()) + 1
        self._largest = int(np.bincount(groups).max())

    @property
    def most(self) -> int:
        """As if the largest group were drawn every time."""
        return self._largest * self._n_groups

    def count(self, tree: int) -> AnyArray:
        """Draw as many groups as there are."""
        drawn = self._places(tree, self._n_groups, self._n_groups)
        return np.bincount(drawn, minlength=self._n_groups)[self._groups].astype(np.uint32)


class BayesianBootstrap(DrawnBags):
    """Every tree weighs rows by a draw of the uniform Dirichlet distribution, times their weights.

    Weights stand on a grid of at most 1/4096 of a row, and no row is without.

    References
    ----------
    Rubin (1981), The Bayesian bootstrap, Annals of Statistics 9.

    Examples
    --------
    >>> bags = BayesianBootstrap(1000, seed=0)
    >>> weights = bags.given(range(1)) / bags.unit
    >>> abs(float(weights.sum()) - 1000) < 1
    True
    """

    leaves_rows_out = False

    def __init__(self, n_rows: int, *, seed: int, weights: FloatArray | None = None) -> None:
        super().__init__(n_rows, seed=seed)
        self.unit = grid_of(n_rows, finest=12)
        self._weights = weights

    @property
    def most(self) -> int:
        """Rounding adds half a unit to a row, and the least is one."""
        return (self.unit + 2) * self.n_rows

    def count(self, tree: int) -> AnyArray:  # noqa: ARG002 - no tree leaves a row out
        """Give 1: every tree sees every row, some hardly."""
        return np.ones(self.n_rows, np.uint32)

    def given(self, trees: range) -> AnyArray:
        """Give the weights in units."""
        return np.stack([self._units(tree) for tree in trees])

    def _units(self, tree: int) -> AnyArray:
        # Of 53 bits, never 0: the logarithm is our own, the same on every machine.
        bits = (self._bits(tree, self.n_rows) >> np.uint64(11)).astype(np.float64)
        uniform = (bits + 0.5) * 2.0**-53
        shares = -_ext.exact_log_of(uniform)
        if self._weights is not None:
            shares = shares * self._weights
        total = float(np.cumsum(shares)[-1])  # one after the other: always the same sum
        units = np.rint(shares * (self.unit * self.n_rows / total))
        return np.maximum(units, 1).astype(np.uint32)


class WeighedBags(Bags):
    """Bags whose rows count by factors: those of rows, whatever tree it is.

    Whole factors are exact; others stand on a grid of at most 1/4096 of their mean.
    """

    def __init__(self, bags: Bags, factors: FloatArray) -> None:
        super().__init__(bags.n_rows)
        self._bags = bags
        self.leaves_rows_out = bags.leaves_rows_out
        whole = bool((factors == np.rint(factors)).all())
        if whole and factors.max() * bags.most < 2.0**_MOST_UNITS:
            self.unit = 1
            self._units = factors.astype(np.uint32)
            self._mean = float(factors.mean())
        else:
            relative = factors / factors.mean()
            self.unit = grid_of(int(relative.max() * bags.most) + 1, finest=12)
            self._units = np.maximum(np.rint(relative * self.unit), 1).astype(np.uint32)
            self._mean = 1.0

    @property
    def most(self) -> int:
        """As if every row were the heaviest."""
        return int(self._units.max()) * self._bags.most

    @property
    def size(self) -> float:
        """Rows by their factors."""
        return self._bags.size * self._mean

    def counts(self, trees: range) -> AnyArray:
        """Give how often each of these trees sees each row."""
        return self._bags.counts(trees)

    def given(self, trees: range) -> AnyArray:
        """Give counts times factors, in units."""
        return self._bags.counts(trees) * self._units


class ClassBalancedBags(Bags):
    """Bags in which the classes weigh the same, in every tree.

    ``classes`` are codes (n_rows,), or of several labels (n_rows, n_labels): weights multiply.

    Examples
    --------
    >>> bags = ClassBalancedBags(Bags(4), np.array([0, 1, 1, 1]))
    >>> (bags.given(range(1)) / bags.unit).round(3).tolist()
    [[2.0, 0.667, 0.667, 0.667]]
    """

    def __init__(self, bags: Bags, classes: AnyArray) -> None:
        super().__init__(bags.n_rows)
        self._bags, self._classes = bags, classes
        self.leaves_rows_out = bags.leaves_rows_out
        self._grid = grid_of(bags.most, finest=16)
        self.unit = self._grid * bags.unit

    @property
    def most(self) -> int:
        """The factors keep the sum, up to rounding."""
        return (self._grid + 1) * self._bags.most

    @property
    def size(self) -> float:
        """The factors keep the sum."""
        return self._bags.size

    def counts(self, trees: range) -> AnyArray:
        """Give how often each of these trees sees each row."""
        return self._bags.counts(trees)

    def given(self, trees: range) -> AnyArray:
        """Give counts times (all / (number of classes * those of the class)), in units."""
        counts = self._bags.given(trees)
        if not counts.size:  # native code would have drawn them
            counts = self._bags.counts(trees)
        for tree in range(len(counts)):
            row = counts[tree]
            factors = self._factors(row)
            units = np.maximum(np.rint(factors * self._grid), 1).astype(np.uint32)
            counts[tree] = row * units
        return counts

    def _factors(self, row: AnyArray) -> FloatArray:
        """Give the weight of each row's class; of several labels their product, the sum kept."""
        if self._classes.ndim == 1:
            return _class_factors(self._classes, row)
        product = np.ones(len(row))
        for classes in self._classes.T:
            product = product * _class_factors(classes, row)
        return product * (float(row.sum()) / exact_sum(row.astype(np.float64), product))


def _class_factors(classes: AnyArray, row: AnyArray) -> FloatArray:
    per_class = np.bincount(classes, row)  # whole numbers: exact in any order
    present = per_class > 0
    factors = np.zeros(len(per_class))
    factors[present] = row.sum() / (present.sum() * per_class[present])
    return factors[classes]


def grid_of(most: int, *, finest: int) -> int:
    """Give how many units a row may be divided into, if ``most`` rows are counted.

    Examples
    --------
    >>> grid_of(1000, finest=12), grid_of(2**25, finest=12)
    (4096, 16)
    """
    return int(2 ** max(0, min(finest, _MOST_UNITS - most.bit_length())))
