"""Several quantiles in one model: exact leaves, shared trees, and no crossing anywhere."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import d2_pinball_score, mean_pinball_loss

import spinney
from spinney import GradientBoostingRegressor
from spinney.errors import InvalidInput, InvalidParameter
from spinney.report import report_html

LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]


def problem(n_rows=2000, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"x{i}": rng.normal(size=n_rows) for i in range(4)})
    frame.loc[rng.random(n_rows) < 0.1, "x1"] = np.nan
    frame["level"] = pd.Categorical(rng.choice(list("abcde"), n_rows))
    spread = 0.2 + np.abs(frame["x2"])
    y = frame["x0"] + frame["level"].cat.codes + spread * rng.standard_t(3, n_rows)
    return frame, y.to_numpy(), rng


def fitted(levels=LEVELS, **how):
    return GradientBoostingRegressor(loss="quantile", quantile=levels, **{"max_iter": 40, **how})


def test_a_million_rows_of_all_kinds_have_no_crossing():
    X, y, rng = problem()
    # Steps so long that raw scores do cross: otherwise nothing is tested.
    model = fitted(learning_rate=0.9, min_samples_leaf=2).fit(X, y)
    n = 1_000_000
    rows = pd.DataFrame({f"x{i}": rng.normal(scale=2.0, size=n) for i in range(4)})
    rows.iloc[:1000, :4] = np.nan
    rows.iloc[1000:2000, :4] = rng.choice([-np.inf, np.inf, 1e300, -1e300, np.nan], (1000, 4))
    rows["level"] = pd.Categorical(rng.choice([*"abcdef", None], n))
    raw = model._raw_scores(rows)
    assert (np.diff(raw, axis=1) < 0).sum() > 1000
    predicted = model.predict(rows)
    assert predicted.shape == (n, 5)
    assert (np.diff(predicted, axis=1) >= 0).all()
    assert np.array_equal(predicted, np.sort(raw, axis=1))


def test_every_road_to_predictions_puts_quantiles_in_order(tmp_path):
    X, y, _ = problem(800)
    model = fitted(learning_rate=0.9, min_samples_leaf=2).fit(X, y)
    expected = model.predict(X)
    assert (np.diff(model._raw_scores(X), axis=1) < 0).any()
    spinney.save(model, tmp_path / "model.spinney")
    assert np.array_equal(spinney.load(tmp_path / "model.spinney").predict(X), expected)
    compiled = model.compile()
    for i in range(0, 800, 40):
        assert np.array_equal(compiled(dict(X.iloc[i])), expected[i])
        assert np.array_equal(model.predict(X.iloc[i : i + 1]), expected[i : i + 1])
    *_, last = model.staged_predict(X)
    assert np.array_equal(last, expected)
    plain = X[["x0", "x2"]].to_numpy()
    small = fitted().fit(plain, y)
    assert np.array_equal(small.predict(plain[:3]), small.predict(plain)[:3])


def test_leaves_hold_the_exact_quantiles_of_their_rows():
    X, y, _ = problem()
    model = fitted(max_iter=1, learning_rate=1.0).fit(X, y)
    leaves, predicted = model.apply(X)[:, 0], model._raw_scores(X)
    assert len(np.unique(leaves)) > 5
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        exact = np.quantile(y[rows], LEVELS, method="averaged_inverted_cdf")
        np.testing.assert_allclose(predicted[rows][0], exact, rtol=1e-12, atol=1e-12)


def test_levels_cover_their_share_and_are_as_good_as_models_of_their_own():
    X, y, _ = problem(6000)
    train, test = slice(4000), slice(4000, None)
    model = fitted(max_iter=100).fit(X[train], y[train])
    predicted = model.predict(X[test])
    for k, level in enumerate(LEVELS):
        assert abs((y[test] <= predicted[:, k]).mean() - level) < 0.06
        alone = GradientBoostingRegressor(loss="quantile", quantile=level, max_iter=100)
        alone.fit(X[train], y[train])
        ours = mean_pinball_loss(y[test], predicted[:, k], alpha=level)
        theirs = mean_pinball_loss(y[test], alone.predict(X[test]), alpha=level)
        assert ours < 1.06 * theirs


def test_putting_quantiles_in_order_never_costs_accuracy():
    X, y, _ = problem()
    model = fitted(learning_rate=0.9, min_samples_leaf=2).fit(X[:1500], y[:1500])
    rows, targets = X[1500:], y[1500:]
    raw, sorted_ones = model._raw_scores(rows), model.predict(rows)
    loss = [
        np.mean([mean_pinball_loss(targets, given[:, k], alpha=q) for k, q in enumerate(LEVELS)])
        for given in (raw, sorted_ones)
    ]
    assert loss[1] < loss[0]


def test_one_level_in_a_list_is_that_quantile():
    X, y, _ = problem(500)
    one = fitted([0.3]).fit(X, y)
    alone = GradientBoostingRegressor(loss="quantile", quantile=0.3, max_iter=40).fit(X, y)
    assert one.predict(X).shape == (500,)
    assert np.array_equal(one.predict(X), alone.predict(X))


def test_levels_without_their_loss_are_refused():
    X, y = np.arange(20.0).reshape(-1, 1), np.arange(20.0)
    with pytest.raises(InvalidParameter, match=r"quantile=\[0.1, 0.9\] with loss='squared'"):
        GradientBoostingRegressor(quantile=[0.1, 0.9]).fit(X, y)


def test_the_score_is_the_mean_share_of_pinball_loss_removed():
    X, y, rng = problem(800)
    weights = rng.gamma(2.0, 0.5, 800)
    model = fitted().fit(X, y, weights)
    predicted = model.predict(X)
    each = [
        d2_pinball_score(y, predicted[:, k], sample_weight=weights, alpha=level)
        for k, level in enumerate(LEVELS)
    ]
    assert model.score(X, y, weights) == pytest.approx(np.mean(each))
    with pytest.raises(InvalidInput, match="one number per row"):
        model.score(X, predicted)


def test_rounds_go_on_and_stop_by_the_mean_pinball_loss():
    X, y, _ = problem(900)
    model = fitted(max_iter=6, warm_start=True).fit(X, y)
    model.set_params(max_iter=11).fit(X, y)
    assert np.array_equal(model.predict(X), fitted(max_iter=11).fit(X, y).predict(X))
    model.set_params(quantile=[0.1, 0.2, 0.5, 0.75, 0.95], max_iter=12)
    with pytest.raises(InvalidInput, match="warm_start=True"):
        model.fit(X, y)
    early = fitted(max_iter=400, learning_rate=0.3, early_stopping=True, random_state=0).fit(X, y)
    assert early.stopped_by_ == "early_stopping"
    held = {"X_val": X[600:], "y_val": y[600:]}
    few = fitted(max_iter=5, early_stopping=True).fit(X[:600], y[:600], **held)
    raw = few._raw_scores(X[600:])
    losses = [mean_pinball_loss(y[600:], raw[:, k], alpha=q) for k, q in enumerate(LEVELS)]
    assert few.validation_score_[-1] == pytest.approx(-np.mean(losses))


def test_whole_weights_are_repetitions():
    X, y, rng = problem(500)
    counts = rng.integers(0, 4, 500)
    repeated = np.repeat(np.arange(500), counts)
    weighted = fitted().fit(X, y, counts)
    again = fitted().fit(X.iloc[repeated], y[repeated])
    assert np.array_equal(weighted.predict(X), again.predict(X))


def test_outputs_are_named_by_their_levels():
    X, y, _ = problem(300)
    model = fitted([0.1, 0.9], max_iter=3).fit(X, y)
    names = ("quantile 0.1", "quantile 0.9")
    assert model.model_.target.output_names == names
    assert spinney.explain.shap_values(model, X[:3]).output_names == names


WRONG = [[], [0.5, 0.5], [0.9, 0.1], [0.0, 0.5], [0.5, 1.0], [0.5, np.nan], ["a"], "0.5", [[0.1]]]


@pytest.mark.parametrize("levels", WRONG)
def test_levels_must_increase_between_0_and_1(levels):
    X, y, _ = problem(100)
    with pytest.raises(InvalidParameter, match=r"quantile=.*each larger than the one before"):
        fitted(levels).fit(X, y)


def test_what_several_quantiles_cannot_have_is_refused():
    X, y, _ = problem(200)
    with pytest.raises(InvalidInput, match="those of one number per row"):
        fitted().fit(X, np.column_stack([y, y]))
    with pytest.raises(InvalidInput, match="monotonic constraints"):
        fitted(monotonic_cst={"x0": 1}).fit(X, y)
    with pytest.raises(InvalidParameter, match="scoring='r2'"):
        fitted(early_stopping=True, scoring="r2").fit(X, y)
    with pytest.raises(InvalidParameter, match="quantile="):
        spinney.HistGradientBoostingRegressor(loss="quantile", quantile=[0.1, 0.9]).fit(X, y)
    model = fitted(max_iter=2).fit(X, y)
    with pytest.raises(InvalidInput, match="5 numbers per row"):
        model.calibrate(X, y)
    with pytest.raises(InvalidInput, match="5 quantiles of one target"):
        report_html(model, X, y)
    assert "quantile 0.05" in report_html(model, X)


def test_levels_may_be_tuples_or_arrays():
    X, y, _ = problem(200)
    expected = fitted([0.1, 0.9], max_iter=3).fit(X, y).predict(X)
    for levels in ((0.1, 0.9), np.array([0.1, 0.9])):
        assert np.array_equal(fitted(levels, max_iter=3).fit(X, y).predict(X), expected)
