"""A selected committee in a file: its members are parts of it, and how they were selected."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from spinney.data.schema import FeatureSchema
from spinney.data.target import Target
from spinney.ensembles.selecting.greedy import Library, SelectionPath
from spinney.ensembles.selecting.members import Member
from spinney.ensembles.uncertain.calibrating import CALIBRATION
from spinney.errors import InvalidModel
from spinney.model.model import State
from spinney.typing import AnyArray

_PATH = {"bags": "<i8", "steps": "<i8", "members": "<i4", "scores": "<f8", "kept": "|u1"}
"""Arrays of the path, and their types in a file; members by their place in the library."""
_LIBRARY = ("scores", "weights")


class FiledSelection:
    """A selected committee that files can hold, if all members are Spinney's."""

    _task: ClassVar[str]
    _check_fitted: Any
    _all_attributes: Any
    _adopt_all_attributes: Any
    _become: Any
    _learns: Any
    model_: Any
    estimators_: list[Any]
    library_: Library
    selection_path_: SelectionPath

    def _to_parts(self) -> tuple[list[Any], State]:
        """Take a fitted committee apart: its members, and how they were selected."""
        self._check_fitted()
        meta, arrays = selection_state(
            self.model_.schema, self.model_.target, self.library_, self.selection_path_
        )
        kept, kept_arrays = self._all_attributes()
        return list(self.estimators_), ({**meta, **kept}, {**arrays, **kept_arrays})

    def _adopt_parts(
        self, parts: list[Any], meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]
    ) -> None:
        """Become what ``_to_parts`` took apart, believing nothing."""
        told = {name: value for name, value in meta.items() if name == "calibration"}
        kept = {name: array for name, array in arrays.items() if name.startswith(CALIBRATION)}
        schema, target, library, path = selection_from(
            {name: value for name, value in meta.items() if name not in told},
            {name: array for name, array in arrays.items() if name not in kept},
        )
        names = [library.names[place] for place in np.flatnonzero(library.weights)]
        if len(names) != len(parts) or not self._may_be(parts, schema, target):
            raise InvalidModel("the members of the committee are not those that were selected")
        self.library_, self.selection_path_ = library, path
        fitted = [Member(name, part) for name, part in zip(names, parts, strict=True)]
        self._become(fitted, schema, target)
        self._adopt_all_attributes(told, kept)

    def _may_be(self, parts: list[Any], schema: FeatureSchema, target: Target) -> bool:
        """Tell whether estimators can be members of a committee for this target."""
        known = None if target.classes is None else set(target.classes.tolist())
        return bool(self._learns(target)) and all(
            getattr(part, "_task", None) == self._task
            and part.n_features_in_ == len(schema.names)
            and (known is None or set(np.asarray(part.classes_).tolist()) <= known)
            for part in parts
        )


def selection_state(
    schema: FeatureSchema, target: Target, library: Library, path: SelectionPath
) -> State:
    """Give what a selected committee knows beside its members."""
    schema_meta, schema_arrays = schema.to_state()
    target_meta, target_arrays = target.to_state()
    place = {name: number for number, name in enumerate(library.names)}
    steps = {name: getattr(path, name) for name in _PATH if name != "members"}
    steps["members"] = np.array([place[name] for name in path.members])
    arrays = {f"schema/{name}": array for name, array in schema_arrays.items()}
    arrays |= {f"target/{name}": array for name, array in target_arrays.items()}
    arrays |= {f"library/{name}": np.array(getattr(library, name)) for name in _LIBRARY}
    arrays["library/committee_score"] = np.array([library.committee_score])
    arrays |= {f"path/{name}": array.astype(_PATH[name]) for name, array in steps.items()}
    return {"schema": schema_meta, "target": target_meta, "library": list(library.names)}, arrays


def selection_from(
    meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]
) -> tuple[FeatureSchema, Target, Library, SelectionPath]:
    """Take back what ``selection_state`` gave, believing nothing."""
    parts = {name: _below(arrays, name) for name in ("schema", "target", "library", "path")}
    names = meta.get("library")
    if (
        set(meta) != {"schema", "target", "library"}
        or not all(isinstance(meta[name], dict) for name in ("schema", "target"))
        or sum(map(len, parts.values())) != len(arrays)
        or not isinstance(names, list)
        or not all(isinstance(name, str) for name in names)
        or len(set(names)) != len(names)
    ):
        raise InvalidModel("what the selection knows beside its members is missing or unknown")
    schema = FeatureSchema.from_state(meta["schema"], parts["schema"])
    target = Target.from_state(meta["target"], parts["target"])
    library = _library(names, parts["library"])
    return schema, target, library, _path(library, parts["path"])


def _below(arrays: Mapping[str, AnyArray], name: str) -> dict[str, AnyArray]:
    start = f"{name}/"
    return {key.removeprefix(start): a for key, a in arrays.items() if key.startswith(start)}


def _library(names: list[str], arrays: Mapping[str, AnyArray]) -> Library:
    shapes = {"scores": (len(names),), "weights": (len(names),), "committee_score": (1,)}
    if set(arrays) != set(shapes) or any(
        array.dtype != "<f8" or array.shape != shapes[name] for name, array in arrays.items()
    ):
        raise InvalidModel("the library of the selection is missing parts")
    weights = arrays["weights"].copy()
    if not (np.isfinite(weights).all() and (weights >= 0).all() and abs(weights.sum() - 1) < 1e-9):
        raise InvalidModel("the weights of the selection do not add up to 1")
    score = float(arrays["committee_score"][0])
    return Library(tuple(names), arrays["scores"].copy(), weights, score)


def _path(library: Library, arrays: Mapping[str, AnyArray]) -> SelectionPath:
    lengths = {len(array) if array.ndim == 1 else -1 for array in arrays.values()}
    if (
        set(arrays) != set(_PATH)
        or any(arrays[name].dtype != np.dtype(kind) for name, kind in _PATH.items())
        or len(lengths) != 1
        or -1 in lengths
        or arrays["kept"].max(initial=0) > 1
    ):
        raise InvalidModel("the path of the selection is missing parts")
    codes = arrays["members"]
    if codes.min(initial=0) < 0 or codes.max(initial=0) >= max(len(library.names), 1):
        raise InvalidModel("the path of the selection names members that there are not")
    return SelectionPath(
        arrays["bags"].astype(np.int64),
        arrays["steps"].astype(np.int64),
        tuple(library.names[code] for code in codes.tolist()),
        arrays["scores"].copy(),
        arrays["kept"].astype(bool),
    )
