"""A sequence of trees whose values add up to raw scores."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, overload

import numpy as np

from spinney._native import _ext
from spinney.data.binning import CategoryBins, FeatureBins, native_columns
from spinney.data.row import RowReader
from spinney.data.schema import FeatureSchema
from spinney.data.table import Table
from spinney.data.target import Target
from spinney.errors import InvalidModel
from spinney.model.links import apply_link, classes_of_labels, is_link
from spinney.model.model import Model, Policy, State
from spinney.model.packed import PackedArrays
from spinney.model.tree import Tree, freeze
from spinney.typing import AnyArray, CodeArray, FloatArray, TableLike

NODE_ARRAYS: Mapping[str, str] = {
    "feature": "<i4",
    "right": "<i4",
    "missing_left": "|u1",
    "category_set": "<i4",
    "values": "<f8",
    "count": "<i8",
    "weight": "<f8",
    "gain": "<f8",
}
"""Arrays with one entry (``values``: one row) per node, and their types in a file.

``threshold`` is one more, as float32 when every threshold is one and float64 otherwise.
"""
_LEAVES_AT_ONCE = 1 << 20
"""Leaves of rows that staged scores keep at a time."""
_AT_ONCE = 1 << 16
"""Thresholds that are narrowed at a time."""
OTHER_ARRAYS: Mapping[str, str] = {
    "tree_start": "<i8",
    "tree_weight": "<f8",
    "tree_output": "<i4",
    "category_sets": "|u1",
    "baseline": "<f8",
    "categorical": "|u1",
    "category_start": "<i8",
    "category_bins": "|u1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """How the sums of trees become predictions."""

    link: str = "identity"
    aggregate: str = "sum"
    """``"sum"``, or ``"mean"``: divided by the sum of the tree weights, if there are trees."""


@dataclass(frozen=True, slots=True, eq=False)
class TreeSum:
    """Grown trees on top of a constant, before they are frozen."""

    arrays: Mapping[str, AnyArray]
    """Those of the nodes, ``category_sets`` and ``tree_start``, as ``join_trees`` makes them."""
    baseline: FloatArray
    """(n_outputs,)"""
    tree_output: CodeArray | None = None
    """The output each tree of scalar values adds to; None: trees of vectors that add to all."""
    n_threads: int = 1
    """Those that may check the trees."""


class TreeForest(Model):
    """Trees, their weights, a baseline and a link.

    ``raw_scores = baseline + sum over trees of weight * value``, in the order of the trees. Trees
    have scalar values, each adding to one output, or vector values that add to all outputs.

    The arrays (``forest.arrays``) are read-only and checked by native code when the forest is
    made: whatever file they come from, no walk can leave them.
    """

    kind: ClassVar[str] = "forest"

    def __init__(
        self,
        schema: FeatureSchema,
        target: Target,
        arrays: Mapping[str, AnyArray],
        *,
        output: Output,
        policy: Policy,
        thresholds: AnyArray | None = None,
        n_threads: int = 1,
    ) -> None:
        """``thresholds``: those of the arrays as float64, if they are at hand."""
        self.schema = schema
        self.target = target
        self.output = output
        self.policy = policy
        if not is_link(output.link) or output.aggregate not in ("sum", "mean"):
            raise InvalidModel("the outputs of the forest are not described correctly")
        if isinstance(arrays, PackedArrays):  # checked already, and unpacked when first used
            self.arrays: Mapping[str, AnyArray] = arrays
        else:
            frozen = {name: freeze(array) for name, array in arrays.items()}
            self.arrays = MappingProxyType(frozen)
            wide = None if thresholds is None else freeze(thresholds)
            self._native = self._checked(flat_arrays(frozen, wide), n_threads)
        is_mean = output.aggregate == "mean" and len(self)
        self.divisor = float(self.arrays["tree_weight"].sum()) if is_mean else 1.0
        """What the sum over trees is divided by to become a raw score."""

    @classmethod
    def from_trees(
        cls,
        grown: TreeSum,
        schema: FeatureSchema,
        target: Target,
        features: Sequence[FeatureBins],
        *,
        output: Output,
        policy: Policy,
        weights: FloatArray | None = None,
    ) -> "TreeForest":
        """Freeze grown trees; ``weights`` multiply their values, None: 1 each."""
        n_trees = len(grown.arrays["tree_start"]) - 1
        to_all = np.full(n_trees, -1, np.int32)
        arrays = dict(grown.arrays)
        arrays["threshold"] = narrowest(arrays["threshold"])
        arrays["tree_weight"] = np.ones(n_trees) if weights is None else weights
        arrays["tree_output"] = to_all if grown.tree_output is None else grown.tree_output
        arrays["baseline"] = np.asarray(grown.baseline, np.float64)
        arrays |= category_arrays(features)
        return cls(
            schema,
            target,
            arrays,
            output=output,
            policy=policy,
            thresholds=grown.arrays["threshold"],
            n_threads=grown.n_threads,
        )

    def __len__(self) -> int:
        return len(self.arrays["tree_weight"])

    @property
    def value_width(self) -> int:
        """Numbers in the value of a node; known without unpacking."""
        packed = self.arrays if isinstance(self.arrays, PackedArrays) else None
        return int(self.arrays["values"].shape[1]) if packed is None else packed.value_width

    @overload
    def __getitem__(self, index: slice) -> "TreeForest": ...
    @overload
    def __getitem__(self, index: int) -> Tree: ...
    def __getitem__(self, index: Any) -> Any:
        """``forest[:k]`` is the forest of the first k trees; ``forest[i]`` is a tree."""
        if isinstance(index, slice):
            return self._some(range(len(self))[index])
        return self._tree(range(len(self))[index])

    def __iter__(self) -> Iterator[Tree]:
        return (self._tree(t) for t in range(len(self)))

    def __repr__(self) -> str:
        return f"TreeForest({len(self)} trees, {len(self.arrays['feature'])} nodes)"

    @property
    def native(self) -> _ext.Forest:
        """The checked arrays, as native code takes them."""
        return self._native

    @functools.cached_property
    def _native(self) -> _ext.Forest:
        return self._checked(flat_arrays(self.arrays))

    def _checked(self, flat: Mapping[str, AnyArray], n_threads: int = 1) -> _ext.Forest:
        values = self.arrays["values"]
        if values.ndim != 2:
            raise InvalidModel("the values of the forest are not rows of numbers")
        n_outputs = len(self.arrays["baseline"])
        n_features = len(self.schema.names)
        return _ext.Forest(dict(flat), n_features, n_outputs, values.shape[1], n_threads)

    def raw_scores(self, table: Table, *, n_threads: int = 1) -> FloatArray:
        """Sum (or average) the trees; (n_rows, n_outputs). The table must conform."""
        return self._finished(table, "identity", n_threads)

    def _finished(self, table: Table, link: str, n_threads: int) -> FloatArray:
        columns, predict = native_columns(table), self._native.predict
        if classes_of_labels(link) is None:
            return np.asarray(predict(columns, self.divisor, link, n_threads))
        scores = np.asarray(predict(columns, self.divisor, "identity", n_threads))
        return apply_link(link, scores, n_threads=n_threads)

    def aggregated(self, sums: AnyArray) -> FloatArray:
        """Make raw scores of sums over the trees: what they are, or their mean; in place."""
        scores = np.asarray(sums)
        scores /= self.divisor
        return scores

    def staged_scores(
        self, table: Table, *, trees_per_stage: int, n_threads: int = 1
    ) -> Iterator[FloatArray]:
        """Sum the trees stage by stage, each sum from the one before; (n_rows, n_outputs) each.

        For sums of trees. The table must conform.
        """
        columns = native_columns(table)
        scores = np.tile(self.arrays["baseline"], (table.n_rows, 1))
        at_once = trees_per_stage * max(1, _LEAVES_AT_ONCE // max(1, table.n_rows))
        for first in range(0, len(self), at_once):
            some = self[first : first + at_once]
            leaves = np.asarray(some._native.leaf_ids(columns, n_threads))  # noqa: SLF001
            nodes = leaves + some.arrays["tree_start"][:-1]
            for tree, output in enumerate(some.arrays["tree_output"]):
                values = some.arrays["values"][nodes[:, tree]]
                to = slice(None) if output < 0 else slice(output, output + 1)
                scores[:, to] += some.arrays["tree_weight"][tree] * values
                if (tree + 1) % trees_per_stage == 0:
                    yield scores.copy()

    def leaf_ids(
        self, X: TableLike, *, n_threads: int = 1, estimator_name: str = "this model"
    ) -> CodeArray:
        """Find the leaf, numbered within its tree, that each row falls into; (n_rows, n_trees)."""
        return self.table_leaf_ids(self.conform(X, estimator_name), n_threads=n_threads)

    def table_leaf_ids(self, table: Table, *, n_threads: int = 1) -> CodeArray:
        """Find leaves as ``leaf_ids`` does, of a table that conforms."""
        return np.asarray(self._native.leaf_ids(native_columns(table), n_threads))

    def conform(self, X: TableLike, estimator_name: str) -> Table:
        """Read a table as the features this model was trained on."""
        return self.schema.conform(
            X, unseen=self.policy.unseen, extra=self.policy.extra, estimator_name=estimator_name
        )

    def predictions(
        self, X: TableLike, *, n_threads: int = 1, estimator_name: str = "this model"
    ) -> FloatArray:
        """Probabilities (n_rows, n_classes), or expected values (n_rows, n_outputs)."""
        return self.table_predictions(self.conform(X, estimator_name), n_threads=n_threads)

    def table_predictions(self, table: Table, *, n_threads: int = 1) -> FloatArray:
        """Predict as ``predictions`` does, of a table that conforms."""
        return self._finished(table, self.output.link, n_threads)

    @functools.cached_property
    def _rows(self) -> RowReader:
        return RowReader(self.schema, unseen=self.policy.unseen)

    def quick_predictions(self, X: TableLike) -> FloatArray | None:
        """Give ``predictions`` of a few plain rows, on this thread; None for any other table.

        Reading a table of one row properly takes ten times as long as predicting it.
        """
        numbers = self._rows.read_table(X)
        if numbers is None:
            return None
        return self.row_predictions(numbers).reshape(len(X), -1)

    @functools.cached_property
    def row_predictions(self) -> Callable[[Any], FloatArray]:
        """``predictions`` of numbers as ``RowReader`` reads them, one behind the other; flat."""
        predict, divisor, link = self._native.predict_rows, self.divisor, self.output.link
        if classes_of_labels(link) is None:
            return functools.partial(predict, divisor, link)
        n_raw = len(self.arrays["baseline"])

        def by_label(numbers: Any) -> FloatArray:
            scores = np.asarray(predict(divisor, "identity", numbers))
            return apply_link(link, scores.reshape(-1, n_raw)).reshape(-1)

        return by_label

    @functools.cached_property
    def expected_scores(self) -> FloatArray:
        """Raw scores when no feature is known: leaves by the weight of their rows; (n_outputs,)."""
        return freeze(self.aggregated(_ext.shapley_base(self._native)))

    def feature_gains(self) -> FloatArray:
        """Total gain of the splits on each feature, weighted by tree."""
        weight_of_node = np.repeat(self.arrays["tree_weight"], np.diff(self.arrays["tree_start"]))
        split = self.arrays["feature"] >= 0
        gains = (self.arrays["gain"] * weight_of_node)[split]
        features = self.arrays["feature"][split]
        totals: FloatArray = np.bincount(features, gains, len(self.schema.names)).astype(float)
        return totals

    def to_state(self) -> State:
        """Take the forest apart into plain text and arrays."""
        schema_meta, schema_arrays = self.schema.to_state()
        target_meta, target_arrays = self.target.to_state()
        meta = {
            "kind": self.kind,
            "schema": schema_meta,
            "target": target_meta,
            "output": {"link": self.output.link, "aggregate": self.output.aggregate},
            "policy": {"unseen": self.policy.unseen, "extra": self.policy.extra},
        }
        arrays = {f"forest/{name}": array for name, array in self.arrays.items()}
        arrays |= {f"schema/{name}": array for name, array in schema_arrays.items()}
        arrays |= {f"target/{name}": array for name, array in target_arrays.items()}
        return meta, arrays

    def _tree(self, t: int) -> Tree:
        return cut_tree(self.arrays, t)

    def _some(self, chosen: range) -> "TreeForest":
        arrays = dict(self.arrays)
        trees = [self._tree(t) for t in chosen]
        arrays |= join_trees(trees, width=self.value_width)
        arrays["threshold"] = narrowest(arrays["threshold"])
        arrays["tree_weight"] = self.arrays["tree_weight"][chosen]
        arrays["tree_output"] = self.arrays["tree_output"][chosen]
        return TreeForest(self.schema, self.target, arrays, output=self.output, policy=self.policy)


def trees_of(model: Model) -> TreeForest | None:
    """Give the trees of ours a model is made of, whatever it makes of their values; None: none."""
    parts = (model, getattr(model, "trees", None), getattr(model, "members", None))
    return next((part for part in parts if isinstance(part, TreeForest)), None)


def flat_arrays(
    arrays: Mapping[str, AnyArray], thresholds: AnyArray | None = None
) -> dict[str, AnyArray]:
    """Give the arrays as native code takes them: of one dimension, thresholds in full."""
    flat = {name: array.reshape(-1) for name, array in arrays.items()}
    wide = flat["threshold"].astype(np.float64) if thresholds is None else thresholds
    return flat | {"threshold": wide}


def cut_tree(arrays: Mapping[str, AnyArray], t: int) -> Tree:
    """Take one tree out of the arrays of a forest."""
    first, last = arrays["tree_start"][t : t + 2]
    nodes = {name: arrays[name][first:last] for name in (*NODE_ARRAYS, "threshold")}
    # Sets are numbered in the order of nodes, so those of a tree stand together.
    is_set = nodes["category_set"] >= 0
    used = nodes["category_set"][is_set]
    first_set = int(used[0]) if len(used) else 0
    own_number = nodes["category_set"] - first_set
    nodes["category_set"] = np.where(is_set, own_number, -1).astype(np.int32)
    sets = arrays["category_sets"][first_set : first_set + len(used)]
    return Tree(category_sets=sets, **nodes)


def join_trees(trees: Sequence[Tree], *, width: int) -> dict[str, AnyArray]:
    """Put the arrays of trees behind each other; ``width`` is the length of a value."""
    arrays = {
        name: np.concatenate([np.empty(0, kind), *(getattr(tree, name) for tree in trees)])
        for name, kind in NODE_ARRAYS.items()
        if name not in ("values", "category_set")
    }
    arrays["values"] = np.concatenate([np.empty((0, width)), *(tree.values for tree in trees)])
    arrays["threshold"] = np.concatenate([np.empty(0), *(tree.threshold for tree in trees)])
    sets = [np.empty((0, 32), np.uint8), *(tree.category_sets for tree in trees)]
    arrays["category_sets"] = np.concatenate(sets)
    is_set = np.concatenate([np.empty(0, bool), *(tree.category_set >= 0 for tree in trees)])
    arrays["category_set"] = np.where(is_set, np.cumsum(is_set) - 1, -1).astype(np.int32)
    arrays["tree_start"] = np.cumsum([0, *map(len, trees)], dtype=np.int64)
    return arrays


def narrowest(thresholds: AnyArray) -> AnyArray:
    """Thresholds as float32 if every one of them is a float32, unchanged otherwise.

    A part at a time: most often the first part tells, and fresh memory is dear.
    """
    narrow = np.empty(thresholds.shape, np.float32)
    for first in range(0, len(thresholds), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        with np.errstate(over="ignore"):
            narrow[part] = thresholds[part]
        if not np.array_equal(narrow[part], thresholds[part]):
            return thresholds
    return narrow


def category_arrays(features: Sequence[FeatureBins]) -> dict[str, AnyArray]:
    """Which features are categorical, and the bin of each category of each of them."""
    tables = [
        feature.bin_of_code if isinstance(feature, CategoryBins) else np.empty(0, np.uint8)
        for feature in features
    ]
    return {
        "categorical": np.array([isinstance(f, CategoryBins) for f in features], np.uint8),
        "category_start": np.cumsum([0, *map(len, tables)], dtype=np.int64),
        "category_bins": np.concatenate([np.empty(0, np.uint8), *tables]),
    }
