"""Whether rows may be those a model learnt from: its first tree remembers how many fell where."""

import numpy as np

from spinney.data.table import Table
from spinney.model import TreeForest
from spinney.model.derived import DerivedForest


def may_hold_training_rows(
    forest: TreeForest | DerivedForest, table: Table, n_threads: int
) -> bool:
    """Tell whether every leaf of the first tree gets at least the rows it had in training.

    Rows that hold all training rows always do. Other rows, as many, hardly ever fill every one
    of a few dozen leaves.
    """
    if not len(forest) or table.n_rows < int(forest.arrays["count"][0]):
        return False
    start, end = forest.arrays["tree_start"][:2]
    known = forest.arrays["count"][start:end]
    is_leaf = forest.arrays["right"][start:end] < 0
    found = np.bincount(forest.leaf_ids(table, n_threads=n_threads)[:, 0], minlength=len(known))
    return bool(np.all(found[is_leaf] >= known[is_leaf]))
