"""AdaBoost keeps the identities of its theory, and agrees with the algorithm as it is written."""

import numpy as np
import pytest
import sklearn.tree
from hypothesis import HealthCheck, assume, given, settings
from sklearn.base import clone
from tests.reference.adaboost import best_stump, slow_adaboost, slow_scores
from tests.unit.ensembles.adaptive.problems import Contrary, Straight, blobs, error_stump, problems

import spinney
from spinney import AdaBoostClassifier, DecisionTreeClassifier
from spinney.datasets import make_long_servedio, make_toy10, make_xor, make_xor_points
from spinney.errors import InvalidParameter, NothingLearnt
from spinney.theory import margin_theorem, training_error_bounds

EXACT = 1e-10
few = settings(
    max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


def boosted(problem, n_rounds=6, **parameters):
    """Boost; leave problems that one learner solves, or that none can begin, to other tests."""
    X, y, weights = problem
    assume(1e-9 < best_stump(X, y, weights / weights.sum())[0] < 0.49)
    booster = AdaBoostClassifier(n_estimators=n_rounds, store_weights=True, **parameters)
    booster.fit(X, y, sample_weight=weights)
    assume(booster.trace_.errors.min() > 1e-9)
    answers = np.array([member.predict(X) for member in booster.estimators_])
    return booster, answers


@few
@given(problems())
def test_weights_are_distributions_that_forget_the_last_learner(problem):
    """Identities 1 and 4: half of the weight is wrong; p/(2q) and p/(2(1-q)) are the update."""
    _, y, weights = problem
    booster, answers = boosted(problem)
    D = booster.trace_.distributions
    assert D.shape == (len(booster.trace_) + 1, len(y))
    np.testing.assert_allclose(D[0], weights / weights.sum(), rtol=EXACT)
    np.testing.assert_allclose(D.sum(axis=1), 1.0, rtol=0, atol=EXACT)
    for t, error in enumerate(booster.trace_.errors):
        wrong = answers[t] != y
        assert D[t][wrong].sum() == pytest.approx(error, abs=EXACT)
        assert D[t + 1][wrong].sum() == pytest.approx(0.5, abs=EXACT)
        assert (D[t + 1] * y * answers[t]).sum() == pytest.approx(0.0, abs=EXACT)
        update = np.where(wrong, D[t] / (2 * error), D[t] / (2 * (1 - error)))
        np.testing.assert_allclose(D[t + 1], update, rtol=EXACT, atol=0)


@few
@given(problems())
def test_the_mean_exponential_loss_is_the_product_of_the_normalisers(problem):
    """Identities 2, 3, 7 and 8."""
    X, y, weights = problem
    booster, answers = boosted(problem)
    trace, prior = booster.trace_, weights / weights.sum()
    errors, scores = trace.errors, booster.alphas_ @ answers
    np.testing.assert_allclose(trace.alphas, 0.5 * np.log((1 - errors) / errors), rtol=EXACT)
    np.testing.assert_allclose(trace.edges, 1 - 2 * errors, rtol=EXACT, atol=EXACT)
    np.testing.assert_allclose(trace.normalisers, 2 * np.sqrt(errors * (1 - errors)), rtol=EXACT)
    np.testing.assert_allclose(np.cumprod(trace.normalisers), trace.objective, rtol=EXACT)
    product = float(trace.normalisers.prod())
    assert (prior * np.exp(-y * scores)).sum() == pytest.approx(product, rel=EXACT)
    last = trace.distributions[-1]
    np.testing.assert_allclose(last, prior * np.exp(-y * scores) / product, rtol=EXACT)
    factors = np.where(answers != y, 2 * errors[:, None], 2 * (1 - errors[:, None]))
    np.testing.assert_allclose(last, prior / factors.prod(axis=0), rtol=EXACT)
    wrong = booster.predict(X) != y
    assert (last[wrong] >= (1 - EXACT) * prior[wrong] / product).all()
    for h in answers:  # the slope of the objective towards any hypothesis
        slope = -(prior * y * h * np.exp(-y * scores)).sum()
        assert slope == pytest.approx((2 * last[h != y].sum() - 1) * product, abs=EXACT)


@few
@given(problems())
def test_the_bounds_of_the_training_error_stand_in_order(problem):
    """Identities 5 and 6, after every round and for every theta."""
    X, y, weights = problem
    booster, _ = boosted(problem)
    prior = weights / weights.sum()
    bounds = training_error_bounds(booster.trace_.errors)
    wrong = np.array([(prior * (labels != y)).sum() for labels in booster.staged_predict(X)])
    slack = 1 + EXACT
    assert (wrong <= bounds.product * slack).all()
    assert (bounds.product <= bounds.power * slack).all()
    assert (bounds.power <= bounds.exponential * slack).all()
    thetas = np.linspace(-1, 1, 41)
    margins = booster.margins(X, y)
    shares = np.array([(prior * (margins <= theta)).sum() for theta in thetas])
    assert (shares <= margin_theorem(booster.trace_.errors, thetas) * slack).all()


@few
@given(problems())
def test_margins_of_the_model_are_those_of_the_trace(problem):
    X, y, _ = problem
    booster, answers = boosted(problem)
    normalised = y * (booster.alphas_ @ answers) / booster.alphas_.sum()
    np.testing.assert_allclose(booster.margins(X, y), normalised, atol=EXACT)
    np.testing.assert_allclose(booster.decision_function(X), y * normalised, atol=EXACT)
    assert booster.trace_.min_margins[-1] == pytest.approx(normalised.min(), abs=EXACT)
    np.testing.assert_allclose(
        booster.predict_proba(X)[:, 1], 1 / (1 + np.exp(-2 * booster.alphas_ @ answers)), rtol=EXACT
    )


@few
@given(problems())
def test_a_weight_is_a_repetition_to_the_last_byte(problem):
    """Identity 10, for stumps and for trees."""
    X, y, weights = problem
    copies = np.repeat(np.arange(len(y)), weights.astype(int))
    for estimator in (None, DecisionTreeClassifier(max_depth=3), error_stump()):
        booster = AdaBoostClassifier(estimator, n_estimators=4)
        weighted = booster.fit(X, y, sample_weight=weights).trace_
        model = booster.model_
        booster.fit(X[copies], y[copies])
        assert [list(t.threshold) for t in booster.model_] == [list(t.threshold) for t in model]
        for name in ("errors", "alphas", "normalisers", "objective", "min_margins"):
            assert getattr(booster.trace_, name).tobytes() == getattr(weighted, name).tobytes()


@few
@given(problems())
def test_weights_in_the_same_ratio_are_the_same_weights(problem):
    X, y, weights = problem
    booster = AdaBoostClassifier(n_estimators=4)
    whole = booster.fit(X, y, sample_weight=weights).model_
    parts = booster.fit(X, y, sample_weight=weights / 8).model_
    for one, other in zip(whole, parts, strict=True):
        assert one.feature.tolist() == other.feature.tolist()
        assert one.threshold.tolist() == other.threshold.tolist()
    weights_of_votes = [model.arrays["tree_weight"] for model in (whole, parts)]
    np.testing.assert_allclose(*weights_of_votes, rtol=EXACT)


@few
@given(problems())
def test_a_learner_turned_round_counts_as_its_opposite(problem):
    """Identity 9: a contrary learner gets the same vote with the other sign."""
    X, y, weights = problem
    boosted(problem, estimator=error_stump())
    pair = [
        AdaBoostClassifier(learner, n_estimators=4).fit(X, y, sample_weight=weights)
        for learner in (Straight(), Contrary())
    ]
    assert (pair[1].model_.weights < 0).all()
    assert (pair[1].alphas_ > 0).all()
    np.testing.assert_allclose(pair[1].model_.weights, -pair[0].model_.weights, rtol=EXACT)
    for name in ("errors", "edges", "alphas", "normalisers", "objective", "min_margins"):
        ours, theirs = (getattr(booster.trace_, name) for booster in pair)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=EXACT)
    np.testing.assert_allclose(*(b.margins(X, y) for b in pair), atol=EXACT)
    np.testing.assert_allclose(*(b.predict_proba(X) for b in pair), atol=EXACT)


@few
@given(problems())
def test_samme_of_two_classes_is_adaboost_with_twice_the_weights(problem):
    """Identity 42."""
    X, y, weights = problem
    discrete, _ = boosted(problem)
    samme = AdaBoostClassifier(n_estimators=6, variant="samme").fit(X, y, sample_weight=weights)
    assert samme.model_.fingerprint == discrete.model_.fingerprint
    np.testing.assert_allclose(samme.estimator_weights_, 2 * discrete.alphas_, rtol=0)
    errors = discrete.estimator_errors_
    np.testing.assert_allclose(samme.estimator_weights_, np.log((1 - errors) / errors), rtol=EXACT)


@pytest.mark.parametrize("seed", range(4))
def test_adaboost_reg_without_regularisation_is_adaboost(seed):
    """Identity 42, its other half."""
    X, y = blobs(seed=seed)
    weights = np.random.default_rng(seed).integers(1, 4, len(y))
    plain = AdaBoostClassifier(error_stump(), n_estimators=6).fit(X, y, sample_weight=weights)
    margin = spinney.MarginBoostClassifier(
        algorithm="adaboost_reg", regularisation=0.0, n_estimators=6
    ).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(margin.alphas_, plain.alphas_, atol=EXACT)
    np.testing.assert_allclose(margin.margins(X, y), plain.margins(X, y), atol=EXACT)


@few
@given(problems())
def test_no_stump_has_a_smaller_error_than_the_one_that_was_taken(problem):
    """Weights stand on a grid of 2^-30 of the largest: so close to the best is the best."""
    X, y, _ = problem
    booster, _ = boosted(problem, estimator=error_stump())
    for D, error in zip(booster.trace_.distributions, booster.trace_.errors, strict=False):
        assert error == pytest.approx(best_stump(X, y, D)[0], abs=len(y) * 2.0**-30)


@pytest.mark.parametrize("seed", range(4))
def test_every_round_is_that_of_the_algorithm_as_it_is_written(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(61, 4)).astype(np.float32).astype(float)
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=61) > 0, 1, -1)
    slow = slow_adaboost(X, y, 20)
    fast = AdaBoostClassifier(error_stump(), n_estimators=20, store_weights=True).fit(X, y)
    stumps = [
        (tree.feature[0], tree.threshold[0], np.sign(tree.values[2, 0])) for tree in fast.model_
    ]
    assert [(f, p) for f, _, p in stumps] == [(f, p) for f, _, p in slow.stumps]
    np.testing.assert_allclose([c for _, c, _ in stumps], [c for _, c, _ in slow.stumps])
    np.testing.assert_allclose(fast.alphas_, slow.alphas, atol=EXACT)
    np.testing.assert_allclose(fast.trace_.errors, slow.errors, atol=EXACT)
    np.testing.assert_allclose(fast.trace_.normalisers, slow.normalisers, atol=EXACT)
    np.testing.assert_allclose(fast.trace_.distributions, slow.distributions, atol=EXACT)
    F = slow_scores(slow, X)
    np.testing.assert_allclose(fast.decision_function(X) * slow.alphas.sum(), F, atol=1e-9)


def test_ten_points_of_schapire_and_freund():
    """N18."""
    toy = make_toy10()
    booster = AdaBoostClassifier(error_stump(), n_estimators=3).fit(toy.X, toy.y)
    np.testing.assert_allclose(booster.trace_.errors, [0.3, 0.214286, 0.136364], atol=1e-6)
    np.testing.assert_allclose(booster.alphas_, [0.423649, 0.649641, 0.922913], atol=1e-6)
    assert [t.feature[0] for t in booster.model_] == [0, 0, 1]
    assert [t.threshold[0] for t in booster.model_] == [2.5, 8.5, 4.5]
    assert booster.trace_.objective[-1] == pytest.approx(0.51623, abs=1e-5)
    assert booster.score(toy.X, toy.y) == 1.0


def test_stumps_learn_nothing_of_xor_and_trees_of_two_levels_all_of_it():
    """True or false: boosting makes any learner strong? Not one without an edge."""
    X, y = make_xor_points().X, make_xor_points().y
    with pytest.warns(NothingLearnt, match="no learner better than guessing.*deeper trees"):
        booster = AdaBoostClassifier(error_stump()).fit(X, y)
    assert len(booster.trace_) == 0
    assert best_stump(X, np.where(y == y.max(), 1, -1), np.full(len(y), 1 / len(y)))[0] == 0.5
    assert (booster.predict_proba(X) == 0.5).all()
    for tree in (DecisionTreeClassifier, sklearn.tree.DecisionTreeClassifier):
        assert AdaBoostClassifier(tree(max_depth=2)).fit(X, y).score(X, y) == 1.0


def test_xor_of_random_points_is_learnt_by_trees_of_two_levels_only():
    train, test = (make_xor(400, noise=0.0, random_state=seed) for seed in (0, 1))
    deep = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2)).fit(train.X, train.y)
    flat = AdaBoostClassifier(n_estimators=200).fit(train.X, train.y)
    assert deep.score(train.X, train.y) == 1.0
    assert deep.score(test.X, test.y) > 0.95
    assert flat.score(test.X, test.y) < 0.6


def test_totally_corrective_weights_do_not_depend_on_where_they_start():
    X, y = blobs(2)
    booster = AdaBoostClassifier(n_estimators=8, totally_corrective=True).fit(X, y)
    almost_nothing = clone(booster).set_params(alpha=lambda error: 1e-15 * error).fit(X, y)
    np.testing.assert_allclose(almost_nothing.alphas_, booster.alphas_, rtol=1e-4)
    F = almost_nothing.decision_function(X) * almost_nothing.alphas_.sum()
    loss = np.exp(-np.where(y == 1, 1, -1) * F).mean()
    assert almost_nothing.trace_.objective[-1] == pytest.approx(loss, rel=1e-12)


def test_logit_fails_where_convex_losses_do_unless_its_responses_are_cut_off():
    """Long and Servedio's 21 bits with a tenth of the labels turned; errors without noise."""
    rng = np.random.default_rng(0)
    train = make_long_servedio(800, noise=0.1, random_state=rng)
    test = make_long_servedio(4000, noise=0.0, random_state=rng)

    def error(variant, **values):
        booster = AdaBoostClassifier(variant=variant, n_estimators=300, **values)
        return 1 - booster.fit(train.X, train.y).score(test.X, test.y)

    assert error("gentle") > 0.2
    assert error("logit", largest_response=None) == pytest.approx(0.27, abs=0.02)  # published
    assert error("logit") < 0.03


def test_responses_are_cut_off_where_the_user_says():
    """A limit nothing reaches is none; a tight one bounds the step of a round by half of itself."""
    X, y = blobs(2)
    uncut = AdaBoostClassifier(variant="logit", n_estimators=5, largest_response=None).fit(X, y)
    wide = clone(uncut).set_params(largest_response=1e12).fit(X, y)
    tight = clone(uncut).set_params(largest_response=0.5).fit(X, y)
    np.testing.assert_array_equal(wide.decision_function(X), uncut.decision_function(X))
    assert tight.trace_.alphas.max() <= 0.25
    assert uncut.trace_.alphas.max() > 0.25
    with pytest.raises(InvalidParameter, match="largest_response=0"):
        clone(uncut).set_params(largest_response=0.0).fit(X, y)
