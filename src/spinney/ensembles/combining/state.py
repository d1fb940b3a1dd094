"""What a file tells of a committee beside its members, and whether it can be true."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from spinney.data.target import Target
from spinney.ensembles.combining.final_state import check_codes
from spinney.ensembles.combining.members import present, read_members
from spinney.errors import CannotSave, InvalidModel
from spinney.typing import AnyArray, FloatArray


def classes_target(classes: Any, owner: str) -> Target:
    """Give classes the form in which files hold them."""
    if isinstance(classes, list):
        raise CannotSave(
            f"This {owner} tells several labels per row, which has no form in a file. Fit one "
            "committee per label, or keep it with pickle or joblib."
        )
    return Target("classification", np.asarray(classes), len(classes), None)


def target_from_state(meta: Any, arrays: Mapping[str, AnyArray]) -> Target:
    """Read classes back."""
    prefix = "target/"
    own = {key.removeprefix(prefix): arrays[key] for key in arrays if key.startswith(prefix)}
    target = Target.from_state(meta if isinstance(meta, dict) else {}, own)
    if target.classes is None:
        raise InvalidModel("the classes of the committee are missing")
    return target


def members_from_state(owner: Any, parts: list[Any], names: Any) -> list[tuple[str, Any]]:
    """Pair names with members, those left out too; all must be what the parameters name.

    A committee that was told no members keeps those of the file: later versions may have others.
    """
    if not isinstance(names, list) or not names or len(names) > len(parts):
        raise InvalidModel("the members of the committee have no names")
    if owner.estimators is None:
        wrong = not all(isinstance(name, str) for name in names) or len(set(names)) < len(names)
        members = list(zip(names, parts, strict=False))
    else:
        members = read_members(owner, owner._task, any_kind=owner._any_kind)  # noqa: SLF001
        chosen = present(members)
        wrong = [name for name, _ in chosen] != names or any(
            type(part) is not type(member) for part, (_, member) in zip(parts, chosen, strict=False)
        )
    if wrong:
        raise InvalidModel("the members of the committee are not those its parameters name")
    widths = {part.n_features_in_ for part in parts[: len(names)]}
    if len(widths) > 1:
        raise InvalidModel(f"members of the committee take {sorted(widths)} features")
    return members


def check_members_tell_codes(members: list[Any], n_classes: int) -> None:
    """Refuse members that were not fitted on codes of so many classes."""
    for member in members:
        check_codes(member, n_classes)


def numbers_from_state(
    arrays: Mapping[str, AnyArray], name: str, shape: tuple[int, ...]
) -> FloatArray:
    """Read finite numbers, a copy."""
    found = arrays.get(name, np.empty(0))
    if found.dtype != "<f8" or found.shape != shape or not np.isfinite(found).all():
        raise InvalidModel(f"{name} of the committee are not {shape} finite numbers")
    return np.array(found)


def expect_facts(
    meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], known: set[str], own: set[str]
) -> None:
    """Refuse facts and arrays other than these."""
    if set(meta) != known or set(arrays) != own:
        odd = sorted((set(meta) ^ known) | (set(arrays) ^ own))
        raise InvalidModel(f"parts of the committee are missing or unknown: {odd[:5]}")


def count_from_state(meta: Mapping[str, Any], name: str) -> int:
    """Read a number of things, at least 1."""
    count = meta[name]
    if type(count) is not int or not 1 <= count < 2**48:
        raise InvalidModel(f"{name} of the committee is {count!r}, no count")
    return count


def column_counts(methods: list[str], n_classes: int) -> list[int]:
    """Count the columns that each member adds to what the final estimator sees."""
    per_class = n_classes if n_classes > 2 else 1
    return [1 if method == "predict" else per_class for method in methods]
