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
    """Make the limits of one tree from an estimator's parameters.

    A minimum that every split of rows fulfils (two rows to be split, one for a child) is none, so
    that rows of small weights are split as well.
    """
    n_features = len(problem.schema.names)
    total = problem.total_weight
    split = least_weight(params["min_samples_split"], total, always=2)
    leaf = max(
        least_weight(params["min_samples_leaf"], total, always=1),
        params.get("min_weight_fraction_leaf", 0.0) * total,
    )
    least = max(split, 2 * leaf)
    if problem.weights is not None and total < least <= len(problem.y) / 10:
        warnings.warn(
            f"The sample weights add up to {total:g}, less than the {least:g} a node must weigh to "
            "be split, so the tree is a single leaf. A weight counts as that many rows: give "
            "min_samples_split and min_samples_leaf as shares, or scale the weights up.",
            UserWarning,
            stacklevel=4,
        )
    # Of several targets per row the mean impurity counts; the grower adds them up.
    n_added = problem.target.n_targets
    return TreeSettings(
        max_leaf_nodes=params["max_leaf_nodes"],
        max_depth=params["max_depth"],
        min_samples_split=split,
        min_samples_leaf=leaf,
        min_gain=params["min_impurity_decrease"] * total * n_added,
        max_features=n_drawn(params["max_features"], n_features),
        seed=seed_from(params["random_state"]),
    )


def least_weight(limit: float, total: float, *, always: int) -> float:
    """Give the weight a node must have; 0 where ``always`` rows, which it has, are enough."""
    weight = weight_of(limit, total)
    is_share = isinstance(limit, float | np.floating)
    return 0.0 if not is_share and weight <= always else weight


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
