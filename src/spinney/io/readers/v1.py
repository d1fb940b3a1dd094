"""Format 1: an estimator is its class name, its parameters, its model and its attributes."""

import importlib
from collections.abc import Mapping
from typing import Any

from spinney.errors import InvalidFile, InvalidParameter
from spinney.io.parameters import decode
from spinney.model.sections import Contents
from spinney.model.state import below, model_from_state, refuse_packed
from spinney.typing import AnyArray


def read_v1(contents: Contents) -> Any:
    """Rebuild the fitted estimator; the class must be one of Spinney's public estimators."""
    refuse_packed(contents)
    return read_estimator(contents)


def read_estimator(contents: Contents) -> Any:
    """Do so, with nodes packed or not."""
    meta: dict[str, Any] = dict(contents.meta)
    expect_parts(meta, {"estimator": str, "library": str, "parameters": dict, "model": dict})
    stray = [name for name in contents.arrays if not name.startswith(("model/", "attributes/"))]
    if stray:
        raise InvalidFile(f"The file has sections that belong to nothing: {stray[:5]}")
    estimator = make_estimator(meta["estimator"], meta["parameters"], meta["library"])
    adopt_model(estimator, meta, contents.arrays)
    return estimator


def expect_parts(meta: Any, kinds: Mapping[str, type]) -> None:
    """Refuse a header without these parts, or with others; ``attributes`` may be there."""
    if (
        not isinstance(meta, dict)
        or set(meta) - {"attributes"} != set(kinds)
        or not all(isinstance(meta[key], kind) for key, kind in kinds.items())
        or not isinstance(meta.get("attributes", {}), dict)
        or ("attributes" in meta) != bool(meta.get("attributes"))
    ):
        raise InvalidFile("The file is not a saved estimator: parts of its header are missing.")


def make_estimator(name: str, encoded: Mapping[str, Any], library: str) -> Any:
    """Make an estimator that is not fitted, of a public class, with parameters that it takes."""
    package = importlib.import_module("spinney")
    if name not in package.ESTIMATORS:
        raise InvalidFile(
            f"The file holds a {name!r}, written by Spinney {library!r}. This version "
            f"{package.__version__} does not have that class: install a newer one."
        )
    parameters = {key: decode(value) for key, value in encoded.items()}
    try:
        estimator = getattr(package, name)(**parameters)
        estimator._check_parameters()  # noqa: SLF001 - a file may carry any value
    except InvalidParameter as error:
        raise InvalidFile(f"A parameter in the file is wrong: {error}") from error
    return estimator


def adopt_model(estimator: Any, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Let an estimator become the fitted one of the model in the file."""
    if not (hasattr(estimator, "_adopt") and hasattr(estimator, "_adopt_all_attributes")):
        raise InvalidFile(f"The file holds a {meta['estimator']!r}, which has no form in a file.")
    model = model_from_state(meta["model"], below(arrays, "model/"))
    estimator._adopt(model)  # noqa: SLF001 - the one door back into an estimator
    known = below(arrays, "attributes/")
    estimator._adopt_all_attributes(meta.get("attributes", {}), known)  # noqa: SLF001
