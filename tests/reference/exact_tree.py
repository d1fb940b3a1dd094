"""The slow twin of exact trees: every way to split a node is tried and judged by the definition.

Sums of whole numbers are whole, and squares are judged as fractions, so that a tie is a tie.
"""

from fractions import Fraction

import numpy as np
from tests.reference.tree import ways_left


def impurity(targets, weights, criterion):
    """What the criterion leaves in a node; targets (n, k) and weights (n,) are whole numbers."""
    W = int(weights.sum())
    S = [int(s) for s in (targets * weights[:, None]).sum(axis=0)]
    if criterion == "squared":  # up to the sum of squares, which no split changes
        return -sum(Fraction(s * s, W) for s in S) if W else Fraction(0)
    if criterion == "exponential":
        return float(np.sqrt(float((W - S[0]) * (W + S[0]))))
    if criterion == "error" and len(S) > 1:
        return Fraction(W - max(S))
    return sum(Fraction(W - abs(s), 2) for s in S)


def all_gains(X, targets, weights, criterion, *, categorical=()):
    """(gain, feature, rows that go left) of every split, in the order in which ties are broken."""
    whole = impurity(targets, weights, criterion)
    found = []
    for feature, column in enumerate(X.T):
        for left in ways_left(column, categorical=feature in categorical):
            if left.all() or not left.any():
                continue
            parts = [impurity(targets[s], weights[s], criterion) for s in (left, ~left)]
            found.append((whole - sum(parts), feature, left))
    return found


def node_rows(tree, leaf_of_row):
    """Rows of every node: children follow their parent, the left one at once."""
    ends = np.arange(1, len(tree) + 1)
    for node in range(len(tree) - 1, -1, -1):
        if tree.right[node] >= 0:
            ends[node] = ends[tree.right[node]]
    return [(leaf_of_row >= node) & (leaf_of_row < ends[node]) for node in range(len(tree))]
