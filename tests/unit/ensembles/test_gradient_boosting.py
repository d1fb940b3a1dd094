import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.utils import get_tags

import spinney
from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney._native import _ext
from spinney.errors import InvalidInput, InvalidParameter

RNG = np.random.default_rng(0)


def friedman(n, n_features=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, n_features))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    return X, y + 5 * X[:, 4] + rng.normal(size=n)


def test_held_out_loss_is_that_of_scikit_learn():
    X, y = friedman(8000)
    train, test = slice(4000), slice(4000, None)
    settings = {"max_iter": 60}
    ours = GradientBoostingRegressor(**settings).fit(X[train], y[train])
    theirs = HistGradientBoostingRegressor(**settings, early_stopping=False)
    theirs.fit(X[train], y[train])
    error = mean_squared_error(y[test], ours.predict(X[test]))
    assert error < 1.02 * mean_squared_error(y[test], theirs.predict(X[test]))

    labels = np.digitize(y, [10, 18])
    for classes in (labels > 0, labels):
        ours = GradientBoostingClassifier(**settings).fit(X[train], classes[train])
        theirs = HistGradientBoostingClassifier(**settings, early_stopping=False)
        theirs.fit(X[train], classes[train])
        loss = log_loss(classes[test], ours.predict_proba(X[test]))
        assert loss < 1.02 * log_loss(classes[test], theirs.predict_proba(X[test]))


@pytest.mark.parametrize("loss", ["squared", "poisson", "gamma", "tweedie"])
def test_training_loss_falls_with_every_round(loss):
    X, y = friedman(2000)
    y = np.maximum(y, 0.1).round(1)
    model = GradientBoostingRegressor(loss=loss, max_iter=20).fit(X, y).model_
    table = model.schema.conform(X)
    formula = spinney.losses.loss.REGRESSION_LOSSES[loss]
    losses = [formula.mean(y, model[:k].raw_scores(table), None) for k in range(21)]
    assert np.all(np.diff(losses) < 0)
    assert model[:0].raw_scores(table)[0, 0] == formula.start(y, None)[0]


def problems():
    X, y = friedman(3000)
    X[RNG.random(X.shape) < 0.05] = np.nan
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    letters = np.array(list("vwxyz"), object)[np.nan_to_num(X[:, 2] * 5).astype(int)]
    frame["c"] = np.where(np.isnan(X[:, 2]), None, letters)
    weights = RNG.gamma(1.0, 1.0, len(y)) + 1e-3
    return frame, y, weights


@pytest.mark.parametrize("kind", ["regression", "binary", "several classes", "poisson"])
@pytest.mark.parametrize("weighted", [False, True])
def test_model_is_the_same_for_threads_and_instruction_sets(kind, weighted):
    frame, y, weights = problems()
    settings = {"max_iter": 8, "max_features": 0.6, "random_state": 3}
    if kind in {"regression", "poisson"}:
        loss = "poisson" if kind == "poisson" else "squared"
        estimator, target = GradientBoostingRegressor(loss=loss, **settings), np.maximum(y, 0)
    else:
        cuts = [14] if kind == "binary" else [10, 18]
        estimator, target = GradientBoostingClassifier(**settings), np.digitize(y, cuts)
    best, prints = _ext.best_isa(), set()
    for isa in {"portable", best}:
        _ext.use_isa(isa)
        for n_jobs in (1, 2, 3, 7):
            estimator.set_params(n_jobs=n_jobs)
            estimator.fit(frame, target, weights if weighted else None)
            prints.add(estimator.model_.fingerprint)
    _ext.use_isa(best)
    assert len(prints) == 1


@pytest.mark.parametrize("n", [100, 1500])
@pytest.mark.parametrize("class_weight", [None, {0: 0.3, 1: 1.7}])
def test_a_weight_is_a_repetition(n, class_weight):
    X = RNG.normal(size=(n, 4)).round(1)
    y = (X[:, 0] + RNG.normal(size=n) > 0).astype(int)
    weights = RNG.integers(0, 4, n)
    model = GradientBoostingClassifier(max_iter=5, class_weight=class_weight)
    weighted = model.fit(X, y, weights).model_
    repeated = model.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).model_
    for name in ("feature", "threshold", "right", "missing_left", "values", "weight", "gain"):
        assert np.array_equal(weighted.arrays[name], repeated.arrays[name]), name


def test_row_order_does_not_matter():
    frame, y, weights = problems()
    order = RNG.permutation(len(y))
    one = GradientBoostingRegressor(max_iter=5).fit(frame, y, weights)
    other = GradientBoostingRegressor(max_iter=5).fit(frame.iloc[order], y[order], weights[order])
    assert one.model_ == other.model_


@pytest.mark.parametrize("growth", ["leaf_wise", "level_wise"])
def test_limits_hold_in_every_tree(growth):
    X, y = friedman(3000)
    model = GradientBoostingRegressor(
        max_iter=5, max_depth=4, max_leaf_nodes=12, min_samples_leaf=50, growth=growth
    ).fit(X, y)
    for tree in model.model_:
        leaves = tree.right < 0
        assert tree.depth <= 4
        assert tree.n_leaves <= 12
        assert tree.count[leaves].min() >= 50
        assert np.allclose(tree.count[0], tree.count[leaves].sum())


def test_penalties_shrink_and_prune():
    X, y = friedman(2000)

    def first_tree(**settings):
        return GradientBoostingRegressor(max_iter=1, **settings).fit(X, y).model_[0]

    plain = first_tree()
    shrunk = first_tree(l2_regularization=100.0)
    assert np.abs(shrunk.values).max() < np.abs(plain.values).max()
    assert first_tree(l1_regularization=1e9).n_leaves == 1
    least = np.sort(plain.gain[plain.gain > 0])[5] * 1.0000001
    pruned = first_tree(min_split_gain=least)
    assert pruned.gain[pruned.right >= 0].min() >= least
    assert first_tree(min_child_weight=400.0).weight.min() >= 400


def test_categories_and_missing_values_are_split_as_they_are():
    n = 1200
    colour = RNG.choice(["red", "green", "blue", None], n)
    y = np.array([{"red": 3.0, "blue": 3.0, None: -5.0}.get(c, 0.0) for c in colour])
    frame = pd.DataFrame({"colour": colour, "noise": RNG.normal(size=n)})
    model = GradientBoostingRegressor(max_iter=1, learning_rate=1.0, max_leaf_nodes=3)
    assert np.allclose(model.fit(frame, y).predict(frame), y, atol=1e-6)


def test_saved_and_loaded_models_are_the_same(tmp_path):
    X, y = friedman(500)
    for model in (
        GradientBoostingRegressor(max_iter=3).fit(X, y),
        GradientBoostingClassifier(max_iter=3).fit(X, y > 14),
        GradientBoostingClassifier(max_iter=3, loss="exponential").fit(X, y > 14),
        GradientBoostingClassifier(max_iter=3).fit(X, np.digitize(y, [10, 14, 18])),
    ):
        spinney.save(model, tmp_path / "model.spn")
        again = spinney.load(tmp_path / "model.spn")
        assert again.model_ == model.model_
        assert np.array_equal(again.predict(X), model.predict(X))
        assert again.n_iter_ == 3


def test_exponential_loss_estimates_half_the_log_odds():
    X, y = np.zeros((1000, 1)), np.arange(1000) < 800
    model = GradientBoostingClassifier(loss="exponential", max_iter=1).fit(X, y)
    assert model.predict_proba(X)[0, 1] == pytest.approx(0.8)


def test_bad_settings_and_targets_are_refused():
    X, y = friedman(50)
    with pytest.raises(InvalidParameter, match=r"loss='square'.*Did you mean 'squared'"):
        GradientBoostingRegressor(loss="square").fit(X, y)
    with pytest.raises(InvalidParameter, match="learning_rate=0"):
        GradientBoostingRegressor(learning_rate=0.0).fit(X, y)
    with pytest.raises(InvalidInput, match=r"Row 0 of y is -1\.0"):
        GradientBoostingRegressor(loss="gamma").fit(X, np.full(50, -1.0))
    with pytest.raises(InvalidInput, match="1d array"):
        GradientBoostingRegressor().fit(X, np.zeros((50, 2, 2)))


# Rounds one by one, and attributes


@pytest.mark.parametrize("kind", ["regression", "binary", "several classes"])
def test_stages_are_the_predictions_of_shorter_fits(kind):
    frame, y, weights = problems()
    target = {"binary": y > 14, "several classes": np.digitize(y, [10, 18])}.get(kind, y)
    estimator = GradientBoostingRegressor if kind == "regression" else GradientBoostingClassifier
    model = estimator(max_iter=6).fit(frame, target, weights)
    names = (
        ["predict"] if kind == "regression" else ["predict", "predict_proba", "decision_function"]
    )
    for name in names:
        stages = list(getattr(model, f"staged_{name}")(frame))
        assert len(stages) == model.n_iter_ == 6
        assert np.array_equal(stages[-1], getattr(model, name)(frame))
        shorter = estimator(max_iter=2).fit(frame, target, weights)
        assert np.array_equal(stages[1], getattr(shorter, name)(frame))


def test_stages_cost_one_round_each(monkeypatch):
    X, y = friedman(500)
    model = GradientBoostingRegressor(max_iter=40).fit(X, y)
    monkeypatch.setattr("spinney.model.forest._LEAVES_AT_ONCE", 2000)  # four rounds at a time
    walked, real = [], type(model.model_)._some

    def some(self, chosen):
        walked.extend(chosen)
        return real(self, chosen)

    monkeypatch.setattr(type(model.model_), "_some", some)
    stages = list(model.staged_predict(X))
    assert walked == list(range(40))
    assert np.array_equal(stages[-1], model.predict(X))


def test_attributes_say_what_was_learnt():
    frame, y, _ = problems()
    model = GradientBoostingClassifier(max_iter=3).fit(frame, np.digitize(y, [10, 18]))
    assert (model.n_iter_, model.n_trees_per_iteration_) == (3, 3)
    assert model.is_categorical_.tolist() == [name == "c" for name in "abcdefgh"]
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    plain = GradientBoostingRegressor(max_iter=3).fit(frame[["a", "b"]], y)
    assert plain.n_trees_per_iteration_ == 1
    assert plain.is_categorical_ is None
    for name in ("n_iter_", "is_categorical_", "n_trees_per_iteration_", "feature_importances_"):
        assert not hasattr(GradientBoostingRegressor(), name)


def test_apply_gives_the_leaf_of_every_tree():
    X, y = friedman(300)
    model = GradientBoostingRegressor(max_iter=4).fit(X, y)
    leaves = model.apply(X)
    assert leaves.shape == (300, 4)
    arrays = model.model_.arrays
    values = arrays["values"][leaves + arrays["tree_start"][:-1], 0]
    assert np.allclose(arrays["baseline"] + values.sum(axis=1), model.predict(X), rtol=1e-14)


def test_apply_has_a_place_for_every_class():
    X, y = friedman(300)
    classes = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    model = GradientBoostingClassifier(max_iter=4).fit(X, classes)
    leaves = model.apply(X[:7])
    assert leaves.shape == (7, 4, 3)
    assert np.array_equal(leaves.reshape(7, -1), model.model_.leaf_ids(X[:7]))


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize(
    "make", [GradientBoostingClassifier, spinney.HistGradientBoostingClassifier]
)
def test_a_single_class_is_certain(make, early_stopping, tmp_path):
    X, _ = friedman(60)
    model = make(max_iter=3, early_stopping=early_stopping).fit(X, ["yes"] * 60)
    spinney.save(model, tmp_path / "model.spn")
    theirs = HistGradientBoostingClassifier(max_iter=3).fit(X, ["yes"] * 60)
    for some in (model, spinney.load(tmp_path / "model.spn")):
        assert some.classes_.tolist() == theirs.classes_.tolist() == ["yes"]
        assert some.n_trees_per_iteration_ == theirs.n_trees_per_iteration_ == 1
        assert some.decision_function(X).shape == theirs.decision_function(X).shape == (60,)
        assert np.array_equal(some.predict(X), theirs.predict(X))
        assert np.array_equal(some.predict_proba(X), np.ones((60, 1)))
        assert np.array_equal(some.decision_function(X), np.zeros(60))
        for stage in some.staged_decision_function(X):
            assert np.array_equal(stage, np.zeros(60))


def test_exponential_loss_of_three_classes_is_refused_and_of_one_is_not():
    X, y = friedman(60)
    three, model = np.digitize(y, [12, 16]), GradientBoostingClassifier(loss="exponential")
    message = r"y has 3 classes, and loss='exponential' is one of two\. Use loss='logistic'"
    with pytest.raises(InvalidInput, match=message):
        model.fit(X, three)
    assert not get_tags(model).classifier_tags.multi_class
    assert get_tags(GradientBoostingClassifier()).classifier_tags.multi_class
    assert GradientBoostingClassifier(max_iter=2).fit(X, three).n_iter_ == 2
    single = model.set_params(max_iter=1).fit(X, np.zeros(60))
    assert single.predict_proba(X).tolist() == [[1.0]] * 60
