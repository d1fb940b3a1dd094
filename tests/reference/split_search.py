"""The slow twin of the search for splits: every cut, judged by the definition of each criterion.

Numbers are cut behind each value, with missing values on either side; categories (missing values
are one more) are put in the order of their mean target, of each target in turn, and cut there. For
absolute error the order is that of medians. Targets of classes are a 1 among zeros. Of several
labels or numbers the gains of each are added up.
"""

import numpy as np


def xlog2(p):
    return np.where(p > 0, p * np.log2(np.where(p > 0, p, 1)), 0.0)


def median(y, w):
    order = np.argsort(y, kind="stable")
    reached = np.cumsum(w[order])
    first = np.searchsorted(2 * reached, reached[-1])
    second = min(first + (2 * reached[first] == reached[-1]), len(y) - 1)
    return (y[order[first]] + y[order[second]]) / 2


def impurity(y, w, criterion):
    """How mixed the rows are, per unit of weight."""
    mean = w @ y / w.sum()
    if criterion == "gini":
        return 1 - (mean**2).sum()
    if criterion in ("entropy", "gain_ratio"):
        return -xlog2(mean).sum()
    if criterion == "error":
        return 1 - mean.max()
    if criterion == "dkm":
        return 2 * np.sqrt(mean[0] * mean[1])
    if criterion == "poisson":
        return (w * (xlog2(y[:, 0]) * np.log(2) - y[:, 0] * np.log(mean))).sum() / w.sum()
    if criterion == "absolute":
        return (w * np.abs(y[:, 0] - median(y[:, 0], w))).sum() / w.sum()
    return (w @ (y - mean) ** 2).sum() / w.sum()


def gain(y, w, left, criterion):
    """What a split is worth: its weight times what it lowers, or raises."""
    parts = [left, ~left]
    W, shares = w.sum(), [w[s].sum() / w.sum() for s in parts]
    means = [w[s] @ y[s] / w[s].sum() for s in parts]
    if criterion == "poisson" and min(w[s] @ y[s] for s in parts) <= 0:
        return -np.inf
    if criterion == "twoing":
        return W * shares[0] * shares[1] / 4 * np.abs(means[0] - means[1]).sum() ** 2
    if criterion == "hellinger":
        of_class = [W * p * m / (w @ y) for p, m in zip(shares, means, strict=True)]
        return W * np.sqrt(sum((np.sqrt(c[1]) - np.sqrt(c[0])) ** 2 for c in of_class))
    lowered = impurity(y, w, criterion)
    lowered -= sum(p * impurity(y[s], w[s], criterion) for p, s in zip(shares, parts, strict=True))
    if criterion == "gain_ratio":
        lowered /= -xlog2(np.array(shares)).sum()
    return W * lowered


def joint_gain(y, w, left, criterion, spans):
    """The sum over the targets that differ between rows; of all columns if there are no spans."""
    parts = [y[:, span] for span in spans] or [y]
    return sum(gain(own, w, left, criterion) for own in parts if (own != own[0]).any())


def ways_left(column, y, w, criterion, *, categorical):
    missing = np.isnan(column)
    levels = np.unique(column[~missing])
    if not categorical:
        return [side for v in levels for side in (column <= v, (column <= v) | missing)]
    groups = [column == v for v in levels] + ([missing] if missing.any() else [])
    ways = []
    for k in range(y.shape[1]):
        centre = [
            median(y[g, k], w[g]) if criterion == "absolute" else w[g] @ y[g, k] / w[g].sum()
            for g in groups
        ]
        order = np.argsort(centre, kind="stable")
        ways += [np.any([groups[i] for i in order[:n]], axis=0) for n in range(1, len(groups))]
    return ways


def all_splits(X, y, w, criterion, *, categorical=(), min_leaf=0.0, spans=()):
    """(gain, rows that go left) of every split."""
    found = []
    for place, column in enumerate(X.T):
        for left in ways_left(column, y, w, criterion, categorical=place in categorical):
            if left.all() or not left.any() or min(w[left].sum(), w[~left].sum()) < min_leaf:
                continue
            found.append((joint_gain(y, w, left, criterion, spans), left))
    return found
