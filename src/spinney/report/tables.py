"""Tables of the page: sorted and filtered by the reader, whole when printed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spinney.report.markup import Html, escape, join, number, tag


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell shows, and by what it is sorted."""

    shown: object
    key: float | str | None = None
    """None: by the text."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The head of a column."""

    text: str
    is_number: bool = True
    note: str | None = None
    """Told when the pointer rests on it."""


def cell(value: Any) -> Cell:
    """Show a number as a number and text as text."""
    if isinstance(value, Cell):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Cell(number(value), float(value))
    return Cell("" if value is None else value)


def bar(value: float, largest: float, text: str, error: float | None = None) -> Cell:
    """Show a number beside a bar in proportion to the largest of its column."""
    width = 0.0 if largest <= 0 else max(0.0, min(1.0, value / largest))
    fill = tag("span", class_="fill", style=f"width:{100 * width:.1f}%")
    whisker: Html | None = None
    if error is not None and largest > 0:
        low, high = (max(0.0, min(1.0, (value + s * error) / largest)) for s in (-1, 1))
        place = f"left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%"
        whisker = tag("span", class_="whisker", style=place)
    drawn = tag("span", fill, whisker, class_="bar", aria_hidden="true")
    return Cell(tag("span", tag("span", text, class_="n"), drawn, class_="barred"), value)


def table(
    headings: Sequence[Heading],
    rows: Sequence[Sequence[Any]],
    *,
    caption: str,
    can_sort: bool = True,
    can_filter: bool = False,
    row_ids: Sequence[int] | None = None,
) -> Html:
    """Lay out a table.

    Parameters
    ----------
    headings, rows : what it shows; the first column names the row
    caption : what it is, for those who hear it
    can_sort : whether a click on a heading sorts
    can_filter : whether there is a box to filter rows by text
    row_ids : numbers of embedded rows that the rows of the table lead to, or -1
    """
    head = tag("tr", *(_head(heading, can_sort) for heading in headings))
    body = []
    for place, row in enumerate(rows):
        known = -1 if row_ids is None else row_ids[place]
        body.append(_row(headings, row, known))
    made = tag(
        "table",
        tag("caption", caption, class_="unseen"),
        tag("thead", head),
        tag("tbody", *body),
        class_="sortable" if can_sort else None,
    )
    scroll = tag("div", made, class_="scroll", tabindex="0", role="region", aria_label=caption)
    if not can_filter:
        return scroll
    box = tag(
        "label",
        "Filter ",
        tag("input", type="search", class_="filter", autocomplete="off"),
        tag("span", class_="filtered", role="status"),
        class_="filtering",
    )
    return tag("div", box, scroll, class_="filterable")


def facts(pairs: Sequence[tuple[object, object]]) -> Html:
    """Lay out names and values."""
    parts = [tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs]
    return tag("dl", *parts, class_="facts")


def _head(heading: Heading, can_sort: bool) -> Html:
    shown: object = heading.text
    if can_sort and heading.text:
        shown = tag("button", heading.text, type="button", class_="sort")
    kind = "number" if heading.is_number else None
    return tag("th", shown, scope="col", class_=kind, title=heading.note)


def _row(headings: Sequence[Heading], row: Sequence[Any], known: int) -> Html:
    cells = []
    for place, (heading, value) in enumerate(zip(headings, row, strict=True)):
        one = cell(value)
        key = None if one.key is None else repr(one.key) if isinstance(one.key, float) else one.key
        name, scope = ("th", "row") if place == 0 else ("td", None)
        kind = "number" if heading.is_number else None
        shown: object = one.shown
        if place == 0 and known >= 0:
            shown = tag("a", shown, href="#what-if", class_="pick", data_row=known)
        cells.append(tag(name, shown, scope=scope, class_=kind, data_key=key))
    return tag("tr", *cells)


def listed(items: Sequence[object], class_: str | None = None) -> Html:
    """Lay out a list."""
    return tag("ul", *(tag("li", item) for item in items), class_=class_)


def paragraph(*parts: object, class_: str | None = None) -> Html:
    """Lay out a paragraph."""
    return tag("p", join(*(escape(part) for part in parts)), class_=class_)
