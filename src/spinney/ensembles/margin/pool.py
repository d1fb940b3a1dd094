"""The hypotheses a booster has seen, each once."""

import hashlib
from typing import Any

import numpy as np

from spinney.ensembles.weak.signed_rows import sum_product
from spinney.typing import AnyArray, FloatArray


class Pool:
    """Distinct columns of votes and who cast them; hypotheses are the same if their votes are."""

    def __init__(self) -> None:
        self.members: list[Any] = []
        self._columns: list[AnyArray] = []
        self._places: dict[bytes, int] = {}
        self._matrix: FloatArray = np.empty((0, 0))
        self._copied = 0  # columns that the matrix has

    def __len__(self) -> int:
        return len(self._columns)

    def find(self, votes: FloatArray) -> int | None:
        """Give the number of the column with these votes, if there is one."""
        return self._places.get(_digest(votes))

    def add(self, votes: FloatArray, member: Any) -> int:
        """Give the number of the column with these votes, which may be new."""
        place = self._places.setdefault(_digest(votes), len(self._columns))
        if place == len(self._columns):
            whole = votes.astype(np.int8)
            self._columns.append(whole if np.array_equal(whole, votes) else votes)
            self.members.append(member)
        return place

    def matrix(self) -> FloatArray:
        """Give all votes: a row per training row, a column per hypothesis."""
        n_columns = len(self._columns)
        if n_columns > self._matrix.shape[1]:
            self._matrix = np.empty((len(self._columns[0]), 2 * n_columns), order="F")
            self._copied = 0
        for place in range(self._copied, n_columns):
            self._matrix[:, place] = self._columns[place]
        self._copied = n_columns
        return self._matrix[:, :n_columns]

    def highest_edge(self, distribution: FloatArray) -> float:
        """Give the highest edge under a distribution, -1 of no hypotheses."""
        return max((sum_product(distribution, column) for column in self._columns), default=-1.0)


def _digest(votes: FloatArray) -> bytes:
    return hashlib.blake2b(votes.tobytes(), digest_size=16).digest()
