"""The names of columns: all text and all different, or none at all."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from spinney.errors import InvalidInput, InvalidInputType, shorten


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Refuse two columns of one name.

    Examples
    --------
    >>> check_names(["age", "income"])
    ('age', 'income')
    """
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InvalidInput(
            f"Column names must differ, but these occur more than once: {shorten(twice)}. "
            "Rename or drop the duplicates."
        )
    for name in names:
        if not name.isascii() and any("\ud800" <= letter <= "\udfff" for letter in name):
            raise InvalidInput(
                f"The column name {name!r} holds a lone surrogate and has no UTF-8 form. Rename it."
            )
    return tuple(str(name) for name in names)


def given_names(labels: Sequence[Any]) -> tuple[str, ...] | None:
    """Give the names among column labels of any type; None for the default 0, 1, 2 and so on.

    Other labels that are not text (years, selected positions) become names by ``str``: columns
    picked in another order must not pass for the same columns.
    """
    is_text = [isinstance(label, str) for label in labels]
    if not any(is_text):
        is_default = all(label == place for place, label in enumerate(labels))
        return None if is_default else check_names([str(label) for label in labels])
    if not all(is_text):
        kinds = sorted({type(label).__name__ for label in labels})
        raise InvalidInputType(
            "Feature names are only supported if all input features have string names, but your "
            f"input has {kinds} as feature name / column name types. Convert them all to "
            "strings, for example X.columns = X.columns.astype(str)."
        )
    return check_names(labels)
