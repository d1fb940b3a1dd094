"""HTML for notebooks: tables and folds that need no script, no network and no theme.

Everything that comes from a user is escaped. Colours are those of the page, so light and dark need
no rules of their own; without the style sheet it is still tables and text.
"""

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

_STYLE = """
.spinney{font:13px/1.45 system-ui,sans-serif;color:inherit;max-width:64em;overflow-x:auto}
.spinney table{border-collapse:collapse;border:0;margin:.3em 0 .5em;font-size:1em;color:inherit}
.spinney tr,.spinney tr:nth-child(n):hover,.spinney tr:nth-child(n){background:transparent}
.spinney td,.spinney th{padding:.12em 1.1em .12em 0;border:0;color:inherit;text-align:left;
border-bottom:1px solid rgba(128,128,128,.28);vertical-align:top;overflow-wrap:anywhere}
.spinney th{font-weight:600}
.spinney .number{text-align:right;font-variant-numeric:tabular-nums}
.spinney caption,.spinney .title{text-align:left;font-weight:600;margin:.2em 0;color:inherit}
.spinney .mark{border:1px solid currentColor;border-radius:.8em;padding:0 .6em;margin-left:.7em;
font-size:.85em;font-weight:400;opacity:.75}
.spinney .note{opacity:.75;margin:.2em 0}
.spinney code{font:.95em ui-monospace,monospace;color:inherit;background:transparent;
overflow-wrap:anywhere}
.spinney details{margin:.15em 0 .15em .2em}
.spinney details details,.spinney .leaf{margin-left:1.3em}
.spinney summary{cursor:pointer;display:list-item}
.spinney .side{opacity:.75;display:inline-block;min-width:2.2em}
""".replace("\n", "")
_LONGEST = 200
"""Letters of a value that are shown."""


def escape(value: Any, most: int = _LONGEST) -> str:
    """Write a value as text of a page, on one line and not too long.

    Examples
    --------
    >>> escape("<b>a & b</b>")
    '&lt;b&gt;a &amp; b&lt;/b&gt;'
    >>> escape("0123456789", most=6)
    '01234…'
    """
    shown = "".join(letter if letter.isprintable() else " " for letter in str(value))
    return html.escape(shown if len(shown) <= most else f"{shown[: most - 1]}…", quote=True)


def card(title: Any, *parts: str, mark: str = "") -> str:
    """Put parts below a title; ``mark`` stands beside it."""
    beside = f'<span class="mark">{escape(mark)}</span>' if mark else ""
    head = f'<div class="title">{escape(title, 400)}{beside}</div>'
    return f'<div class="spinney"><style>{_STYLE}</style>{head}{"".join(parts)}</div>'


def fold(title: Any, *parts: str, is_open: bool = False, mark: str = "") -> str:
    """Hide parts behind a title until somebody opens it."""
    beside = f'<span class="mark">{escape(mark)}</span>' if mark else ""
    state = " open" if is_open else ""
    return f"<details{state}><summary>{escape(title)}{beside}</summary>{''.join(parts)}</details>"


def facts(named: Mapping[str, Any]) -> str:
    """Lay out names and values, one pair per line; values that are ``Html`` stay as they are."""
    lines = (
        f'<tr><th scope="row">{escape(name)}</th><td>{_content(value)}</td></tr>'
        for name, value in named.items()
    )
    return f"<table><tbody>{''.join(lines)}</tbody></table>" if named else ""


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def table(
    columns: Mapping[str, Sequence[Any]], cell: Callable[[Any], str] = str, *, most: int = 12
) -> str:
    """Lay out columns: text to the left, numbers to the right; say how many rows are left away.

    Examples
    --------
    >>> table({"name": ["<age>"]})  # doctest: +ELLIPSIS
    '<table><thead><tr><th scope="col">name</th></tr></thead>...<td>&lt;age&gt;</td>...
    """
    shown = {name: list(values[:most]) for name, values in columns.items()}
    n_rows = max((len(values) for values in columns.values()), default=0)
    of_numbers = ' class="number"'
    classes = {name: "" if _is_text(values) else of_numbers for name, values in shown.items()}
    head = "".join(f'<th scope="col"{classes[name]}>{escape(name)}</th>' for name in columns)
    lines = (
        "".join(f"<td{classes[name]}>{escape(cell(shown[name][row]))}</td>" for name in columns)
        for row in range(min(n_rows, most))
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    rest = f'<div class="note">… and {n_rows - most} more rows</div>' if n_rows > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def note(text: Any) -> str:
    """Write a line of small print."""
    return f'<div class="note">{escape(text, 400)}</div>'


def code(text: Any, most: int = _LONGEST) -> Html:
    """Write a value as one writes it in code."""
    return Html(f"<code>{escape(text, most)}</code>")


def joined(parts: Iterable[str]) -> Html:
    """Put parts behind each other."""
    return Html("".join(parts))


def _content(value: Any) -> str:
    return value if isinstance(value, Html) else escape(value)


def _is_text(values: Sequence[Any]) -> bool:
    return any(isinstance(value, str) for value in values)
