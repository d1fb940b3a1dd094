"""Ways of rows through trees."""

import numpy as np
from scipy import sparse

from spinney.ensembles.estimator import Estimator
from spinney.model import TreeForest
from spinney.typing import AnyArray, TableLike


def decision_paths(model: TreeForest, leaves: AnyArray) -> sparse.csr_matrix:
    """Say which nodes of all trees each row passes on its way to its leaves.

    Parameters
    ----------
    model : the trees
    leaves : (n_rows, n_trees) numbers of leaves within their trees

    Returns
    -------
    sparse matrix (n_rows, n_nodes)
    """
    starts = model.arrays["tree_start"]
    above = parents(model)
    nodes = (leaves + starts[:-1]).astype(np.int64)
    rows = np.repeat(np.arange(len(leaves)), leaves.shape[1])
    at = nodes.reshape(-1)
    passed_rows, passed_nodes = [], []
    while len(at):
        passed_rows.append(rows)
        passed_nodes.append(at)
        at = above[at]
        rows, at = rows[at >= 0], at[at >= 0]
    where = (np.concatenate(passed_rows), np.concatenate(passed_nodes))
    shape = (len(leaves), int(starts[-1]))
    ones = np.ones(len(where[0]), np.int64)
    return sparse.csr_matrix((ones, where), shape=shape)


def parents(model: TreeForest) -> AnyArray:
    """Give the parent of each node, counted over all trees; -1 for roots."""
    right = model.arrays["right"]
    start = np.repeat(model.arrays["tree_start"][:-1], np.diff(model.arrays["tree_start"]))
    inner = np.flatnonzero(right >= 0)
    above = np.full(len(right), -1, np.int64)
    above[inner + 1] = inner  # in preorder the left child comes next
    above[right[inner] + start[inner]] = inner
    return above


class PassedNodes(Estimator):
    """An estimator of trees that says which of their nodes rows pass."""

    model_: TreeForest

    def decision_path(self, X: TableLike) -> tuple[sparse.csr_matrix, AnyArray]:
        """Say which nodes each row passes.

        Returns
        -------
        indicator : sparse matrix (n_rows, n_nodes of all trees)
            1 where the row passes the node.
        n_nodes_ptr : (n_trees + 1,)
            Where the nodes of each tree begin.
        """
        leaves = self.apply(X)
        return decision_paths(self.model_, leaves), self.model_.arrays["tree_start"].copy()
