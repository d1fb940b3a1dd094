"""Problems for robust boosters."""

from dataclasses import dataclass

import numpy as np
from tests.reference.stump_oracle import StumpOracle

from spinney.datasets import make_long_servedio, make_long_servedio_points
from spinney.ensembles.weak.hypothesis import Hypothesis


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


def long_servedio(seed, n=800, noise=0.1, n_test=4000):
    """21 bits, some labels wrong; test rows come from the same generator."""
    rng = np.random.default_rng(seed)
    train = make_long_servedio(n, noise=noise, random_state=rng)
    test = make_long_servedio(n_test, noise=0.0, random_state=rng)
    return Problem(train.X, train.y, StumpOracle(train.X, train.y), test.X, test.y)


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
    data = make_long_servedio_points(scale, noise=noise)
    X, signs = data.X, data.y.astype(float)

    def ask(distribution):
        edges = (distribution * signs) @ X
        j = int(np.argmax(np.abs(edges)))
        sign = 1.0 if edges[j] >= 0 else -1.0
        return Hypothesis(answers=sign * X[:, j], member=(j, sign))

    return ask, signs, data.sample_weight, X[:3]


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
