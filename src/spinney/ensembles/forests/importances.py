"""How much features do in the trees of a forest."""

import numpy as np

from spinney.model import TreeForest
from spinney.typing import FloatArray


def mean_gain_shares(model: TreeForest) -> FloatArray:
    """Give the mean over trees of each feature's share in the tree's gain; sums to 1, or is 0."""
    arrays, n_features = model.arrays, model.schema.n_features
    splits = arrays["feature"] >= 0
    tree_of_node = np.repeat(np.arange(len(model)), np.diff(arrays["tree_start"]))
    cells = tree_of_node[splits] * n_features + arrays["feature"][splits]
    gains = np.bincount(cells, arrays["gain"][splits], len(model) * n_features)
    gains = gains.reshape(-1, n_features)
    totals = gains.sum(axis=1, keepdims=True)
    some = totals[:, 0] > 0
    if not some.any():
        return np.zeros(n_features)
    means: FloatArray = (gains[some] / totals[some]).mean(axis=0)
    shares: FloatArray = means / means.sum()
    return shares
