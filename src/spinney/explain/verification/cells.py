"""Cells: what a forest can tell apart of one feature, so that finitely many rows stand for all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from spinney._native import _ext
from spinney.data.calendar import CalendarPart
from spinney.data.derivation import Derivation, Derived, Rule
from spinney.data.table import Kind
from spinney.data.texts import TextPart
from spinney.model import TreeForest
from spinney.model.derived import DerivedForest
from spinney.model.leaf_rows import LeafRowForest
from spinney.typing import AnyArray, FloatArray

Verified: TypeAlias = TreeForest | DerivedForest | LeafRowForest
"""Models that claims are about."""
MISSING = -1
"""The cell of missing values."""
MISSING_BIN = 255
_ALL_BINS = np.full(4, np.iinfo(np.uint64).max, np.uint64)


_RANGES = {
    Rule.CALENDAR + CalendarPart.MONTH: (1.0, 12.0),
    Rule.CALENDAR + CalendarPart.DAY: (1.0, 31.0),
    Rule.CALENDAR + CalendarPart.WEEKDAY: (0.0, 6.0),
    Rule.CALENDAR + CalendarPart.HOUR: (0.0, 24.0),
    Rule.TEXT + TextPart.LENGTH: (0.0, np.inf),
    Rule.TEXT + TextPart.WORDS: (0.0, np.inf),
    Rule.TEXT + TextPart.DIGITS: (0.0, np.inf),
    Rule.TEXT + TextPart.CAPITALS: (0.0, 1.0),
    int(Rule.WORD): (0.0, np.inf),
}
"""The numbers that parts of dates and of texts can be, by rule."""


@dataclass(frozen=True, slots=True, eq=False)
class NumericCells:
    """Cell i holds the numbers in (cuts[i - 1], cuts[i]]; the last one all that are larger."""

    cuts: FloatArray
    low: float = -np.inf
    """Rows that are asked about have numbers from here …"""
    high: float = np.inf
    """… to here."""
    missing: bool = True

    def cell_of(self, x: float) -> int:
        """Find the cell of a number."""
        return int(np.searchsorted(self.cuts, x, side="left"))

    @property
    def order(self) -> list[int]:
        """The cells that are asked about, in the order of their numbers."""
        return list(range(self.cell_of(self.low), self.cell_of(self.high) + 1))

    def interval(self, first: int, last: int) -> tuple[float, float]:
        """Give the numbers of cells first … last as (above, up to], within what is asked."""
        above = self.cuts[first - 1] if first else -np.inf
        up_to = self.cuts[last] if last < len(self.cuts) else np.inf
        below_low = np.nextafter(self.low, -np.inf)
        return float(max(above, below_low)), float(min(up_to, self.high))


@dataclass(frozen=True, slots=True, eq=False)
class CategoryCells:
    """Every bin is a cell; ``levels`` are those of the feature that are asked about."""

    levels: Mapping[int, Sequence[Any]] = field(default_factory=dict)
    """The levels of each bin."""
    missing: bool = True

    @property
    def order(self) -> list[int]:
        """The cells that are asked about; categories have no order, but a list has."""
        return sorted(self.levels)


FeatureCells = NumericCells | CategoryCells


@dataclass(frozen=True, slots=True, eq=False)
class CellSpace:
    """The rows that are asked about, feature by feature, and the trees over their cells.

    Where trees split on derived features, cells are those of the derived ones, in any combination:
    more than there are rows. What holds for all of them holds for all rows.
    """

    model: Verified
    """What rows of the user are put through."""
    forest: TreeForest
    """Its trees."""
    features: tuple[FeatureCells, ...]
    arrays: Mapping[str, AnyArray]
    """Nodes of all trees as native code takes them, without the values."""

    @classmethod
    def of(cls, model: Verified) -> "CellSpace":
        """Make the cells of a model; no row is excluded yet."""
        forest = trees_behind(model)
        features = [_feature_cells(forest, f) for f in range(forest.schema.n_features)]
        if isinstance(model, DerivedForest):
            derived = model.derivation.features
            features = [_that_occur(*pair) for pair in zip(features, derived, strict=True)]
        arrays = {
            name: np.ascontiguousarray(forest.arrays[name])
            for name in ("tree_start", "feature", "right", "missing_left", "category_set")
        }
        arrays["category_sets"] = np.ascontiguousarray(forest.arrays["category_sets"].reshape(-1))
        arrays["cut"] = _cut_cells(forest, features)
        return cls(model, forest, tuple(features), arrays)

    @property
    def derivation(self) -> Derivation:
        """What the features of the trees are made of, where they are derived."""
        if isinstance(self.model, DerivedForest):
            return self.model.derivation
        raise AttributeError("the trees split on the features of the user")

    def owners_of(self, number: int) -> tuple[int, ...]:
        """Give the features of the user that a feature of the trees is made of."""
        if isinstance(self.model, DerivedForest):
            return self.model.derivation.features[number].places
        return (number,)

    def numbers_of(self, feature: int) -> list[int]:
        """Give the features of the trees that are made of a feature of the user."""
        return [n for n in range(len(self.features)) if feature in self.owners_of(n)]

    def plain_number(self, feature: int) -> int | None:
        """Give the feature of the trees that is one of the user as it is; None: there are others.

        Then a value of the user's feature moves several numbers of the trees at once.
        """
        if isinstance(self.model, DerivedForest):
            return self.model.derivation.plain.get(feature)
        return feature

    def ordered_number(self, feature: int) -> int | None:
        """Give the feature of the trees that is one of the user as it is, or a date beside parts.

        Rows whose date is within some ends have parts within all ends, so to leave the parts free
        is to ask about more rows than are meant, and about all of these.
        """
        number = self.plain_number(feature)
        if number is None and self.model.schema.kinds[feature] in (Kind.DATE, Kind.DATETIME):
            made = enumerate(self.derivation.features)
            copies = [n for n, f in made if f.rule == Rule.COPY and f.places == (feature,)]
            return copies[0] if copies else None
        return number

    def with_features(self, features: Sequence[FeatureCells]) -> "CellSpace":
        """Ask about other rows."""
        return replace(self, features=tuple(features))

    def contributions(self, output: int) -> FloatArray:
        """Give what each node, were it a leaf, adds to an output: exactly as prediction adds it.

        Trees that add to another output add zero; the sum of a row stays the same.
        """
        arrays = self.forest.arrays
        n_nodes = np.diff(arrays["tree_start"])
        values = arrays["values"][:, output if arrays["values"].shape[1] > 1 else 0]
        with np.errstate(over="ignore"):  # refused where it matters
            products: FloatArray = np.repeat(arrays["tree_weight"], n_nodes) * values
        adds = np.isin(arrays["tree_output"], (output, -1))
        return np.where(np.repeat(adds, n_nodes), products, 0.0)

    def boxes(self, output: int) -> _ext.Boxes:
        """Hand trees and rows to native code."""
        return _ext.Boxes(dict(self.arrays) | {"value": self.contributions(output)}, self._domain())

    def _domain(self) -> dict[str, AnyArray]:
        orders = [cells.order for cells in self.features]
        numeric = [isinstance(cells, NumericCells) for cells in self.features]
        bins = [
            _ALL_BINS if is_number else bins_as_words(order)
            for is_number, order in zip(numeric, orders, strict=True)
        ]
        pairs = list(zip(numeric, orders, strict=True))
        low = [order[0] if is_number else 0 for is_number, order in pairs]
        high = [order[-1] + 1 if is_number else 1 for is_number, order in pairs]
        return {
            "low": np.array(low, np.int32),
            "high": np.array(high, np.int32),
            "missing": np.array([cells.missing for cells in self.features], np.uint8),
            "bins": np.concatenate(bins),
        }


def bins_as_words(bins: Sequence[int]) -> AnyArray:
    """Write a set of bins as 256 bits."""
    words = [0, 0, 0, 0]
    for number in bins:
        words[number // 64] |= 1 << (number % 64)
    return np.array(words, np.uint64)


def bins_of_words(words: AnyArray) -> list[int]:
    """Read a set of bins."""
    return [b for b in range(256) if int(words[b // 64]) >> (b % 64) & 1]


def _feature_cells(forest: TreeForest, feature: int) -> FeatureCells:
    if forest.schema.kinds[feature] is Kind.CATEGORICAL:
        levels = forest.schema.levels[feature]
        first, last = forest.arrays["category_start"][feature : feature + 2]
        of_bin: dict[int, list[Any]] = {}
        for code, number in enumerate(forest.arrays["category_bins"][first:last].tolist()):
            of_bin.setdefault(number, []).append(levels.values[code] if levels else code)
        return CategoryCells(of_bin)
    used = forest.arrays["feature"] == feature
    cuts = np.unique(forest.arrays["threshold"][used].astype(np.float64))
    return NumericCells(cuts[cuts < np.inf])


def _that_occur(cells: FeatureCells, derived: Derived) -> FeatureCells:
    """Leave out numbers that no level, no date and no text leads to."""
    if isinstance(cells, CategoryCells) or derived.rule == Rule.COPY:
        return cells
    if derived.table is not None:  # missing and unseen levels have numbers, too
        low, high = float(derived.table.min()), float(derived.table.max())
        return NumericCells(cells.cuts, low, high, missing=False)
    low, high = _RANGES.get(derived.rule, (-np.inf, np.inf))
    return NumericCells(cells.cuts, low, high)


def trees_behind(model: Verified) -> TreeForest:
    """Give the trees of a model."""
    if isinstance(model, DerivedForest):
        return model.forest
    return model.trees if isinstance(model, LeafRowForest) else model


def _cut_cells(forest: TreeForest, features: Sequence[FeatureCells]) -> AnyArray:
    """Give the last cell that goes left at each node; with a threshold of +inf all do."""
    cut = np.zeros(len(forest.arrays["feature"]), np.int32)
    for number, cells in enumerate(features):
        if isinstance(cells, NumericCells):
            used = forest.arrays["feature"] == number
            cut[used] = np.searchsorted(cells.cuts, forest.arrays["threshold"][used])
    return cut
