"""``save`` and ``load``: a fitted estimator to one file and back."""

import os
from typing import Any

from spinney.errors import InvalidFile, InvalidModel
from spinney.io.atomic import read_bounded, write_atomically
from spinney.io.estimators import combines, estimator_state, library_version
from spinney.io.readers import READERS
from spinney.io.training_record import TrainingRecord, add_record, part_record
from spinney.model import sections
from spinney.model.packing import pack_forests
from spinney.model.state import refuse_levels_on_planes
from spinney.model.versions import oldest_version

PathLike = str | os.PathLike[str]


def save(fitted: Any, path: PathLike) -> None:
    """Write a fitted estimator to a file, conventionally named ``*.spn``.

    The file holds the model, the parameters and the schema as plain numbers and text with
    checksums; no code. It appears whole or not at all: an interrupted save leaves the old file.
    A committee is saved with its members, if all of them are Spinney's.

    Parameters
    ----------
    fitted : a fitted Spinney estimator
    path : where to write; an existing file is replaced

    Examples
    --------
    >>> import spinney, tempfile, pathlib
    >>> tree = spinney.DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tree.spn"
    >>> spinney.save(tree, path)
    >>> spinney.load(path).predict([[2.0]])
    array(['yes'], dtype='<U3')
    """
    write_atomically(path, to_bytes(fitted))


def load(path: PathLike) -> Any:
    """Read a file written by ``save``: a fitted estimator of the same class.

    Safe for files from anywhere: everything is checked before it is used, nothing in a file can
    run code, and a damaged file raises ``InvalidFile``.
    """
    return from_bytes(read_bounded(path))


def to_bytes(fitted: Any, record: TrainingRecord | None = None) -> bytes:
    """Return the content of the file that ``save`` would write; with a record, if there is one."""
    meta, arrays = estimator_state(fitted)
    arrays = pack_forests(arrays)
    version = oldest_version(arrays, has_parts=combines(fitted))
    meta = add_record({**meta, "library": library_version()}, record)
    return sections.pack(meta, arrays, version=version)


def from_bytes(data: bytes | memoryview) -> Any:
    """Inverse of ``to_bytes``."""
    return read_with_record(data)[0]


def read_with_record(data: bytes | memoryview) -> tuple[Any, TrainingRecord | None]:
    """Return what is in a file, and how it was trained if the file tells.

    The estimator does not know the record: once fitted anew, it would be told what is not true.
    """
    try:
        with sections.unpacked(data) as whole:
            refuse_levels_on_planes(whole)
            contents, record = part_record(whole)
            read = READERS[contents.format_version](contents)
    except InvalidModel as error:
        what = str(error).rstrip(".")
        raise InvalidFile(
            f"The model in the file contradicts itself: {what}. Copy the file again or save the "
            "model again."
        ) from error
    return read, record
