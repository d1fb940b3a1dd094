"""HTML that is safe by construction: text is escaped unless it was made here."""

import base64
import hashlib
import html
import json
import math
import re
from typing import Any

_VOID = frozenset({"br", "circle", "col", "hr", "input", "line", "meta", "path", "rect"})
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]|[\ud800-\udfff]"
)
"""Characters that cannot be seen, or that turn the text around them: shown by their numbers."""
_MISSING, _MINUS = "\u2013", "\u2212"


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def visible(text: str) -> str:
    r"""Show control characters, marks of writing direction and lone surrogates by their numbers.

    Examples
    --------
    >>> visible("safe\u202egpj.exe")
    'safe\\u202egpj.exe'
    """
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def escape(text: object) -> Html:
    """Make text of anything: what is markup stays, all else is escaped.

    Examples
    --------
    >>> escape("</script> & 'more'")
    '&lt;/script&gt; &amp; &#x27;more&#x27;'
    """
    if isinstance(text, Html):
        return text
    return Html(html.escape(visible(str(text))))


def join(*parts: object) -> Html:
    """Put markup and text behind each other."""
    return Html("".join(escape(part) for part in parts if part is not None))


def tag(tag_name: str, /, *children: object, **attributes: object) -> Html:
    """Make an element; a trailing underscore of an attribute is dropped, others become dashes.

    Examples
    --------
    >>> tag("p", "1 < 2", class_="note", data_row=3, hidden=True, id=None)
    '<p class="note" data-row="3" hidden>1 &lt; 2</p>'
    """
    opening = [tag_name]
    for key, value in attributes.items():
        name = key.rstrip("_").replace("_", "-")
        if value is True:
            opening.append(name)
        elif value is not None and value is not False:
            opening.append(f'{name}="{escape(value)}"')
    start = " ".join(opening)
    if tag_name in _VOID:
        return Html(
            f"<{start}>" if tag_name in ("br", "hr", "input", "meta", "col") else f"<{start}/>"
        )
    return Html(f"<{start}>{join(*children)}</{tag_name}>")


def name_of(text: object) -> Html:
    """Show a name or value of the user's: text of any direction turns nothing around it."""
    return tag("bdi", shortened(str(text)), title=text if len(str(text)) > 60 else None)


def shortened(text: str, most: int = 60) -> str:
    """Cut long text in the middle of nothing but itself.

    Examples
    --------
    >>> shortened("abcdefgh", most=5)
    'abcd…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def number(value: Any, digits: int = 4) -> str:
    """Write a number with few digits, as a person reads it.

    Examples
    --------
    >>> number(1234567.0), number(0.000123456), number(12.5), number(2024)
    ('1,234,567', '0.0001235', '12.5', '2024')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return _MISSING
    value = float(value)
    if math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    size = abs(value)
    if value == int(value) and size < 1e15:
        text = f"{int(value):,}" if size >= 10_000 else f"{int(value)}"  # a year has no comma
    elif size >= 10**digits and size < 1e15:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.{digits}g}"
    return text.replace("-", _MINUS) if "e" not in text else text


def with_error(value: float, error: float) -> str:
    """Write a number with its standard error, both to the second digit of the error.

    Examples
    --------
    >>> with_error(0.138, 0.00291), with_error(0.25, 0.0)
    ('0.1380 ± 0.0029', '0.25')
    """
    if not error > 0 or not math.isfinite(error):
        return number(value, 3)
    places = max(0, 1 - math.floor(math.log10(error)))
    if places > 7:
        return f"{number(value, 2)} ± {number(error, 1)}"
    return f"{value:.{places}f} ± {error:.{places}f}".replace("-", _MINUS)


def percent(share: float, digits: int = 1) -> str:
    """Write a share as a percentage; a little is never nothing.

    Examples
    --------
    >>> percent(0.1234), percent(0.00001), percent(1.0), percent(0.997, 0)
    ('12.3 %', '< 0.1 %', '100 %', '100 %')
    """
    least = 10.0**-digits
    if 0 < 100 * share < least / 2:
        return f"< {least:g} %"
    text = f"{100 * share:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + " %"


def count_of(n: int, one: str, many: str | None = None) -> str:
    """Say how many there are of something.

    Examples
    --------
    >>> count_of(1, "row"), count_of(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def of_rows(n: int, total: int) -> str:
    """Say how many rows were looked at, and of how many where that is not all.

    Examples
    --------
    >>> of_rows(30, 30), of_rows(30, 2000)
    ('30 rows', '30 of 2,000 rows')
    """
    return count_of(n, "row") if n == total else f"{n:,} of {count_of(total, 'row')}"


def script_json(value: Any) -> Html:
    r"""Write JSON that may stand inside a script element, whatever texts are in it.

    Examples
    --------
    >>> script_json({"name": "</script>\u2028"})
    '{"name":"\\u003c/script\\u003e\\u2028"}'
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Html(text)


def script_hash(source: str) -> str:
    """Give the source expression by which a content security policy allows one script."""
    digest = hashlib.sha256(source.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
