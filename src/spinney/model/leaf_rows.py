"""A forest that keeps the training rows of its leaves: whole distributions instead of means."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from spinney._native import _ext
from spinney.data.binning import native_columns
from spinney.data.table import Table
from spinney.errors import InvalidModel
from spinney.model.forest import TreeForest
from spinney.model.model import Model, State
from spinney.model.tree import freeze
from spinney.typing import AnyArray, CodeArray, FloatArray, TableLike

LEAF_ROW_ARRAYS: Mapping[str, str] = {
    "entry_start": "<i8",
    "row": "<u4",
    "times": "<u4",
    "weight": "<f8",
    "target": "<f8",
    "place": "<i4",
}
"""Arrays beside the trees, and their types in a file: ``native/model/leaf_rows.hpp`` says what they
are, except for ``place``: the number of each row that was given to ``fit`` among those trained on,
which are sorted by their target; -1: of weight 0."""
_LEAVES_AT_ONCE = 1 << 22
"""Leaves of rows that are kept at a time."""


class LeafRowForest(Model):
    """Trees whose mean is a forest's prediction, and the training rows behind it.

    A training row counts for a prediction by the mean, over trees, of its share in the leaf:
    how often the tree drew it times its weight, over the same sum for all rows of the leaf
    (Meinshausen 2006). So the weighted mean of the targets is what the forest predicts.
    """

    kind: ClassVar[str] = "leaf_rows"

    def __init__(self, trees: TreeForest, arrays: Mapping[str, AnyArray]) -> None:
        self.trees = trees
        self.schema, self.target, self.policy = trees.schema, trees.target, trees.policy
        is_plain = (
            self.target.task == "regression"
            and self.target.n_outputs == 1
            and (trees.output.link, trees.output.aggregate) == ("identity", "mean")
            and bool(np.all(trees.arrays["tree_weight"] == 1.0))
        )
        if not is_plain or not len(trees) or trees.arrays["baseline"].any():
            raise InvalidModel("rows of leaves need trees whose mean is a number")
        self.arrays = {name: freeze(arrays[name]) for name in LEAF_ROW_ARRAYS}
        self._native = _ext.LeafRows({"tree_start": trees.arrays["tree_start"], **self.arrays})
        is_leaf = trees.arrays["right"] < 0
        has_rows = np.diff(self.arrays["entry_start"]) > 0
        if not np.array_equal(is_leaf, has_rows):
            raise InvalidModel("every leaf has rows, and nothing else has")
        self._check_places()

    def _check_places(self) -> None:
        place = self.arrays["place"]
        kept = np.sort(place[place >= 0])
        if place.min(initial=0) < -1 or not np.array_equal(kept, np.arange(self.n_rows)):
            raise InvalidModel("the rows given to fit are not those of the leaves")

    @classmethod
    def of_training(
        cls,
        trees: TreeForest,
        table: Table,
        counts: Iterable[AnyArray],
        facts: Mapping[str, AnyArray],
        *,
        n_threads: int = 1,
    ) -> "LeafRowForest":
        """Find the rows of each leaf.

        Parameters
        ----------
        trees : the forest
        table : training rows, sorted by their target
        counts : for each tree, how often it counts each row
        facts : ``weight``, ``target`` and ``place``, as the model keeps them
        """
        leaves = np.asarray(trees.native.leaf_ids(native_columns(table), n_threads))
        starts = trees.arrays["tree_start"]
        nodes, rows, times = [], [], []
        for tree, count in enumerate(counts):
            drawn = np.flatnonzero(count)
            own = leaves[drawn, tree]
            order = np.argsort(own, kind="stable")
            nodes.append(own[order] + starts[tree])
            rows.append(drawn[order].astype(np.uint32))
            times.append(count[drawn[order]])
        sizes = np.bincount(np.concatenate(nodes), minlength=int(starts[-1]))
        arrays: dict[str, AnyArray] = {
            "entry_start": np.append(0, np.cumsum(sizes)).astype(np.int64),
            "row": np.concatenate(rows),
            "times": np.concatenate(times),
            **facts,
        }
        return cls(trees, arrays)

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return len(self.arrays["target"])

    def __len__(self) -> int:
        return len(self.trees)

    def __getitem__(self, index: Any) -> Any:
        chosen = range(len(self))[index]
        if not isinstance(chosen, range):
            return self.trees[chosen]
        starts, entries = self.trees.arrays["tree_start"], self.arrays["entry_start"]
        sizes = [np.diff(entries[starts[t] : starts[t + 1] + 1]) for t in chosen]
        spans = [slice(entries[starts[t]], entries[starts[t + 1]]) for t in chosen]
        some = {
            name: np.concatenate([self.arrays[name][:0], *(self.arrays[name][s] for s in spans)])
            for name in ("row", "times")
        }
        some["entry_start"] = np.append(0, np.cumsum(np.concatenate([[], *sizes]))).astype(np.int64)
        return LeafRowForest(self.trees[index], {**self.arrays, **some})

    def misplaced(self, table: Table, *, n_threads: int = 1) -> int | None:
        """Give a row that is not in a leaf that keeps it; None if all that were drawn are.

        ``table`` has the rows as they were given to ``fit``, and conforms.
        """
        place = self.arrays["place"]
        given = np.empty(self.n_rows, np.int64)
        given[place[place >= 0]] = np.flatnonzero(place >= 0)
        leaves = np.asarray(self.trees.native.leaf_ids(native_columns(table), n_threads))
        starts = self.trees.arrays["tree_start"]
        nodes = np.repeat(np.arange(starts[-1]), np.diff(self.arrays["entry_start"]))
        trees = np.searchsorted(starts, nodes, side="right") - 1
        rows = given[self.arrays["row"]]
        wrong = leaves[rows, trees] + starts[trees] != nodes
        return int(rows[wrong.argmax()]) if wrong.any() else None

    def __repr__(self) -> str:
        return f"LeafRowForest({len(self)} trees, {self.n_rows} rows)"

    def predictions(
        self, X: TableLike, *, n_threads: int = 1, estimator_name: str = "this model"
    ) -> FloatArray:
        """Give expected values; (n_rows, 1)."""
        return self.trees.predictions(X, n_threads=n_threads, estimator_name=estimator_name)

    def quantiles(self, table: Table, levels: FloatArray, *, n_threads: int = 1) -> FloatArray:
        """Give quantiles of the distribution of each row; (n_rows, n_levels). The table conforms.

        A quantile is the smallest training target that, with all smaller ones, has that share of
        the weight.
        """
        return self._by_leaves(table, levels, None, n_threads)

    def oob_quantiles(self, table: Table, levels: FloatArray, *, n_threads: int = 1) -> FloatArray:
        """Give quantiles of the rows of ``fit`` by the trees that did not draw them, else NaN."""
        return self._by_leaves(table, levels, ~self.unseen(), n_threads)

    @property
    def leaves_rows_out(self) -> bool:
        """Whether some tree did not draw some row."""
        ends = self.arrays["entry_start"][self.trees.arrays["tree_start"]]
        return bool((np.diff(ends) < self.n_rows).any())

    def unseen(self) -> AnyArray:
        """Tell for each row given to ``fit`` which trees did not draw it; (n_given, n_trees)."""
        starts = self.arrays["entry_start"][self.trees.arrays["tree_start"]]
        tree = np.repeat(np.arange(len(self)), np.diff(starts))
        drawn = np.zeros((self.n_rows + 1, len(self)), bool)  # the last row: those of weight 0
        drawn[self.arrays["row"], tree] = True
        return np.asarray(~drawn[self.arrays["place"]])

    def samples(self) -> list[AnyArray]:
        """List the rows of each tree by their numbers in what was given, as often as counted."""
        given = np.flatnonzero(self.arrays["place"] >= 0)
        number = np.empty(self.n_rows, np.int64)
        number[self.arrays["place"][given]] = given
        ends = self.arrays["entry_start"][self.trees.arrays["tree_start"]]
        rows, times = number[self.arrays["row"]], self.arrays["times"]
        spans = [slice(*span) for span in itertools.pairwise(ends.tolist())]
        return [np.sort(np.repeat(rows[span], times[span])) for span in spans]

    def _by_leaves(
        self, table: Table, levels: FloatArray, drawn: AnyArray | None, n_threads: int
    ) -> FloatArray:
        at_once = max(1, _LEAVES_AT_ONCE // len(self))
        parts = []
        for first in range(0, max(table.n_rows, 1), at_once):
            some = slice(first, first + at_once)
            leaves = self._leaves(table if table.n_rows <= at_once else table.take(some), n_threads)
            if drawn is not None:
                leaves = np.where(drawn[some], np.int32(-1), leaves)
            parts.append(np.asarray(self._native.quantiles(leaves, levels, n_threads)))
        return np.concatenate(parts)

    def _leaves(self, table: Table, n_threads: int) -> CodeArray:
        return np.asarray(self.trees.native.leaf_ids(native_columns(table), n_threads))

    def weights(self, table: Table, row: int) -> tuple[AnyArray, FloatArray]:
        """Give the targets that count for one row of a table, increasing, and their weights."""
        leaves = self._leaves(table.take([row]), 1)[0]
        rows, weights = self._native.weights(np.ascontiguousarray(leaves))
        return self.arrays["target"][rows], np.asarray(weights)

    def to_state(self) -> State:
        """Take the trees and the rows apart."""
        meta, arrays = self.trees.to_state()
        state = {f"trees/{name}": array for name, array in arrays.items()}
        state |= {f"rows/{name}": array for name, array in self.arrays.items()}
        return {"kind": self.kind, "trees": meta}, state
