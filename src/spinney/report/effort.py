"""How many rows the parts of a report may look at, so that large models do not make it slow."""

import math

from spinney.model import TreeForest

_MOST_NANOSECONDS = 2e9
"""Of answers in one part of the report, on two threads, more or less."""
_MOST_LEAF_ROWS = 50_000_000
"""Leaves times rows of Shapley values in one part: a few seconds."""
_FEWEST = 30


def rows_to_ask(trees: TreeForest | None, n_questions: int, most: int) -> int:
    """Bound the rows that a model is asked about, by how long it takes to walk down its trees.

    Walks take longer the deeper trees are and the less of them is in the caches: about as the
    square root of their leaves.

    Examples
    --------
    >>> rows_to_ask(None, 100, 5_000)
    5000
    """
    if trees is None or not len(trees):
        return most
    per_row = n_questions * math.sqrt(len(trees) * n_leaves(trees))
    return max(_FEWEST, min(most, int(_MOST_NANOSECONDS / max(1.0, per_row))))


def rows_to_explain(trees: TreeForest, most: int) -> int:
    """Bound the rows whose Shapley values are computed, each of which looks at every leaf."""
    return max(_FEWEST, min(most, _MOST_LEAF_ROWS // max(1, n_leaves(trees))))


def can_explain(trees: TreeForest, n_rows: int) -> bool:
    """Tell whether Shapley values of some rows are computed while a reader would wait."""
    return n_rows * n_leaves(trees) <= _MOST_LEAF_ROWS


def n_leaves(trees: TreeForest) -> int:
    """Count the leaves of all trees."""
    return (len(trees.arrays["feature"]) + len(trees)) // 2
