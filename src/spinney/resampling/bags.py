"""How often each tree of a forest counts each row."""

from typing import Any

import numpy as np

from spinney._native import _ext
from spinney.data.fixed_point import fixed_weights
from spinney.typing import AnyArray, FloatArray


class Bags:
    """Every tree sees every row once.

    Subclasses say otherwise: by ``draws``, which native code makes for each tree, or by
    ``given``, which tells the counts. A bag depends on the seed and the number of its tree alone.

    Examples
    --------
    >>> Bags(3).counts(range(2)).tolist()
    [[1, 1, 1], [1, 1, 1]]
    """

    unit = 1
    """How many counts in ``given`` make one row: more than 1 where rows count in parts."""
    leaves_rows_out = False
    """Whether a tree has rows out of its bag."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows

    @property
    def most(self) -> int:
        """A bound on the sum of the counts of a tree."""
        return self.n_rows

    @property
    def size(self) -> float:
        """How many rows a tree sees, counting repetitions; the expected number if it varies."""
        return float(self.n_rows)

    @property
    def draws(self) -> tuple[int, AnyArray]:
        """How many rows native code draws for each tree (0: none), and their tickets."""
        return 0, np.empty(0, np.int64)

    def given(self, trees: range) -> AnyArray:  # noqa: ARG002 - subclasses tell trees apart
        """Give (n_trees, n_rows) counts; none where native code draws, or every row counts once."""
        return np.empty((0, self.n_rows), np.uint32)

    def counts(self, trees: range) -> AnyArray:
        """Give how often each of these trees sees each row; (n_trees, n_rows) uint32."""
        return np.ones((len(trees), self.n_rows), np.uint32)


class Bootstrap(Bags):
    """Every tree draws rows with replacement, each with a chance in proportion to its weight.

    Examples
    --------
    >>> bags = Bootstrap(1000, 1000, seed=0)
    >>> counts = bags.counts(range(3))
    >>> counts.sum(axis=1).tolist()
    [1000, 1000, 1000]
    """

    leaves_rows_out = True

    def __init__(
        self, n_rows: int, n_draws: int, *, seed: int, weights: FloatArray | None = None
    ) -> None:
        super().__init__(n_rows)
        self._seed = seed
        self._draws: tuple[int, Any] = (n_draws, np.empty(0, np.int64))
        if weights is not None:
            self._draws = (n_draws, np.cumsum(fixed_weights(weights, bits=62)[0]))

    @property
    def most(self) -> int:
        """As many as are drawn."""
        return self._draws[0]

    @property
    def size(self) -> float:
        """As many as are drawn."""
        return float(self._draws[0])

    @property
    def draws(self) -> tuple[int, AnyArray]:
        """How many rows are drawn, and where the tickets of each row end."""
        return self._draws

    def counts(self, trees: range) -> AnyArray:
        """Give how often each of these trees draws each row."""
        some = (trees.start, len(trees))
        return np.asarray(_ext.draw_repetitions(self.n_rows, self._draws, self._seed, some))
