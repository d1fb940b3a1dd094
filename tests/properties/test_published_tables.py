"""Errors of forests on real tables, against what the papers found.

We may not ship the tables. `SPINNEY_TABLES` names a folder with one Parquet file each, what is to
be learnt in the column "target".
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from spinney import BaggingClassifier, DecisionTreeClassifier, IsolationForest
from spinney import RandomForestClassifier as Forest

TABLES = "SPINNEY_TABLES"
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(TABLES not in os.environ, reason=f"{TABLES} names no folder of tables"),
]


def read(name):
    frame = pd.read_parquet(Path(os.environ[TABLES]) / f"{name}.parquet")
    y = frame.pop("target").to_numpy().astype(str)
    return frame.to_numpy(np.float64), y


def percent_wrong(make, X, y, test_share, n_repeats):
    """Hold a share of the rows out, again and again."""
    errors = []
    for seed in range(n_repeats):
        order = np.random.default_rng(seed).permutation(len(y))
        test, train = np.split(order, [round(test_share * len(y))])
        model = make(seed).fit(X[train], y[train])
        errors.append(100 * (1 - model.score(X[test], y[test])))
    return float(np.mean(errors))


@pytest.mark.parametrize(
    ("name", "published", "one", "tolerance"),
    [
        ("sonar", 15.9, 18.0, 2.5),
        ("ionosphere", 7.1, 7.5, 2.0),
        ("glass", 20.6, 21.2, 2.0),
        ("pima_diabetes", 24.2, 24.3, 2.0),
        ("breast_w", 2.9, 2.7, 0.6),
        ("ecoli", 12.8, 13.0, 2.0),
    ],
)
def test_small_tables_of_breiman(name, published, one, tolerance):
    """Breiman (2001), table 2, N10 and N11: log2(M) + 1 features per node, and one.

    The ecoli row of N11 is asked only where the folder has that table: it was never measured here.
    """
    if name == "ecoli" and not (Path(os.environ[TABLES]) / "ecoli.parquet").exists():
        pytest.skip("the folder has no table of ecoli: this row of N11 is not held by a test")
    X, y = read(name)
    some = int(np.log2(X.shape[1]) + 1)
    for max_features, expected in ((some, published), (1, one)):

        def make(seed, max_features=max_features):
            return Forest(100, max_features=max_features, random_state=seed)

        found = percent_wrong(make, X, y, 0.1, 100)
        assert found == pytest.approx(expected, abs=tolerance), max_features


def test_letters_of_breiman():
    """Breiman (2001), N13: one feature per node 4.7, more 3.5; others find 3.9 with five."""
    X, y = read("letter")
    train, test = slice(0, 16_000), slice(16_000, None)
    for max_features, published in ((1, 4.7), (5, 3.5)):
        forest = Forest(100, max_features=max_features, random_state=0).fit(X[train], y[train])
        found = 100 * (1 - forest.score(X[test], y[test]))
        assert found == pytest.approx(published, abs=0.6), max_features


@pytest.mark.parametrize(
    ("name", "published"),
    [("breast_w", 0.99), ("mammography", 0.86), ("ionosphere", 0.85), ("pima_diabetes", 0.67)],
)
def test_isolation(name, published):
    """Liu, Ting and Zhou (2008), N22: the area under the curve of 100 trees of 256 rows.

    The rarer class are the outliers.
    """
    X, y = read(name)
    classes, counts = np.unique(y, return_counts=True)
    is_outlier = y == classes[counts.argmin()]
    areas = [
        roc_auc_score(is_outlier, -IsolationForest(random_state=seed).fit(X).score_samples(X))
        for seed in range(10)
    ]
    assert np.mean(areas) == pytest.approx(published, abs=0.02)


def test_spam():
    """Hastie, Tibshirani and Friedman (2009), N24: a tree 8.7, bagging 5.4, a forest 4.88."""
    X, y = read("spambase")
    share = 1536 / 4601
    tree = percent_wrong(lambda _: DecisionTreeClassifier(), X, y, share, 10)
    bags = percent_wrong(
        lambda seed: BaggingClassifier(n_estimators=100, random_state=seed), X, y, share, 3
    )
    forest = percent_wrong(lambda seed: Forest(300, random_state=seed), X, y, share, 3)
    assert tree == pytest.approx(8.7, abs=0.9)
    assert bags == pytest.approx(5.4, abs=0.9)
    assert forest == pytest.approx(4.88, abs=0.9)
