"""Standard errors of forests: by the formulas, and against forests grown on new rows."""

import numpy as np
import pytest

from spinney import (
    ExtraTreesRegressor,
    QuantileForestRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from spinney.datasets import make_friedman, make_twonorm
from spinney.errors import InvalidParameter
from spinney.theory import forest_variance

DATA, TEST = make_friedman(1, 150, random_state=0), make_friedman(1, 40, random_state=1)


def counts_of(forest, n_rows):
    return np.stack([np.bincount(rows, minlength=n_rows) for rows in forest.estimators_samples_])


@pytest.mark.parametrize("method", ["infinitesimal", "jackknife", "mean"])
def test_errors_of_numbers_are_the_formula_on_trees(method):
    forest = RandomForestRegressor(60, random_state=0).fit(DATA.X, np.c_[DATA.y, -2 * DATA.y])
    means, errors = forest.predict(TEST.X, return_std=True, std_method=method)
    assert np.array_equal(means, forest.predict(TEST.X))
    said = np.stack([tree.predict(TEST.X) for tree in forest.estimators_])
    counts = counts_of(forest, 150)
    for output in range(2):
        wanted = np.sqrt(forest_variance(said[:, :, output], counts, method=method))
        assert errors[:, output] == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    one = RandomForestRegressor(60, random_state=0).fit(DATA.X, DATA.y)
    assert one.predict(TEST.X, return_std=True)[1].shape == (40,)


def test_errors_of_shares_add_up_as_shares_do():
    data = make_twonorm(200, random_state=0)
    forest = RandomForestClassifier(80, random_state=0).fit(data.X, data.y)
    shares, errors = forest.predict_proba(data.X[:20], return_std=True)
    assert shares.shape == errors.shape == (20, 2)
    assert errors[:, 0] == pytest.approx(errors[:, 1])


def test_subsamples_and_whole_weights_have_errors_too():
    forest = RandomForestRegressor(200, sampler="subsample", max_samples=0.5, random_state=0)
    errors = forest.fit(DATA.X, DATA.y).predict(TEST.X, return_std=True)[1]
    counts = counts_of(forest, 150)
    said = np.stack([tree.predict(TEST.X) for tree in forest.estimators_])
    wanted = np.sqrt(forest_variance(said, counts, replacement=False))
    assert errors == pytest.approx(wanted, rel=1e-9)
    weights = np.arange(150) % 2 + 1
    weighed = RandomForestRegressor(800, random_state=0).fit(DATA.X, DATA.y, weights)
    rows = np.repeat(np.arange(150), weights)
    repeated = RandomForestRegressor(800, random_state=0).fit(DATA.X[rows], DATA.y[rows])
    one, two = (f.predict(TEST.X, return_std=True) for f in (weighed, repeated))
    assert one[0] == pytest.approx(two[0])
    assert np.mean(one[1] ** 2) == pytest.approx(np.mean(two[1] ** 2), rel=0.15)


def test_errors_are_those_of_forests_on_new_rows():
    """The spread of a forest's answer over training sets is what the estimate is of."""
    points = TEST.X[:10]
    runs, estimates = [], []
    for seed in range(16):
        data = make_friedman(1, 100, random_state=100 + seed)
        forest = RandomForestRegressor(200, max_features=0.3, random_state=seed)
        said, errors = forest.fit(data.X, data.y).predict(
            points, return_std=True, std_method="mean"
        )
        runs.append(said)
        estimates.append(errors**2)
    truth = np.var(runs, axis=0, ddof=1).mean()
    assert 0.6 < np.mean(estimates) / truth < 1.6


@pytest.mark.parametrize(
    "forest",
    [
        ExtraTreesRegressor(5),
        RandomForestRegressor(5, sampler="bayesian"),
        RandomForestRegressor(1),
    ],
)
def test_errors_that_cannot_be_estimated_are_refused(forest):
    forest.fit(DATA.X, DATA.y)
    with pytest.raises(InvalidParameter, match="return_std=True needs"):
        forest.predict(TEST.X, return_std=True)


def test_unknown_method_is_refused():
    with pytest.raises(InvalidParameter, match=r"^std_method='bayes': expected one of"):
        RandomForestRegressor(5).fit(DATA.X, DATA.y).predict(
            TEST.X, return_std=True, std_method="bayes"
        )


@pytest.mark.parametrize(
    ("parameters", "weights"),
    [
        ({"sampler": "subsample"}, None),
        ({}, np.arange(len(DATA.y)) % 3 + 1),
        ({}, np.linspace(0.1, 1, len(DATA.y))),
    ],
)
def test_the_jackknife_needs_plain_bootstraps_and_says_so(parameters, weights):
    forest = RandomForestRegressor(5, random_state=0, **parameters).fit(DATA.X, DATA.y, weights)
    words = r"^std_method='jackknife' needs .* Use std_method='infinitesimal'"
    with pytest.raises(InvalidParameter, match=words):
        forest.predict(TEST.X, return_std=True, std_method="jackknife")


def test_labels_and_quantiles_have_no_standard_errors():
    y = (DATA.y > DATA.y.mean()).astype(int)
    with pytest.raises(InvalidParameter, match=r"predict_proba\(X, return_std=True\)"):
        RandomForestClassifier(3).fit(DATA.X, y).predict(TEST.X, return_std=True)
    with pytest.raises(InvalidParameter, match="Use RandomForestRegressor"):
        QuantileForestRegressor(3).fit(DATA.X, DATA.y).predict(TEST.X, return_std=True)


def test_weights_that_are_not_whole_are_chances():
    weights = np.linspace(0.5, 2, 150)
    forest = RandomForestRegressor(60, random_state=0).fit(DATA.X, DATA.y, weights)
    errors = forest.predict(TEST.X, return_std=True)[1]
    said = np.stack([tree.predict(TEST.X) for tree in forest.estimators_])
    wanted = np.sqrt(forest_variance(said, counts_of(forest, 150), chances=weights))
    assert errors == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    with pytest.raises(InvalidParameter, match="the same chance"):
        forest.predict(TEST.X, return_std=True, std_method="jackknife")


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1, 1: 3}, "balanced_subsample"])
def test_weights_of_classes_keep_the_formula(class_weight):
    y = (DATA.y > 16).astype(int)
    forest = RandomForestClassifier(60, random_state=0, class_weight=class_weight).fit(DATA.X, y)
    errors = forest.predict_proba(TEST.X, return_std=True)[1]
    said = np.stack([tree.predict_proba(TEST.X)[:, 1] for tree in forest.estimators_])
    chances = None
    if class_weight != "balanced_subsample":
        chances = (1 / np.bincount(y) if class_weight == "balanced" else np.array([1, 3]))[y]
    wanted = np.sqrt(forest_variance(said, counts_of(forest, 150), chances=chances))
    assert errors[:, 1] == pytest.approx(wanted, rel=1e-6, abs=1e-9)


def test_repetitions_and_weights_of_classes_do_not_mix():
    y = (DATA.y > 16).astype(int)
    forest = RandomForestClassifier(9, class_weight={0: 1, 1: 2}).fit(DATA.X, y, np.full(150, 2))
    with pytest.raises(InvalidParameter, match="300 of 150 rows"):
        forest.predict_proba(TEST.X, return_std=True)
