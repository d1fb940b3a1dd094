"""Parameters of trees as limits of one tree."""

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from spinney.ensembles.fitting import Reading
from spinney.randomness import seed_from
from spinney.trees.settings import TreeSettings


def tree_settings(params: Mapping[str, Any], problem: Reading) -> TreeSettings:
    """Make the limits of one tree from an estimator's parameters."""
    n_features = len(problem.schema.names)
    total = problem.total_weight
    least = max(
        weight_of(params["min_samples_split"], total), 2 * weight_of(params["min_samples_leaf"], total)
    )
    if problem.weights is not None and total < least <= len(problem.y) / 10:
        warnings.warn(
            f"The sample weights add up to {total:g}, less than the {least:g} a node must weigh to "
            "be split, so the tree is a single leaf. A weight counts as that many rows: give "
            "min_samples_split and min_samples_leaf as shares, or scale the weights up.",
            UserWarning,
            stacklevel=3,
        )
    return TreeSettings(
        max_leaf_nodes=params["max_leaf_nodes"],
        max_depth=params["max_depth"],
        min_samples_split=weight_of(params["min_samples_split"], total),
        min_samples_leaf=weight_of(params["min_samples_leaf"], total),
        min_gain=params["min_impurity_decrease"] * total,
        max_features=n_drawn(params["max_features"], n_features),
        seed=seed_from(params["random_state"]),
    )


def weight_of(limit: float, total: float) -> float:
    """Turn a share of the total into a weight; integers are weights already."""
    return limit * total if isinstance(limit, float | np.floating) else float(limit)


def n_drawn(max_features: Any, n_features: int) -> int | None:
    """Give how many features a node draws; None: all."""
    if max_features is None:
        return None
    if max_features == "sqrt":
        return max(1, math.isqrt(n_features))
    if max_features == "log2":
        return max(1, int(math.log2(n_features)))
    if isinstance(max_features, float | np.floating):
        return max(1, int(max_features * n_features))
    return min(int(max_features), n_features)
