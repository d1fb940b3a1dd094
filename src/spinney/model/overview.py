"""A frozen model as a page: what it is, and the features it knows."""

from typing import TYPE_CHECKING, Any

from spinney.errors import SpinneyError
from spinney.markup import Html, card, code, facts, fold, table

if TYPE_CHECKING:
    from spinney.data.schema import FeatureSchema
    from spinney.model.model import Model

_MOST_NODES = 2_000_000
"""Nodes up to which a fingerprint is computed just to be shown."""
_MOST_FEATURES = 100
_MOST_CLASSES = 8


def model_html(model: "Model") -> str:
    """Show what a model is."""
    title = type(model).__name__
    return card(title, facts(model_facts(model)), features_html(model.schema))


def model_facts(model: "Model") -> dict[str, Any]:
    """Say what a model is made of, what it tells, and which one it is."""
    target = model.target
    found: dict[str, Any] = {"task": target.task}
    right = getattr(getattr(model, "trees", model), "arrays", {}).get("right")
    if right is None:
        found["members"] = len(model)
    else:
        found["trees"] = len(model)
        found["leaves"] = int((right < 0).sum())
    found["features"] = len(model.schema.names)
    if target.classes is not None:
        names = [str(label) for label in target.classes[:_MOST_CLASSES].tolist()]
        rest = len(target.classes) - len(names)
        told = ", ".join(names) + (f" and {rest} more" if rest > 0 else "")
        found["classes"] = f"{len(target.classes)}: {told}"
    if target.label_classes is not None:
        found["labels"] = target.n_targets
        found["classes"] = ", ".join(str(len(classes)) for classes in target.label_classes[:20])
    link = getattr(getattr(model, "output", model), "link", None)
    if link is not None:
        found["link"] = link
    mark = _fingerprint(model, 0 if right is None else len(right))
    return found if mark is None else found | {"fingerprint": mark}


def features_html(schema: "FeatureSchema") -> str:
    """List the features behind a fold."""
    levels = ["" if one is None else len(one) for one in schema.levels[:_MOST_FEATURES]]
    columns = {
        "feature": list(schema.names[:_MOST_FEATURES]),
        "kind": [str(kind) for kind in schema.kinds[:_MOST_FEATURES]],
        "levels": [str(number) for number in levels],
    }
    n_features = len(schema.names)
    title = f"{n_features} feature{'' if n_features == 1 else 's'}"
    if n_features > _MOST_FEATURES:
        title += f", the first {_MOST_FEATURES} of them"
    return fold(title, table(columns, most=_MOST_FEATURES))


def _fingerprint(model: "Model", n_nodes: int) -> Html | None:
    """Give the fingerprint; None where it would take long, or members have no bytes."""
    if n_nodes > _MOST_NODES:
        return None
    try:
        return code(model.fingerprint)
    except SpinneyError:
        return None
