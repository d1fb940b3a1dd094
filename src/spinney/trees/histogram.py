"""Growing a tree on binned rows."""

import math

import numpy as np

from spinney._native import _ext
from spinney.data.binning import BinnedTable, CategoryBins, FeatureBins, NumericBins
from spinney.data.fixed_point import fixed_products, fixed_weights
from spinney.model.tree import Tree
from spinney.trees.settings import TreeSettings
from spinney.typing import AnyArray, FloatArray


def grow_histogram_tree(
    binned: BinnedTable,
    targets: FloatArray,
    weights: FloatArray | None,
    settings: TreeSettings,
    *,
    one_hot: bool = False,
    n_threads: int = 1,
) -> Tree:
    """Grow the tree that lowers the squared error of node means the most, split by split.

    With one-hot targets the squared error is the Gini impurity, so one grower serves both tasks.

    Parameters
    ----------
    binned : the rows
    targets : (n_rows, n_outputs), finite
    weights : (n_rows,), positive; None for one each
    settings : limits
    one_hot : whether targets are classes, a single 1 per row
    n_threads : changes the time, never the tree

    Returns
    -------
    Tree
        Nodes in preorder; the value of a node is the weighted mean of its targets.
    """
    row_weights = np.ones(binned.n_rows) if weights is None else weights
    integer_weights, weight_exponent = fixed_weights(row_weights, bits=62)
    if one_hot:  # the sums are weights of classes: exact as the weights are
        centre = np.zeros(targets.shape[1])
        products = np.where(targets > 0, integer_weights[:, np.newaxis], 0)
        product_exponent = weight_exponent
    else:
        # Middle of the range, not the mean: it needs no sum, and halves the largest deviation.
        centre = targets.min(axis=0) / 2 + targets.max(axis=0) / 2
        products, product_exponent = fixed_products(row_weights, targets - centre)
    grown = _ext.grow_histogram_tree(
        binned.bins,
        np.array([feature.n_value_bins for feature in binned.features], np.int32),
        np.array([isinstance(f, CategoryBins) for f in binned.features], np.uint8),
        products,
        integer_weights,
        (math.ldexp(1.0, product_exponent), math.ldexp(1.0, weight_exponent)),
        one_hot,
        settings.to_native(),
        n_threads,
    )
    return as_tree(grown, binned.features, grown["values"] + centre)


def as_tree(
    grown: dict[str, AnyArray], features: tuple[FeatureBins, ...], values: FloatArray
) -> Tree:
    """Make a tree of the model from one that is still split by bins."""
    return Tree(
        feature=grown["feature"],
        threshold=np.array(
            [
                _threshold(features[feature], last_bin) if last_bin >= 0 else 0.0
                for feature, last_bin in zip(grown["feature"], grown["bin"], strict=True)
            ]
        ),
        right=grown["right"],
        missing_left=grown["missing_left"],
        category_set=grown["category_set"],
        category_sets=grown["category_sets"].reshape(-1, 32),
        values=values,
        count=grown["count"],
        weight=grown["weight"],
        gain=grown["gain"],
    )


def _threshold(feature: FeatureBins, last_bin: int) -> float:
    """Cut point behind the last bin that goes left; infinite when only missing values go right."""
    if isinstance(feature, NumericBins) and last_bin < len(feature.cuts):
        return float(feature.cuts[last_bin])
    return math.inf
