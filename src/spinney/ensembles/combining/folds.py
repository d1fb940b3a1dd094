"""Which rows members are fitted on, and which they are asked about without having seen them."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from spinney.ensembles.sharing import TableRows
from spinney.errors import InvalidInput, InvalidParameter, shorten
from spinney.typing import AnyArray, TableLike

Splits = Sequence[tuple[AnyArray, AnyArray]]
"""Numbers of the rows to fit on and of those to ask about."""


def read_splits(
    cv: Any,
    given: tuple[TableLike, AnyArray, Any],
    *,
    classifier: bool,
    repeated: str = "error",
    kept: AnyArray | None = None,
    n_given: int | None = None,
) -> list[tuple[AnyArray, AnyArray]]:
    """Divide the rows once, for all members.

    Parameters
    ----------
    cv : int, splitter, iterable of pairs, or None for five folds
    given : X, y and groups
    classifier : whether folds of an int keep the shares of classes
    repeated : "error", or "average" where a row may be asked about more than once
    kept, n_given
        Rows that are left of those the user gave, if an iterable may speak of others.
    """
    X, y, groups = given
    n_rows = len(y)
    pairs = _pairs(cv, X, y, groups, classifier=classifier)
    is_spoken = not (cv is None or isinstance(cv, int | np.integer) or hasattr(cv, "split"))
    renumber = np.arange(n_rows)
    if is_spoken and kept is not None and n_given is not None:
        renumber = np.full(n_given, -1)
        renumber[kept] = np.arange(n_rows)
    splits = [
        (_rows(train, renumber, number), _rows(test, renumber, number))
        for number, (train, test) in enumerate(pairs)
    ]
    _check(splits, n_rows, cv, repeated)
    return splits


def _pairs(cv: Any, X: TableLike, y: AnyArray, groups: Any, *, classifier: bool) -> list[Any]:
    try:
        splitter = check_cv(cv, y=y, classifier=classifier)
    except ValueError as error:
        raise InvalidParameter(
            f"cv={cv!r}: {error} Expected a number of folds, a splitter, or pairs of row numbers."
        ) from error
    table = np.zeros((len(y), 1)) if isinstance(X, TableRows) else X
    try:
        with warnings.catch_warnings():
            if cv is None or isinstance(cv, int | np.integer):
                # A fold without a class is no trouble: its members give that class no share.
                warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            return list(splitter.split(table, y, groups))
    except ValueError as error:
        if groups is None and "groups" in str(error):
            raise InvalidInput(
                f"cv={cv!r} divides rows by their groups, and fit was given none. Call fit with "
                "groups=, one label per row."
            ) from error
        raise


def _rows(numbers: Any, renumber: AnyArray, place: int) -> AnyArray:
    rows = np.asarray(numbers)
    if rows.dtype == bool:
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
        raise InvalidInput(
            f"Split {place} of cv holds an array of shape {rows.shape} and type {rows.dtype}: "
            "expected numbers of rows, or a mask."
        )
    if len(rows) and (rows.min() < 0 or rows.max() >= len(renumber)):
        raise InvalidInput(
            f"Split {place} of cv names row {int(rows.min() if rows.min() < 0 else rows.max())}, "
            f"but there are {len(renumber)} rows, from 0 on."
        )
    chosen: AnyArray = renumber[rows.astype(np.int64)]
    return chosen[chosen >= 0]


def _check(splits: Splits, n_rows: int, cv: Any, repeated: str) -> None:
    if not splits:
        raise InvalidParameter(f"cv={cv!r} makes no split. Expected at least one.")
    asked = np.zeros(n_rows, np.int64)
    for number, (train, test) in enumerate(splits):
        if not len(train):
            raise InvalidInput(f"Split {number} of cv has no rows to fit on. Give fewer folds.")
        both = np.intersect1d(train, test)
        if len(both):
            raise InvalidInput(
                f"Split {number} of cv fits on rows that it is asked about afterwards, row "
                f"{int(both[0])} for one: a member would be judged by what it has seen. Give "
                "disjoint rows."
            )
        asked[test] += 1
    if not asked.any():
        raise InvalidInput(f"cv={cv!r} asks about no row. Give splits with test rows.")
    if repeated == "error" and asked.max() > 1:
        rows = np.flatnonzero(asked > 1)
        raise InvalidInput(
            f"cv={cv!r} asks about {len(rows)} rows more than once, rows {shorten(rows.tolist())}: "
            "stacking expects a partition, one answer out of fold per row. Use KFold or another "
            "splitter whose test rows are disjoint, or set repeated='average' to take the mean of "
            "the answers."
        )
