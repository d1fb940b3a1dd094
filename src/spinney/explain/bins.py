"""The bins that a forest's own splits make: within one, no tree tells two values apart.

Asking a forest about bins loses nothing, and makes numbers, categories and missing values alike: a
split is a set of bins that go left.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from spinney.data.table import Kind, Table
from spinney.model import Tree, TreeForest
from spinney.typing import AnyArray, FloatArray

_MISSING_CATEGORY = 255
"""No category lies in this bin; it is that of missing ones."""


@dataclass(frozen=True, slots=True, eq=False)
class SplitBins:
    """The bins of one feature; the last is for missing values.

    Bin b of a number x is how many cuts are below x: (cuts[b-1], cuts[b]]. Categories have the bins
    of the model.
    """

    cuts: FloatArray
    bin_of_code: AnyArray | None
    """Of categories; None for numbers."""

    @property
    def missing(self) -> int:
        """The bin of missing values."""
        return len(self.cuts) + 1 if self.bin_of_code is None else _MISSING_CATEGORY

    def of(self, values: AnyArray) -> AnyArray:
        """Find the bins of numbers, or of codes of categories."""
        if self.bin_of_code is None:
            bins = np.searchsorted(self.cuts, values, side="left")
            bins[np.isnan(values)] = self.missing
        else:
            bins = np.append(self.bin_of_code, np.uint8(_MISSING_CATEGORY))[
                np.where((values < 0) | (values >= len(self.bin_of_code)), -1, values)
            ]
        return bins.astype(np.min_scalar_type(self.missing))

    def that_go_left(self, tree: Tree, node: int) -> AnyArray:
        """Tell for each bin whether it goes left at a node that splits on the feature."""
        if self.bin_of_code is None:
            last = np.searchsorted(self.cuts, tree.threshold[node], side="left")
            left: AnyArray = np.arange(self.missing + 1) <= last
        else:
            chosen = tree.category_sets[tree.category_set[node]]
            left = np.unpackbits(chosen, bitorder="little").astype(bool)
        left[self.missing] = bool(tree.missing_left[node])
        return left


class ForestBins:
    """The bins of the features that a forest looks at, by their positions."""

    def __init__(self, forest: TreeForest) -> None:
        arrays = forest.arrays
        split = arrays["feature"] >= 0
        features = arrays["feature"][split]
        order = np.argsort(features, kind="stable")
        thresholds = arrays["threshold"][split][order].astype(np.float64)
        found, starts = np.unique(features[order], return_index=True)
        ends = [*starts[1:], len(order)]
        self._of_feature: dict[int, SplitBins] = {
            feature: _bins(forest, feature, thresholds[start:end])
            for feature, start, end in zip(found.tolist(), starts, ends, strict=False)
        }

    def __getitem__(self, feature: int) -> SplitBins:
        """Give the bins of a feature; those of one nobody looks at are the values and missing."""
        return self._of_feature.get(feature, SplitBins(np.empty(0), None))

    def __contains__(self, feature: int) -> bool:
        return feature in self._of_feature

    @property
    def features(self) -> tuple[int, ...]:
        """The features that some split looks at."""
        return tuple(self._of_feature)

    def of_rows(self, table: Table, features: Iterable[int]) -> Mapping[int, AnyArray]:
        """Find the bins of all rows of a table that conforms, in some of the features."""
        columns = table.columns
        return {f: self[f].of(columns[f].dense(table.n_rows)) for f in features if f in self}


def _bins(forest: TreeForest, feature: int, thresholds: FloatArray) -> SplitBins:
    if forest.schema.kinds[feature] is Kind.CATEGORICAL:
        start, end = forest.arrays["category_start"][feature : feature + 2]
        return SplitBins(np.empty(0), forest.arrays["category_bins"][start:end])
    # A threshold of infinity tells missing values from all others, and no numbers apart.
    return SplitBins(np.unique(thresholds[thresholds < np.inf]), None)
