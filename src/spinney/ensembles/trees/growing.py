"""From what ``fit`` read to a grown tree."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data.binning import Binner, FeatureBins
from spinney.ensembles.fitting import Reading
from spinney.ensembles.trees.limits import tree_settings
from spinney.errors import InvalidInput
from spinney.model.forest import cut_tree
from spinney.model.tree import Tree
from spinney.resampling.bags import Bags
from spinney.trees.absolute import grow_absolute_tree
from spinney.trees.ranked import ForestSettings, RankedTable, TreeTarget

CLASS_CRITERIA: Mapping[str, str] = {
    "gini": "gini",
    "entropy": "entropy",
    "log_loss": "entropy",
    "error": "error",
    "twoing": "twoing",
    "dkm": "dkm",
    "exponential": "dkm",
    "hellinger": "hellinger",
    "gain_ratio": "gain_ratio",
}
"""Names of criteria for classes, and what the grower calls them."""
NUMBER_CRITERIA: Mapping[str, str] = {
    "squared_error": "squared",
    "friedman_mse": "squared",
    "absolute_error": "absolute",
    "poisson": "poisson",
}
"""Names of criteria for numbers, and what the grower calls them."""
_TWO_CLASSES = ("dkm", "exponential", "hellinger")
_ONE_TARGET = ("absolute_error", "poisson")


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """A tree before it is frozen, and what it was grown on."""

    tree: Tree
    features: tuple[FeatureBins, ...]


def grow_tree(reading: Reading, params: Mapping[str, Any], *, n_threads: int) -> Grown:
    """Grow one tree as an estimator's parameters say; values are shares of classes, or means."""
    check_criterion(reading, params["criterion"])
    binner = Binner.of_categories(reading.table, reading.weights)
    rows = RankedTable(reading.table, binner, max_bins=params["max_bins"], n_threads=n_threads)
    search = "random" if params["splitter"] == "random" else params["search"]
    settings = ForestSettings(tree=tree_settings(params, reading), search=search)
    if params["criterion"] == "absolute_error":
        arrays = grow_absolute_tree(rows, reading.y[:, 0], reading.weights, settings)
    else:
        target = tree_target(reading, params["criterion"])
        arrays = rows.grow(target, settings, Bags(rows.n_rows), range(1))
    return Grown(cut_tree(arrays, 0), rows.features)


def tree_target(reading: Reading, criterion: str) -> TreeTarget:
    """Make whole numbers of what is to be learnt, for the grower of ranks."""
    weights = reading.weights
    if reading.target.task == "classification":
        codes, n_classes = reading.y.reshape(-1), reading.target.n_outputs
        name = CLASS_CRITERIA[criterion]
        return TreeTarget.of_classes(codes, n_classes, weights, criterion=name)
    return TreeTarget.of_numbers(reading.y, weights, criterion=NUMBER_CRITERIA[criterion])


def check_criterion(reading: Reading, criterion: str) -> None:
    """Refuse a target that the criterion cannot judge."""
    n_outputs = reading.target.n_outputs
    if criterion in _TWO_CLASSES and n_outputs > 2:
        raise InvalidInput(
            f"criterion={criterion!r} takes two classes, but y has {n_outputs}. Use 'gini', "
            "'entropy', 'twoing' or 'error'."
        )
    if criterion in _ONE_TARGET and n_outputs > 1:
        raise InvalidInput(
            f"criterion={criterion!r} takes one target, but y has {n_outputs} columns. Fit a tree "
            "for each, or use 'squared_error'."
        )
    if criterion == "poisson":
        _check_counts(reading)


def _check_counts(reading: Reading) -> None:
    if reading.y.min() < 0.0:
        row = int(np.argmax(reading.y[:, 0] < 0.0))
        raise InvalidInput(
            f"Some values of y are negative (the first in row {row}: {reading.y[row, 0]:g}), which "
            "no Poisson distribution gives. Use 'squared_error', or counts."
        )
    if reading.y.max() <= 0.0:
        raise InvalidInput(
            "The largest value of y is not positive, but the mean of a Poisson distribution is. "
            "Use 'squared_error', or give a y that is not all zeros."
        )
