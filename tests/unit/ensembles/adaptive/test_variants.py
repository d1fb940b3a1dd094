"""What holds of every variant of AdaBoost."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from tests.unit.ensembles.adaptive.problems import PAIRS, REGRESSORS, blobs, small_tree

import spinney
from spinney import AdaBoostClassifier
from spinney._native import _ext
from spinney.errors import InvalidInput
from spinney.io.save_load import from_bytes, to_bytes
from spinney.theory import certify
from spinney.theory.trace import TRACE_ARRAYS

INSTRUCTION_SETS = ["portable", "avx2", "avx512"]
INSTRUCTION_SETS = INSTRUCTION_SETS[: INSTRUCTION_SETS.index(_ext.best_isa()) + 1]
every_variant = pytest.mark.parametrize(("variant", "n_classes"), PAIRS)


@pytest.fixture(params=["stumps", "trees", "resampled", "slow", "foreign"])
def manner(request):
    return request.param


def boosted(variant, n_classes, manner="stumps", **parameters):
    X, y = blobs(n_classes)
    if manner == "trees":
        parameters["estimator"] = small_tree(variant)
    elif manner == "resampled":
        parameters |= {"mode": "resample", "random_state": 3}
    elif manner == "slow":
        parameters["learning_rate"] = 0.5
    elif manner == "foreign":
        import sklearn.tree

        kind = "Regressor" if variant in REGRESSORS else "Classifier"
        parameters["estimator"] = getattr(sklearn.tree, f"DecisionTree{kind}")(max_depth=2)
        parameters["random_state"] = 0
    return X, y, AdaBoostClassifier(n_estimators=8, variant=variant, **parameters).fit(X, y)


@every_variant
def test_probabilities_stages_and_margins_agree(variant, n_classes, manner):
    X, y, booster = boosted(variant, n_classes, manner)
    n_rounds = len(booster.trace_)
    probabilities = booster.predict_proba(X)
    assert probabilities.shape == (len(y), n_classes)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-15)
    np.testing.assert_array_equal(
        booster.predict(X), booster.classes_[probabilities.argmax(axis=1)]
    )
    stages = list(booster.staged_predict_proba(X))
    assert len(stages) == n_rounds == len(booster.alphas_) == len(booster.estimator_errors_)
    np.testing.assert_allclose(stages[-1], probabilities, atol=1e-15)
    decisions = list(booster.staged_decision_function(X))
    np.testing.assert_allclose(decisions[-1], booster.decision_function(X), atol=1e-14)
    np.testing.assert_array_equal(list(booster.staged_predict(X))[-1], booster.predict(X))
    assert list(booster.staged_score(X, y))[-1] == booster.score(X, y)
    assert booster.score(X, y) > 1.2 / n_classes
    margins = booster.margins(X, y)
    assert np.abs(margins).max() <= 1 + 1e-12
    assert booster.trace_.min_margins[-1] == pytest.approx(margins.min(), abs=1e-10)
    assert (booster.predict(X)[margins > 1e-12] == y[margins > 1e-12]).all()
    assert (booster.predict(X)[margins < -1e-12] != y[margins < -1e-12]).all()
    assert booster.feature_importances_.sum() == pytest.approx(1.0)


@every_variant
def test_a_prefix_of_rounds_is_the_booster_of_fewer_rounds(variant, n_classes):
    X, _, booster = boosted(variant, n_classes)
    fewer = clone(booster).set_params(n_estimators=3).fit(*blobs(n_classes))
    stages = list(booster.staged_predict_proba(X))
    np.testing.assert_array_equal(list(fewer.staged_predict_proba(X)), stages[:3])
    for name in TRACE_ARRAYS:
        ours, theirs = getattr(booster.trace_, name), getattr(fewer.trace_, name)
        np.testing.assert_array_equal(ours[:3], theirs)


def recomputed_objective(variant, n_classes, booster, X, y):
    """What the variant minimises, from the answers of the model alone."""
    scores = booster._raw_scores(X)
    rows = np.arange(len(y))
    if n_classes == 2 and variant not in ("mh", "m2"):
        margins = np.where(y == 1, 1, -1) * scores[:, 0]
        if variant == "logit":
            return np.logaddexp(0, -2 * margins).mean()
        return np.exp(-margins).mean()
    if variant == "logit":
        return -np.log(booster.predict_proba(X)[rows, y]).mean()
    if variant in ("mh", "m2"):
        scores = scores / 2
        leads = scores[rows, y][:, None] - scores
        if variant == "m2":
            return np.exp(-leads).sum(axis=1).mean() / (n_classes - 1) - 1 / (n_classes - 1)
        signs = 2 * np.eye(n_classes)[y] - 1
        return np.exp(-signs * scores).mean()
    if variant == "gentle":
        scores = scores / 2
    if variant == "m1":  # scores count votes; a wrong one takes a half, a right one adds a half
        scores = scores - scores.sum(axis=1, keepdims=True) / 2
    return np.exp(-scores[rows, y]).mean()


@every_variant
def test_the_trace_tells_the_objective_of_the_model(variant, n_classes, manner):
    X, y, booster = boosted(variant, n_classes, manner)
    trace = booster.trace_
    start = {"logit": np.log(n_classes)}.get(variant, 1.0)
    np.testing.assert_allclose(start * np.cumprod(trace.normalisers), trace.objective, rtol=1e-10)
    if variant == "arc_x4":  # minimises nothing: the mean of 1 + (times wrong)^4
        stages = np.array([member.predict(X) != y for member in booster.estimators_])
        expected = (1 + stages.sum(axis=0) ** 4.0).mean()
    else:
        expected = recomputed_objective(variant, n_classes, booster, X, y)
    assert trace.objective[-1] == pytest.approx(expected, rel=1e-9)
    assert (trace.stop_reason == "all rounds were done") == (len(trace) == 8)
    assert len(booster.trace_.to_frame()) == len(trace)


@every_variant
def test_files_and_pickles_hold_the_same_bytes(variant, n_classes):
    X, _, booster = boosted(variant, n_classes, "trees", store_weights=True)
    data = to_bytes(booster)
    again = from_bytes(data)
    assert to_bytes(again) == data
    pickled = pickle.loads(pickle.dumps(booster))
    assert to_bytes(pickled) == data
    for other in (again, pickled):
        assert other.get_params()["estimator"].max_depth == 2
        np.testing.assert_array_equal(other.predict_proba(X), booster.predict_proba(X))
        np.testing.assert_array_equal(other.trace_.distributions, booster.trace_.distributions)
        assert other.trace_.stop_reason == booster.trace_.stop_reason
        np.testing.assert_array_equal(other.feature_importances_, booster.feature_importances_)


@every_variant
def test_bytes_do_not_depend_on_threads_or_instruction_sets(variant, n_classes):
    before, files = _ext.active_isa(), set()
    try:
        for isa in INSTRUCTION_SETS:
            _ext.use_isa(isa)
            for n_jobs in (1, 2, 3, 7):
                _, _, booster = boosted(variant, n_classes, "trees", n_jobs=n_jobs)
                files.add(to_bytes(booster.set_params(n_jobs=None)))
    finally:
        _ext.use_isa(before)
    assert len(files) == 1


def test_bytes_of_a_table_that_threads_share():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 5)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=12_000) > 1).astype(int)
    prints = set()
    for n_jobs in (1, 2, 3, 7):
        tree = spinney.DecisionTreeClassifier(max_depth=3)
        booster = AdaBoostClassifier(tree, n_estimators=5, n_jobs=n_jobs).fit(X, y)
        prints.add((booster.model_.fingerprint, booster.trace_.objective.tobytes()))
    assert len(prints) == 1


@every_variant
def test_order_of_rows_does_not_matter(variant, n_classes):
    X, y, booster = boosted(variant, n_classes)
    order = np.random.default_rng(5).permutation(len(y))
    again = clone(booster).fit(X[order], y[order])
    np.testing.assert_allclose(again.predict_proba(X), booster.predict_proba(X), atol=1e-9)


@every_variant
def test_a_weight_is_a_repetition(variant, n_classes):
    X, y = blobs(n_classes)
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weights)
    booster = AdaBoostClassifier(n_estimators=6, variant=variant)
    weighted = booster.fit(X, y, sample_weight=weights).predict_proba(X)
    errors = booster.trace_.errors
    booster.fit(X[copies], y[copies])
    np.testing.assert_allclose(booster.predict_proba(X), weighted, atol=1e-9)
    np.testing.assert_allclose(booster.trace_.errors, errors, atol=1e-9)


@pytest.mark.parametrize("variant", ["m1", "m2", "mh", "samme", "samme_r", "gentle", "logit"])
def test_ten_classes(variant):
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    tree = small_tree(variant, depth=4)
    booster = AdaBoostClassifier(tree, variant=variant, n_estimators=8).fit(X[:600], y[:600])
    assert booster.score(X[600:1200], y[600:1200]) > 0.6


def test_confidence_takes_two_classes():
    X, y = blobs(3)
    with pytest.raises(InvalidInput, match=r"takes two classes, but y has 3.*samme_r"):
        AdaBoostClassifier(variant="confidence").fit(X, y)


def test_hamming_loss_is_below_the_product_of_the_normalisers():
    X, y, booster = boosted("mh", 3)
    signs = 2 * np.eye(3)[y] - 1
    wrong = (np.sign(booster._raw_scores(X)) != signs).mean()
    assert wrong <= booster.trace_.normalisers.prod() + 1e-12


def test_real_adaboost_takes_the_least_z_of_the_blocks():
    """Schapire and Singer: half the log-odds of a block leave 2 sum sqrt(W+ W-)."""
    X, y, booster = boosted("real", 2, "trees")
    leaves = booster.estimators_[0].apply(X)
    least = 0.0
    for leaf in np.unique(leaves):
        second = np.mean((leaves == leaf) & (y == 1))
        first = np.mean((leaves == leaf) & (y == 0))
        share = np.clip(second / (first + second), 1e-5, 1 - 1e-5)
        odds = np.sqrt(share / (1 - share))
        least += second / odds + first * odds
        if first > 0 and second > 0:
            assert second / odds + first * odds == pytest.approx(2 * np.sqrt(first * second))
    assert booster.trace_.normalisers[0] == pytest.approx(least, abs=1e-12)


def test_the_bounds_of_m1_hold_for_any_number_of_classes():
    """Freund and Schapire 1997, theorem 10: the product of 2 sqrt(e (1 - e)) bounds the error."""
    X, y = load_iris(return_X_y=True)
    booster = AdaBoostClassifier(variant="m1", n_estimators=30).fit(X, y)
    trace = booster.trace_
    best = 2 * np.sqrt(trace.errors * (1 - trace.errors))
    np.testing.assert_allclose(trace.normalisers, best, rtol=1e-10)
    np.testing.assert_allclose(np.cumprod(trace.normalisers), trace.objective, rtol=1e-10)
    errors = [1 - score for score in booster.staged_score(X, y)]
    assert (errors <= trace.objective + 1e-12).all()
    certificate = certify(booster, X, y)
    assert certificate["product"].bound == pytest.approx(trace.objective[-1], rel=1e-9)
    assert certificate["power"].holds


def test_the_hamming_loss_of_mh_is_bounded_by_the_objective():
    X, y = load_iris(return_X_y=True)
    booster = AdaBoostClassifier(variant="mh", n_estimators=15).fit(X, y)
    signs = np.where(np.eye(3)[y] > 0, 1, -1)
    for scores, bound in zip(
        booster.staged_decision_function(X), booster.trace_.objective, strict=True
    ):
        assert np.mean(signs * scores <= 0) <= bound + 1e-12
