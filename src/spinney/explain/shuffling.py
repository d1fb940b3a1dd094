"""Tables with one column in another order of rows."""

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse

from spinney.data.schema import FeatureSchema
from spinney.data.sources.frame import is_pandas_frame
from spinney.data.sources.sparse import is_sparse
from spinney.data.table import Table
from spinney.errors import InvalidInput, InvalidInputType, shorten
from spinney.typing import AnyArray, TableLike


def under_names_of(schema: FeatureSchema, table: Table) -> Table:
    """Give a table that conforms the names of the features, so that it conforms without a word.

    Whatever was to be said about names was said when it was read; scorers read it many times.
    """
    columns = zip(schema.names, table.columns, strict=True)
    named = [replace(column, name=name) for name, column in columns]
    return Table(table.n_rows, named, names_given=schema.names_given)


def take_column(table: Table, feature: int | None, rows: AnyArray) -> Table:
    """Give a table with one column's values taken from other rows; the others are shared."""
    if feature is None:
        return table
    columns = list(table.columns)
    column = columns[feature]
    columns[feature] = replace(column, values=column.dense(table.n_rows)[rows], rows=None)
    return Table(table.n_rows, columns, names_given=table.names_given)


def columns_of_features(schema: FeatureSchema, found: Table) -> list[int]:
    """Find the place of each feature in a table that a model accepts."""
    if schema.names_given and found.names_given:
        missing = [name for name in schema.names if name not in found.names]
        if missing:
            raise InvalidInput(
                f"X has no column {shorten(missing)}, but the model was fitted on it. Pass the "
                "columns used in fit."
            )
        return [found.names.index(name) for name in schema.names]
    return list(range(len(schema.names)))


def shuffle_column(X: TableLike, place: int, rows: AnyArray) -> TableLike:
    """Copy a table of the user's library with one column's values taken from other rows.

    Examples
    --------
    >>> shuffle_column(np.array([[1, 2], [3, 4]]), 1, np.array([1, 0]))
    array([[1, 4],
           [3, 2]])
    """
    if isinstance(X, np.ndarray):
        array = X.copy()
        array[:, place] = X[rows, place]
        return array
    if is_sparse(X):
        return _shuffle_sparse(X, place, rows)
    if is_pandas_frame(X):
        frame = X.copy()
        frame.isetitem(place, X.iloc[:, place].array.take(rows))  # an array has no index to align
        return frame
    known = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(known, nw.DataFrame):
        name = known.columns[place]
        return known.with_columns(known[name][rows.tolist()].alias(name)).to_native()
    raise InvalidInputType(
        f"X is a {type(X).__name__}, and a scorer that is a plain function needs a table whose "
        "columns can be shuffled: a pandas, Polars or Arrow table, a NumPy array or a sparse "
        "matrix. Convert X, or give the name of a scorer, or one of sklearn.metrics.make_scorer."
    )


def _shuffle_sparse(X: Any, place: int, rows: AnyArray) -> Any:
    columns = X.tocsc()
    parts = [columns[:, :place], columns[:, [place]][rows], columns[:, place + 1 :]]
    return scipy.sparse.hstack(parts, format=X.format)
