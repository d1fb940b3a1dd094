"""How much each feature matters to weighted members."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from spinney.model import TreeForest
from spinney.model.member_sum import MemberSum
from spinney.typing import FloatArray


def member_importances(model: TreeForest | MemberSum, weights: FloatArray) -> FloatArray:
    """Average the members' importances by weights; (n_features,), of sum 1 unless nothing split."""
    if isinstance(model, MemberSum):
        if not model.members:
            return np.zeros(len(model.schema.names))
        return mean_importances(model.members, weights)
    n_features = len(model.schema.names)
    gains = np.zeros(n_features)
    for weight, tree in zip(weights, model, strict=True):
        split = tree.feature >= 0
        of_tree = np.bincount(tree.feature[split], tree.gain[split], n_features)
        gains += weight * of_tree / (of_tree.sum() or 1.0)
    return gains / (gains.sum() or 1.0)


def mean_importances(members: Sequence[Any], weights: FloatArray) -> FloatArray:
    """Average what fitted estimators say of their features; (n_features,)."""
    missing = [type(m).__name__ for m in members if not hasattr(m, "feature_importances_")]
    if missing:
        raise AttributeError(f"{missing[0]} has no feature_importances_, so their mean has none.")
    total = sum(w * m.feature_importances_ for w, m in zip(weights, members, strict=True))
    return np.asarray(total / (weights.sum() or 1.0))
