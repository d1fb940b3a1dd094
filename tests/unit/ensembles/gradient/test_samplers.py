"""``sampler``: trees of rows drawn by their derivatives or counted by chance."""

import numpy as np
import pytest
from tests.properties.test_determinism import available_sets, instruction_set
from tests.reference.boosting import LOSSES, SlowLimits, slow_cuts, slow_tree

from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.errors import InvalidParameter
from spinney.resampling.row_sampling import RowSampling, SampledRows

RNG = np.random.default_rng(0)
X = RNG.integers(0, 12, size=(600, 4)).astype(float)
Y = X[:, 0] / 3 + np.sin(X[:, 1]) + RNG.standard_t(3, size=600)
WHOLE = RNG.integers(1, 5, 600).astype(float)
NOT_WHOLE = RNG.gamma(2.0, 1.0, 600)
CLASSES = np.digitize(Y, [1.0, 2.5])

SAMPLERS = {
    "one_side": {"subsample": 0.5},
    "minimal_variance": {"subsample": 0.5},
    "bayesian": {"subsample": 0.8, "bagging_temperature": 0.7},
    "poisson": {"subsample": 0.9},
}


def settings_of(sampler):
    return {"sampler": sampler, **SAMPLERS[sampler]}


def sampling_of(sampler):
    given = SAMPLERS[sampler]
    return RowSampling(
        sampler, given["subsample"], temperature=given.get("bagging_temperature", 1.0)
    )


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weights", [None, WHOLE, NOT_WHOLE], ids=["none", "whole", "not whole"])
def test_trees_are_those_of_the_slow_twin_on_the_drawn_rows(sampler, loss, weights):
    y = Y if loss == "squared" else (Y > 1.5).astype(float)
    estimator = GradientBoostingRegressor if loss == "squared" else GradientBoostingClassifier
    fitted = estimator(
        max_iter=3,
        learning_rate=0.5,
        max_leaf_nodes=6,
        min_samples_leaf=10,
        min_child_weight=0.0,
        random_state=4,
        **settings_of(sampler),
    ).fit(X, y, weights)
    w = np.ones(600) if weights is None else weights
    start, derivatives = LOSSES[loss]
    scores = np.full(600, start(np.average(y, weights=w)))
    cuts = [slow_cuts(column) for column in X.T]
    of = SampledRows.of(600, None, weights, None)
    for number in range(3):
        g, h = (part.astype(np.float32) for part in derivatives(y, scores))
        drawn = sampling_of(sampler).draw(number, 4, of, (g[np.newaxis], h[np.newaxis]))
        rows = np.arange(600) if drawn.rows is None else drawn.rows
        counts = (w if drawn.repeats is None else drawn.repeats)[rows]
        times = counts * (1.0 if drawn.factors is None else drawn.factors[rows])
        tree = slow_tree(
            X[rows], cuts, (times * g[rows], times * h[rows], counts), SlowLimits(6, 10.0)
        )
        scores += 0.5 * tree.predict(X)
    raw = fitted.model_.raw_scores(fitted.model_.conform(X, "here"))[:, 0]
    assert np.abs(raw - scores).max() < 2e-4


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "poisson", "classes"])
def test_model_is_the_same_for_threads_and_instruction_sets(sampler, loss):
    settings = {"max_iter": 5, "random_state": 3, **settings_of(sampler)}
    seen = set()
    for isa in available_sets():
        with instruction_set(isa):
            for n_jobs in (1, 3):
                if loss == "classes":
                    model = GradientBoostingClassifier(n_jobs=n_jobs, **settings)
                    model.fit(X, CLASSES, NOT_WHOLE)
                else:
                    model = GradientBoostingRegressor(loss=loss, n_jobs=n_jobs, **settings)
                    model.fit(X, np.abs(Y), WHOLE)
                seen.add(model.model_.fingerprint)
    assert len(seen) == 1


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("weights", [None, WHOLE, 1e3 * NOT_WHOLE], ids=["none", "whole", "not"])
def test_validation_rows_never_train(sampler, weights):
    settings = {"max_iter": 6, "random_state": 2, **settings_of(sampler)}
    alone = GradientBoostingRegressor(**settings).fit(X, Y, weights)
    stops = GradientBoostingRegressor(**settings, early_stopping=True)
    stops.fit(X, Y, weights, X_val=X[:200], y_val=Y[:200] + 5.0)
    assert stops.model_ == alone.model_


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_folds_choose_rounds_and_do_not_change_them(sampler):
    settings = {"random_state": 2, "learning_rate": 0.3, **settings_of(sampler)}
    chosen = GradientBoostingClassifier(max_iter=60, early_stopping="cv", cv=3, **settings)
    chosen.fit(X, CLASSES, class_weights())
    plain = GradientBoostingClassifier(max_iter=chosen.n_iter_, **settings)
    assert plain.fit(X, CLASSES, class_weights()).model_ == chosen.model_
    assert chosen.n_iter_ < 60


def class_weights():
    return np.where(CLASSES == 1, 2.0, 1.0)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_trees_of_a_round_see_the_same_rows(sampler):
    model = GradientBoostingClassifier(max_iter=4, random_state=0, **settings_of(sampler))
    counts = [int(tree.count[0]) for tree in model.fit(X, CLASSES).model_]
    rounds = np.reshape(counts, (4, 3))
    assert (rounds == rounds[:, :1]).all()
    assert len(set(rounds[:, 0])) > 1
    assert np.mean(rounds) < 0.85 * 600


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("weights", [None, WHOLE, NOT_WHOLE], ids=["none", "whole", "not whole"])
def test_leaves_of_absolute_error_are_medians_of_the_rows_as_they_count(sampler, weights):
    fitted = GradientBoostingRegressor(
        loss="absolute",
        max_iter=1,
        learning_rate=1.0,
        max_leaf_nodes=4,
        random_state=1,
        **settings_of(sampler),
    ).fit(X, Y, weights)
    start = fitted.model_.arrays["baseline"][0]
    gradients = np.sign(start - Y).astype(np.float32)[np.newaxis]
    of = SampledRows.of(600, None, weights, None)
    drawn = sampling_of(sampler).draw(0, 1, of, (gradients, np.empty((1, 0), np.float32)))
    rows = np.arange(600) if drawn.rows is None else drawn.rows
    times = np.ones(600) if weights is None else weights
    times = times if drawn.repeats is None else drawn.repeats
    times = times * (1.0 if drawn.factors is None else drawn.factors)
    leaves = fitted.apply(X)[:, 0]
    for leaf in np.unique(leaves):
        own = rows[leaves[rows] == leaf]
        residuals = np.sort(Y[own] - start)
        reached = np.cumsum(times[own][np.argsort(Y[own])])
        median = residuals[np.searchsorted(reached, reached[-1] / 2)]
        step = fitted.model_[0].values[leaf, 0]
        neighbours = np.searchsorted(residuals, [step, median])
        assert abs(int(neighbours[0]) - int(neighbours[1])) <= 1  # the middle of an interval
        assert step <= median + 1e-12 or reached[-1] / 2 in reached


def test_poisson_counts_are_repetitions_for_the_size_of_leaves():
    fitted = GradientBoostingRegressor(sampler="poisson", max_iter=3, random_state=5)
    for number, tree in enumerate(fitted.fit(X, Y, WHOLE).model_):
        drawn = RowSampling("poisson").draw(number, 5, SampledRows.of(600, None, WHOLE, None))
        assert tree.weight[0] == drawn.repeats.sum()
        assert tree.count[0] == len(drawn.rows)
    factors = GradientBoostingRegressor(sampler="bayesian", max_iter=3, random_state=5)
    assert all(tree.weight[0] == WHOLE.sum() for tree in factors.fit(X, Y, WHOLE).model_)


def test_bayesian_factors_of_temperature_zero_are_no_factors():
    cold = GradientBoostingRegressor(sampler="bayesian", bagging_temperature=0.0, random_state=1)
    plain = GradientBoostingRegressor(random_state=1)
    assert cold.fit(X, Y).model_ == plain.fit(X, Y).model_


@pytest.mark.parametrize("sampler", ["one_side", "minimal_variance"])
def test_class_weights_count_when_rows_are_drawn(sampler):
    y = (Y > 2.5).astype(int)
    fitted = GradientBoostingClassifier(
        class_weight={0: 1.0, 1: 9.0}, max_iter=1, random_state=0, **settings_of(sampler)
    ).fit(X, y)
    p = 1 / (1 + np.exp(-fitted.model_.arrays["baseline"][0]))
    at = ((p - y).astype(np.float32)[np.newaxis], np.full((1, 600), p * (1 - p), np.float32))
    factors = np.where(y == 1, 9.0, 1.0)
    drawn = sampling_of(sampler).draw(0, 0, SampledRows.of(600, None, None, factors), at)
    assert fitted.model_[0].count[0] == len(drawn.rows)
    without = sampling_of(sampler).draw(0, 0, SampledRows(600), at)
    assert not np.array_equal(drawn.rows, without.rows)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"sampler": "one_side", "subsample": 1.0},
            r"sampler='one_side'.*subsample=1.0.*Set subsample below 1",
        ),
        (
            {"sampler": "minimal_variance", "subsample": 1.0},
            r"sampler='minimal_variance'.*subsample=1.0",
        ),
        (
            {"sampler": "one_side", "subsample": 0.2, "top_rate": 0.2},
            r"top_rate=0.2 with subsample=0.2.*Set top_rate below",
        ),
    ],
)
def test_shares_that_a_sampler_cannot_keep_are_refused(settings, words):
    with pytest.raises(InvalidParameter, match=words):
        GradientBoostingRegressor(max_iter=2, **settings).fit(X, Y)


@pytest.mark.parametrize("sampler", ["one_side", "minimal_variance"])
@pytest.mark.parametrize("n_rows", [60, 600])
@pytest.mark.parametrize("params", [{}, {"max_iter": 2}])
def test_auto_leaves_a_sampler_something_to_choose(sampler, n_rows, params):
    model = GradientBoostingRegressor(sampler=sampler, random_state=0, **params)
    model.fit(X[:n_rows], Y[:n_rows])
    share = model.automatic_.values["subsample"]
    assert 0.0 < share < 1.0
    assert model.model_[0].count[0] == pytest.approx(share * n_rows, rel=0.2)
