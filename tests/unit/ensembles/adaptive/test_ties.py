"""Deep trees and those of scikit-learn part where two splits are equally good, and nowhere else."""

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.tree

from spinney import AdaBoostClassifier, DecisionTreeClassifier


def first_parting(mine, theirs):
    """Give the first node that is split in two ways, and whether rows reach it, from the root."""
    stack = [(0, 0, [])]
    while stack:
        place, other, path = stack.pop()
        if mine.right[place] < 0:
            assert theirs.feature[other] < 0
            continue
        split = int(mine.feature[place]), float(mine.threshold[place])
        if split != (int(theirs.feature[other]), float(theirs.threshold[other])):
            return place, other, path
        right = int(mine.right[place]), int(theirs.children_right[other])
        stack.append((*right, [*path, (*split, False)]))
        stack.append((place + 1, int(theirs.children_left[other]), [*path, (*split, True)]))
    return None


def gain_of(X, signs, weights, split):
    """Squared error that a split removes, in more digits than a float has."""
    left = X[:, split[0]] <= split[1]
    sums = [
        ((weights * signs)[some].sum() ** 2 / weights[some].sum())
        for some in (left, ~left, left | ~left)
    ]
    return sums[0] + sums[1] - sums[2]


def test_where_trees_part_from_those_of_scikit_learn_both_splits_gain_the_same():
    """They look at features in random order and keep the first of equals; ours keep the lowest."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 12)).astype(np.float32)
    y = (X[:, :6] ** 2).sum(axis=1) + rng.normal(size=3000) > 6
    n_parted, signs = 0, np.where(y, 1, -1)
    for seed in range(8):
        tree = sklearn.tree.DecisionTreeClassifier(max_depth=3)
        theirs = sklearn.ensemble.AdaBoostClassifier(tree, n_estimators=12, random_state=seed)
        theirs.fit(X, y)
        ours = AdaBoostClassifier(
            DecisionTreeClassifier(max_depth=3), n_estimators=12, store_weights=True
        ).fit(X, y)
        for t, member in enumerate(theirs.estimators_):
            place = first_parting(ours.model_[t], member.tree_)
            if place is None:
                weights = [b.estimator_weights_[t] for b in (ours, theirs)]
                assert weights[0] == pytest.approx(weights[1], rel=1e-12)
                continue
            n_parted += 1
            here = np.ones(len(X), bool)
            for feature, threshold, is_left in place[2]:
                here &= (X[:, feature] <= threshold) == is_left
            D = ours.trace_.distributions[t].astype(np.longdouble)[here]
            of_ours, of_theirs = ours.model_[t], member.tree_
            splits = (
                (of_ours.feature[place[0]], of_ours.threshold[place[0]]),
                (of_theirs.feature[place[1]], of_theirs.threshold[place[1]]),
            )
            gains = [gain_of(X[here], signs[here], D, split) for split in splits]
            assert abs(gains[0] - gains[1]) <= 1e-12 * max(gains[0], 1e-12)
            break  # later rounds see other weights
    assert n_parted > 0
