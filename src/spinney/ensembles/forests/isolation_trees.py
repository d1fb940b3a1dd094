"""Growing isolation trees: random splits of a few rows each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data.binning import Binner, CategoryBins, NumericBins
from spinney.data.table import Table
from spinney.ensembles.fitting import Reading
from spinney.ensembles.forests.isolation_draws import IsolationDraws
from spinney.errors import InvalidParameter
from spinney.model import Policy, Tree, TreeForest
from spinney.model.forest import Output, TreeSum, cut_tree, join_trees
from spinney.model.isolation import (
    Isolation,
    IsolationPlanes,
    IsolationTrees,
    average_path_length,
    node_depths,
)
from spinney.model.projection import category_mask, dense_numbers, join_planes
from spinney.progress import Progress, follow
from spinney.resampling.bags import Bags
from spinney.trees.planes import PlaneSettings, grow_random_planes
from spinney.trees.ranked import ForestSettings, RankedTable, TreeTarget
from spinney.trees.settings import TreeSettings
from spinney.typing import AnyArray, FloatArray

_COUNTS_AT_ONCE = 1 << 24
"""How often trees count rows: numbers that are kept at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationPlan:
    """What is to be grown."""

    n_trees: int
    """Those of an earlier fit among them."""
    draws: IsolationDraws
    extension_level: int
    n_threads: int
    policy: Policy
    verbose: int = 0

    @property
    def sample_size(self) -> int:
        """Rows of each tree."""
        return self.draws.sample_size

    @property
    def max_depth(self) -> int:
        """⌈log₂ sample_size⌉, at least 1."""
        return most_splits(self.sample_size)


def most_splits(sample_size: int) -> int:
    """Give the longest path of a tree on so many rows: ⌈log₂ sample_size⌉, at least 1.

    Examples
    --------
    >>> most_splits(256), most_splits(257), most_splits(1)
    (8, 9, 1)
    """
    return max((sample_size - 1).bit_length(), 1)


class DrawnRows(Bags):
    """Rows that were drawn beforehand, as counts."""

    def __init__(self, n_rows: int, drawn: AnyArray) -> None:
        super().__init__(n_rows)
        self._drawn = drawn

    def given(self, trees: range) -> AnyArray:
        """Give (n_trees, n_rows) counts of the trees drawn for."""
        counts = np.zeros((len(trees), self.n_rows), np.uint32)
        np.add.at(counts, (np.arange(len(trees))[:, np.newaxis], self._drawn), 1)
        return counts


def grow_isolation(
    table: Table, reading: Reading, plan: IsolationPlan, *, before: Isolation | None
) -> Isolation:
    """Grow the trees that are not there yet."""
    n_before = 0 if before is None else len(before)
    if plan.n_trees < n_before:
        raise InvalidParameter(
            f"n_estimators={plan.n_trees} of IsolationForest: there already are {n_before} trees. "
            "With warm_start=True give at least as many, or set warm_start=False to begin again."
        )
    _check_same_kind(plan, before)
    if before is not None and plan.n_trees == n_before:
        return before
    trees = range(n_before, plan.n_trees)
    if plan.extension_level:
        planes = before if isinstance(before, IsolationPlanes) else None
        return _grow_planes(table, reading, plan, trees, planes)
    return _grow_trees(
        table, reading, plan, trees, before.trees if isinstance(before, IsolationTrees) else None
    )


def _check_same_kind(plan: IsolationPlan, before: Isolation | None) -> None:
    """Refuse to add trees of another kind: they have no common score."""
    if before is None:
        return
    width = before.trees.width if isinstance(before, IsolationPlanes) else 1
    if before.sample_size != plan.sample_size or width != plan.extension_level + 1:
        raise InvalidParameter(
            f"Trees on {plan.sample_size} rows with extension_level={plan.extension_level} cannot "
            f"join trees on {before.sample_size} rows with extension_level={width - 1}: fit them "
            "alike, or set warm_start=False to begin again."
        )


def _grow_trees(
    table: Table, reading: Reading, plan: IsolationPlan, trees: range, old: TreeForest | None
) -> IsolationTrees:
    binner = Binner.of_categories(table, reading.weights) if old is None else _bins_of(old)
    parts = []
    with Progress(trees.stop, "tree", first=trees.start, verbose=plan.verbose) as progress:
        for some in _batches(table, plan, trees):
            parts.append(_grow_batch(table, binner, plan, some))
            progress.show(some.stop)
    arrays = parts[0]
    if len(parts) > 1 or old is not None:
        new = [tree for part in parts for tree in _cut(part)]
        arrays = join_trees([*(old or ()), *new], width=1)
    forest = TreeForest.from_trees(
        TreeSum(arrays, np.zeros(1)),
        reading.schema if old is None else old.schema,
        reading.target,
        binner.features,
        output=Output(aggregate="mean"),
        policy=plan.policy,
    )
    return IsolationTrees(forest, plan.sample_size)


def _bins_of(forest: TreeForest) -> Binner:
    """Give the bins of categories as trees have them: new trees must mean the same by them."""
    starts, bins = forest.arrays["category_start"], forest.arrays["category_bins"]
    is_category = forest.arrays["categorical"].astype(bool)
    return Binner(
        tuple(
            CategoryBins(bins[starts[f] : starts[f + 1]]) if own else NumericBins(np.empty(0))
            for f, own in enumerate(is_category)
        )
    )


def _batches(table: Table, plan: IsolationPlan, trees: range) -> list[range]:
    """Trees that are grown together: one each if they have features of their own."""
    at_once = max(1, _COUNTS_AT_ONCE // table.n_rows)
    if plan.draws.n_features < table.n_features:
        at_once = 1
    starts = range(trees.start, trees.stop, at_once)
    return [range(start, min(start + at_once, trees.stop)) for start in starts]


def _grow_batch(
    table: Table, binner: Binner, plan: IsolationPlan, trees: range
) -> dict[str, AnyArray]:
    """Grow some trees on the rows that one of them drew."""
    drawn = plan.draws.rows(trees)
    used = np.zeros(table.n_rows, bool)
    used[drawn] = True
    some, features = table.take(np.flatnonzero(used)), binner.features
    chosen = None
    if plan.draws.n_features < table.n_features:
        chosen = plan.draws.features(trees.start, table.n_features)
        some, features = some.select(chosen.tolist()), tuple(features[f] for f in chosen)
    ranked = RankedTable(some, Binner(features), max_bins=2, n_threads=plan.n_threads)
    # No two rows alike, so that no node is pure: what a split gains does not matter.
    target = TreeTarget.of_numbers(
        np.arange(some.n_rows, dtype=np.float64)[:, np.newaxis], None, criterion="squared"
    )
    limits = TreeSettings(
        max_depth=plan.max_depth,
        min_samples_split=0.0,
        min_samples_leaf=0.0,
        max_features=1,
        seed=plan.draws.seed,
    )
    settings = ForestSettings(tree=limits, search="random", shuffle=True)
    places = (np.cumsum(used) - 1)[drawn]
    arrays = ranked.grow(target, settings, DrawnRows(some.n_rows, places), trees)
    return _with_path_lengths(arrays, chosen)


def _with_path_lengths(arrays: dict[str, Any], chosen: AnyArray | None) -> dict[str, AnyArray]:
    depths = node_depths(arrays["right"], arrays["tree_start"])
    arrays["values"] = (depths + average_path_length(arrays["weight"]))[:, np.newaxis]
    arrays["gain"] = np.zeros(len(depths))
    if chosen is not None:
        feature = arrays["feature"]
        arrays["feature"] = np.where(feature < 0, -1, chosen[feature]).astype(np.int32)
    return arrays


def _cut(arrays: Mapping[str, AnyArray]) -> list[Tree]:
    return [cut_tree(arrays, t) for t in range(len(arrays["tree_start"]) - 1)]


def _grow_planes(
    table: Table, reading: Reading, plan: IsolationPlan, trees: range, old: IsolationPlanes | None
) -> IsolationPlanes:
    matrix = dense_numbers(table)
    batches = _batches(table, plan, trees)
    shown = follow(batches, len(batches), "batch of trees", verbose=plan.verbose)
    has_levels = category_mask(reading.schema.kinds if old is None else old.schema.kinds)
    parts = [_plane_batch(matrix, has_levels, plan, some) for some in shown]
    if old is not None:
        parts.insert(0, old.trees.arrays)
    schema = reading.schema if old is None else old.schema
    return IsolationPlanes(schema, join_planes(parts), plan.sample_size, policy=plan.policy)


def _plane_batch(
    matrix: FloatArray, has_levels: AnyArray, plan: IsolationPlan, trees: range
) -> dict[str, AnyArray]:
    n_features = matrix.shape[1]
    chosen = None
    if plan.draws.n_features < n_features:
        chosen = plan.draws.features(trees.start, n_features)
        matrix, has_levels = np.ascontiguousarray(matrix[:, chosen]), has_levels[chosen]
    settings = PlaneSettings(
        n_terms=plan.extension_level + 1, max_depth=plan.max_depth, seed=plan.draws.seed
    )
    arrays = grow_random_planes(
        matrix,
        plan.draws.rows(trees),
        settings,
        trees,
        categorical=has_levels,
        n_threads=plan.n_threads,
    )
    lengths = arrays.pop("depth") + average_path_length(arrays.pop("count"))
    if chosen is not None:
        arrays["feature"] = chosen[arrays["feature"]].astype(np.int32)
    threshold = np.zeros(len(arrays["feature"]))
    return {**arrays, "value": lengths[:, np.newaxis], "threshold": threshold}
