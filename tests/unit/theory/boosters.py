"""Small problems, and boosters that have just what theory asks of one."""

import numpy as np
from hypothesis import strategies as st
from tests.reference.adaboost import answers, slow_adaboost, slow_scores

from spinney.theory import Trace, binary_margins

RUDIN = np.array(
    [
        [-1, 1, 1, 1, 1, -1, -1, 1],
        [-1, 1, 1, -1, -1, 1, 1, 1],
        [1, -1, 1, 1, 1, -1, 1, 1],
        [1, -1, 1, 1, -1, 1, 1, 1],
        [1, -1, 1, -1, 1, 1, 1, -1],
        [1, 1, -1, 1, 1, 1, 1, -1],
        [1, 1, -1, 1, 1, 1, -1, 1],
        [1, 1, 1, 1, -1, -1, 1, -1],
    ],
    float,
)
"""Rudin, Daubechies, Schapire (2004): y h(x), on which AdaBoost cycles."""
TOY10 = np.c_[np.arange(1, 11), [2, 9, 3, 4, 1, 6, 8, 5, 7, 10]].astype(float)
TOY10_LABELS = np.array([1, 1, -1, -1, -1, 1, 1, 1, -1, -1])


@st.composite
def problems(draw):
    """A few rows of small whole numbers, so that values repeat, and labels without sense."""
    n_rows, n_features = draw(st.integers(4, 16)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.integers(0, 6, (n_rows, n_features)).astype(float)
    y = rng.choice([-1, 1], n_rows)
    y[:2] = -1, 1
    return X, y


class Stumps:
    """The slow AdaBoost with the face of a fitted booster."""

    def __init__(self, X, y, n_rounds, *, keep=True):
        self.boosted = boosted = slow_adaboost(X, y, n_rounds)
        self.n_features = X.shape[1]
        self.answers = np.array([answers(stump, X) for stump in boosted.stumps])
        votes = boosted.alphas[:, None] * self.answers
        margins = y * np.cumsum(votes, axis=0) / np.cumsum(boosted.alphas)[:, None]
        self.trace_ = Trace(
            errors=boosted.errors,
            edges=1 - 2 * boosted.errors,
            alphas=boosted.alphas,
            normalisers=boosted.normalisers,
            objective=np.cumprod(boosted.normalisers),
            min_margins=margins.min(axis=1),
            stop_reason="that was all",
            distributions=boosted.distributions if keep else None,
        )

    def margins(self, X, y):
        return binary_margins(y, slow_scores(self.boosted, X), self.boosted.alphas)

    def complexity_class(self):
        return ("stumps", self.n_features)


def noisy_rows(n_rows, n_features=3, *, noise=0.1, seed=0):
    """Rows of which two features decide, and labels of which some are flipped."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).round(1)
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    flipped = rng.random(n_rows) < noise
    return X, np.where(flipped, -y, y), np.flatnonzero(flipped)
