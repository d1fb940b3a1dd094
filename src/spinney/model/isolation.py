"""Isolation forests: how soon random splits set a row apart from all others."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from spinney.data.schema import FeatureSchema
from spinney.data.table import Table
from spinney.data.target import Target
from spinney.errors import InvalidModel
from spinney.model.elementary import exp_of, log_of
from spinney.model.forest import TreeForest
from spinney.model.model import Model, Policy, State
from spinney.model.projection import PlaneTrees, planes_state
from spinney.typing import AnyArray, FloatArray, TableLike

_LN_2 = 0.6931471805599453
_GRID = 2.0**32
"""Path lengths are whole multiples of one over this: any sum over trees is exact."""


def average_path_length(n_rows: AnyArray) -> FloatArray:
    """Give c(n): how deep a row lies on average in a random tree that sets n rows apart.

    2 H(n - 1) - 2 (n - 1) / n with the harmonic number H(i) ≈ ln i + 0.5772156649, as Liu, Ting
    and Zhou (2008) take it; c(2) = 1, c(1) = c(0) = 0, and straight lines between 1, 2 and 3 for
    weights that are no whole numbers.

    Examples
    --------
    >>> average_path_length(np.array([1.0, 2.0, 256.0])).round(4).tolist()
    [0.0, 1.0, 10.2448]
    """
    n = np.asarray(n_rows, np.float64)
    large = np.maximum(n, 3.0)
    harmonic = log_of(large - 1.0) + np.euler_gamma
    lengths = 2.0 * harmonic - 2.0 * (large - 1.0) / large
    small = np.interp(n, [1.0, 2.0, 3.0], [0.0, 1.0, 2.0 * (_LN_2 + np.euler_gamma) - 4.0 / 3.0])
    exact = np.where(n >= 3.0, lengths, small).reshape(n.shape)
    return np.asarray(np.rint(exact * _GRID) / _GRID)


def node_depths(right: AnyArray, tree_start: AnyArray) -> AnyArray:
    """Count the splits above each node of trees in preorder, level by level."""
    first = np.repeat(tree_start[:-1], np.diff(tree_start))
    depth = np.zeros(len(right), np.int64)
    level = tree_start[:-1]
    while len(level):
        inner = level[right[level] >= 0]
        level = np.concatenate([inner + 1, first[inner] + right[inner]])
        depth[level] = np.tile(depth[inner] + 1, 2)
    return depth


class Isolation(Model):
    """What both kinds of isolation forests are: mean path lengths that become scores."""

    sample_size: int
    """Rows each tree was grown on."""

    @abstractmethod
    def mean_path_lengths(self, table: Table, *, n_threads: int) -> FloatArray:
        """Give the mean depth of each row, with what its leaf would still have split; (n_rows,)."""

    def conform(self, X: TableLike, estimator_name: str) -> Table:
        """Read a table as the features this model was trained on."""
        return self.schema.conform(
            X, unseen=self.policy.unseen, extra=self.policy.extra, estimator_name=estimator_name
        )

    def scores(self, table: Table, *, n_threads: int = 1) -> FloatArray:
        """Give anomaly scores 2 ** (-length / c(sample_size)); (n_rows,). The table conforms."""
        lengths = self.mean_path_lengths(table, n_threads=n_threads)
        usual = float(average_path_length(np.array(self.sample_size)))
        halvings = lengths / usual if usual else np.ones_like(lengths)
        whole = np.rint(halvings)
        parts = exp_of((whole - halvings) * _LN_2)
        return np.asarray(np.ldexp(parts, -whole.astype(np.int64)))

    def predictions(
        self, X: TableLike, *, n_threads: int = 1, estimator_name: str = "this model"
    ) -> FloatArray:
        """Give anomaly scores, near 1 for rows that are soon set apart; (n_rows, 1)."""
        table = self.conform(X, estimator_name)
        return self.scores(table, n_threads=n_threads)[:, np.newaxis]

    def _check_size(self) -> None:
        size = self.sample_size
        if type(size) is not int or not 1 <= size < 2**53 or not len(self):
            raise InvalidModel(f"isolation trees on {size!r} rows; expected 1 or more, and a tree")
        if self.target.task != "unsupervised":
            raise InvalidModel("isolation trees have no target")


class IsolationTrees(Isolation):
    """Trees whose values are path lengths: the splits to a node and c of the rows in it."""

    kind: ClassVar[str] = "isolation_trees"

    def __init__(self, trees: TreeForest, sample_size: int) -> None:
        self.trees = trees
        self.sample_size = sample_size
        self.schema, self.target, self.policy = trees.schema, trees.target, trees.policy
        is_plain = trees.output.link == "identity" and trees.output.aggregate == "mean"
        if not is_plain or len(trees.arrays["baseline"]) != 1 or trees.arrays["baseline"].any():
            raise InvalidModel(
                "isolation trees have one path length each, of which the mean counts"
            )
        self._check_size()

    def __len__(self) -> int:
        return len(self.trees)

    def __getitem__(self, index: Any) -> Any:
        chosen = self.trees[index]
        is_forest = isinstance(chosen, TreeForest)
        return IsolationTrees(chosen, self.sample_size) if is_forest else chosen

    def __repr__(self) -> str:
        return f"IsolationTrees({len(self)} trees on {self.sample_size} rows)"

    def mean_path_lengths(self, table: Table, *, n_threads: int) -> FloatArray:
        """Give the mean path length of each row; (n_rows,)."""
        return self.trees.raw_scores(table, n_threads=n_threads)[:, 0]

    def to_state(self) -> State:
        """Take the trees apart."""
        meta, arrays = self.trees.to_state()
        return {"kind": self.kind, "trees": meta, "sample_size": self.sample_size}, arrays


class IsolationPlanes(Isolation):
    """Trees split by planes (Hariri, Carrasco Kind and Brunner 2019), with path lengths."""

    kind: ClassVar[str] = "isolation_planes"

    def __init__(
        self,
        schema: FeatureSchema,
        arrays: Mapping[str, AnyArray],
        sample_size: int,
        *,
        policy: Policy,
    ) -> None:
        self.schema, self.target, self.policy = schema, Target("unsupervised"), policy
        self.sample_size = sample_size
        self.trees = PlaneTrees(arrays, schema)
        if self.trees.n_outputs != 1:
            raise InvalidModel("a leaf of an isolation tree has one path length")
        self._check_size()

    def __len__(self) -> int:
        return len(self.trees)

    def __getitem__(self, index: Any) -> Any:
        chosen = range(len(self))[index]
        some = chosen if isinstance(chosen, range) else range(chosen, chosen + 1)
        arrays = self.trees.some(some)
        return IsolationPlanes(self.schema, arrays, self.sample_size, policy=self.policy)

    def __repr__(self) -> str:
        return f"IsolationPlanes({len(self)} trees on {self.sample_size} rows)"

    def mean_path_lengths(self, table: Table, *, n_threads: int) -> FloatArray:
        """Give the mean path length of each row; (n_rows,)."""
        return self.trees.means(table, n_threads=n_threads)[:, 0]

    def to_state(self) -> State:
        """Take the model apart into plain text and arrays."""
        meta, arrays = planes_state(self.trees, self.schema, self.policy)
        return {"kind": self.kind, "sample_size": self.sample_size, **meta}, arrays
