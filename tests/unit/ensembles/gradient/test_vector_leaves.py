"""Boosting of several outputs in one tree: what every fit promises."""

import itertools
from unittest import mock

import numpy as np
import pandas as pd
import pytest

import spinney
from spinney import GradientBoostingRegressor
from spinney._native import _ext
from spinney.errors import InvalidInput, InvalidModel
from spinney.explain import permutation_importance, shap_values
from spinney.report import report_html
from spinney.trees import gradient


def table(n_rows=3000, seed=0):
    """Numbers with missing ones, and categories, of which some are rare."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"x{i}": rng.normal(size=n_rows) for i in range(4)})
    frame.loc[rng.random(n_rows) < 0.1, "x1"] = np.nan
    frame["few"] = pd.Categorical(rng.choice(["a", "b", "c"], n_rows))
    frame["many"] = pd.Categorical(rng.zipf(1.5, n_rows).clip(1, 60).astype(str))
    base = frame["x0"] + frame["x1"].fillna(2.0) ** 2
    shift = frame["few"].cat.codes - 0.1 * frame["many"].cat.codes
    Y = np.column_stack([base, frame["x2"] * frame["x0"] + shift, np.abs(base) - shift])
    return frame, Y + 0.2 * rng.normal(size=Y.shape), rng


def bytes_of(model):
    """The arrays of a model, as bytes."""
    return {name: array.tobytes() for name, array in model.model_.arrays.items()}


SETTINGS = {
    "plain": {},
    "hessians": {"loss": "poisson"},
    "order statistics": {"loss": "absolute"},
    "drawn": {"subsample": 0.6, "max_features": 0.5, "max_features_per_tree": 0.8},
    "limits": {"max_delta_step": 0.7, "l1_regularization": 3.0, "l2_regularization": 1.0},
    "levels": {"growth": "level_wise", "max_depth": 4, "prune_gain": 2.0},
    "random cuts": {"splitter": "random", "max_leaf_nodes": 60},
    "smoothed": {"path_smoothing": 20.0},
    "by derivatives": {"sampler": "minimal_variance", "subsample": 0.5},
    "by chance": {"sampler": "bayesian"},
    "interactions": {"interaction_cst": [[0, 1], [2, 3], [4, 5]]},
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_same_bits_for_every_thread_count_and_instruction_set(setting):
    X, Y, _ = table()
    Y = np.abs(Y) if SETTINGS[setting].get("loss") == "poisson" else Y
    how = {"max_iter": 6, "random_state": 3, **SETTINGS[setting]}
    expected = bytes_of(GradientBoostingRegressor(n_jobs=1, **how).fit(X, Y))
    for n_jobs in (2, 3, 7):
        assert bytes_of(GradientBoostingRegressor(n_jobs=n_jobs, **how).fit(X, Y)) == expected
    best = _ext.best_isa()
    names = ["portable", "avx2", "avx512"]
    try:
        for isa in names[: names.index(best) + 1]:
            _ext.use_isa(isa)
            assert bytes_of(GradientBoostingRegressor(n_jobs=2, **how).fit(X, Y)) == expected
    finally:
        _ext.use_isa(best)


@pytest.mark.parametrize(
    ("n_rows", "setting"),
    [(300, {}), (3000, {}), (40_000, {}), *((3000, setting) for setting in SETTINGS.values())],
)
def test_equal_outputs_have_the_trees_of_one_output(n_rows, setting):
    """Twice the gain everywhere: powers of two change no bit of any choice."""
    X, Y, _ = table(n_rows)
    how = {"max_iter": 8, "max_features": 0.7, "random_state": 0} | setting
    how.pop("loss", None)
    if how.get("sampler") == "minimal_variance":
        return  # which looks at the derivatives of all outputs, so that rows are other ones
    limits = {"prune_gain", "min_split_gain"} & set(how)
    for loss in ("squared", "absolute", "poisson"):
        y = np.abs(Y[:, 0]) if loss == "poisson" else Y[:, 0]
        one = GradientBoostingRegressor(loss=loss, **how).fit(X, y)
        twice = how | {name: 2 * how[name] for name in limits}
        two = GradientBoostingRegressor(loss=loss, **twice).fit(X, np.column_stack([y, y]))
        arrays, expected = two.model_.arrays, one.model_.arrays
        for name in ("feature", "threshold", "right", "missing_left", "category_sets", "count"):
            assert np.array_equal(arrays[name], expected[name]), name
        assert np.array_equal(arrays["values"], np.repeat(expected["values"], 2, axis=1))
        assert np.array_equal(arrays["gain"], 2 * expected["gain"])
        assert np.array_equal(two.predict(X), np.repeat(one.predict(X)[:, np.newaxis], 2, axis=1))


def test_an_output_of_zeros_changes_nothing_for_the_others():
    X, Y, _ = table()
    one = GradientBoostingRegressor(max_iter=10).fit(X, Y[:, 1])
    padded = np.column_stack([np.zeros(len(Y)), Y[:, 1], np.zeros(len(Y))])
    several = GradientBoostingRegressor(max_iter=10).fit(X, padded).predict(X)
    assert np.array_equal(several[:, 1], one.predict(X))
    assert not several[:, [0, 2]].any()


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "quantile", "poisson"])
def test_whole_weights_are_repetitions(loss):
    X, Y, rng = table(600)
    Y = np.abs(Y) if loss == "poisson" else Y
    counts = rng.integers(0, 4, len(Y))
    how = {"loss": loss, "quantile": 0.3, "max_iter": 10}
    weighted = GradientBoostingRegressor(**how).fit(X, Y, counts)
    repeated = np.repeat(np.arange(len(Y)), counts)
    again = GradientBoostingRegressor(**how).fit(X.iloc[repeated], Y[repeated])
    assert np.array_equal(weighted.predict(X), again.predict(X))


def test_small_leaves_take_their_rows_from_histograms_of_any_form():
    """Outputs of very different tails: some are packed, some are on the fine grid."""
    X, Y, rng = table(20_000)
    Y[:, 1] = rng.standard_cauchy(len(Y)) ** 3
    model = GradientBoostingRegressor(max_iter=3, min_samples_leaf=1, max_leaf_nodes=200).fit(X, Y)
    leaves = model.apply(X)
    first = leaves[:, 0]
    for leaf in np.unique(first)[::10]:
        rows = first == leaf
        expected = 0.1 * (Y[rows] - Y.mean(axis=0)).mean(axis=0)
        value = model.model_.arrays["values"][leaf]
        assert (np.abs(value - expected) <= 1e-6 * np.abs(Y).max(axis=0)).all()


def test_features_that_share_bytes_have_the_trees_they_have_without():
    rng = np.random.default_rng(1)
    level, n_rows = rng.integers(0, 30, 4000), 4000
    frame = pd.DataFrame(
        {f"is{k}": (level == k) * (1.0 + rng.integers(0, 3, 4000)) for k in range(30)}
    )
    frame.loc[level == 3, "is3"] = np.nan
    frame["dense"] = rng.normal(size=n_rows)
    Y = np.column_stack([level % 5, np.abs(level - 15)]) + rng.normal(size=(n_rows, 2))
    made = []
    for bundling in (_ext.Bundling.NEVER, _ext.Bundling.ALWAYS):
        for some in (frame, frame.drop(columns="dense")):
            for loss in ("squared", "poisson"):
                with mock.patch.object(gradient, "BUNDLING", bundling):
                    model = GradientBoostingRegressor(loss=loss, subsample=0.9, random_state=0)
                    made.append(bytes_of(model.set_params(max_iter=5).fit(some, np.abs(Y))))
    assert made[:4] == made[4:]
    assert len(set(map(str, made))) == 4


def test_categories_are_divided_as_the_best_of_all_subsets_where_outputs_agree():
    rng = np.random.default_rng(2)
    levels = np.repeat(np.array(list("abcd")), 25)
    means = dict(zip("abcd", [0.0, 3.0, 1.0, 2.5], strict=True))
    y = np.array([means[level] for level in levels]) + 0.3 * rng.normal(size=100)
    Y = np.column_stack([y, -2.0 * y])
    frame = pd.DataFrame({"level": pd.Categorical(levels)})
    model = GradientBoostingRegressor(max_iter=1, max_leaf_nodes=2).fit(frame, Y)
    centred = Y - Y.mean(axis=0)
    gains = {}
    for size in (1, 2, 3):
        for some in itertools.combinations("abcd", size):
            inside = np.isin(levels, some)
            sums = [centred[side].sum(axis=0) ** 2 / side.sum() for side in (inside, ~inside)]
            gains[some] = float(np.sum(sums)) / 2
    assert model.model_[0].gain[0] == pytest.approx(max(gains.values()), rel=1e-5)


def test_predictions_stages_leaves_and_explanations_fit_together():
    X, Y, _ = table()
    model = GradientBoostingRegressor(max_iter=12).fit(X, Y)
    predicted = model.predict(X)
    assert predicted.shape == Y.shape
    assert (model.n_iter_, model.n_trees_per_iteration_) == (12, 1)
    assert model.apply(X).shape == (len(Y), 12)
    stages = list(model.staged_predict(X))
    assert len(stages) == 12
    assert np.array_equal(stages[-1], predicted)
    shorter = GradientBoostingRegressor(max_iter=5).fit(X, Y)
    assert np.array_equal(stages[4], shorter.predict(X))
    assert model.score(X, Y) > 0.7
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    base, found = (getattr(shap_values(model, X.iloc[:20]), part) for part in ("base", "values"))
    assert np.allclose(base + found.sum(axis=1), predicted[:20])
    row = X.iloc[7]
    assert np.array_equal(model.compile()(dict(row)), predicted[7])
    assert len(permutation_importance(model, X, Y, n_repeats=1).feature_names) == X.shape[1]


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "quantile", "poisson", "tweedie"])
def test_every_loss_learns_every_output(loss):
    X, Y, _ = table()
    Y = np.abs(Y) + 0.01
    model = GradientBoostingRegressor(loss=loss, quantile=0.5, max_iter=60).fit(X, Y)
    constant = np.abs(Y - np.median(Y, axis=0)).mean(axis=0)
    assert (np.abs(Y - model.predict(X)).mean(axis=0) < 0.75 * constant).all()
    gamma = GradientBoostingRegressor(loss="gamma", max_iter=20).fit(X, Y)
    assert (gamma.predict(X) > 0).all()


def test_files_and_pickles_hold_vector_leaves(tmp_path):
    X, Y, _ = table(500)
    model = GradientBoostingRegressor(max_iter=5).fit(X, Y)
    path = tmp_path / "model.spinney"
    spinney.save(model, path)
    loaded = spinney.load(path)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert np.array_equal(spinney.load(path).model_.predictions(X), model.predict(X))
    more = loaded.set_params(warm_start=True, max_iter=9).fit(X, Y)
    assert bytes_of(more) == bytes_of(GradientBoostingRegressor(max_iter=9).fit(X, Y))


def test_rounds_can_be_added_and_are_dropped_when_interrupted():
    X, Y, _ = table(500)
    how = {"subsample": 0.7, "random_state": 0}
    model = GradientBoostingRegressor(max_iter=4, warm_start=True, **how).fit(X, Y)
    model.set_params(max_iter=9).fit(X, Y)
    whole = GradientBoostingRegressor(max_iter=9, **how).fit(X, Y)
    assert bytes_of(model) == bytes_of(whole)

    def stop(view):
        if view.round == 6:
            raise KeyboardInterrupt

    with pytest.warns(spinney.errors.InterruptedFit):
        cut = GradientBoostingRegressor(max_iter=9, **how).fit(X, Y, callbacks=stop)
    assert cut.n_iter_ == 5
    assert np.array_equal(cut.predict(X), list(whole.staged_predict(X))[4])


@pytest.mark.parametrize("scoring", ["loss", "r2", None])
@pytest.mark.parametrize("early_stopping", [True, "cv"])
def test_early_stopping_looks_at_all_outputs(early_stopping, scoring):
    X, Y, _ = table(700)
    how = {"early_stopping": early_stopping, "scoring": scoring, "cv": 3, "random_state": 0}
    model = GradientBoostingRegressor(max_iter=300, learning_rate=0.3, **how).fit(X, Y)
    assert model.stopped_by_ == "early_stopping"
    assert 1 <= model.n_iter_ < 300


def test_the_loss_is_the_mean_over_outputs():
    X, Y, rng = table(700)
    weights = rng.gamma(2.0, 0.5, 700)
    held = {"X_val": X[500:], "y_val": Y[500:], "sample_weight_val": weights[500:]}
    how = {"early_stopping": True, "max_iter": 7, "n_iter_no_change": 50}
    model = GradientBoostingRegressor(**how).fit(X[:500], Y[:500], weights[:500], **held)
    errors = (Y[500:] - model.predict(X[500:])) ** 2 / 2
    expected = np.average(errors.mean(axis=1), weights=weights[500:])
    assert model.validation_score_[-1] == pytest.approx(-expected, rel=1e-9)


def test_offsets_have_a_column_per_output():
    X, Y, rng = table(500)
    offset = rng.normal(size=Y.shape)
    moved = GradientBoostingRegressor(max_iter=5).fit(X, Y + offset, offset=offset)
    plain = GradientBoostingRegressor(max_iter=5).fit(X, Y)
    np.testing.assert_allclose(
        moved.predict(X, offset=offset) - offset, plain.predict(X), atol=1e-4
    )
    with pytest.raises(InvalidInput, match=r"offset has the shape \(500,\).*\(500, 3\)"):
        GradientBoostingRegressor(max_iter=5).fit(X, Y, offset=offset[:, 0])


def test_one_column_is_one_output():
    X, Y, _ = table(300)
    one = GradientBoostingRegressor(max_iter=3).fit(X, Y[:, :1])
    assert one.predict(X).shape == (300,)
    assert bytes_of(one) == bytes_of(GradientBoostingRegressor(max_iter=3).fit(X, Y[:, 0]))


def test_what_several_outputs_cannot_have_is_refused():
    X, Y, _ = table(300)
    with pytest.raises(InvalidInput, match=r"monotonic constraints.*several outputs"):
        GradientBoostingRegressor(monotonic_cst={"x0": 1}).fit(X, Y)
    with pytest.raises(InvalidInput, match=r"growth='symmetric'.*several share"):
        GradientBoostingRegressor(growth="symmetric").fit(X, Y)
    bad = np.abs(Y)
    bad[0, 1] = -1.0
    with pytest.raises(InvalidInput, match=r"In output 1 \(column 1 of y\): Row 0 of y is -1"):
        GradientBoostingRegressor(loss="poisson").fit(X, bad)
    with pytest.raises(InvalidInput, match=r"y_val has the shape.*3 outputs"):
        GradientBoostingRegressor(early_stopping=True).fit(X, Y, X_val=X, y_val=Y[:, :2])

    class Own:
        def value(self, y, raw):
            return (y - raw) ** 2

        def gradients(self, y, raw):
            return 2 * (raw - y)

    with pytest.raises(InvalidInput, match="one number per row"):
        GradientBoostingRegressor(loss=Own()).fit(X, Y)
    with pytest.raises(InvalidInput, match="1d array"):
        spinney.HistGradientBoostingRegressor().fit(X, Y)
    with pytest.raises(InvalidInput, match=r"several labels per row.*MultiOutputClassifier"):
        spinney.HistGradientBoostingClassifier().fit(X, (Y > 0).astype(int))
    model = GradientBoostingRegressor(max_iter=2).fit(X, Y)
    with pytest.raises(InvalidInput, match="of 3 outputs together"):
        spinney.explain.explain_split(model, 0, 0)
    with pytest.raises(InvalidInput, match="3 numbers per row"):
        model.calibrate(X, Y[:, 0])


def test_a_model_of_trees_that_add_to_all_is_no_model_of_trees_in_turn():
    X, Y, _ = table(300)
    forest = spinney.RandomForestRegressor(n_estimators=3).fit(X, Y).model_
    with pytest.raises(InvalidModel, match="boosting adds"):
        GradientBoostingRegressor()._adopt(forest)


def test_the_report_and_the_notebook_show_several_outputs():
    X, Y, _ = table(300)
    model = GradientBoostingRegressor(max_iter=3).fit(X, Y)
    assert "GradientBoostingRegressor" in model._repr_html_()
    assert "output 2" in report_html(model, X, Y)
