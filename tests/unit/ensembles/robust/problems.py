"""Problems for robust boosters."""

from dataclasses import dataclass

import numpy as np
from tests.reference.stump_oracle import StumpOracle

from spinney.ensembles.adaptive.hypothesis import Hypothesis


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


def four_points(scale=1 / 24, noise=0.1):
    """The 4-point example of Long and Servedio: three places, each with both labels.

    Gives an ``Ask`` whose hypotheses are ±x1 and ±x2, signs, weights, and the three places. Its
    members are (coordinate, sign).
    """
    places = np.array([[1.0, 0.0], [scale, 5 * scale], [scale, -scale]])
    X, signs = np.concatenate([places, places]), np.repeat([1.0, -1.0], 3)
    mass = np.array([0.25, 0.25, 0.5])

    def ask(distribution):
        edges = (distribution * signs) @ X
        j = int(np.argmax(np.abs(edges)))
        sign = 1.0 if edges[j] >= 0 else -1.0
        return Hypothesis(answers=sign * X[:, j], member=(j, sign))

    return ask, signs, np.concatenate([(1 - noise) * mass, noise * mass]), places


def unsure(oracle, seed=0):
    """The same learner, less sure on some rows than on others."""
    trust = np.random.default_rng(seed).uniform(0.2, 1.0, len(oracle.signs))

    def ask(distribution):
        heard = oracle(distribution)
        return Hypothesis(answers=heard.answers * trust, member=heard)

    return ask


def agreements(problem, boost):
    """(n_rounds, n_rows): y h(x) of members that are stumps."""
    return np.array([problem.signs * stump.answers(problem.X) for stump in boost.members])
