"""What is told where a member cannot be fitted: to which rows, and if they are of one class."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from spinney.errors import InvalidInput, SpinneyError
from spinney.typing import AnyArray


class OneClass(InvalidInput):
    """Rows of one class, and who could not learn from them."""

    reason: str
    """What was told by who could not."""


@contextmanager
def telling_where(
    member: Any, y: AnyArray, where: str, names: AnyArray | None = None, *, called: str = ""
) -> Iterator[None]:
    """Tell where a fit failed, and which class it was if it failed on rows of one class.

    Parameters
    ----------
    member : who is fitted
    y : what its rows are: labels, or codes of ``names``
    where : which rows they are, to finish "there is one class among …"; errors of ours get it as a
        note: what they say of rows is said of these
    called : what the user calls the member, if there are several; errors of others get it as a note
    """
    who = type(member).__name__ + (f" (the member {called!r})" if called else "")
    try:
        yield
    except Exception as error:
        if isinstance(error, SpinneyError) and not isinstance(error, OneClass):
            error.add_note(f"While {who} was fitted to {where} ({len(y)} of them).")
            raise
        is_one = np.ndim(y) == 1 and len(y) and bool((y == y[0]).all())
        if not is_one or not is_classifier(member):
            if called:
                error.add_note(f"While {who} was fitted to {where} ({len(y)} of them).")
            raise
        label = (y[:1] if names is None else names[y[:1].astype(np.int64)]).tolist()[0]
        reason = error.reason if isinstance(error, OneClass) else str(error)
        told = OneClass(
            f"There is one class only, {label!r}, among {where} ({len(y)} of them), and "
            f"{who} could not be fitted to them: {reason}. Divide rows so that there are two "
            "classes in each part that is learnt from, with other or fewer folds, or give an "
            "estimator that takes one class, such as Spinney's."
        )
        told.reason = reason
        raise told from error
