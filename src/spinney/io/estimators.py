"""A fitted estimator as plain text and arrays, its members among them."""

import importlib
from typing import Any

from spinney.errors import CannotSave
from spinney.io.parameters import encode, is_ours
from spinney.model import Model
from spinney.model.model import State


def combines(fitted: Any) -> bool:
    """Tell whether an estimator is made of others, each of them a part of its file."""
    return hasattr(fitted, "_to_parts")


def estimator_state(fitted: Any, owner: str | None = None) -> State:
    """Take a fitted estimator apart; ``owner`` names the committee it is a member of."""
    name = type(fitted).__name__
    if not is_ours(fitted):
        raise CannotSave(_not_ours(fitted, owner))
    parameters = fitted.get_params(deep=False)
    encoded = {key: encode(value, key) for key, value in parameters.items()}
    meta: dict[str, Any] = {"estimator": name, "parameters": encoded}
    arrays: dict[str, Any] = {}
    if combines(fitted):
        _check_fitted(fitted, is_fitted=hasattr(fitted, "estimators_"))
        parts, (known, known_arrays) = fitted._to_parts()  # noqa: SLF001 - for files
        meta["parts"] = []
        for place, part in enumerate(parts):
            own, own_arrays = estimator_state(part, name)
            meta["parts"].append(own)
            arrays |= {f"parts/{place}/{key}": array for key, array in own_arrays.items()}
    else:
        model = getattr(fitted, "model_", None)
        if not isinstance(model, Model):
            _check_fitted(fitted, is_fitted=getattr(fitted, "estimator_", None) is not None)
            raise CannotSave(
                f"A {name} holds fitted estimators of any kind, which have no safe form in a file. "
                "Keep it with pickle or joblib; or calibrate one of Spinney's ensembles itself "
                "(its method calibrate) and save that."
            )
        meta["model"], model_arrays = model.to_state()
        arrays = {f"model/{key}": array for key, array in model_arrays.items()}
        known, known_arrays = fitted._all_attributes()  # noqa: SLF001 - the estimator's part
    if known:  # one content, one file: nothing to tell is not told
        meta["attributes"] = known
    return meta, arrays | {f"attributes/{key}": array for key, array in known_arrays.items()}


def _check_fitted(fitted: Any, *, is_fitted: bool) -> None:
    if not is_fitted:
        raise CannotSave(
            f"This {type(fitted).__name__} is not fitted yet. Call fit() before save()."
        )


def _not_ours(fitted: Any, owner: str | None) -> str:
    kind = f"{type(fitted).__module__}.{type(fitted).__name__}"
    if owner is None:
        return (
            f"save() takes a fitted Spinney estimator, not {kind}. Of a pipeline, save the "
            "estimator inside it; a subclass has no place in a file."
        )
    return (
        f"A member of the {owner} is a {kind}, which has no safe form in a file. Save those of "
        "ours one by one (estimators_), or keep the whole with pickle or joblib."
    )


def library_version() -> str:
    """Give the version of Spinney that writes."""
    return str(importlib.import_module("spinney").__version__)
