"""Trees whose nodes are split by planes: sums of several features against a threshold."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from spinney._native import _ext
from spinney.data.schema import FeatureSchema
from spinney.data.table import Kind, Table
from spinney.data.target import Target
from spinney.errors import InvalidModel
from spinney.model.model import Model, Policy, State
from spinney.model.tree import freeze
from spinney.typing import AnyArray, FloatArray, TableLike

NODE_ARRAYS = {"right": "<i4", "value": "<f8"}
TERM_ARRAYS = {"feature": "<i4", "normal": "<f8", "point": "<f8"}
PLANE_ARRAYS: Mapping[str, str] = {
    "tree_start": "<i8",
    **NODE_ARRAYS,
    "threshold": "<f8",
    **TERM_ARRAYS,
}
"""Arrays of trees of planes, and their types in a file; ``native/model/split_planes.hpp`` says what
they are. ``value`` has a row per node, ``feature``, ``normal`` and ``point`` a row per plane."""
TABLES = frozenset({"value", *TERM_ARRAYS})
"""Those with two dimensions."""


class PlaneTrees:
    """Trees of planes, checked by native code when they are made; read-only.

    A row goes left at a node where the sum of ``normal * (x - point)`` over the features of the
    plane is at most ``threshold``; a missing value adds nothing, as if it were the point's. Of a
    category x is a number from [0, 1) that the term draws for each level.
    """

    def __init__(self, arrays: Mapping[str, AnyArray], schema: FeatureSchema) -> None:
        self.arrays = {name: freeze(arrays[name]) for name in PLANE_ARRAYS}
        terms = self.arrays["feature"]
        shapes = {self.arrays[name].shape for name in TERM_ARRAYS}
        if terms.ndim != 2 or len(shapes) != 1 or not 1 <= terms.shape[1] <= len(schema.names):
            raise InvalidModel("planes must combine at least one feature and each at most once")
        if self.arrays["value"].ndim != 2 or not self.n_outputs:
            raise InvalidModel("nodes of trees of planes must have values")
        flat = {name: array.reshape(-1) for name, array in self.arrays.items()}
        flat["categorical"] = category_mask(schema.kinds).astype(np.uint8)
        self._native = _ext.SplitPlanes(flat, len(schema.names), self.width, self.n_outputs)

    @property
    def width(self) -> int:
        """Features of a plane."""
        return int(self.arrays["feature"].shape[1])

    @property
    def n_outputs(self) -> int:
        """Numbers in a leaf."""
        return int(self.arrays["value"].shape[1])

    def __len__(self) -> int:
        return len(self.arrays["tree_start"]) - 1

    def means(self, table: Table, *, n_threads: int) -> FloatArray:
        """Average the values of leaves over the trees; (n_rows, n_outputs). The table conforms."""
        return np.asarray(self._native.mean_values(dense_numbers(table), n_threads))

    def some(self, chosen: range) -> dict[str, AnyArray]:
        """Give the arrays of some trees."""
        starts, right = self.arrays["tree_start"], self.arrays["right"]
        planes = np.append(0, np.cumsum(right >= 0))[starts]
        return join_planes(
            [
                {
                    **{n: self.arrays[n][starts[t] : starts[t + 1]] for n in NODE_ARRAYS},
                    **{n: self.arrays[n][planes[t] : planes[t + 1]] for n in TERM_ARRAYS},
                    "threshold": self.arrays["threshold"][planes[t] : planes[t + 1]],
                    "tree_start": starts[t : t + 2] - starts[t],
                }
                for t in chosen
            ]
        )


def join_planes(parts: Sequence[Mapping[str, AnyArray]]) -> dict[str, AnyArray]:
    """Put the arrays of trees of planes behind each other."""
    if not parts:
        raise InvalidModel("there must be a tree")
    names = [name for name in PLANE_ARRAYS if name != "tree_start"]
    arrays = {name: np.concatenate([part[name] for part in parts]) for name in names}
    sizes = np.concatenate([np.diff(part["tree_start"]) for part in parts])
    arrays["tree_start"] = np.append(0, np.cumsum(sizes)).astype(np.int64)
    return arrays


def dense_numbers(table: Table) -> FloatArray:
    """Give a table as one matrix of doubles, row by row: of categories codes, NaN for missing."""
    is_category = category_mask([column.kind for column in table.columns])
    if table.matrix is not None and not is_category.any():
        return np.ascontiguousarray(table.matrix, np.float64)
    matrix = np.empty((table.n_rows, table.n_features))
    for place, column in enumerate(table.columns):
        matrix[:, place] = column.dense(table.n_rows)
    matrix[is_category & (matrix < 0)] = np.nan
    return matrix


def category_mask(kinds: Sequence[Kind]) -> AnyArray:
    """Tell which features are categories; (n_features,)."""
    return np.array([kind is Kind.CATEGORICAL for kind in kinds], bool)


class PlaneForest(Model):
    """The mean of trees of planes: class shares, or numbers."""

    kind: ClassVar[str] = "plane_forest"

    def __init__(
        self,
        schema: FeatureSchema,
        target: Target,
        arrays: Mapping[str, AnyArray],
        *,
        policy: Policy,
    ) -> None:
        self.schema, self.target, self.policy = schema, target, policy
        if Kind.CATEGORICAL in schema.kinds:
            raise InvalidModel("the planes of this forest cut no categories")
        self.trees = PlaneTrees(arrays, schema)
        is_known = target.task in ("classification", "regression")
        if not is_known or target.n_outputs != self.trees.n_outputs:
            raise InvalidModel("the leaves of the forest do not fit its target")

    def __len__(self) -> int:
        return len(self.trees)

    def __getitem__(self, index: Any) -> Any:
        chosen = range(len(self))[index]
        some = chosen if isinstance(chosen, range) else range(chosen, chosen + 1)
        return PlaneForest(self.schema, self.target, self.trees.some(some), policy=self.policy)

    def __repr__(self) -> str:
        return f"PlaneForest({len(self)} trees, planes of {self.trees.width} features)"

    def predictions(
        self, X: TableLike, *, n_threads: int = 1, estimator_name: str = "this model"
    ) -> FloatArray:
        """Probabilities (n_rows, n_classes), or expected values (n_rows, n_outputs)."""
        table = self.schema.conform(
            X, unseen=self.policy.unseen, extra=self.policy.extra, estimator_name=estimator_name
        )
        return self.trees.means(table, n_threads=n_threads)

    def to_state(self) -> State:
        """Take the model apart into plain text and arrays."""
        target_meta, target_arrays = self.target.to_state()
        meta, arrays = planes_state(self.trees, self.schema, self.policy)
        arrays |= {f"target/{name}": array for name, array in target_arrays.items()}
        return {"kind": self.kind, "target": target_meta, **meta}, arrays


def planes_state(trees: PlaneTrees, schema: FeatureSchema, policy: Policy) -> State:
    """Take trees of planes apart, with what reads their tables."""
    schema_meta, schema_arrays = schema.to_state()
    arrays = {f"planes/{name}": array for name, array in trees.arrays.items()}
    arrays |= {f"schema/{name}": array for name, array in schema_arrays.items()}
    policy_meta = {"unseen": policy.unseen, "extra": policy.extra}
    return {"schema": schema_meta, "policy": policy_meta}, arrays
