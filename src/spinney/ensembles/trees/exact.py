"""Classification trees of the criteria that need sorted rows."""

import dataclasses
import math

import numpy as np

from spinney.data.binning import Binner, FeatureBins
from spinney.data.fixed_point import fixed_weights
from spinney.ensembles.fitting import Reading
from spinney.errors import InvalidInput
from spinney.model import Tree
from spinney.trees.exact import SortedTable
from spinney.trees.settings import TreeSettings
from spinney.typing import FloatArray, IntArray

EXACT_CRITERIA = ("error", "exponential")


def grow_exact_classes(
    reading: Reading, settings: TreeSettings, criterion: str, *, n_threads: int
) -> tuple[Tree, tuple[FeatureBins, ...]]:
    """Grow a tree whose values are shares of classes; also give its features."""
    n_classes = reading.target.n_outputs
    check_criterion(criterion, n_classes)
    binner = Binner.of_categories(reading.table, reading.weights)
    weights = np.ones(len(reading.y)) if reading.weights is None else reading.weights
    # On a grid of 52 bits, where floating-point sums of weights are exact, so that ties are ties.
    whole, exponent = fixed_weights(weights, bits=52)
    unit = math.ldexp(1.0, exponent)
    rows = SortedTable(reading.table, binner, n_threads=n_threads)
    targets = class_targets(reading.y.reshape(-1).astype(np.int64), n_classes)
    tree = rows.grow(targets, whole, settings, criterion=criterion, unit=unit).tree
    shares = class_shares(tree.values, n_classes)
    return dataclasses.replace(tree, values=shares), rows.features


def check_criterion(criterion: str, n_classes: int) -> None:
    """Refuse a criterion that does not know so many classes."""
    if criterion == "exponential" and n_classes > 2:
        raise InvalidInput(
            f"criterion='exponential' takes two classes, but y has {n_classes}. Use 'gini' or "
            "'error'."
        )


def class_targets(codes: IntArray, n_classes: int) -> IntArray:
    """Give signs of two classes, which is the fast road, or a 1 among zeros; (n_rows, width)."""
    one_hot = np.eye(n_classes, dtype=np.int64)[codes]
    targets: IntArray = 2 * one_hot[:, 1:] - 1 if n_classes == 2 else one_hot
    return targets


def class_shares(values: FloatArray, n_classes: int) -> FloatArray:
    """Give shares of classes in the nodes, from those or from the mean sign of two classes."""
    if n_classes != 2:
        return values
    return np.hstack([1 - values, 1 + values]) / 2
