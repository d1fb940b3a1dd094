"""Algorithms 2 and 3, and AnyBoost: what must hold whatever the base learner and the loss."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import spinney
from spinney import FunctionalGradientBoostingClassifier as Classifier
from spinney import FunctionalGradientBoostingRegressor as Regressor
from spinney.data.binning import Binner
from spinney.data.intake import read_table
from spinney.errors import CannotSave, InvalidInput
from spinney.losses.row_weights import RowCounts, RowWeights
from spinney.trees.exact import SortedTable
from spinney.trees.settings import TreeSettings

LOG_LINKED = ("poisson", "gamma", "tweedie")
LOSSES = ("squared", "absolute", "huber", "quantile", *LOG_LINKED)


def problem(seed=0, n_rows=80):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    y = X @ [1.0, -2.0, 0.0] + np.sin(3 * X[:, 0]) + 0.2 * rng.normal(size=n_rows)
    return X, y, rng.integers(1, 4, n_rows).astype(float)


def target_for(loss, y):
    return np.exp(y / 3) if loss in LOG_LINKED else y


def named(loss):
    return {"loss": loss, "quantile": 0.8}


# Algorithm 2: a global step


def test_one_round_with_a_linear_base_is_least_squares():
    X, y, weights = problem()
    model = Regressor(LinearRegression(), learning_rate=1.0, n_estimators=1)
    model.fit(X, y, weights)
    ols = LinearRegression().fit(X, y, weights)
    assert np.abs(model.predict(X) - ols.predict(X)).max() < 1e-10
    assert model.steps_ == pytest.approx([1.0], abs=1e-12)


def test_linear_base_with_shrinkage_converges_to_least_squares_as_the_rate_says():
    X, y, _ = problem()
    ols = LinearRegression().fit(X, y).predict(X)
    model = Regressor(LinearRegression(), step="shrink", learning_rate=0.1, n_estimators=60)
    for rounds, stage in enumerate(model.fit(X, y).staged_predict(X), 1):
        expected = ols + 0.9**rounds * (y.mean() - ols)
        assert np.abs(stage - expected).max() < 1e-10


@pytest.mark.parametrize("base", [KNeighborsRegressor(3), Ridge(5.0, fit_intercept=False)])
def test_boosting_a_linear_smoother_has_a_closed_form(base):
    # F_m = mean + (I - (I - rate S)^m) (y - mean), where S maps targets to fitted values.
    X, y, _ = problem(n_rows=30)
    S = np.column_stack([base.fit(X, e).predict(X) for e in np.eye(30)])
    model = Regressor(base, step="shrink", learning_rate=0.3, n_estimators=12).fit(X, y)
    left = np.linalg.matrix_power(np.eye(30) - 0.3 * S, 12)
    expected = y.mean() + (np.eye(30) - left) @ (y - y.mean())
    assert np.abs(model.predict(X) - expected).max() < 1e-10


@pytest.mark.parametrize("base", [None, KNeighborsRegressor(4), Ridge(), SVR()], ids=str)
@pytest.mark.parametrize("loss", LOSSES)
def test_line_search_never_raises_the_loss(loss, base):
    X, y, _ = problem()
    model = Regressor(base, **named(loss), n_estimators=8, learning_rate=0.7)
    scores = model.fit(X, target_for(loss, y)).train_score_
    assert len(scores) == model.n_iter_ + 1 == 9
    assert np.diff(scores).min() > -1e-13
    assert scores[-1] > scores[0]


@pytest.mark.parametrize("loss", ["squared", "huber", *LOG_LINKED])
def test_after_a_full_step_the_loss_is_flat_in_its_direction(loss):
    X, y, weights = problem()
    y = target_for(loss, y)
    model = Regressor(loss=loss, learning_rate=1.0, n_estimators=3).fit(X, y, weights)
    before, after = list(model._staged_scores(X))[1:]
    move = (after - before)[:, 0]
    row_loss = model._row_loss(None)
    slopes = weights * row_loss.gradients(y, after)[:, 0] * move
    assert abs(slopes.sum()) < 1e-10 * np.abs(slopes).sum()


# Algorithm 3: a step per region


@pytest.mark.parametrize("base", [None, DecisionTreeRegressor(max_depth=3)], ids=str)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_leaf_is_at_the_optimum_of_its_rows(loss, base):
    X, y, weights = problem(1)
    y = target_for(loss, y)
    model = Regressor(base, **named(loss), step="per_region", learning_rate=1.0, n_estimators=2)
    before, after = list(model.fit(X, y, weights)._staged_scores(X))
    row_loss = model._row_loss(None)
    leaves = model.estimators_[1].apply(X)
    for leaf in np.unique(leaves):
        inside = leaves == leaf
        assert np.ptp((after - before)[inside]) < 1e-12

        def total(shift, inside=inside):
            return (weights * row_loss.values(y, after + shift))[inside].sum()

        assert min(total(1e-4), total(-1e-4)) >= total(0.0) - 1e-12
        slopes = (weights * row_loss.gradients(y, after)[:, 0])[inside]
        if loss not in ("absolute", "quantile"):
            assert abs(slopes.sum()) < 1e-9 * weights[inside].sum()


class Scaled(DecisionTreeRegressor):
    """Learns multiples of its targets: the same regions, other values."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, 8.0 * y, sample_weight)


@pytest.mark.parametrize("loss", ["squared", "absolute", "poisson"])
def test_values_the_tree_has_learnt_do_not_matter(loss):
    X, y, _ = problem()
    y = target_for(loss, y)
    make = {"loss": loss, "step": "per_region", "n_estimators": 5}
    plain, scaled = (
        Regressor(base(max_depth=2), **make).fit(X, y) for base in (DecisionTreeRegressor, Scaled)
    )
    assert np.array_equal(plain.predict(X), scaled.predict(X))
    native = Regressor(spinney.DecisionTreeRegressor(max_depth=2), **make).fit(X, y)
    assert native.predict(X) == pytest.approx(plain.predict(X), abs=1e-12)


def test_leaves_of_pure_classes_move_by_ten():
    X, y = np.arange(8.0).reshape(-1, 1), np.repeat([0, 1], 4)
    model = Classifier(step="per_region", learning_rate=1.0, n_estimators=1).fit(X, y)
    assert model.decision_function(X).tolist() == [-10.0] * 4 + [10.0] * 4


def test_several_classes_lower_the_loss_in_every_round():
    X, y, weights = problem()
    classes = np.digitize(y, [-1.0, 1.0])
    for step in ("line_search", "per_region"):
        model = Classifier(step=step, n_estimators=10).fit(X, classes, weights)
        assert np.diff(model.train_score_).min() > 0
        assert model.decision_function(X).shape == (80, 3)
        assert len(model.estimators_) == 10
        assert len(model.estimators_[0]) == 3
        assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)


# AnyBoost: with the exponential loss and the same oracle it is AdaBoost


def adaboost(ask, signs, weights, n_rounds):
    """Freund and Schapire's algorithm, word for word."""
    D, answers, alphas = weights / weights.sum(), [], []
    for _ in range(n_rounds):
        h = ask(D)
        error = D[h != signs].sum()
        alpha = 0.5 * np.log((1 - error) / error)
        D = D * np.exp(-alpha * signs * h)
        D = D / D.sum()
        answers.append(h)
        alphas.append(alpha)
    return answers, alphas


def native_stumps(X, signs, weights):
    table, counts = read_table(X), RowCounts(weights)
    rows = SortedTable(table, Binner.of_categories(table, None))
    limits = TreeSettings(max_depth=1, min_samples_split=0.0, min_samples_leaf=0.0)

    def ask(D):
        whole = RowWeights(D, counts).whole  # no rounding decides between two stumps
        grown = rows.grow(signs[:, np.newaxis].astype(int), whole, limits, criterion="error")
        return np.where(grown.answers[:, 0] > 0, 1.0, -1.0)

    return ask


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6))
def test_exponential_loss_with_stumps_is_adaboost(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    signs = np.where(X.sum(axis=1) + rng.normal(size=60) > 0, 1.0, -1.0)
    weights = rng.uniform(0.5, 2.0, 60)  # no two stumps have the same error
    answers, alphas = adaboost(native_stumps(X, signs, weights), signs, weights, 25)
    model = Classifier(
        oracle="classifier", loss="exponential", learning_rate=1.0, n_estimators=25
    ).fit(X, signs, weights)
    assert np.abs(model.steps_ - alphas).max() < 1e-10
    stages = np.diff([np.zeros(60), *model.staged_decision_function(X)], axis=0)
    assert np.abs(stages - np.array(alphas)[:, np.newaxis] * answers).max() < 1e-10


def test_a_foreign_classifier_as_the_base_is_adaboost_too():
    X, y, weights = problem(n_rows=60)
    weights = weights + np.linspace(0, 1, 60)
    signs = np.where(y > 0, 1.0, -1.0)
    stump = DecisionTreeClassifier(max_depth=1)
    answers, alphas = adaboost(lambda D: stump.fit(X, signs, D).predict(X), signs, weights, 10)
    model = Classifier(stump, loss="exponential", learning_rate=1.0, n_estimators=10)
    model.fit(X, np.where(signs > 0, "yes", "no"), weights)
    assert np.abs(model.steps_ - alphas).max() < 1e-10
    assert model.decision_function(X) == pytest.approx(np.dot(alphas, answers), abs=1e-10)


def test_anyboost_stops_where_nothing_lowers_the_loss():
    X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]  # XOR
    model = Classifier(oracle="classifier", loss="exponential")
    assert model.fit(X, y).n_iter_ == 0
    assert model.predict_proba(X).tolist() == [[0.5, 0.5]] * 4


# Losses of one's own


class LogCosh:
    @staticmethod
    def value(y, scores):
        return np.logaddexp(scores - y, y - scores) - np.log(2)

    @staticmethod
    def gradient(y, scores):
        return np.tanh(scores - y)


def squared(y, scores):
    return 0.5 * (scores - y) ** 2, scores - y


def logistic_of_margins(y, scores):
    return np.logaddexp(0, -2 * y * scores), -2 * y / (1 + np.exp(2 * y * scores))


@pytest.mark.parametrize("step", ["line_search", "shrink", "per_region"])
def test_a_function_is_as_good_as_a_name(step):
    X, y, weights = problem()
    make = {"step": step, "n_estimators": 10}
    ours = Regressor(**make).fit(X, y, weights)
    theirs = Regressor(loss=squared, **make).fit(X, y, weights)
    assert theirs.predict(X) == pytest.approx(ours.predict(X), abs=1e-9)
    classes = y > 0
    ours = Classifier(**make).fit(X, classes, weights)
    theirs = Classifier(loss=logistic_of_margins, **make).fit(X, classes, weights)
    if step == "line_search":  # half the log-odds: 1 and 10 are other lengths for their score
        assert theirs.predict_proba(X) == pytest.approx(ours.predict_proba(X), abs=1e-9)


def test_an_object_with_value_and_gradient_is_minimised():
    X, y, _ = problem()
    model = Regressor(loss=LogCosh(), step="per_region", n_estimators=50).fit(X, y)
    assert np.diff(model.train_score_).min() > 0
    assert model.score(X, y) > 0.95


# What the estimators promise beside


def test_a_weight_is_a_repetition_to_the_last_bit():
    X, y, weights = problem()
    counts = weights.astype(int)
    for loss in ("squared", "poisson", "huber"):
        for step in ("line_search", "per_region"):
            model = Regressor(loss=loss, step=step, n_estimators=10)
            weighted = model.fit(X, target_for(loss, y), weights).predict(X)
            again = np.repeat(X, counts, axis=0), np.repeat(target_for(loss, y), counts)
            assert np.array_equal(model.fit(*again).predict(X), weighted)


@pytest.mark.parametrize("step", ["line_search", "per_region"])
def test_trees_of_ours_are_saved_and_loaded(tmp_path, step):
    X, y, _ = problem()
    for model in (Regressor(step=step), Classifier(step=step)):
        model.set_params(n_estimators=5).fit(X, np.digitize(y, [-1, 1]))
        spinney.save(model, tmp_path / "model.spn")
        again = spinney.load(tmp_path / "model.spn")
        assert np.array_equal(again.predict(X), model.predict(X))
        assert np.array_equal(again.steps_, model.steps_)
        assert np.array_equal(again.train_score_, model.train_score_)
        assert again.n_iter_ == 5


def test_foreign_members_are_not_saved_but_said_so(tmp_path):
    X, y, _ = problem()
    model = Regressor(DecisionTreeRegressor(max_depth=1), n_estimators=2).fit(X, y)
    with pytest.raises(CannotSave, match=r"estimator is of class DecisionTreeRegressor"):
        spinney.save(model, tmp_path / "model.spn")


def test_categories_missing_values_and_subsamples_go_through():
    rows = [["a", 1.0], ["b", None], ["a", 3.0], [None, 4.0]] * 10
    y = np.tile([1.0, 5.0, 2.0, 8.0], 10) + np.linspace(0, 0.1, 40)
    model = Regressor(n_estimators=60, subsample=0.5, random_state=3).fit(rows, y)
    assert np.abs(model.predict(rows) - y).max() < 0.2
    again = Regressor(n_estimators=60, subsample=0.5, random_state=3).fit(rows, y)
    assert np.array_equal(model.predict(rows), again.predict(rows))
    other = Regressor(n_estimators=60, subsample=0.5, random_state=4).fit(rows, y)
    assert not np.array_equal(model.predict(rows), other.predict(rows))


def test_a_foreign_base_without_weights_learns_from_rows_drawn_by_them():
    X, y, weights = problem()
    far = np.where(np.arange(80) < 40, 1.0, 1000.0)
    near = Regressor(KNeighborsRegressor(1), n_estimators=30, random_state=0).fit(X, y, far)
    errors = np.abs(near.predict(X) - y)
    assert errors[40:].mean() < errors[:40].mean()
    assert Regressor(KNeighborsRegressor(1), learning_rate=1.0, n_estimators=1).fit(
        X, y, np.full(80, 3.0)
    ).predict(X) == pytest.approx(y)
    assert weights.min() > 0


def test_constant_targets_take_no_rounds():
    X, _, _ = problem()
    for base in (None, Ridge()):
        model = Regressor(base).fit(X, np.full(80, 3.0))
        assert model.n_iter_ == 0
        assert model.predict(X).tolist() == [3.0] * 80
    assert Classifier().fit(X, ["only"] * 80).predict_proba(X).tolist() == [[1.0]] * 80


# The trace


@pytest.mark.parametrize("step", ["line_search", "shrink", "per_region"])
def test_the_trace_tells_what_every_round_did(step, tmp_path):
    X, y, weights = problem()
    model = Regressor(step=step, n_estimators=6, learning_rate=0.5).fit(X, y, weights)
    trace, score = model.trace_, np.average(y, weights=weights)
    assert trace.start_loss == -model.train_score_[0]
    for t, after in enumerate(model.staged_predict(X)):
        assert trace.losses[t] == pytest.approx(0.5 * np.average((y - after) ** 2, weights=weights))
        pulls, change = weights * (y - score), after - score
        most = np.abs(pulls).sum() * np.abs(change).max()
        assert trace.edges[t] == pytest.approx((pulls * change).sum() / most, rel=1e-9)
        score = after
    assert trace.steps.tolist() == model.steps_.tolist()
    assert len(trace) == model.n_iter_ == 6
    assert trace.stop_reason == "all rounds were done"
    spinney.save(model, tmp_path / "sum.spn")
    again = spinney.load(tmp_path / "sum.spn").trace_
    assert (again.stop_reason, again.start_loss) == (trace.stop_reason, trace.start_loss)
    assert again.to_frame().equals(trace.to_frame())


def test_the_trace_of_votes_has_the_errors_of_adaboost():
    X, y, _ = problem()
    labels = y > 0.3
    votes = Classifier(
        oracle="classifier", loss="exponential", learning_rate=1.0, n_estimators=10
    ).fit(X, labels)
    stump = spinney.DecisionTreeClassifier(max_depth=1, criterion="error")
    plain = spinney.AdaBoostClassifier(stump, n_estimators=10).fit(X, labels)
    np.testing.assert_allclose((1 - votes.trace_.edges) / 2, plain.trace_.errors, atol=1e-9)
    np.testing.assert_allclose(votes.trace_.losses, plain.trace_.objective, rtol=1e-9)
    np.testing.assert_allclose(votes.trace_.steps, plain.trace_.alphas, rtol=1e-9)


def test_the_trace_says_why_it_ended():
    X, _, _ = problem()
    assert Regressor(n_estimators=3).fit(X, np.ones(80)).trace_.stop_reason == (
        "the gradient of the loss is 0"
    )
    constant = Classifier(oracle="classifier", n_estimators=3).fit(
        np.ones((80, 1)), np.arange(80) % 2
    )
    assert constant.trace_.stop_reason == "the learner found nothing that lowers the loss"
    assert len(constant.trace_) == 0


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_numbers_whose_squares_are_none_are_refused(scale):
    X, y, _ = problem()
    with pytest.raises(InvalidInput, match="adds squares"):
        Regressor(n_estimators=3).fit(X, scale * y)
