"""The user's own columns beside the answers of members: what the final estimator then sees."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from spinney.ensembles.combining.jobs import take_rows
from spinney.ensembles.combining.members import fit_member
from spinney.ensembles.sharing import TableRows
from spinney.errors import InvalidInput, SpinneyError, shorten
from spinney.model.answers import as_members_take
from spinney.typing import AnyArray, FloatArray, TableLike


def beside(columns: Sequence[FloatArray], X: TableLike, rows: AnyArray | None) -> Any:
    """Put a table, or some of its rows, behind columns of answers."""
    table = as_members_take(X.as_given() if isinstance(X, TableRows) else X)
    table = take_rows(table, rows)
    if sparse.issparse(table):
        return sparse.hstack([*columns, table], format=table.format)
    return np.hstack([*columns, np.asarray(table)])


def fit_final(
    final: Any, columns: Any, y: AnyArray, parameters: Mapping[str, Any], names: Sequence[str]
) -> Any:
    """Fit the final estimator; one that takes no text is told apart from one that is broken."""
    try:
        return fit_member(final, columns, y, parameters)
    except SpinneyError:
        raise
    except (TypeError, ValueError) as error:
        text = [name for name, own in zip(names, columns.T, strict=True) if _holds_text(own)]
        if not text:
            raise
        raise InvalidInput(
            f"passthrough=True shows the final estimator, a {type(final).__name__}, columns of X "
            f"that hold no numbers: {shorten(text)}. It could not be fitted to them ({error}). "
            "Give a final_estimator that takes categories, such as Spinney's gradient boosting or "
            "forests, encode these columns, or set passthrough=False."
        ) from error


def _holds_text(column: AnyArray) -> bool:
    if sparse.issparse(column) or column.dtype.kind in "biuf":
        return False
    try:
        column.astype(np.float64)
    except (TypeError, ValueError):
        return True
    return False
