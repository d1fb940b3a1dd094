"""The rows behind a split: found again by the seed, or refused where they are other ones."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from spinney import DecisionTreeRegressor, GradientBoostingClassifier, GradientBoostingRegressor
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.explain import explain_split
from spinney.io import load, save

SMALL = {"max_iter": 3, "learning_rate": 0.3, "max_leaf_nodes": 6, "min_samples_leaf": 3}


def table(seed, n=60):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 30, size=(n, 3)).astype(float)
    return X, X[:, 0] / 10 + np.sin(X[:, 1]) + rng.normal(size=n)


@pytest.mark.parametrize(
    "settings",
    [
        {"subsample": 0.6},
        {"early_stopping": True},
        {"early_stopping": True, "subsample": 0.6},
        {"early_stopping": True, "validation_fraction": None},
        {"subsample": 0.6, "sampler": "one_side"},
        {"subsample": 0.6, "sampler": "minimal_variance", "early_stopping": True},
        {"subsample": 0.6, "sampler": "bayesian"},
        {"sampler": "poisson", "early_stopping": True},
        {"dropout": 0.9, "early_stopping": True},
    ],
)
def test_rows_that_were_held_out_or_not_drawn_are_found_by_the_seed(settings, tmp_path):
    X, y = table(11, 200)
    fitted = GradientBoostingRegressor(random_state=4, **SMALL, **settings).fit(X, y)
    found = explain_split(fitted, 2, 0, X, y)
    expected_all = settings == {"early_stopping": True, "validation_fraction": None}
    assert (found.node.rows == 200) == expected_all
    assert found.remarks[-1].endswith("equal: rows, weights, outputs, gain.")
    save(fitted, tmp_path / "model.spn")
    assert str(explain_split(load(tmp_path / "model.spn"), 2, 0, X, y)) == str(found)


def test_validation_rows_of_the_user_leave_all_rows():
    X, y = table(12, 200)
    fitted = GradientBoostingRegressor(early_stopping=True, random_state=4, **SMALL)
    fitted.fit(X[:150], y[:150], X_val=X[150:], y_val=y[150:])
    assert explain_split(fitted, 1, 0, X[:150], y[:150]).node.rows == 150


def test_all_rows_are_learnt_from_though_held_out_ones_would_leave_the_classes_as_they_are(
    tmp_path,
):
    X, _ = table(14, 200)
    even = np.arange(200) % 2
    by_folds = GradientBoostingClassifier(early_stopping="cv", random_state=4, **SMALL).fit(X, even)
    given = GradientBoostingClassifier(early_stopping=True, random_state=4, **SMALL)
    given.fit(X, even, X_val=X[:50], y_val=even[:50])
    for fitted in (by_folds, given):
        save(fitted, tmp_path / "model.spn")
        assert explain_split(load(tmp_path / "model.spn"), 0, 0, X, even).node.rows == 200
    drawn = GradientBoostingClassifier(early_stopping=True, random_state=4, **SMALL).fit(X, even)
    assert explain_split(drawn, 0, 0, X, even).node.rows == 180


@pytest.mark.parametrize("keys", [{"groups": np.arange(60) // 5}, {"time": np.arange(60)}])
def test_rows_held_out_by_keys_are_not_guessed(keys, tmp_path):
    X, y = table(15)
    fitted = GradientBoostingRegressor(early_stopping=True, random_state=4, **SMALL)
    save(fitted.fit(X, y, **keys), tmp_path / "model.spn")
    for one in (fitted, load(tmp_path / "model.spn")):
        with pytest.raises(InvalidInput, match=r"fitted with groups= or time=.* Ask without X"):
            explain_split(one, 0, 0, X, y)
        assert explain_split(one, 0, 0).node.rows < 60
    fitted.fit(X, y)
    assert explain_split(fitted, 0, 0, X, y).node.rows == 54


def test_rows_that_are_not_those_of_the_fit_are_refused():
    X, y = table(13)
    weight = np.arange(60) % 3 + 1
    fitted = GradientBoostingRegressor(**SMALL).fit(X, y)
    for wrong, message in [
        ((X[:-1], y[:-1]), "not what GradientBoostingRegressor was fitted to"),
        ((X, y + 1.0), "the best constant for these 60 rows"),
        ((X, y, weight), "the best constant"),
        ((X, y[::-1]), "has an output of .* in the model, but of .* with these rows"),
        ((X[::-1], y), "has an output|reach node"),
        ((np.append(X, X, axis=0), np.append(y, y)), "120 of the rows reach node 0"),
        ((X[:, :2], y), "features"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            explain_split(fitted, 1, 0, *wrong[:2], sample_weight=wrong[2] if wrong[2:] else None)
    doubled = GradientBoostingRegressor(**SMALL).fit(X, y, np.full(60, 2.0))
    with pytest.raises(InvalidInput, match="weigh 60, but those of the model weighed 120"):
        explain_split(doubled, 0, 0, X, y)
    classes = GradientBoostingClassifier(**SMALL).fit(X, y > 1)
    with pytest.raises(InvalidInput, match=r"the classes 0, 1, 2, but .* the classes False, True"):
        explain_split(classes, 0, 0, X, np.digitize(y, [0, 1]))


@pytest.mark.parametrize(
    "changed", [{"learning_rate": 0.2}, {"l2_regularization": 1.0}, {"l1_regularization": 2.0}]
)
def test_parameters_that_are_not_those_of_the_fit_are_noticed(changed):
    X, y = table(14)
    fitted = GradientBoostingRegressor(**SMALL).fit(X, y).set_params(**changed)
    with pytest.raises(InvalidInput, match="or a parameter are not those of the fit"):
        explain_split(fitted, 0, 0, X, y)


def test_what_is_not_there_is_refused():
    X, y = table(15)
    fitted = GradientBoostingRegressor(**SMALL).fit(X, y)
    for tree in (3, -1, 1.0, True, "0", None):
        with pytest.raises(InvalidParameter, match=r"GradientBoostingRegressor has 3 trees.* to 2"):
            explain_split(fitted, tree, 0)
    n_nodes = len(fitted.model_[1])
    for node in (n_nodes, -1, 0.5):
        with pytest.raises(InvalidParameter, match=f"Tree 1 has {n_nodes} nodes"):
            explain_split(fitted, 1, node)
    with pytest.raises(NotFittedError):
        explain_split(GradientBoostingRegressor(), 0, 0)
    for given in ({"X": X}, {"y": y}, {"sample_weight": y}):
        with pytest.raises(InvalidInput, match="belong together"):
            explain_split(fitted, 0, 0, **given)
    for other in (DecisionTreeRegressor().fit(X, y), fitted.model_):
        with pytest.raises(InvalidInputType, match="explain_split takes splits of gradient boost"):
            explain_split(other, 0, 0)
    with pytest.raises(InvalidInputType, match="no trees to explain"):
        explain_split("a model", 0, 0)
