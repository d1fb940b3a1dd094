"""Files of tables, read by pyarrow: CSV in its many forms, Parquet, Arrow and Feather."""

import difflib
import gzip
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spinney.cli.csv_text import CsvText, decode_text, name_columns, sniff_delimiter
from spinney.cli.dates import Expected, understand_numbers, understand_text
from spinney.errors import InvalidInput, shorten

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "#N/A", "<NA>")
"""Texts that mean missing."""
_STARTS = (
    (b"\x89SPN", "a model of Spinney, not a table. Models come first, then data"),
    (b"PK", "a zip archive or an Excel sheet. Save the sheet as CSV, or unpack the archive"),
    (b"\xd0\xcf\x11\xe0", "an old Excel sheet. Save it as CSV"),
    (b"SQLite", "an SQLite data base. Write the table you need to CSV or Parquet"),
    (b"\x80\x04", "a pickle, which Spinney never opens. Write the table as Parquet"),
    (b"\x80\x05", "a pickle, which Spinney never opens. Write the table as Parquet"),
    (b"%PDF", "a PDF document. Give the table itself"),
    (b"<", "HTML or XML. Give the table itself, as CSV or Parquet"),
)


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is to be read."""

    delimiter: str | None = None
    missing: tuple[str, ...] = ()
    dates: str | None = None
    encoding: str | None = None
    has_header: bool = True

    @classmethod
    def of(cls, arguments: Any) -> "Reading":
        """Take it from the arguments of a command."""
        delimiter = arguments.delimiter
        if delimiter is not None:
            delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
            if len(delimiter) != 1 or not delimiter.isascii():
                raise InvalidInput(f"--delimiter {delimiter!r}: expected one ASCII character.")
        return cls(
            delimiter,
            tuple(arguments.missing),
            arguments.dates,
            arguments.encoding,
            not arguments.no_header,
        )


def read_file(path: str, reading: Reading, voice: Any, expected: Expected | None = None) -> Any:
    """Read a file into a ``pyarrow.Table`` whose columns an estimator takes.

    Parameters
    ----------
    path : a file, or ``-`` for stdin
    reading : how
    voice : says what was noticed
    expected : what is known of its columns
    """
    pa = need_pyarrow()
    expected = expected or Expected()
    data = read_bytes(path)
    try:
        if data[:4] == b"PAR1":
            table = _parquet(pa, data)
        elif data[:6] == b"ARROW1" or data[:4] in (b"FEA1", b"\xff\xff\xff\xff"):
            table = _arrow(pa, data)
        else:
            table = _csv(path, data, reading, voice, expected)
    except (pa.ArrowException, OSError) as problem:
        line = str(problem).splitlines()[0]
        raise InvalidInput(f"{path}: cannot be read. {line[:300]}") from None
    _check_names(path, table)
    index = [name for name in table.column_names if name.startswith("__index_level_")]
    table = table.drop_columns(index) if index else table
    if not table.num_rows:
        raise InvalidInput(f"{path}: there are names of columns, but no rows.")
    return understand_text(table, reading.dates, voice, expected)


def need_pyarrow() -> Any:
    """Import the reader of files, or say how to get it."""
    try:
        import pyarrow as pa
    except ImportError:
        raise InvalidInput(
            "Files are read by pyarrow, which is not installed: pip install 'spinney[cli]'."
        ) from None
    return pa


def read_bytes(path: str) -> bytes:
    """Read a file whole, gzip undone; a name that does not exist is met with similar ones."""
    if path == "-":
        data = sys.stdin.buffer.read()
    else:
        place = Path(path)
        if place.is_dir():
            raise InvalidInput(f"{path}: this is a folder. Give a file in it{_files_in(place)}.")
        if not place.exists():
            raise InvalidInput(f"{path}: there is no such file.{_similar(place)}")
        data = place.read_bytes()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError) as problem:
            raise InvalidInput(f"{path}: the gzip data is damaged: {problem}.") from None
    if not data.strip():
        raise InvalidInput(f"{path}: the file is empty.")
    for start, what in _STARTS:
        if data.startswith(start):
            raise InvalidInput(f"{path}: this is {what}.")
    return data


def _files_in(folder: Path) -> str:
    known = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".gz", ".spn")
    found = sorted(p.name for p in folder.iterdir() if p.suffix in known)
    return f", such as {shorten(found, most=3)}" if found else ""


def _similar(place: Path) -> str:
    """Suggest files that exist."""
    if not place.parent.is_dir():
        return f" The folder {str(place.parent)!r} does not exist either."
    found = [p.name for p in place.parent.iterdir() if p.is_file()]
    near = difflib.get_close_matches(place.name, found, n=3, cutoff=0.6)
    near = near or [name for name in found if Path(name).stem == place.stem][:3]
    return f" Did you mean {' or '.join(repr(str(place.with_name(n))) for n in near)}?" * bool(near)


def _parquet(pa: Any, data: bytes) -> Any:
    from pyarrow import parquet

    return parquet.read_table(pa.BufferReader(data))


def _arrow(pa: Any, data: bytes) -> Any:
    from pyarrow import feather

    if data[:4] == b"\xff\xff\xff\xff":
        return pa.ipc.open_stream(pa.BufferReader(data)).read_all()
    return feather.read_table(pa.BufferReader(data))


def _csv(path: str, data: bytes, reading: Reading, voice: Any, expected: Expected) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    text = decode_text(path, data, reading.encoding, voice)
    delimiter = reading.delimiter or sniff_delimiter(text)
    names = name_columns(path, CsvText(text, delimiter), reading.has_header, voice)
    bad: list[Any] = []

    def refuse(row: Any) -> str:
        bad.append(row)
        return "error"

    try:
        table = csv.read_csv(
            pa.BufferReader(text),
            read_options=csv.ReadOptions(
                column_names=names,
                skip_rows_after_names=1 if reading.has_header else 0,
                block_size=max(1 << 20, min(len(text), 1 << 30)),
            ),
            parse_options=csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=refuse
            ),
            convert_options=csv.ConvertOptions(
                null_values=[*MISSING, *reading.missing],
                strings_can_be_null=True,
                column_types={name: pa.string() for name in names if name in expected.texts},
            ),
        )
    except pa.ArrowInvalid:
        if not bad:
            raise
        row = bad[0]
        where = "a line" if row.number is None else f"row {row.number}"
        raise InvalidInput(
            f"{path}: {where} has {row.actual_columns} cells, but there are {row.expected_columns} "
            f"columns: {row.text[:80]!r}. Mend the line, or choose --delimiter."
        ) from None
    table = _with_decimal_commas(pa, table, delimiter, voice)
    return understand_numbers(table, reading.dates, voice, expected)


def _with_decimal_commas(pa: Any, table: Any, delimiter: str, voice: Any) -> Any:
    """Read 1,5 as a number where cells are not divided by commas."""
    import pyarrow.compute as pc

    changed = []
    for place, name in enumerate(table.column_names if delimiter != "," else ()):
        column = table.column(place)
        if not pa.types.is_string(column.type) or column.null_count == len(column):
            continue
        if pc.all(pc.match_substring_regex(column, r"^\s*[-+]?\d*,?\d+\s*$")).as_py():
            dotted = pc.replace_substring(pc.utf8_trim_whitespace(column), ",", ".")
            table = table.set_column(place, name, dotted.cast(pa.float64()))
            changed.append(name)
    if changed:
        voice.remark(f"{shorten(changed)}: numbers with a decimal comma.")
    return table


def _check_names(path: str, table: Any) -> None:
    names = table.column_names
    twice = (
        sorted({name for name in names if names.count(name) > 1})
        if len(set(names)) < len(names)
        else []
    )
    if twice:
        raise InvalidInput(
            f"{path}: several columns have the name {shorten(twice)}. Give each a name of its own."
        )
