"""Rows drawn without replacement, each by its own number."""

import numpy as np

from spinney.randomness import RowBits, Stream, random_bits
from spinney.typing import AnyArray

_BLOCK = 1 << 15
"""Rows hashed at a time: their bits stay in the cache."""


class RowDraws:
    """Draws a share of the rows anew in every round.

    Whether a row is drawn depends on the seed, the round and the row's number alone: neither on
    threads, nor on the other rows, nor on earlier rounds.

    Examples
    --------
    >>> RowDraws(8, share=0.5, seed=3).draw(0).tolist()
    [0, 2, 3, 4, 5, 6]
    """

    def __init__(
        self, n_rows: int, *, share: float, seed: int, candidates: AnyArray | None = None
    ) -> None:
        self._limit = np.uint64(min(round(share * 2.0**64), 2**64 - 1))
        self._seed = seed
        self._candidates = candidates
        self._bits_of = RowBits(min(n_rows, _BLOCK))
        self._bits = np.empty(n_rows, np.uint64)

    def draw(self, number: int) -> AnyArray:
        """Give the rows of one round, increasing; at least one."""
        seed = random_bits(self._seed, Stream.ROWS, number)
        n_rows = len(self._bits)
        for first in range(0, n_rows, _BLOCK):
            block = range(first, min(first + _BLOCK, n_rows))
            self._bits[block.start : block.stop] = self._bits_of(seed, Stream.ROWS, block)
        bits = self._bits if self._candidates is None else self._bits[self._candidates]
        places = np.flatnonzero(bits < self._limit)
        if not len(places):
            places = np.array([np.argmin(bits)])
        return (places if self._candidates is None else self._candidates[places]).astype(np.uint32)
