"""Leaves of absolute, quantile and Huber loss are exact optima, whatever the order of the rows."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingRegressor
from tests.reference.losses import slow_optimum

from spinney import GradientBoostingRegressor
from spinney._native import _ext
from spinney.errors import InvalidInput, InvalidParameter
from spinney.losses.loss import REGRESSION_LOSSES

QUANTILE, HUBER = REGRESSION_LOSSES["quantile"], REGRESSION_LOSSES["huber"]
LOSSES = {
    "absolute": REGRESSION_LOSSES["absolute"],
    "huber": HUBER,
    "narrow huber": HUBER.with_parameter(1e-3),
    "wide huber": HUBER.with_parameter(1e6),
    "median": QUANTILE,
    "tenth": QUANTILE.with_parameter(0.1),
    "third": QUANTILE.with_parameter(1 / 3),
    "almost all": QUANTILE.with_parameter(0.99),
}
RNG = np.random.default_rng(3)


def one_node(rows):
    return SimpleNamespace(
        rows=np.asarray(rows, np.uint32), first=np.array([0]), last=np.array([len(rows)])
    )


def best(loss, y, weights=None, scores=None):
    """Best constant of all rows."""
    given_scores = np.zeros((len(y), 1)) if scores is None else scores
    nodes = one_node(np.arange(len(y)))
    return loss.best_leaf_values(y, given_scores, weights, nodes, 1)[0]


VALUES = {
    "continuous": RNG.normal(size=501),
    "even": RNG.normal(size=500),
    "ties": RNG.integers(0, 4, 200).astype(float),
    "heavy tails": RNG.standard_t(1, 300) * 1e3,
    "constant": np.full(17, 3.5),
    "one row": np.array([-2.25]),
    "two rows": np.array([0.0, 10.0]),
    "huge": RNG.normal(size=40) * 1e300,
    "tiny": RNG.normal(size=40) * 1e-300,
    "one outlier": np.append(RNG.normal(size=30), 1e300),
    "zeros": np.array([0.0, -0.0, 0.0, -0.0]),
}


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_optimum_is_that_of_the_slow_twin(name, values, weighted):
    loss, y = LOSSES[name], VALUES[values]
    weights = RNG.integers(1, 5, len(y)).astype(float) if weighted else None
    found = best(loss, y, weights)
    truth = slow_optimum(loss, y, np.ones(len(y)) if weights is None else weights)
    if loss.name == "huber":
        reach = min(2 * loss.parameter, float(np.abs(y - np.median(y)).max()))
        assert abs(found - truth) <= 1e-15 * max(abs(truth), abs(np.median(y)), reach)
    else:
        assert found == truth


@pytest.mark.parametrize("level", [0.05, 0.1, 0.25, 1 / 3, 0.5, 0.75, 0.9, 0.999])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 20, 999, 1000])
def test_quantile_is_numpys_averaged_inverted_cdf(level, n):
    y = RNG.normal(size=n)
    loss = QUANTILE.with_parameter(level)
    expected = np.quantile(y, level, method="averaged_inverted_cdf")
    assert best(loss, y) == pytest.approx(expected, rel=1e-15)
    assert best(LOSSES["absolute"], y) == np.median(y)


@pytest.mark.parametrize("name", LOSSES)
def test_a_whole_weight_is_a_repetition_to_the_last_bit(name):
    loss = LOSSES[name]
    for y in VALUES.values():
        weights = RNG.integers(1, 6, len(y)).astype(float)
        repeated = RNG.permutation(np.repeat(y, weights.astype(int)))
        expected = np.float64(best(loss, repeated)).tobytes()
        assert np.float64(best(loss, y, weights)).tobytes() == expected
        assert np.float64(best(loss, y, 0.25 * weights)).tobytes() == expected


@pytest.mark.parametrize("name", LOSSES)
def test_order_of_rows_does_not_matter_even_for_weights_over_six_decades(name):
    loss, y = LOSSES[name], RNG.standard_t(2, 400)
    weights = 10.0 ** RNG.uniform(-3, 3, len(y))
    order = RNG.permutation(len(y))
    assert best(loss, y, weights) == best(loss, y[order], weights[order])


@given(
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=30),
    st.sampled_from(sorted(LOSSES)),
    st.integers(0, 2**32 - 1),
)
def test_no_other_constant_has_a_lower_loss(y, name, seed):
    loss, y = LOSSES[name], np.array(y)
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, len(y)).astype(float)
    found = best(loss, y, weights)
    others = np.concatenate([y, found + rng.normal(size=5), found + np.array([-1e-3, 1e-3])])
    least = loss.total(y, np.full((len(y), 1), found), weights, 1)
    for other in others:
        value = loss.total(y, np.full((len(y), 1), other), weights, 1)
        assert least <= value + 1e-12 * abs(value) + 1e-300


def tree_of_three_leaves(n):
    """Root; left child a leaf; right child with two leaves; preorder, rows in any order."""
    third, half = n // 3, n // 2
    return SimpleNamespace(
        rows=RNG.permutation(n).astype(np.uint32),
        first=np.array([0, 0, third, third, half]),
        last=np.array([n, third, n, half, n]),
    )


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_leaves_are_optima_and_inner_nodes_means_of_the_leaves_below(name, weighted):
    loss, n = LOSSES[name], 20_001
    y, scores = RNG.standard_t(2, n), RNG.normal(size=(n, 1))
    weights = RNG.integers(1, 4, n).astype(float) if weighted else None
    nodes = tree_of_three_leaves(n)
    values = loss.best_leaf_values(y, scores, weights, nodes, 1)
    heavy = np.ones(n) if weights is None else weights
    mass = np.zeros(5)
    for node in (1, 3, 4):
        rows = nodes.rows[nodes.first[node] : nodes.last[node]]
        mass[node] = heavy[rows].sum()
        given_weights = None if weights is None else weights[rows]
        assert values[node] == best(loss, y[rows], given_weights, scores[rows])
    below = values[3] * mass[3] + values[4] * mass[4]
    assert values[2] == pytest.approx(below / (mass[3] + mass[4]), rel=1e-12)
    assert values[0] == pytest.approx((below + values[1] * mass[1]) / mass.sum(), rel=1e-12)
    for n_threads in (2, 3, 7):
        again = loss.best_leaf_values(y, scores, weights, nodes, n_threads)
        assert again.tobytes() == values.tobytes()


def test_spans_that_are_no_tree_are_refused():
    y, scores = np.zeros(4), np.zeros((4, 1))
    for first, last in [
        ([0], [5]),
        ([0, 0], [4, 2]),
        ([3], [2]),
        ([-1], [2]),
        ([0, 1, 2], [4, 2, 4]),
    ]:
        nodes = one_node(np.arange(4))
        nodes.first, nodes.last = np.array(first), np.array(last)
        with pytest.raises(InvalidInput, match="do not fit"):
            QUANTILE.best_leaf_values(y, scores, None, nodes, 1)
    with pytest.raises(InvalidInput, match="do not fit"):
        QUANTILE.best_leaf_values(y, scores, None, one_node([7]), 1)
    with pytest.raises(InvalidParameter, match="Newton"):
        REGRESSION_LOSSES["squared"].best_leaf_values(y, scores, None, one_node([0]), 1)


def test_a_leaf_without_rows_gets_zero():
    nodes = one_node(np.empty(0))
    assert QUANTILE.best_leaf_values(np.ones(3), np.zeros((3, 1)), None, nodes, 1) == 0.0


@pytest.mark.parametrize(
    ("name", "value"), [("quantile", 0.0), ("quantile", 1.0), ("huber", 0.0), ("tweedie", 2.0)]
)
def test_parameters_outside_their_range_are_refused(name, value):
    with pytest.raises(InvalidParameter, match=rf"loss='{name}' is {value}"):
        REGRESSION_LOSSES[name].with_parameter(value)
    with pytest.raises(InvalidParameter, match="has no parameter"):
        REGRESSION_LOSSES["squared"].with_parameter(1.0)


def table(n=3000):
    X = RNG.normal(size=(n, 5))
    return X, 3 * X[:, 0] + X[:, 1] ** 2 + RNG.standard_t(2, n)


@pytest.mark.parametrize("name", ["absolute", "huber", "quantile"])
def test_training_loss_falls_and_leaves_are_optimal_in_every_round(name):
    X, y = table()
    model = (
        GradientBoostingRegressor(loss=name, quantile=0.5, max_iter=15, learning_rate=1.0)
        .fit(X, y)
        .model_
    )
    conformed, formula = model.schema.conform(X), REGRESSION_LOSSES[name]
    losses = [formula.mean(y, model[:k].raw_scores(conformed), None) for k in range(16)]
    assert np.all(np.diff(losses) < 0)


@pytest.mark.parametrize("name", ["absolute", "huber", "quantile"])
def test_model_is_the_same_for_threads_and_instruction_sets(name):
    X, y = table()
    weights = RNG.gamma(1.0, 1.0, len(y)) + 1e-3
    best_isa, prints = _ext.best_isa(), set()
    try:
        for isa in ["portable", best_isa]:
            _ext.use_isa(isa)
            for n_jobs in (1, 2, 3):
                model = GradientBoostingRegressor(
                    loss=name, quantile=0.5, max_iter=5, n_jobs=n_jobs
                )
                prints.add(model.fit(X, y, weights).model_.fingerprint)
    finally:
        _ext.use_isa(best_isa)
    assert len(prints) == 1


@pytest.mark.parametrize("name", ["absolute", "huber", "quantile"])
def test_a_weighted_model_is_that_of_the_repeated_rows(name):
    X, y = table(500)
    weights = RNG.integers(1, 4, len(y))
    settings = {"loss": name, "quantile": 0.5, "max_iter": 5, "min_samples_leaf": 1}
    weighted = GradientBoostingRegressor(**settings).fit(X, y, weights)
    repeated = GradientBoostingRegressor(**settings).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    assert np.array_equal(weighted.predict(X), repeated.predict(X))


def test_held_out_absolute_error_is_that_of_scikit_learn():
    X, y = table(6000)
    train, test = np.arange(4000), np.arange(4000, 6000)
    ours = GradientBoostingRegressor(loss="absolute", max_iter=30).fit(X[train], y[train])
    theirs = HistGradientBoostingRegressor(loss="absolute_error", max_iter=30, early_stopping=False)
    theirs.fit(X[train], y[train])
    errors = [np.abs(y[test] - model.predict(X[test])).mean() for model in (ours, theirs)]
    assert errors[0] < 1.02 * errors[1]


@pytest.mark.parametrize(("name", "power"), [("poisson", 1.0), ("gamma", 2.0), ("tweedie", 1.3)])
def test_leaves_of_losses_with_log_link_are_optimal(name, power):
    """After a whole step the derivatives of a leaf add up to nothing."""
    rng = np.random.default_rng(1)  # its own, whichever tests ran before
    X = rng.normal(size=(3000, 5))
    y = rng.gamma(0.7, np.exp(X[:, 0] + 0.5 * X[:, 1]))  # no step of a factor of 20 downwards
    settings = {"loss": name, "tweedie_power": 1.3, "max_iter": 2, "learning_rate": 1.0}
    model = GradientBoostingRegressor(**settings).fit(X, y).model_
    scores = model.raw_scores(model.schema.conform(X))
    formula = replace(REGRESSION_LOSSES[name], parameter=power)
    gradients = formula.derivatives(y, scores, 1).gradients[0].astype(float)
    leaves = leaf_numbers(model[1], X)
    for leaf in np.unique(leaves):
        here = gradients[leaves == leaf]
        assert abs(here.sum()) < 1e-4 * np.abs(here).sum()
    newton = GradientBoostingRegressor(**settings, leaf_steps="newton").fit(X, y).model_
    # The first trees have the same leaves, so the better values win; later ones need not.
    first, theirs = (m[:1].raw_scores(model.schema.conform(X)) for m in (model, newton))
    assert formula.mean(y, first, None) < formula.mean(y, theirs, None)


def leaf_numbers(tree, X):
    numbers = np.zeros(len(X), int)
    for row, values in enumerate(X):
        node = 0
        while tree.right[node] >= 0:
            x = values[tree.feature[node]]
            left = tree.missing_left[node] if np.isnan(x) else x <= tree.threshold[node]
            node = node + 1 if left else tree.right[node]
        numbers[row] = node
    return numbers


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["poisson", "gamma", "tweedie"])
def test_one_huge_target_keeps_predictions_finite(name, seed):
    X, y = table(600)
    y = np.abs(y) + 1.0
    y[7] = 1e30
    model = GradientBoostingRegressor(
        loss=name, min_samples_leaf=1, learning_rate=1.0, random_state=seed
    )
    assert np.isfinite(model.fit(X, y).predict(X)).all()
    y[:300] = 0.0 if name != "gamma" else 1e-300
    assert np.isfinite(model.fit(X, y).predict(X)).all()
