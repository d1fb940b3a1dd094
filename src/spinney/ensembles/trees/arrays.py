"""A tree under scikit-learn's names."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from spinney.data.target import Target
from spinney.model import TreeForest
from spinney.model.tree import Tree
from spinney.trees.structure import ways_to
from spinney.typing import AnyArray, CodeArray, FloatArray, TableLike

LEAF = -1
UNDEFINED = -2


@dataclass(frozen=True, slots=True, eq=False)
class TreeArrays:
    """The nodes of one tree as scikit-learn's ``tree_`` has them; nodes in preorder, read only.

    A row goes to ``children_left`` when its value is at most ``threshold``, and where
    ``missing_go_to_left`` when it has none. A split by categories has the threshold NaN: which
    categories go where, :meth:`~spinney.DecisionTreeClassifier.regions` tells.
    """

    model: TreeForest
    children_left: AnyArray
    """-1 for leaves."""
    children_right: AnyArray
    feature: AnyArray
    """-2 for leaves."""
    threshold: FloatArray
    """-2 for leaves."""
    missing_go_to_left: AnyArray
    value: FloatArray
    """(n_nodes, n_outputs, n_classes): shares of classes; of numbers (n_nodes, n_outputs, 1)."""
    impurity: FloatArray
    """NaN where it is not known: in trees of numbers that were taken from a model."""
    n_node_samples: AnyArray
    weighted_n_node_samples: FloatArray
    max_depth: int
    n_leaves: int

    @classmethod
    def of(cls, model: TreeForest, impurity: FloatArray) -> "TreeArrays":
        """Take the first tree of a forest."""
        tree: Tree = model[0]
        is_leaf = tree.right < 0
        by_set = tree.category_set >= 0
        threshold = np.where(by_set, np.nan, tree.threshold.astype(np.float64))
        arrays = {
            "children_left": np.where(is_leaf, LEAF, np.arange(1, len(tree) + 1)),
            "children_right": np.where(is_leaf, LEAF, tree.right).astype(np.int64),
            "feature": np.where(is_leaf, UNDEFINED, tree.feature).astype(np.int64),
            "threshold": np.where(is_leaf, UNDEFINED, threshold),
            "missing_go_to_left": tree.missing_left.astype(np.uint8),
            "value": _values(tree, model.target),
            "impurity": impurity.copy(),
            "n_node_samples": tree.count,
            "weighted_n_node_samples": tree.weight,
        }
        for array in arrays.values():
            array.flags.writeable = False
        return cls(model, **arrays, max_depth=tree.depth, n_leaves=tree.n_leaves)

    @property
    def node_count(self) -> int:
        """Nodes, inner ones and leaves."""
        return len(self.feature)

    @property
    def capacity(self) -> int:
        """Room for nodes: exactly theirs."""
        return len(self.feature)

    @property
    def n_features(self) -> int:
        """Features of the table."""
        return self.model.schema.n_features

    @property
    def n_outputs(self) -> int:
        """Targets of a row."""
        return int(self.value.shape[1])

    @property
    def n_classes(self) -> AnyArray:
        """Classes of each target; 1 for numbers."""
        several = self.model.target.label_classes
        if several is not None:
            return np.array([len(classes) for classes in several])
        return np.full(self.n_outputs, self.max_n_classes)

    @property
    def max_n_classes(self) -> int:
        """Most classes of a target."""
        return int(self.value.shape[2])

    def apply(self, X: TableLike) -> CodeArray:
        """Find the leaf of each row."""
        return self.model.leaf_ids(X)[:, 0]

    def predict(self, X: TableLike) -> FloatArray:
        """Give the values of each row's leaf; without the outputs' axis if there is one only."""
        values = self.value[self.apply(X)]
        return values[:, 0] if self.n_outputs == 1 else values

    def decision_path(self, X: TableLike) -> Any:
        """Mark the nodes each row passes; CSR of (n_rows, n_nodes)."""
        return path_matrix(self.model[0], self.apply(X))

    def compute_feature_importances(self, normalize: bool = True) -> FloatArray:
        """Give how much each feature lowers the impurity; shares, or of the weight of all rows."""
        gains = self.model.feature_gains()
        whole = gains.sum() if normalize else self.weighted_n_node_samples[0]
        return gains / (whole or 1.0)


def _values(tree: Tree, target: Target) -> FloatArray:
    """Give values as (n_nodes, n_outputs, n_classes); 0 for classes an output does not have."""
    if target.label_classes is None:
        n_classes = tree.values.shape[1] if target.classes is not None else 1
        return tree.values.reshape(len(tree), -1, n_classes)
    most = max(map(len, target.label_classes))
    values = np.zeros((len(tree), target.n_targets, most))
    for place, span in enumerate(target.spans()):
        values[:, place, : span.stop - span.start] = tree.values[:, span]
    return values


def path_matrix(tree: Tree, leaf_of_row: AnyArray) -> Any:
    """Mark the nodes on the way to each row's leaf; CSR of (n_rows, n_nodes)."""
    leaves, place = np.unique(leaf_of_row, return_inverse=True)
    starts, nodes = ways_to(tree, leaves)
    ones = np.ones(len(nodes), np.int64)
    ways = csr_array((ones, nodes, starts), shape=(len(leaves), len(tree)))
    return csr_matrix(ways[place])
