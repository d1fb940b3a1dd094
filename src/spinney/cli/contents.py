"""What a model file holds, as plain values."""

from pathlib import Path
from typing import Any

from spinney.cli.files import _similar
from spinney.errors import InvalidInput


def describe(path: str) -> dict[str, Any]:
    """Read a model file and say what is in it; nothing in a file can run.

    The container is checked first, then the model is read as ``spinney.load`` reads it.
    """
    from spinney.cli.models import fingerprint_of, schema_of
    from spinney.io.atomic import read_bounded
    from spinney.io.save_load import read_with_record
    from spinney.model import sections

    place = Path(path)
    if not place.exists():
        raise InvalidInput(f"{path}: there is no such file.{_similar(place)}")
    data = read_bounded(path)
    contents = sections.unpack(data)
    fitted, record = read_with_record(data)
    model = getattr(fitted, "model_", None)  # a committee has members instead
    schema, classes = schema_of(fitted), getattr(fitted, "classes_", None)
    kept = getattr(fitted, "calibration_", None)
    parameters = fitted.get_params(deep=False)
    usual = type(fitted)().get_params(deep=False)
    return {
        "file": path,
        "bytes": len(data),
        "format": contents.format_version,
        "library": contents.meta.get("library"),
        "estimator": contents.meta.get("estimator"),
        "model": "committee" if model is None else model.kind,
        "task": fitted._task,  # noqa: SLF001 - it is ours
        "fingerprint": fingerprint_of(fitted),
        "parameters": parameters,
        "changed_parameters": [n for n, v in parameters.items() if repr(v) != repr(usual[n])],
        "n_features": len(schema.names),
        "features": _features(schema),
        "classes": _listed(classes),
        "members": len(fitted.estimators_ if model is None else model),
        "trees": None if model is None else _trees(model),
        "calibration": None if kept is None else kept.title(),
        "training": None if record is None else record.to_state(),
        "sections": [
            {
                "name": name,
                "dtype": array.dtype.str,
                "shape": list(array.shape),
                "bytes": array.nbytes,
            }
            for name, array in contents.arrays.items()
        ],
    }


def _listed(classes: Any) -> list[Any] | None:
    """Give classes as plain values; of several labels a list for each."""
    if isinstance(classes, list):
        return [of_label.tolist() for of_label in classes]
    return None if classes is None else list(classes.tolist())


def _features(schema: Any) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "kind": str(kind),
            "categories": None if levels is None else list(levels.values),
        }
        for name, kind, levels in zip(schema.names, schema.kinds, schema.levels, strict=True)
    ]


def _trees(model: Any) -> dict[str, int] | None:
    """Count trees, leaves and levels, if the model is made of trees."""
    from spinney.model.derived import DerivedForest
    from spinney.model.forest import trees_of

    forest = trees_of(model.forest if isinstance(model, DerivedForest) else model)
    if forest is None or not len(forest):
        return None
    return {
        "count": len(forest),
        "leaves": sum(tree.n_leaves for tree in forest),
        "depth": max(tree.depth for tree in forest),
    }
