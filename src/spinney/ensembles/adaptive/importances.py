"""How much each feature matters to weighted members."""

import numpy as np

from spinney.model import TreeForest
from spinney.model.member_sum import MemberSum
from spinney.typing import FloatArray


def member_importances(model: TreeForest | MemberSum, weights: FloatArray) -> FloatArray:
    """Average the members' importances by weights; (n_features,), of sum 1 unless nothing split."""
    if isinstance(model, MemberSum):
        return model.feature_importances()
    n_features = len(model.schema.names)
    gains = np.zeros(n_features)
    for weight, tree in zip(weights, model, strict=True):
        split = tree.feature >= 0
        of_tree = np.bincount(tree.feature[split], tree.gain[split], n_features)
        gains += weight * of_tree / (of_tree.sum() or 1.0)
    return gains / (gains.sum() or 1.0)
