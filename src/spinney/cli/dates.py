"""Text that is something else: dates as people write them, times of day, broken numbers."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spinney.cli.date_forms import (
    LOOKS_LIKE,
    WHOLE_NUMBER,
    forms_like,
    order_of,
    read_form,
    spell,
)
from spinney.cli.voice import Voice
from spinney.errors import InvalidInput, shorten

_FORM = b"spinney.dates"
"""Under this name a field of a table keeps the form its dates were read from."""
_NEARLY_ALL = 0.9
"""The share of numbers, or dates, from which on other texts in a column are probably no values."""
_SAMPLE = 20


@dataclass(frozen=True, slots=True)
class Expected:
    """What is known of the columns of a file before it is read."""

    texts: frozenset[str] = frozenset()
    """They stay text whatever they look like."""
    numbers: frozenset[str] = frozenset()
    """Their whole numbers are no dates."""
    dates: frozenset[str] | None = None
    """No other column is read as dates; None: any may be."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """How dates were written when a model learnt from them."""


def forms_of(schema: Any) -> dict[str, str]:
    """Tell from which forms the dates of a table were read."""
    kept = {one.name: (one.metadata or {}).get(_FORM) for one in schema}
    return {name: form.decode() for name, form in kept.items() if form is not None}


def refuse_other_order(dates: str | None, forms: Mapping[str, str]) -> None:
    """Refuse ``--dates`` if a model learnt dates otherwise."""
    for name, form in forms.items():
        known = order_of(form)
        if dates is not None and dates != known and (known or dates == "none"):
            raise InvalidInput(
                f"--dates {dates}: the model learnt {name!r} as dates written {spell(form)}. Leave "
                "--dates away: they are read in the same way again."
            )


def understand_text(table: Any, dates: str | None, voice: Any, expected: Expected) -> Any:
    """Turn columns of text that hold dates into dates, and times of day into durations.

    Parameters
    ----------
    table : pyarrow.Table
    dates : "day-first", "month-first", "none", or None: by what all values allow
    voice : says what cannot be decided
    expected : what is known of the columns
    """
    import pyarrow as pa

    for place, name in enumerate(table.column_names):
        column = table.column(place)
        if pa.types.is_time(column.type):
            unit = column.type.unit
            whole = column.cast(pa.int32() if unit in ("s", "ms") else pa.int64()).cast(pa.int64())
            table = table.set_column(place, name, whole.cast(pa.duration(unit)))
        is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        found: tuple[str | None, Any] | None = None
        if name in expected.forms and (is_text or pa.types.is_integer(column.type)):
            found = _as_learnt(column.cast(pa.string()), name, expected.forms[name])
        elif is_text and name not in expected.texts:
            if dates != "none" and (expected.dates is None or name in expected.dates):
                found = _dates_of(column, name, dates, voice)
            if found is None:
                _mention_broken_numbers(column, name, voice)
        if found is not None:
            table = table.set_column(place, _field(name, *found), found[1])
    return table


def understand_numbers(table: Any, dates: str | None, voice: Any, expected: Expected) -> Any:
    """Turn columns of whole numbers such as 20200131, in a file without types, into dates."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, name in enumerate(table.column_names if dates != "none" else ()):
        column = table.column(place)
        if not pa.types.is_integer(column.type) or name in expected.numbers | expected.texts:
            continue
        if expected.dates is not None and name not in expected.dates:
            continue
        some = column.drop_null().slice(0, _SAMPLE).cast(pa.string())
        if len(some) and WHOLE_NUMBER in forms_like(some.to_pylist()):
            read = read_form(column.cast(pa.string()), WHOLE_NUMBER)
            is_all = read.null_count == column.null_count and _is_recent(read)
            if is_all and (expected.dates is not None or len(pc.unique(some)) > 1):
                table = table.set_column(place, _field(name, WHOLE_NUMBER, read), read)
                voice.remark(
                    f"{name!r}: whole numbers such as {some[0]} are read as dates; --dates none "
                    "leaves them numbers."
                )
    return table


def _is_recent(read: Any) -> bool:
    """Tell dates from amounts and identifiers of eight digits: years of three centuries."""
    import pyarrow.compute as pc

    ends = pc.min_max(pc.year(read))
    return bool(ends["min"].as_py() >= 1800 and ends["max"].as_py() < 2100)


def _field(name: str, form: str | None, read: Any) -> Any:
    import pyarrow as pa

    kept = None if form is None else {_FORM: form.encode()}
    return pa.field(name, read.type, metadata=kept)


def _as_learnt(column: Any, name: str, form: str) -> tuple[str, Any]:
    """Read dates as a model learnt them, or in a form that nobody reads otherwise."""
    import pyarrow.compute as pc

    read = read_form(column, form)
    if read.null_count == column.null_count:
        return form, read
    order = order_of(form)
    other = _dates_of(column, name, order, Voice(is_quiet=True))
    if other is not None and other[0] is not None and order_of(other[0]) in (None, order):
        return other[0], other[1]
    wrong = column.filter(pc.and_(pc.is_null(read), pc.is_valid(column)))
    raise InvalidInput(
        f"{name!r}: {wrong[0].as_py()!r} is no date written {spell(form)}, as the model learnt "
        "them. Write it so, or as 2020-01-31; --missing reads a text as missing."
    )


def _dates_of(
    column: Any, name: str, dates: str | None, voice: Any
) -> tuple[str | None, Any] | None:
    """Read a column as dates if one form fits all its values; None if none or several do."""
    some = column.drop_null().slice(0, _SAMPLE).to_pylist()
    if not some:
        return None
    found = {form: read_form(column, form) for form in forms_like(some)}
    found = {form: read for form, read in found.items() if read.null_count == column.null_count}
    if not found:
        _mention_nearly_dates(column, name, voice)
        return None
    (form, read), *others = found.items()
    if others and any(not read.equals(other) for _, other in others):
        if dates is None:
            voice.remark(
                f"{name!r}: {some[0]!r} may begin with the day or with the month, so it stays "
                "text; --dates day-first or --dates month-first reads it."
            )
            return None
        form, read = next((f, r) for f, r in found.items() if order_of(f) in (dates, None))
    elif others:  # such as 05/05/2020: the same either way, so nothing is known of the form
        return (None, read) if dates is None else (form, read)
    if "%y" in form:
        voice.remark(
            f"{name!r}: dates written {spell(form)}, years from 1969 to 2068: {some[0]!r} is "
            f"{read.drop_null()[0].as_py():%Y-%m-%d}."
        )
    return form, read


def _mention_nearly_dates(column: Any, name: str, voice: Any) -> None:
    """Say why a column of dates is not read as such."""
    import pyarrow.compute as pc

    values = column.drop_null()
    n_like = pc.sum(pc.match_substring_regex(values, LOOKS_LIKE)).as_py() or 0
    if not n_like or n_like < _NEARLY_ALL * len(values):
        return
    shown = values.filter(pc.match_substring_regex(values, LOOKS_LIKE)).slice(0, 3).to_pylist()
    if not _have_years(shown):
        return
    reads = [(form, read_form(values, form)) for text in shown for form in forms_like([text])]
    form, best = min(reads, key=lambda one: one[1].null_count, default=("", None))
    if best is None or best.null_count > (1 - _NEARLY_ALL) * len(values):
        voice.remark(
            f"{name!r}: texts such as {shown[0]!r} look like dates, but no form fits all of them, "
            "so it is text; dates written as 2020-01-31 are always read."
        )
        return
    others = pc.unique(values.filter(pc.is_null(best))).to_pylist()
    voice.remark(
        f"{name!r}: dates written {spell(form)} but for cells such as {shorten(others, most=2)}, "
        f"so it is text; --missing {shlex.quote(others[0])} reads those as missing."
    )


def _have_years(texts: list[str]) -> bool:
    """Tell dates from other texts of a few numbers, such as versions."""
    year = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|^\d{1,2}/\d{1,2}/\d\d(?!\d)")
    return all(year.search(text) for text in texts)


def _mention_broken_numbers(column: Any, name: str, voice: Any) -> None:
    """Say which texts keep a column from being numbers, if they are few."""
    import pyarrow.compute as pc

    values = column.drop_null()
    is_number = pc.match_substring_regex(values, r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$")
    n_numbers = pc.sum(is_number).as_py() or 0
    if len(values) and _NEARLY_ALL <= n_numbers / len(values) < 1.0:
        others = pc.unique(values.filter(pc.invert(is_number))).to_pylist()
        n_others = len(values) - n_numbers
        voice.remark(
            f"{name!r}: numbers but for {n_others} cells such as {shorten(others, most=2)}, so it "
            f"is text; --missing {shlex.quote(others[0])} reads those as missing."
        )
