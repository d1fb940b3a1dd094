"""One table for many fits: read, binned and ranked once, whoever trains on which of its rows."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spinney.data.binning import BinnedTable, Binner
from spinney.data.intake import read_table
from spinney.data.schema import FeatureSchema
from spinney.data.table import Column, Table
from spinney.data.weights import read_weights
from spinney.errors import InvalidInput
from spinney.resampling.folds import read_row_numbers
from spinney.trees.ranked import RankedTable
from spinney.typing import AnyArray, FloatArray, TableLike


@dataclass(slots=True, eq=False)
class _Recoded:
    """The table under one choice of categorical features, and what was made of it so far."""

    table: Table
    weights: FloatArray | None
    bins: dict[int, BinnedTable] = field(default_factory=dict)
    ranks: dict[int, RankedTable] = field(default_factory=dict)
    bits: AnyArray | None = None

    def binned(self, max_bins: int, n_threads: int) -> BinnedTable:
        if max_bins not in self.bins:
            binner = Binner.learn(self.table, self.weights, max_bins=max_bins, n_threads=n_threads)
            self.bins[max_bins] = binner.transform(self.table, n_threads=n_threads)
        return self.bins[max_bins]

    def ranked(self, max_bins: int, n_threads: int) -> RankedTable:
        if max_bins not in self.ranks:
            self.ranks[max_bins] = rank_table(self.table, self.weights, max_bins, n_threads)
        return self.ranks[max_bins]


class SharedTable:
    """A table that several estimators are fitted to, each on rows of its own.

    It is read once. Schemas, bins and ranks are made when an estimator first asks for them, from
    **all** rows and their weights, and kept; no label is looked at. A model fitted on some of the
    rows therefore has its cut points from all of them, and knows the categories of all of them; in
    everything else it depends on its own rows alone, and it is a model like any other.

    Where every feature has no more distinct values than bins, cut points do not depend on who
    made them. Then a fit on ``rows(numbers)`` gives the model of a fit on a copy of the rows:
    trees and forests to the last bit, boosting up to the middle of a gap (a threshold may lie
    elsewhere between two values of the rows, where only rows outside can tell).

    Boosting on a table with a date, a text or a category of more levels than bins derives features
    from its own rows: it is a fit on a copy of them, and shares no bins.

    Parameters
    ----------
    X : table of n rows
        It must not change while the shared table is used.
    sample_weight : n numbers, optional
        Positive; bins hold about as much weight each.

    Examples
    --------
    >>> from spinney import GradientBoostingRegressor, RandomForestRegressor
    >>> from spinney.datasets import make_friedman
    >>> data = make_friedman(1, 400, random_state=0)
    >>> shared = SharedTable(data.X)
    >>> train, test = np.arange(300), np.arange(300, 400)
    >>> models = GradientBoostingRegressor(max_iter=100), RandomForestRegressor(random_state=0)
    >>> for model in models:
    ...     fitted = model.fit(shared.rows(train), data.y[train])
    ...     print(fitted.score(shared.rows(test), data.y[test]) > 0.7)
    True
    True
    """

    def __init__(self, X: TableLike, sample_weight: Any = None) -> None:
        self.given = X
        """What the table was made of, for estimators that are not ours."""
        table = read_table(X)
        weights = read_weights(sample_weight, table.n_rows)
        if weights is not None and not weights.all():
            raise InvalidInput(
                f"sample_weight of a shared table is 0 in row {int(np.argmin(weights > 0))}: "
                "expected positive weights. Leave such rows out of X."
            )
        self._as_read = _Recoded(table, weights)
        self._recoded: dict[str, tuple[FeatureSchema, _Recoded]] = {}

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        return self._as_read.table.n_rows

    def rows(self, numbers: Any = None) -> "TableRows":
        """Choose rows, by their numbers, a mask or a slice; None: all. Values are not copied.

        Give the answer to ``fit``, with the targets of these rows, or to ``predict``.
        """
        if numbers is None or isinstance(numbers, slice):
            numbers = np.arange(self.n_rows)[slice(None) if numbers is None else numbers]
        what, remedy = "the rows of a shared table", "Choose at least one."
        chosen = read_row_numbers(numbers, what, self.n_rows, remedy)
        return TableRows(self, self._as_read, chosen)

    def recoded(self, categorical_features: Any) -> tuple[FeatureSchema, _Recoded]:
        """Give the schema and the table under a choice of categorical features."""
        key = repr(categorical_features)
        if not isinstance(categorical_features, str | None):
            key = repr(np.asarray(categorical_features).tolist())
        if key not in self._recoded:
            read = self._as_read
            schema, table = FeatureSchema.learn(read.table, categorical_features)
            self._recoded[key] = (schema, _Recoded(table, read.weights))
        return self._recoded[key]


class TableRows(Table):
    """Some rows of a shared table: a table like any other, copied when it is looked into.

    Forests and trees do not look into it, nor does boosting where it derives no features (from
    dates, texts or many levels). They train on the bins or ranks that the rows have in the shared
    table.
    """

    __slots__ = ("_copy", "_source", "numbers", "shared")

    def __init__(self, shared: SharedTable, source: _Recoded, numbers: AnyArray) -> None:
        super().__init__(len(numbers), (), names_given=source.table.names_given)
        self.shared = shared
        self.numbers = numbers
        """The rows, all different, by their places in the shared table."""
        self._source = source
        self._copy: Table | None = None

    @property
    def n_shared(self) -> int:
        """How many rows the shared table has."""
        return self.shared.n_rows

    @property
    def are_all(self) -> bool:
        """Whether these are all rows, in their order."""
        n = self.n_shared
        return len(self.numbers) == n and bool((self.numbers == np.arange(n)).all())

    @property
    def whole(self) -> Table:
        """All rows of the shared table."""
        return self._source.table

    def _copied(self) -> Table:
        if self._copy is None:
            self._copy = self.whole if self.are_all else self.whole.take(self.numbers)
        return self._copy

    @property
    def matrix(self) -> AnyArray | None:
        """The rows as one array, if the source was one; a copy."""
        return None if self.whole.matrix is None else self._copied().matrix

    @property
    def n_features(self) -> int:
        """How many columns there are."""
        return self.whole.n_features

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, given or made up."""
        return self.whole.names

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, copied."""
        return self._copied().columns

    def take(self, rows: Any) -> Table:
        """Choose some of the rows: still no copy, unless one is chosen twice."""
        chosen = self.numbers[rows]
        if len(chosen) and np.bincount(chosen).max() > 1:
            return self.whole.take(chosen)
        return TableRows(self.shared, self._source, chosen)

    def forget_unused_levels(self) -> "TableRows":
        """Keep all levels: those of the shared table are known to all who train on it."""
        return self

    def recoded(self, categorical_features: Any) -> tuple[FeatureSchema, "TableRows"]:
        """Give the schema under a choice of categorical features, and the rows recoded to it."""
        schema, source = self.shared.recoded(categorical_features)
        return schema, TableRows(self.shared, source, self.numbers)

    def binned(self, max_bins: int, n_threads: int) -> BinnedTable:
        """Give the bins of these rows: gathered from those of all rows, which are made once.

        A gather costs less than one round that would step over the rows left out.
        """
        shared = self._source.binned(max_bins, n_threads)
        if self.are_all:
            return shared
        if isinstance(shared.bins, np.ndarray):
            return BinnedTable(shared.bins.take(self.numbers, axis=0), shared.features)
        stored = self.whole.take(self.numbers)
        return Binner(shared.features).transform(stored, n_threads=n_threads)

    def ranked(self, max_bins: int, n_threads: int) -> RankedTable:
        """Give the ranks of these rows: gathered from those of all rows, which are made once."""
        shared = self._source.ranked(max_bins, n_threads)
        return shared.take(None if self.are_all else self.numbers, n_threads)

    def content_bits(self) -> AnyArray:
        """Give 64 bits of what stands in each row."""
        if self._source.bits is None:
            self._source.bits = mixed_bits(self.whole)
        bits: AnyArray = self._source.bits[self.numbers]
        return bits

    def as_given(self) -> TableLike:
        """Give the rows as the user gave the table, for estimators that are not ours."""
        from sklearn.utils import _safe_indexing  # noqa: PLC0415 - 0.1 s, for few only

        given = self.shared.given
        return given if self.are_all else _safe_indexing(given, self.numbers)


def rank_table(
    table: Table, weights: FloatArray | None, max_bins: int, n_threads: int
) -> RankedTable:
    """Rank a table, with bins for categories, and bins of ranks that hold about equal weight."""
    binner = Binner.of_categories(table, weights)
    return RankedTable(table, binner, weights=weights, max_bins=max_bins, n_threads=n_threads)


def ranks_of(
    table: Table, weights: FloatArray | None, max_bins: int, n_threads: int
) -> RankedTable:
    """Rank a table, or gather its rows from the ranked table they share."""
    if isinstance(table, TableRows):
        return table.ranked(max_bins, n_threads)
    return rank_table(table, weights, max_bins, n_threads)


def mixed_bits(table: Table) -> AnyArray:
    """Mix the values of each row to 64 bits."""
    if isinstance(table, TableRows):
        return table.content_bits()
    mixed = np.zeros(table.n_rows, np.uint64)
    for column in table.columns:
        values = column.dense(table.n_rows)
        if column.levels is not None:  # not their codes: these depend on who else is in the table
            mix_bits(mixed, np.append(column.levels.digests(), np.uint64(0))[values])
        else:
            mix_bits(mixed, bits_of(values))
    return mixed


def bits_of(values: AnyArray) -> AnyArray:
    """Give the bits of numbers as float64, equal numbers the same."""
    numbers = values.astype(np.float64)  # a copy
    numbers += 0.0  # one zero
    numbers[np.isnan(numbers)] = np.nan  # one way to be missing
    return numbers.view(np.uint64)


def mix_bits(mixed: AnyArray, bits: AnyArray) -> None:
    """Mix the bits of a column in: a step of MurmurHash3's finaliser, in place."""
    mixed += bits
    mixed ^= mixed >> np.uint64(33)
    mixed *= np.uint64(0xFF51AFD7ED558CCD)
    mixed ^= mixed >> np.uint64(29)
