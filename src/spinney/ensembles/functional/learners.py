"""Who fits the functions: trees of ours, or any estimator of scikit-learn."""

import dataclasses
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from spinney.data.fixed_point import exact_total
from spinney.ensembles.adaptive.foreign import ForeignLearner, ForeignRows
from spinney.ensembles.adaptive.hypothesis import Hypothesis
from spinney.ensembles.adaptive.learners import TreeLearner
from spinney.ensembles.fitting import Reading
from spinney.ensembles.trees.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from spinney.errors import InvalidParameter, WeakLearnerFailed
from spinney.model import Tree
from spinney.trees.settings import TreeSettings
from spinney.typing import AnyArray, FloatArray, TableLike

DEFAULT_DEPTH = 3
LEAST_SHARE = 1e-6
"""Of all weight, in a leaf of our own regression trees: rows next to nothing make no leaf."""
_NO_LIMITS = {
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "max_features": None,
    "min_impurity_decrease": 0.0,
}


def exact_settings(estimator: Any, *, depth: int = DEFAULT_DEPTH) -> TreeSettings | None:
    """Say how our own base tree grows on rows sorted once; None for any other base learner.

    A tree with limits on its leaves counts rows, and is fitted anew like a foreign learner.
    """
    if estimator is None:
        return TreeSettings(max_depth=depth, min_samples_split=0.0, min_samples_leaf=0.0)
    if type(estimator) not in (DecisionTreeClassifier, DecisionTreeRegressor):
        return None
    tree = estimator.get_params(deep=False)
    if any(tree[name] != free for name, free in _NO_LIMITS.items()) or tree.get("class_weight"):
        return None
    return TreeSettings(
        max_depth=tree["max_depth"],
        max_leaf_nodes=tree["max_leaf_nodes"],
        min_samples_split=0.0,
        min_samples_leaf=0.0,
    )


def gives_classes(estimator: Any) -> bool:
    """Tell whether a base learner is a classifier; None, a tree of ours, may be both."""
    if not hasattr(estimator, "__sklearn_tags__"):
        return hasattr(estimator, "predict_proba")
    return bool(is_classifier(estimator))


def check_base(estimator: Any, owner: str, *, may_classify: bool) -> None:
    """Refuse what cannot be a base learner."""
    if estimator is None:
        return
    if isinstance(estimator, type) or not all(
        callable(getattr(estimator, name, None)) for name in ("fit", "predict", "get_params")
    ):
        raise InvalidParameter(
            f"estimator={estimator!r} of {owner}: expected None for a tree of depth "
            f"{DEFAULT_DEPTH}, or an estimator with fit, predict and get_params."
        )
    if gives_classes(estimator) and not may_classify:
        raise InvalidParameter(
            f"estimator={estimator!r} of {owner} is a classifier, but it is asked to fit numbers. "
            "Give a regressor."
        )


def foreign_rows(X: TableLike, reading: Reading) -> ForeignRows:
    """Give the rows as the user gave them, without those of weight 0."""
    kept = X if reading.kept is None else _safe_indexing(X, reading.kept)
    classes = reading.target.classes
    labels = reading.y.reshape(-1)
    if classes is not None:
        labels = classes[labels.astype(np.int64)]
    return ForeignRows(kept, labels, reading.schema, reading.target)


class TreeRegions(TreeLearner):
    """Exact trees whose leaves may be given other values."""

    def classify(self, weights: FloatArray, form: str, round_number: int) -> Hypothesis:  # noqa: ARG002
        """Grow a tree that says -1 or 1."""
        grown = self._sorted.grow(self._targets, weights, self._settings, criterion=self._criterion)
        tree = dataclasses.replace(grown.tree, values=np.where(grown.tree.values > 0, 1.0, -1.0))
        return Hypothesis(tree.values[grown.leaf_of_row], tree)

    def regress(self, targets: FloatArray, weights: FloatArray, round_number: int) -> Hypothesis:  # noqa: ARG002
        """Grow a regression tree."""
        limits = dataclasses.replace(
            self._settings, min_samples_leaf=LEAST_SHARE * exact_total(weights)
        )
        grown = self._sorted.grow(targets[:, np.newaxis], weights, limits)
        return Hypothesis(grown.answers, grown.tree, grown.leaf_of_row)

    def regions(self, hypothesis: Hypothesis) -> AnyArray:
        """Give the number of the leaf of each training row; (n_rows,)."""
        return np.asarray(hypothesis.leaves)

    def refill(self, hypothesis: Hypothesis, leaves: AnyArray, values: FloatArray) -> Tree:
        """Give leaves values; inner nodes get the weighted mean of what is below."""
        tree: Tree = hypothesis.member
        filled = np.zeros((len(tree), 1))
        filled[leaves, 0] = values
        for node in reversed(range(len(tree))):
            right = tree.right[node]
            if right >= 0:
                below = [node + 1, right]
                weights = tree.weight[below]
                filled[node] = (weights * filled[below, 0]).sum() / (weights.sum() or 1.0)
        return dataclasses.replace(tree, values=filled)


class RegionMember:
    """A fitted tree whose leaves say something else than it learnt."""

    def __init__(self, estimator: Any, leaves: AnyArray, values: FloatArray) -> None:
        self.estimator = estimator
        self.leaves = leaves
        """Numbers of leaves, increasing."""
        self.values = values

    def predict(self, X: TableLike) -> FloatArray:
        """Value of each row's leaf; 0 for a leaf that no training row was in."""
        found = leaves_of(self.estimator, X)
        places = np.searchsorted(self.leaves, found).clip(max=len(self.leaves) - 1)
        return np.where(self.leaves[places] == found, self.values[places], 0.0)


def leaves_of(estimator: Any, X: TableLike) -> AnyArray:
    """Ask a fitted tree for the leaf of each row."""
    leaves = np.asarray(estimator.apply(X))
    if leaves.ndim != 1:
        raise WeakLearnerFailed(
            f"{type(estimator).__name__}.apply gave an array of shape {leaves.shape}; "
            "step='per_region' needs a single tree, with one leaf per row."
        )
    return leaves


class EstimatorRegions(ForeignLearner):
    """Clones of an estimator, fitted to all rows that have weight, and drawn only if need be.

    Equal weights are not mentioned to the estimator at all; others are passed on, or, if it takes
    none, rows are drawn by them.
    """

    def regions(self, hypothesis: Hypothesis) -> AnyArray:
        """Give the number of the leaf of each training row; (n_rows,)."""
        return leaves_of(hypothesis.member, self._rows.X)

    def refill(self, hypothesis: Hypothesis, leaves: AnyArray, values: FloatArray) -> RegionMember:
        """Give leaves values."""
        return RegionMember(hypothesis.member, leaves, values)

    def _fit(self, member: Any, targets: AnyArray, weights: FloatArray, round_number: int) -> None:
        chosen = np.flatnonzero(weights)
        some, X = weights[chosen], self._rows.X
        if len(chosen) < self.n_rows:
            X = _safe_indexing(X, chosen)
        if some.min() == some.max():
            member.fit(X, targets[chosen])
        elif has_fit_parameter(member, "sample_weight"):
            member.fit(X, targets[chosen], sample_weight=some)
        else:
            super()._fit(member, targets, weights, round_number)
