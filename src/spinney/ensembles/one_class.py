"""What is told where a classifier is given rows of one class and cannot learn from them."""

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
def telling_of_one_class(
    member: Any, y: AnyArray, where: str, names: AnyArray | None = None
) -> Iterator[None]:
    """Tell which class it is and where, if a fit fails on rows of one class.

    Parameters
    ----------
    member : who is fitted
    y : what its rows are: labels, or codes of ``names``
    where : which rows they are, to finish "there is one class among …"
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, SpinneyError) and not isinstance(error, OneClass):
            raise
        is_one = np.ndim(y) == 1 and len(y) and bool((y == y[0]).all())
        if not is_one or not is_classifier(member):
            raise
        label = (y[:1] if names is None else names[y[:1].astype(np.int64)]).tolist()[0]
        reason = error.reason if isinstance(error, OneClass) else str(error)
        told = OneClass(
            f"There is one class only, {label!r}, among {where} ({len(y)} of them), and "
            f"{type(member).__name__} could not be fitted to them: {reason}. Divide rows so that "
            "there are two classes in each part that is learnt from, with other or fewer folds, or "
            "give an estimator that takes one class, such as Spinney's."
        )
        told.reason = reason
        raise told from error
