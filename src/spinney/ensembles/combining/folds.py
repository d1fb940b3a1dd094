"""Which rows members are fitted on, and which they are asked about without having seen them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from spinney.ensembles.sharing import TableRows
from spinney.errors import InvalidInput
from spinney.resampling.folds import Fold, read_folds
from spinney.typing import AnyArray, TableLike

Splits = Sequence[Fold]
"""Numbers of the rows to fit on and of those to ask about."""


def read_splits(
    cv: Any,
    given: tuple[TableLike, AnyArray, Any, Any],
    *,
    classifier: bool,
    repeated: str = "error",
    kept: AnyArray | None = None,
    n_given: int | None = None,
) -> list[Fold]:
    """Divide the rows once, for all members.

    Parameters
    ----------
    cv : int, splitter, iterable of pairs, or None for five folds
    given : X, y, groups and time
    classifier : whether folds of an int keep the shares of classes
    repeated : "error", or "average" where a row may be asked about more than once
    kept, n_given
        Rows that are left of those the user gave, if an iterable may speak of others.
    """
    X, y, groups, time = given
    are_kept = None
    if kept is not None and n_given is not None:
        are_kept = np.zeros(n_given, bool)
        are_kept[kept] = True
    try:
        return read_folds(
            cv,
            y,
            groups=groups,
            time=time,
            X=None if isinstance(X, TableRows) else X,
            stratified=classifier and np.ndim(y) == 1,  # several labels have no classes to keep
            once=repeated == "error",
            kept=are_kept,
        )
    except InvalidInput as error:
        if "a second time" not in str(error):
            raise
        raise InvalidInput(
            f"{error} Or set repeated='average' to take the mean of the answers."
        ) from error
