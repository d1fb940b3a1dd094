"""Format 1: an estimator is its class name, its parameters, its model and its attributes."""

import importlib
from typing import Any

from spinney.errors import InvalidFile, InvalidParameter
from spinney.io.parameters import decode
from spinney.model.sections import Contents
from spinney.model.state import below, model_from_state, refuse_packed


def read_v1(contents: Contents) -> Any:
    """Rebuild the fitted estimator; the class must be one of Spinney's public estimators."""
    refuse_packed(contents)
    return read_estimator(contents)


def read_estimator(contents: Contents) -> Any:
    """Do so, with nodes packed or not."""
    meta = contents.meta
    attributes = meta.get("attributes", {})
    if set(meta) - {"attributes"} != {"estimator", "library", "parameters", "model"} or not (
        isinstance(meta["estimator"], str)
        and isinstance(meta["library"], str)
        and isinstance(meta["parameters"], dict)
        and isinstance(meta["model"], dict)
        and isinstance(attributes, dict)
        and ("attributes" in meta) == bool(attributes)
    ):
        raise InvalidFile("The file is not a saved estimator: parts of its header are missing.")
    stray = [name for name in contents.arrays if not name.startswith(("model/", "attributes/"))]
    if stray:
        raise InvalidFile(f"The file has sections that belong to nothing: {stray[:5]}")
    package = importlib.import_module("spinney")
    if meta["estimator"] not in package.ESTIMATORS:
        raise InvalidFile(
            f"The file holds a {meta['estimator']!r}, written by Spinney {meta['library']!r}. This "
            f"version {package.__version__} does not have that class: install a newer one."
        )
    parameters = {key: decode(value) for key, value in meta["parameters"].items()}
    estimator_class = getattr(package, meta["estimator"])
    try:
        estimator = estimator_class(**parameters)
        estimator._check_parameters()  # noqa: SLF001 - a file may carry any value
    except InvalidParameter as error:
        raise InvalidFile(f"A parameter in the file is wrong: {error}") from error
    if not hasattr(estimator, "_adopt_all_attributes"):
        raise InvalidFile(f"The file holds a {meta['estimator']!r}, which has no form in a file.")
    model = model_from_state(meta["model"], below(contents.arrays, "model/"))
    estimator._adopt(model)  # noqa: SLF001 - the one door back into an estimator
    known = below(contents.arrays, "attributes/")
    estimator._adopt_all_attributes(attributes, known)  # noqa: SLF001
    return estimator
