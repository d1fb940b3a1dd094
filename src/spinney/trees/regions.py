"""The boxes into which a tree divides the space of its features."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from spinney.data.table import Column
from spinney.model import TreeForest
from spinney.results import Result
from spinney.trees.structure import ways_to
from spinney.trees.words import TreeWords, left_levels, listed
from spinney.typing import AnyArray, FloatArray, TableLike


@dataclass(frozen=True, slots=True)
class Interval:
    """Numbers x with low < x <= high; None where there is no limit."""

    low: float | None = None
    high: float | None = None
    missing: bool = True
    """Whether missing values are in it too."""

    def holds(self, column: Column, n_rows: int) -> AnyArray:
        """Say which rows are in it; (n_rows,) of truth values."""
        values = column.dense(n_rows)
        inside = ~np.isnan(values)
        if self.low is not None:
            inside &= values > self.low
        if self.high is not None:
            inside &= values <= self.high
        return inside | (np.isnan(values) & self.missing)


@dataclass(frozen=True, slots=True)
class Categories:
    """Some categories, by the places of their levels in the schema."""

    codes: frozenset[int]
    levels: tuple[Any, ...]
    """The same in the user's words, in order."""
    missing: bool = True
    """Whether missing and unseen categories are among them."""

    def holds(self, column: Column, n_rows: int) -> AnyArray:
        """Say which rows are among them; (n_rows,) of truth values."""
        codes = column.dense(n_rows)
        return np.isin(codes, list(self.codes)) | ((codes < 0) & self.missing)


Side: TypeAlias = Interval | Categories


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """One box: the rows that fall into one leaf."""

    leaf: int
    """Number of the leaf, as ``apply`` tells it."""
    sides: Mapping[str, Side]
    """By the names of features; a feature that is not here may have any value."""
    value: FloatArray
    """Shares of classes, or means of targets."""
    weight: float
    """Of the training rows in it."""
    count: int


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Regions(Result):
    """All boxes of a tree: every row is in exactly one."""

    regions: tuple[Region, ...]
    words: TreeWords

    def __len__(self) -> int:
        return len(self.regions)

    def __getitem__(self, place: int) -> Region:
        return self.regions[place]

    def title(self) -> str:
        """Say how many there are."""
        return f"{len(self)} regions that share the space of {self._n_features} features"

    @property
    def _n_features(self) -> int:
        return self.words.forest.schema.n_features

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give a row for each box, as text."""
        return {
            "leaf": [region.leaf for region in self.regions],
            "region": [self.describe(region) for region in self.regions],
            "prediction": [self.words.answer(region.leaf) for region in self.regions],
            "weight": [region.weight for region in self.regions],
        }

    def describe(self, region: Region) -> str:
        """Write a box in a line."""
        places = {name: place for place, name in enumerate(self.words.forest.schema.names)}
        told = [self._side(name, places[name], side) for name, side in region.sides.items()]
        return " and ".join(told) or "everything"

    def _side(self, name: str, feature: int, side: Side) -> str:
        if isinstance(side, Categories):
            inside = f"{name} in {{{listed([str(level) for level in side.levels])}}}"
            is_empty = not side.levels
        else:
            low = "" if side.low is None else f"{self.words.number(side.low, feature)} < "
            high = "" if side.high is None else f" <= {self.words.number(side.high, feature)}"
            inside = f"{low}{name}{high}" if low or high else f"{name} is not missing"
            is_empty = side.low == np.inf
        if is_empty:
            return f"{name} is missing"
        return f"({inside} or missing)" if side.missing else inside

    def contains(self, X: TableLike) -> AnyArray:
        """Say which rows are in which boxes; (n_rows, n_regions), one True in each row."""
        forest = self.words.forest
        table = forest.conform(X, "the tree")
        columns = dict(zip(forest.schema.names, table.columns, strict=True))
        inside = np.ones((table.n_rows, len(self)), bool)
        for place, region in enumerate(self.regions):
            for name, side in region.sides.items():
                inside[:, place] &= side.holds(columns[name], table.n_rows)
        return inside


def tree_regions(forest: TreeForest, t: int = 0) -> Regions:
    """Find the boxes of one tree of a forest."""
    words = TreeWords.of(forest, t)
    tree = words.tree
    leaves = np.flatnonzero(tree.right < 0)
    starts, nodes = ways_to(tree, leaves)
    regions = []
    for place, leaf in enumerate(leaves):
        way = nodes[starts[place] : starts[place + 1]].tolist()
        sides: dict[str, Side] = {}
        for node, below in pairwise(way):
            name = forest.schema.names[tree.feature[node]]
            sides[name] = _narrowed(words, node, sides.get(name), goes_left=below == node + 1)
        value, weight = tree.values[leaf], float(tree.weight[leaf])
        regions.append(Region(int(leaf), sides, value, weight, int(tree.count[leaf])))
    return Regions(tuple(regions), words)


def _narrowed(words: TreeWords, node: int, side: Side | None, *, goes_left: bool) -> Side:
    """Give what is left of one side of a box on one side of a split."""
    tree, feature = words.tree, int(words.tree.feature[node])
    missing = bool(tree.missing_left[node]) == goes_left
    levels = words.forest.schema.levels[feature]
    if levels is not None:
        left = left_levels(words.forest, tree, node)
        chosen = frozenset(np.flatnonzero(left == goes_left).tolist())
        if isinstance(side, Categories):
            chosen, missing = chosen & side.codes, missing and side.missing
        return Categories(chosen, tuple(levels.values[code] for code in sorted(chosen)), missing)
    before = side if isinstance(side, Interval) else Interval()
    threshold, missing = float(tree.threshold[node]), missing and before.missing
    if goes_left:
        if threshold == np.inf and before.high is None:
            return replace(before, missing=missing)
        high = threshold if before.high is None else min(before.high, threshold)
        return replace(before, high=high, missing=missing)
    low = threshold if before.low is None else max(before.low, threshold)
    return replace(before, low=low, missing=missing)
