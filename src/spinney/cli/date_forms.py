"""Forms in which people write dates, in the directives of ``strptime``."""

import functools
import re
from collections.abc import Iterable, Iterator
from typing import Any

_FIXED = (
    *("%d.%m.%Y", "%d.%m.%y", "%d. %m. %Y", "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d"),
    *("%Y-%m", "%Y/%m", "%b %Y", "%d-%b-%Y", "%d-%b-%y", "%d/%b/%Y", "%d %b %Y", "%d. %b %Y"),
    *("%b %d, %Y", "%b %d %Y", "%a, %d %b %Y", "%a %d %b %Y", "%a, %b %d, %Y"),
)
"""What is day, month and year is known by the form, or by who writes so: dots have days first."""
_DAY_FIRST = ("%d/%m/%Y", "%d-%m-%Y", "%d/%m/%y", "%d-%m-%y")
_MONTH_FIRST = ("%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y", "%m-%d-%y")
_TIMES = ("", " %H:%M:%S", " %H:%M", " %I:%M:%S %p", " %I:%M %p")
WHOLE_NUMBER = "%Y%m%d"
"""The one form that looks like a number."""
FORMS = tuple(day + time for day in (*_FIXED, *_DAY_FIRST, *_MONTH_FIRST) for time in _TIMES)
"""All that are tried, each with the times of day that may follow it."""

_SHAPES = {
    "%d": r"(?P<day>\d{1,2})",
    "%m": r"\d{1,2}",
    "%Y": r"\d{4}",
    "%y": r"\d{2}",
    "%b": "[A-Za-z]{3,9}",
    "%B": "[A-Za-z]{3,9}",
    "%a": "[A-Za-z]{2,9}",
    "%H": r"\d{1,2}",
    "%I": r"\d{1,2}",
    "%M": r"\d{2}",
    "%S": r"\d{2}",
    "%p": "[AaPp][Mm]",
}
_WORDS = ("dd", "mm", "yyyy", "yy", "mon", "month", "day", "hh", "hh", "mm", "ss", "am")
_SPELLINGS = dict(zip(_SHAPES, _WORDS, strict=True))
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_PART = rf"(?:\d{{1,4}}|(?:{_MONTHS})[a-z]{{0,6}})"
LOOKS_LIKE = (
    rf"(?i)^\s*(?:[a-z]{{2,9}}\.?,? )?{_PART}(?:\. |, |[-/. ]){_PART}"
    r"(?:(?:\. |, |[-/. ])(?:19|20)?\d\d)?(?:[ T]\d{1,2}:\d\d.*)?\s*$"
)
"""What a person takes for a date, readable or not; also month and year."""


def order_of(form: str) -> str | None:
    """Tell which comes first, for forms where that is a matter of habit.

    Examples
    --------
    >>> order_of("%d/%m/%y %H:%M"), order_of("%d.%m.%Y")
    ('day-first', None)
    """
    day = form.partition(" ")[0]
    return "day-first" if day in _DAY_FIRST else "month-first" if day in _MONTH_FIRST else None


def spell(form: str) -> str:
    """Write a form as people do.

    Examples
    --------
    >>> spell("%d/%m/%Y %H:%M")
    'dd/mm/yyyy hh:mm'
    """
    return _replaced(form, _SPELLINGS)


def forms_like(texts: Iterable[str]) -> Iterator[str]:
    """Give the forms that have the shape of all texts.

    Examples
    --------
    >>> list(forms_like(["3. 11. 2020"])), list(forms_like(["1.2.3"]))
    (['%d. %m. %Y'], [])
    """
    some = [text.strip() for text in texts]
    for form in FORMS:
        shape = re.compile(_shape(form))
        if all(shape.fullmatch(text) for text in some):
            yield form


def read_form(column: Any, form: str) -> Any:
    """Read text as dates, or as times if the form has some; null where it does not fit.

    ``strptime`` takes years of two digits for ``%Y``, and the 31st of February for the 2nd of
    March: shapes and days are compared.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(column)
    fits = pc.match_substring_regex(trimmed, f"^{_shape(form)}$")
    read = pc.strptime(trimmed, format=form, unit="s", error_is_null=True)
    if "%d" in form:
        days = pc.struct_field(pc.extract_regex(trimmed, f"^{_shape(form)}$"), "day")
        fits = pc.and_kleene(fits, pc.equal(pc.cast(days, pa.int64()), pc.day(read)))
    fits = pc.and_kleene(fits, pc.greater_equal(pc.year(read), 1000))
    read = pc.if_else(fits, read, pa.scalar(None, read.type))
    return read if "%M" in form else read.cast(pa.date32())


@functools.cache
def _shape(form: str) -> str:
    return _replaced(form, _SHAPES, literal=re.escape)


def _replaced(form: str, words: dict[str, str], literal: Any = str) -> str:
    parts = re.split(r"(%[A-Za-z])", form)
    return "".join(words[part] if part in words else literal(part) for part in parts)
