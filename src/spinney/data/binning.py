"""From a table to bins: one byte per value, learnt once and shared by everything that trains."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from spinney._native import _ext
from spinney.data.fixed_point import fixed_weights
from spinney.data.table import Column, Kind, Table
from spinney.typing import ByteArray, FloatArray, IntArray

MAX_VALUE_BINS = 255
"""Bins for values; one more holds missing values, and 256 fit a byte."""

SAMPLE_ROWS = 200_000
"""Larger tables take their cut points from about this many rows, chosen by a hash."""


@dataclass(frozen=True, slots=True, eq=False)
class NumericBins:
    """Bin b of a number x is how many cut points are below x: (cuts[b-1], cuts[b]]."""

    cuts: FloatArray

    @property
    def n_value_bins(self) -> int:
        """Bins that hold values; the next one holds missing values."""
        return len(self.cuts) + 1


@dataclass(frozen=True, slots=True, eq=False)
class CategoryBins:
    """The bin of each category code.

    Up to 255 categories have a bin each. Of more, the 254 heaviest do, and the others share one.
    """

    bin_of_code: ByteArray

    @property
    def n_value_bins(self) -> int:
        """Bins that hold values; the next one holds missing values."""
        return max(min(len(self.bin_of_code), MAX_VALUE_BINS), 1)


FeatureBins: TypeAlias = NumericBins | CategoryBins


@dataclass(frozen=True, slots=True, eq=False)
class BinnedTable:
    """A table as bytes: what trees grow on."""

    bins: ByteArray | _ext.SparseBins
    """(n_rows, n_features), C order; of a sparse table those of its stored values."""
    features: tuple[FeatureBins, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.bins.n_rows if isinstance(self.bins, _ext.SparseBins) else len(self.bins)

    def dense(self, n_threads: int = 1) -> ByteArray:
        """Give one byte per value: (n_rows, n_features), C order."""
        if isinstance(self.bins, _ext.SparseBins):
            return np.asarray(self.bins.dense(n_threads))
        return self.bins


@dataclass(frozen=True, slots=True, eq=False)
class Binner:
    """How every feature of a table becomes a byte.

    Cut points are the same for every number of threads, for float32 and float64 input, and for
    row k times or its weight times k; they are representable in float32 wherever such a number
    separates the neighbouring values.
    """

    features: tuple[FeatureBins, ...]

    @classmethod
    def learn(
        cls,
        table: Table,
        weights: FloatArray | None,
        *,
        max_bins: int = MAX_VALUE_BINS,
        n_threads: int = 1,
    ) -> "Binner":
        """Find the bins of a table; ``weights`` are positive, or None for one each."""
        integers = np.empty(0, np.int64)
        if weights is not None:
            integers, _ = fixed_weights(weights, bits=52)
        cuts = _ext.find_cuts(native_columns(table), integers, max_bins, SAMPLE_ROWS, n_threads)
        return cls(
            tuple(
                _category_bins(column, integers)
                if column.kind is Kind.CATEGORICAL
                else NumericBins(np.asarray(numbers))
                for column, numbers in zip(table.columns, cuts, strict=True)
            )
        )

    @classmethod
    def of_categories(cls, table: Table, weights: FloatArray | None) -> "Binner":
        """Give bins to categories and leave numbers whole: for trees that look at every value."""
        integers = np.empty(0, np.int64)
        if weights is not None:
            integers, _ = fixed_weights(weights, bits=52)
        return cls(
            tuple(
                _category_bins(column, integers)
                if column.kind is Kind.CATEGORICAL
                else NumericBins(np.empty(0))
                for column in table.columns
            )
        )

    def transform(self, table: Table, *, n_threads: int = 1) -> BinnedTable:
        """Bins of all rows."""
        features = [
            (feature.bin_of_code, feature.n_value_bins)
            if isinstance(feature, CategoryBins)
            else feature.cuts
            for feature in self.features
        ]
        columns = native_columns(table)
        if table.is_sparse:
            return BinnedTable(_ext.bin_sparse_columns(columns, features, n_threads), self.features)
        bins = _ext.bin_columns(columns, features, n_threads)
        return BinnedTable(np.asarray(bins), self.features)


def native_columns(table: Table) -> _ext.Columns:
    """Borrow the columns of a table for native code, without copying them."""
    columns = _ext.Columns(table.n_rows)
    if table.matrix is not None:
        columns.add_matrix(table.matrix)
        return columns
    for column in table.columns:
        if column.rows is not None:
            columns.add_sparse(column.rows, column.values)
        else:
            columns.add_column(column.values)
    return columns


def _category_bins(column: Column, weights: IntArray) -> CategoryBins:
    n_levels = 0 if column.levels is None else len(column.levels)
    if n_levels <= MAX_VALUE_BINS:
        return CategoryBins(np.arange(n_levels, dtype=np.uint8))
    known = column.values >= 0
    # Integer weights below 2**52 in all: float64 adds them exactly, in any order.
    row_weights = weights[known] if len(weights) else None
    weight_of = np.bincount(column.values[known], weights=row_weights, minlength=n_levels)
    heaviest = np.argsort(-weight_of, kind="stable")[: MAX_VALUE_BINS - 1]
    bin_of_code = np.full(n_levels, MAX_VALUE_BINS - 1, np.uint8)
    bin_of_code[np.sort(heaviest)] = np.arange(MAX_VALUE_BINS - 1, dtype=np.uint8)
    return CategoryBins(bin_of_code)
