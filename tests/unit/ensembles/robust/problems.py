"""Problems for robust boosters."""

from dataclasses import dataclass

import numpy as np

from tests.reference.stump_oracle import StumpOracle


@dataclass(frozen=True)
class Problem:
    X: np.ndarray
    signs: np.ndarray
    oracle: StumpOracle
    X_test: np.ndarray
    clean: np.ndarray
    """Right labels of the test rows."""

    def clean_error(self, scores):
        return np.mean(np.where(scores >= 0, 1.0, -1.0) != self.clean)


def long_servedio_rows(rng, n):
    """21 bits: a quarter of large margin, a quarter pullers, a half penalisers; sum(x) y > 0."""
    y = rng.choice([-1.0, 1.0], n)
    kind = rng.choice(4, n)  # 2 and 3: penalisers
    agree = np.ones((n, 21), dtype=bool)
    agree[kind == 1, 11:] = False
    for i in np.flatnonzero(kind >= 2):
        agree[i] = False
        agree[i, rng.choice(11, 5, replace=False)] = True
        agree[i, 11 + rng.choice(10, 6, replace=False)] = True
    return np.where(agree, y[:, None], -y[:, None]), y


def long_servedio(seed, n=800, noise=0.1, n_test=4000):
    rng = np.random.default_rng(seed)
    X, y = long_servedio_rows(rng, n)
    signs = np.where(rng.random(n) < noise, -y, y)
    X_test, clean = long_servedio_rows(rng, n_test)
    return Problem(X, signs, StumpOracle(X, signs), X_test, clean)


def blobs(seed, n=60, noise=0.0, d=3):
    """Two Gaussian clouds that overlap, in few dimensions, without ties."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n)
    X = rng.normal(size=(n, d)) + 0.8 * y[:, None]
    signs = np.where(rng.random(n) < noise, -y, y)
    return Problem(X, signs, StumpOracle(X, signs), X, y)
