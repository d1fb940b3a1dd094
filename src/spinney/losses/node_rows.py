"""Which rows are in which node of a tree."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from spinney.typing import AnyArray


class RowsOfNodes(Protocol):
    """Which rows are in which node: node i has ``rows[first[i]:last[i]]``; nodes in preorder."""

    @property
    def rows(self) -> AnyArray:
        """Numbers of rows, uint32."""

    @property
    def first(self) -> AnyArray:
        """Where the rows of each node begin, int64."""

    @property
    def last(self) -> AnyArray:
        """Where they end."""


@dataclass(frozen=True, slots=True, eq=False)
class _OneNode:
    """A node of all rows."""

    rows: AnyArray
    first: AnyArray
    last: AnyArray


def all_rows(n_rows: int) -> RowsOfNodes:
    """Make a tree of one node, which holds all rows."""
    return _OneNode(np.arange(n_rows, dtype=np.uint32), np.array([0]), np.array([n_rows]))
