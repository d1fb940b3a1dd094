"""The best decision stump for any distribution over the rows, by looking at all of them.

Columns are sorted once; a round costs one gather and one cumulative sum. Of stumps with the same
edge the one on the lowest feature wins, then the lowest threshold, then the one that says + above.
"""

from dataclasses import dataclass

import numpy as np

from spinney.ensembles.weak.hypothesis import Hypothesis

SAME = 1e-12


@dataclass(frozen=True)
class Stump:
    feature: int
    threshold: float
    above: float

    def answers(self, X):
        return np.where(X[:, self.feature] > self.threshold, self.above, -self.above)


class StumpOracle:
    """An ``Ask`` over a table of numbers; constants count as stumps, unless they are refused."""

    def __init__(self, X, signs, *, constants=True):
        self.X, self.signs = np.asarray(X, dtype=float), np.asarray(signs, dtype=float)
        self.order = np.argsort(self.X, axis=0, kind="stable").T  # (features, rows)
        ranked = np.take_along_axis(self.X.T, self.order, axis=1)
        below = np.full((len(ranked), 1), -np.inf)
        middle = ranked[:, :-1] + (ranked[:, 1:] - ranked[:, :-1]) / 2
        allowed = ranked[:, 1:] > ranked[:, :-1]
        self.thresholds = np.concatenate([below, middle], axis=1)
        first = np.full((len(ranked), 1), constants)
        self.places = np.flatnonzero(np.concatenate([first, allowed], axis=1))

    def __call__(self, distribution):
        pulls = (distribution * self.signs)[self.order]
        sums = np.cumsum(pulls, axis=1)
        above = np.empty_like(sums)
        above[:, 0] = sums[:, -1]
        above[:, 1:] = sums[:, -1:] - 2.0 * sums[:, :-1]
        edges = above.ravel()[self.places]
        place = np.argmax(np.abs(edges) >= np.abs(edges).max() - SAME)
        feature, k = divmod(self.places[place], above.shape[1])
        up = 1.0 if edges[place] >= 0 else -1.0
        stump = Stump(int(feature), float(self.thresholds[feature, k]), up)
        return Hypothesis(answers=stump.answers(self.X), member=stump)


def stump_sum(boost, X):
    """F of a robust boost whose members are stumps."""
    votes = np.array([stump.answers(X) for stump in boost.members]).reshape(-1, len(X))
    return boost.weights @ votes
