"""Files that a command writes: whole, or not at all."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spinney.errors import InvalidInput
from spinney.io.atomic import write_atomically

ENDINGS = (".csv", ".tsv", ".csv.gz", ".parquet", ".arrow", ".feather")
"""What files of tables may be called."""


def check_writable(path: str) -> None:
    """Refuse a path before the work is done, not afterwards."""
    place = Path(path)
    if place.is_dir():
        raise InvalidInput(f"{path}: this is a folder. Give a file name in it.")
    if not place.absolute().parent.is_dir():
        raise InvalidInput(f"{path}: the folder {str(place.parent)!r} does not exist. Create it.")


def check_apart(outputs: Mapping[str, str | None], inputs: Mapping[str, str | None]) -> None:
    """Refuse to write over a file that is read, or twice to the same one.

    Parameters
    ----------
    outputs : where files go, by the option that says so; None or ``-`` is no file
    inputs : where files come from
    """
    read = {what: path for what, path in inputs.items() if path not in (None, "-")}
    for what, path in outputs.items():
        if path is None or path == "-":
            continue
        for other, taken in read.items():
            if taken is not None and _is_same(path, taken):
                raise InvalidInput(
                    f"{what} {path}: that is the file of {other} too, which would be overwritten. "
                    "Choose another name."
                )
        read[what] = path


def _is_same(path: str, other: str) -> bool:
    """Tell whether two names lead to one file, through links of any kind."""
    one, two = Path(path), Path(other)
    if one.exists() and two.exists():
        return one.samefile(two)
    return one.resolve() == two.resolve()


def check_ending(path: str) -> None:
    """Refuse a file of tables whose name does not say what it is to be."""
    check_writable(path)
    if not path.lower().endswith(ENDINGS):
        raise InvalidInput(f"{path}: expected a name that ends in {', '.join(ENDINGS)}.")


def write_table(table: Any, path: str) -> None:
    """Write a table in the format that the file's name asks for; ``-`` is CSV on stdout."""
    if path == "-":
        data = _csv_bytes(table, ",")
        sys.stdout.flush()
        if hasattr(sys.stdout, "buffer"):
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            sys.stdout.write(data.decode())
        return
    check_ending(path)
    write_atomically(path, _bytes_for(table, path.lower()))


def _bytes_for(table: Any, name: str) -> bytes:
    import gzip
    import io

    if name.endswith(".csv.gz"):
        return gzip.compress(_csv_bytes(table, ","), mtime=0)
    if name.endswith((".csv", ".tsv")):
        return _csv_bytes(table, "\t" if name.endswith(".tsv") else ",")
    sink = io.BytesIO()
    if name.endswith(".parquet"):
        from pyarrow import parquet

        parquet.write_table(table, sink)
    else:
        from pyarrow import feather

        feather.write_feather(table, sink, compression="uncompressed")
    return sink.getvalue()


def _csv_bytes(table: Any, delimiter: str) -> bytes:
    import io

    from pyarrow import csv

    sink = io.BytesIO()
    csv.write_csv(table, sink, csv.WriteOptions(delimiter=delimiter, quoting_style="needed"))
    return sink.getvalue()
