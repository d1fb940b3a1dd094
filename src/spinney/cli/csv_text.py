"""The text of a CSV file before it is parsed: its encoding, its delimiter, its names."""

import codecs
import csv
import io
from dataclasses import dataclass
from typing import Any

from spinney.errors import InvalidInput, shorten

_SAMPLE = 1 << 16
"""Bytes that are looked at to find the delimiter out."""
_DELIMITERS = (",", ";", "\t", "|")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class CsvText:
    """The bytes of a CSV file in UTF-8, and what stands between cells."""

    data: bytes
    delimiter: str

    def first_line(self) -> list[str]:
        """Give the cells of the first line that is not empty."""
        head = self.data[: 64 * _SAMPLE].decode("utf-8", errors="replace")
        csv.field_size_limit(1 << 30)
        lines = csv.reader(io.StringIO(head, newline=""), delimiter=self.delimiter)
        return next((line for line in lines if line), [])


def decode_text(path: str, data: bytes, encoding: str | None, voice: Any) -> bytes:
    """Give text as UTF-8 without a mark, whatever it was; refuse what is no text."""
    mark = next((name for start, name in _MARKS if data.startswith(start)), None)
    if encoding is None and mark is None and b"\x00" in data:
        raise InvalidInput(
            f"{path}: this is no text, and neither Parquet nor Arrow. Give a CSV, Parquet, Arrow "
            "or Feather file; of text in another encoding, say which with --encoding."
        )
    if encoding is None and mark is None:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            voice.remark("The file is not UTF-8: read as Windows-1252; --encoding to override.")
            return data.decode("cp1252", errors="replace").encode()
        return data.lstrip()
    try:
        return data.decode(encoding or mark or "utf-8").lstrip("\ufeff\r\n").encode()
    except (UnicodeError, LookupError) as problem:
        raise InvalidInput(f"{path}: not text in {encoding or mark}: {problem}.") from None


def sniff_delimiter(data: bytes) -> str:
    r"""Find out what stands between cells: what divides most lines into equally many.

    Examples
    --------
    >>> sniff_delimiter(b"a;b;c\n1,5;2;3\n4,5;5;6\n")
    ';'
    """
    text = data[:_SAMPLE].decode("utf-8", errors="replace")
    if len(data) > _SAMPLE:
        text = text.rpartition("\n")[0] or text
    best, best_score = ",", (0.0, 0)
    csv.field_size_limit(1 << 30)
    for delimiter in _DELIMITERS:
        lines = [
            len(line) for line in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        ]
        lines = [n for n in lines if n][:200]
        n_cells = lines[0] if lines else 0
        if n_cells > 1:
            score = (sum(n == n_cells for n in lines) / len(lines), n_cells)
            if score > best_score:
                best, best_score = delimiter, score
    return best


def name_columns(path: str, text: CsvText, has_header: bool, voice: Any) -> list[str]:
    """Give the names of the first line, mended where some are missing, or made up."""
    first = text.first_line()
    if not has_header:
        return [f"x{place}" for place in range(len(first))]
    names = [name.strip() for name in first]
    if len(names) > 1 and all(map(_is_number, names)):
        raise InvalidInput(
            f"{path}: the first line looks like data, not like names: {shorten(names)}. Put names "
            "there, or say --no-header; columns are then x0, x1, …"
        )
    unnamed = [place for place, name in enumerate(names) if not name]
    for place in unnamed:
        names[place] = f"column {place + 1}"
    if unnamed:
        voice.remark(f"Columns without a name: now {shorten([names[i] for i in unnamed])}.")
    return names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
