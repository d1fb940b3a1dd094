"""What figures are given: results, or several of them by name."""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from spinney.data.intake import read_table
from spinney.data.table import Column, Table
from spinney.errors import InvalidInput, InvalidInputType
from spinney.explain.choosing import find_place
from spinney.explain.shapley import ShapValues
from spinney.typing import FloatArray, TableLike

R = TypeVar("R")


def one_result(found: Any, kind: type[R], made_by: str) -> R:
    """Give the result, or say which function makes one."""
    if isinstance(found, kind):
        return found
    raise InvalidInputType(
        f"found is a {type(found).__name__}: expected a {kind.__name__}. Pass what {made_by} gives."
    )


def named_results(found: Any, kind: type[R], made_by: str) -> dict[str, R]:
    """Give results by their names; a single one has the name ""."""
    if isinstance(found, Mapping):
        if not found:
            raise InvalidInput(f"found is empty: expected at least one {kind.__name__}.")
        return {str(name): one_result(one, kind, made_by) for name, one in found.items()}
    return {"": one_result(found, kind, made_by)}


def explained_table(X: TableLike, found: ShapValues) -> Table:
    """Read the rows that were explained, with the features in their order."""
    table = read_table(X)
    n_rows, n_features, _ = found.values.shape
    if table.n_rows != n_rows:
        raise InvalidInput(
            f"X has {table.n_rows} rows and the Shapley values are of {n_rows}: expected the rows "
            "that were explained."
        )
    columns = list(table.columns)
    if set(found.feature_names) <= {column.name for column in columns}:
        by_name = {column.name: column for column in columns}
        columns = [by_name[name] for name in found.feature_names]
    elif len(columns) != n_features:
        raise InvalidInput(
            f"X has {len(columns)} columns, none of them or not all named as the {n_features} "
            "features: expected the table that was explained."
        )
    return Table(table.n_rows, columns, names_given=True)


def one_output(found: ShapValues, output: Any) -> tuple[int, str]:
    """Find the place and the name of an output; None is the only one."""
    names = found.output_names
    if output is None and len(names) > 1:
        raise InvalidInput(
            f"output=None: there are {len(names)} outputs ({', '.join(names[:10])}). Choose one by "
            "its name or its position."
        )
    place = 0 if output is None else find_place(output, names, "output", "output")
    return place, names[place]


def ranks_of(column: Column, n_rows: int) -> FloatArray:
    """Give where each value stands among the others, from 0 to 1; NaN: missing, or no number."""
    if column.levels is not None:
        return np.full(n_rows, np.nan)
    values = column.dense(n_rows).astype(np.float64)
    known = ~np.isnan(values)
    ranks = np.full(n_rows, np.nan)
    different, places = np.unique(values[known], return_inverse=True)
    ranks[known] = places / max(len(different) - 1, 1)
    return ranks
