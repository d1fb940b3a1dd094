"""Small problems for boosters, and base learners that behave in odd ways."""

import numpy as np
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin

import spinney

VARIANTS = (
    "discrete",
    "samme",
    "real",
    "samme_r",
    "gentle",
    "logit",
    "confidence",
    "m1",
    "m2",
    "mh",
    "arc_x4",
)
TWO_CLASSES = ("confidence",)
REGRESSORS = ("gentle", "logit")
PAIRS = [(v, k) for v in VARIANTS for k in (2, 3) if k == 2 or v not in TWO_CLASSES]
"""Every variant with every number of classes it takes."""


def error_stump():
    """The weak learner of the papers: least weighted error."""
    return spinney.DecisionTreeClassifier(max_depth=1, criterion="error")


def small_tree(variant, depth=2):
    regresses = variant in REGRESSORS
    kind = spinney.DecisionTreeRegressor if regresses else spinney.DecisionTreeClassifier
    return kind(max_depth=depth)


def blobs(n_classes=2, n_rows=90, n_features=3, seed=0):
    """Classes by a bent score with noise: no stump is perfect, none is useless."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    score = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n_rows) * 0.4
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


@st.composite
def problems(draw):
    """Rows whose values repeat, labels -1 and 1 with some sense; whole weights or none."""
    n_rows, n_features = draw(st.integers(8, 40)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.integers(0, 8, (n_rows, n_features)).astype(float)
    y = np.where(X[:, 0] + rng.normal(size=n_rows) * draw(st.sampled_from([1, 3])) > 3.5, 1, -1)
    y[:2] = -1, 1
    weights = rng.integers(1, 5, n_rows).astype(float) if draw(st.booleans()) else np.ones(n_rows)
    return X, y, weights


class Contrary(ClassifierMixin, BaseEstimator):
    """Says the opposite of a stump."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.stump_ = error_stump().fit(X, y, sample_weight * len(y))
        return self

    def predict(self, X):
        said = self.stump_.predict(X)
        return np.where(said == self.classes_[0], self.classes_[1], self.classes_[0])


class Straight(Contrary):
    """Says what the stump says."""

    def predict(self, X):
        return self.stump_.predict(X)
