"""Columns by name: the same names in any order, or an error that lists what differs."""

from collections.abc import Sequence

from spinney.data.table import Column, Table
from spinney.errors import InvalidInput, nearest_names

_MOST_SHOWN = 5


def match_by_name(table: Table, wanted: Sequence[str], *, ignore_extra: bool) -> list[Column]:
    """Give the columns called ``wanted``, in that order."""
    found = dict(zip(table.names, table.columns, strict=True))
    known = set(wanted)
    extra = [] if ignore_extra else [name for name in table.names if name not in known]
    missing = [name for name in wanted if name not in found]
    if extra or missing:
        raise _difference(extra, missing, table.names)
    return [found[name] for name in wanted]


def _difference(extra: list[str], missing: list[str], present: Sequence[str]) -> InvalidInput:
    message = "The feature names should match those that were passed during fit.\n"
    if extra:
        message += f"Feature names unseen at fit time:\n{_listed(extra)}"
    if missing:
        message += f"Feature names seen at fit time, yet now missing:\n{_listed(missing)}"
    for name in sorted(missing)[:_MOST_SHOWN]:
        hint = nearest_names(name, present)
        message += f"Missing {name!r}.{hint}\n" if hint else ""
    remedy = "Add or rename the missing columns." if missing else ""
    drop = (
        "Drop the columns the model does not know, e.g. X[model.feature_names_in_], or fit with "
        "extra_columns='ignore'."
    )
    return InvalidInput(message + " ".join(filter(None, (remedy, drop if extra else ""))))


def _listed(names: list[str]) -> str:
    shown = "".join(f"- {name}\n" for name in sorted(names)[:_MOST_SHOWN])
    return shown + ("- ...\n" if len(names) > _MOST_SHOWN else "")
