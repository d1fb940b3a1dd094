"""``save`` and ``load``: a fitted estimator to one file and back."""

import importlib
import os
from typing import Any

from spinney.errors import CannotSave, InvalidFile, InvalidModel
from spinney.io.atomic import read_bounded, write_atomically
from spinney.io.parameters import encode
from spinney.io.readers import READERS
from spinney.model import Model, sections
from spinney.model.packing import pack_forests

PathLike = str | os.PathLike[str]


def save(fitted: Any, path: PathLike) -> None:
    """Write a fitted estimator to a file, conventionally named ``*.spn``.

    The file holds the model, the parameters and the schema as plain numbers and text with
    checksums; no code. It appears whole or not at all: an interrupted save leaves the old file.

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


def to_bytes(fitted: Any) -> bytes:
    """Return the content of the file that ``save`` would write."""
    name = type(fitted).__name__
    package = importlib.import_module("spinney")
    if name not in package.ESTIMATORS or type(fitted) is not getattr(package, name):
        raise CannotSave(
            f"save() takes a fitted Spinney estimator, not {type(fitted).__module__}.{name}. "
            "Of a pipeline, save the estimator inside it; a subclass has no place in a file."
        )
    if getattr(fitted, "_combines", False):
        raise CannotSave(
            f"A {name} has members of any kind, which have no safe form in a file. Save those of "
            "ours one by one (estimators_), or keep the whole with pickle or joblib."
        )
    model = getattr(fitted, "model_", None)
    if not isinstance(model, Model):
        if getattr(fitted, "estimator_", None) is not None:
            raise CannotSave(
                f"A {name} holds fitted estimators of any kind, which have no safe form in a file. "
                "Keep it with pickle or joblib; or calibrate one of Spinney's ensembles itself "
                "(its method calibrate) and save that."
            )
        raise CannotSave(f"This {name} is not fitted yet. Call fit() before save().")
    model_meta, model_arrays = model.to_state()
    known, known_arrays = fitted._all_attributes()  # noqa: SLF001 - the estimator's part of the file
    parameters = fitted.get_params(deep=False)
    meta = {
        "estimator": name,
        "library": package.__version__,
        "parameters": {key: encode(value, key) for key, value in parameters.items()},
        "model": model_meta,
    }
    if known:  # one content, one file: nothing to tell is not told
        meta["attributes"] = known
    arrays = {f"model/{key}": array for key, array in model_arrays.items()}
    arrays |= {f"attributes/{key}": array for key, array in known_arrays.items()}
    arrays, any_packed = pack_forests(arrays)
    return sections.pack(meta, arrays, version=2 if any_packed else 1)


def from_bytes(data: bytes) -> Any:
    """Inverse of ``to_bytes``."""
    contents = sections.unpack(data)
    try:
        return READERS[contents.format_version](contents)
    except InvalidModel as error:
        raise InvalidFile(
            f"The model in the file contradicts itself: {error} Copy the file again or save the "
            "model again."
        ) from error
