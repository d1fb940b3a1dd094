"""Ways to prune a fitted tree, by their names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data.label_columns import refuse_several
from spinney.data.target import read_labels, read_numbers
from spinney.data.weights import read_weights
from spinney.ensembles.parameters import Choice, Real, Rule, check_parameters
from spinney.errors import InvalidInput, InvalidParameter, shorten
from spinney.trees.pruning import (
    best_stops,
    class_errors,
    description_lengths,
    pessimistic_errors,
    squared_errors,
)
from spinney.typing import AnyArray

METHODS = ("cost_complexity", "reduced_error", "pessimistic", "mdl")
_RULES: Mapping[str, Rule] = {
    "method": Choice(METHODS),
    "alpha": Real(0.0),
    "confidence": Real(0.0, 1.0, above=True, below=True),
}


@dataclass(frozen=True, slots=True, eq=False)
class Pruning:
    """What ``pruned`` was asked for."""

    method: str
    alpha: float
    confidence: float
    X: Any
    y: Any
    sample_weight: Any

    def check(self, owner: str) -> None:
        """Refuse unknown words and numbers out of range."""
        values = {"method": self.method, "alpha": self.alpha, "confidence": self.confidence}
        check_parameters(f"{owner}.pruned", values, _RULES)
        has_rows = self.X is not None and self.y is not None
        if has_rows != (self.method == "reduced_error"):
            needs = "needs rows X, y to count errors on" if not has_rows else "looks at no rows"
            raise InvalidInput(f"pruned({self.method!r}) {needs}.")


def stops_of(fitted: Any, pruning: Pruning, stops_at: Callable[[float], AnyArray]) -> AnyArray:
    """Say which nodes of a fitted tree become leaves; (n_nodes,) of truth values."""
    pruning.check(type(fitted).__name__)
    tree, model = fitted.model_[0], fitted.model_
    if pruning.method == "cost_complexity":
        return stops_at(pruning.alpha)
    free = np.zeros(len(tree))
    if pruning.method == "reduced_error":
        return best_stops(tree, _errors(fitted, pruning), free)
    refuse_several(model.target, f"method={pruning.method!r}")
    if model.target.classes is None:
        raise InvalidParameter(
            f"method={pruning.method!r} counts classes, and {type(fitted).__name__} predicts "
            "numbers. Use 'cost_complexity' or 'reduced_error'."
        )
    if pruning.method == "pessimistic":
        return best_stops(tree, pessimistic_errors(tree, pruning.confidence), free)
    n_bins = np.diff(model.arrays["category_start"])
    as_leaf, of_split = description_lengths(tree, model.schema.n_features, n_bins)
    return best_stops(tree, as_leaf, of_split)


def _errors(fitted: Any, pruning: Pruning) -> AnyArray:
    """Give what each node, as a leaf, would do wrong on the rows that were given."""
    tree, target = fitted.model_[0], fitted.model_.target
    refuse_several(target, f"method={pruning.method!r}")
    leaves, name = fitted.apply(pruning.X), type(fitted).__name__
    n_rows = len(leaves)
    weights = read_weights(pruning.sample_weight, n_rows)
    counts = slice(None) if weights is None else weights > 0.0
    own_weights = None if weights is None else weights[counts]
    if target.classes is None:
        numbers = read_numbers(pruning.y, n_rows, name).reshape(n_rows, -1)
        if numbers.shape[1] != tree.values.shape[1]:
            raise InvalidInput(
                f"y has {numbers.shape[1]} columns, but the tree predicts {tree.values.shape[1]}."
            )
        return squared_errors(tree, leaves[counts], numbers[counts], own_weights)
    labels = read_labels(pruning.y, n_rows, name)
    known = {label: code for code, label in enumerate(target.classes.tolist())}
    place = np.array([known.get(label, -1) for label in labels.classes.tolist()])
    if (place < 0).all():  # every node would be wrong everywhere: a leaf would be as good
        raise InvalidInput(
            f"y has the labels {shorten(labels.classes.tolist())}, none of which is a class of the "
            f"tree: there are {shorten(target.classes.tolist())}. Give labels as those of fit."
        )
    return class_errors(tree, leaves[counts], place[labels.codes][counts], own_weights)
