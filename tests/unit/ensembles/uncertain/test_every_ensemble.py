"""``calibrate``, ``predict_interval`` and ``predict_set`` of every ensemble, and through files."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.svm import LinearSVC
from tests.reference.conformal import after_bootstrap, cross_set

import spinney
from spinney import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IsolationForest,
    QuantileForestRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
)
from spinney.datasets import make_friedman
from spinney.ensembles.combining.combination import Combination
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.uncertain.kept import Calibration
from spinney.errors import InvalidInput, InvalidParameter, NotCalibrated
from spinney.io.save_load import from_bytes, to_bytes
from spinney.uncertainty import SetScore, conformal_sets, set_scores, split_intervals

RNG = np.random.default_rng(0)
TRAIN, CAL, TEST = (make_friedman(1, n, random_state=s) for s, n in enumerate((200, 150, 300)))


def classes(data, k):
    return np.digitize(data.y, np.quantile(TRAIN.y, np.arange(1, k) / k))


EVERY = [getattr(spinney, name) for name in spinney.ESTIMATORS]
MODELS = [e for e in EVERY if issubclass(e, Estimator | Combination)]
REGRESSORS = [e for e in MODELS if is_regressor(e())]
CLASSIFIERS = [e for e in MODELS if is_classifier(e())]
SMALL = {"n_estimators": 10, "max_iter": 20, "random_state": 0}


def made(estimator, **changes):
    known = estimator().get_params()
    small = {name: value for name, value in SMALL.items() if name in known}
    if issubclass(estimator, Combination):
        kind = "Regressor" if is_regressor(estimator()) else "Classifier"
        trees = getattr(spinney, f"ExtraTrees{kind}"), getattr(spinney, f"DecisionTree{kind}")
        small["estimators"] = [("extra", trees[0](10, random_state=0)), ("tree", trees[1]())]
    if "voting" in known and estimator is spinney.VotingClassifier:
        small["voting"] = "soft"
    return estimator(**{**small, **changes})


def target(estimator, data):
    if is_regressor(estimator()):
        return data.y
    tags = estimator().__sklearn_tags__().classifier_tags
    return classes(data, 3 if tags.multi_class else 2)


def ids(estimator):
    return estimator.__name__


@pytest.mark.parametrize("estimator", REGRESSORS, ids=ids)
def test_regressors_give_the_intervals_of_the_definition(estimator):
    model = made(estimator).fit(TRAIN.X, TRAIN.y)
    assert model.calibrate(CAL.X, CAL.y) is model
    found = model.predict_interval(TEST.X, level=0.9)
    assert 0.83 < found.coverage(TEST.y) < 0.97
    assert np.array_equal(found.prediction, model.predict(TEST.X))
    if estimator is not QuantileForestRegressor:
        errors = np.abs(CAL.y - model.predict(CAL.X))
        expected = split_intervals(model.predict(TEST.X), errors, 0.9)
        assert np.array_equal(found.lower, expected.lower)
        assert np.array_equal(found.upper, expected.upper)
    assert not hasattr(model, "predict_set")


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=ids)
def test_classifiers_give_the_sets_of_the_definition(estimator):
    model = made(estimator).fit(TRAIN.X, target(estimator, TRAIN))
    y, shares = target(estimator, CAL), model.predict_proba(CAL.X)
    for method in ("aps", "lac", SetScore("raps", 0.2, 2)):
        score = method if isinstance(method, SetScore) else SetScore(method)
        model.calibrate(CAL.X, y, method=method)
        found = model.predict_set(TEST.X, level=0.9)
        scores = score.of_labels(shares, y)
        expected = conformal_sets(model.predict_proba(TEST.X), scores, 0.9, score=score)
        assert np.array_equal(found.members, expected.members)
        assert found.coverage(target(estimator, TEST)) > 0.82
    model.calibrate(CAL.X, y, method="lac", by_class=True)
    found = model.predict_set(TEST.X, level=0.8)
    scores = set_scores(shares, y, method="lac")
    expected = conformal_sets(
        model.predict_proba(TEST.X), scores, 0.8, score=SetScore("lac"), score_classes=y
    )
    assert np.array_equal(found.members, expected.members)
    assert not hasattr(model, "predict_interval")


SAVED = [e for e in (*REGRESSORS, *CLASSIFIERS) if ".selecting." not in e.__module__]
"""Those whose model has a form in a file; the others hold estimators of any kind."""


@pytest.mark.parametrize("estimator", SAVED, ids=ids)
@pytest.mark.parametrize("carry", ["pickle", "copy", "deepcopy", "file"])
def test_calibration_comes_along_and_a_fit_forgets_it(estimator, carry):
    y = target(estimator, TRAIN)
    model = made(estimator).fit(TRAIN.X, y).calibrate(CAL.X, target(estimator, CAL))
    carries = {
        "pickle": lambda m: pickle.loads(pickle.dumps(m)),
        "copy": copy.copy,
        "deepcopy": copy.deepcopy,
        "file": lambda m: from_bytes(to_bytes(m)),
    }
    again = carries[carry](model)
    ask = "predict_interval" if is_regressor(model) else "predict_set"
    one, two = (getattr(m, ask)(TEST.X, 0.9) for m in (model, again))
    assert one.columns() == two.columns()
    assert to_bytes(again) == to_bytes(model)
    again.fit(TRAIN.X, y)
    with pytest.raises(NotCalibrated, match="has not been calibrated"):
        getattr(again, ask)(TEST.X)
    getattr(model, ask)(TEST.X)  # the other one keeps its own


@pytest.mark.parametrize("estimator", [*REGRESSORS, *CLASSIFIERS], ids=ids)
def test_without_calibration_the_error_says_what_to_do(estimator):
    ask = "predict_interval" if is_regressor(estimator()) else "predict_set"
    model = made(estimator)
    with pytest.raises(NotFittedError):
        getattr(model, ask)(TEST.X)
    with pytest.raises(NotFittedError):
        model.calibrate(CAL.X, target(estimator, CAL))
    model.fit(TRAIN.X, target(estimator, TRAIN))
    with pytest.raises(NotCalibrated, match=r"calibrate\(X, y\)"):
        getattr(model, ask)(TEST.X)


def test_sets_of_a_vote_of_labels_are_made_of_its_votes():
    vote = made(spinney.VotingClassifier, voting="hard").fit(TRAIN.X, classes(TRAIN, 3))
    assert not hasattr(vote, "predict_proba")
    sets = vote.calibrate(CAL.X, classes(CAL, 3)).predict_set(TEST.X, 0.8)
    assert sets.coverage(classes(TEST, 3)) > 0.75


def test_without_probabilities_there_are_no_sets():
    members = [("tree", spinney.DecisionTreeClassifier(max_depth=2))]
    stack = spinney.StackingClassifier(members, LinearSVC()).fit(TRAIN.X, classes(TRAIN, 2))
    with pytest.raises(InvalidParameter, match=r"gives no probabilities.*CalibratedClassifier"):
        stack.calibrate(CAL.X, classes(CAL, 2))


def test_those_that_predict_no_target_have_no_intervals():
    for estimator in (IsolationForest(), RandomTreesEmbedding()):
        for name in ("calibrate", "predict_interval", "predict_set"):
            assert not hasattr(estimator, name)


def test_files_without_a_calibration_are_what_they_were():
    model = GradientBoostingRegressor(max_iter=3).fit(TRAIN.X, TRAIN.y)
    before = to_bytes(model)
    model.calibrate(CAL.X, CAL.y)
    assert len(to_bytes(model)) - len(before) < 8 * len(CAL.y) + 1000
    model._forget_calibration()
    assert to_bytes(model) == before


@pytest.mark.parametrize("estimator", [GradientBoostingRegressor, GradientBoostingClassifier])
def test_weight_is_a_repetition_and_the_order_of_rows_is_nothing(estimator):
    model = made(estimator).fit(TRAIN.X, target(estimator, TRAIN))
    y, weights = target(estimator, CAL), RNG.integers(0, 3, 150)
    ask = "predict_interval" if is_regressor(model) else "predict_set"
    weighted = getattr(model.calibrate(CAL.X, y, weights), ask)(TEST.X).columns()
    file = to_bytes(model)
    order = RNG.permutation(150)
    assert to_bytes(model.calibrate(CAL.X[order], y[order], weights[order])) == file
    repeated = (np.repeat(CAL.X, weights, axis=0), np.repeat(y, weights))
    assert getattr(model.calibrate(*repeated), ask)(TEST.X).columns() == weighted


# Forests, out of bag


def test_forest_of_numbers_is_the_jackknife_plus_after_bootstrap():
    forest = RandomForestRegressor(15, random_state=0).fit(TRAIN.X[:50], TRAIN.y[:50])
    forest.calibrate_out_of_bag(TRAIN.X[:50], TRAIN.y[:50])
    found = forest.predict_interval(TEST.X[:10], 0.8)
    train, new = (
        np.column_stack([tree.predict(X) for tree in forest.estimators_])
        for X in (TRAIN.X[:50], TEST.X[:10])
    )
    unseen = forest.out_of_bag(TRAIN.X[:50])
    for row in range(10):
        expected = after_bootstrap(train, new[row], unseen, TRAIN.y[:50], 0.8)
        assert (found.lower[row], found.upper[row]) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("method", ["aps", "lac"])
def test_forest_of_classes_is_the_jackknife_plus_after_bootstrap(method, by_class):
    X, y = TRAIN.X[:60], classes(TRAIN, 3)[:60]
    forest = RandomForestClassifier(15, random_state=0, min_samples_leaf=3).fit(X, y)
    forest.calibrate_out_of_bag(X, y, method=method, by_class=by_class)
    found = forest.predict_set(TEST.X[:10], 0.8).sets()
    unseen, score = forest.out_of_bag(X), SetScore(method)
    train, new = (
        np.stack([tree.predict_proba(rows) for tree in forest.estimators_])
        for rows in (X, TEST.X[:10])
    )
    there = [i for i in range(60) if unseen[i].any()]
    scores = np.array([score(train[unseen[i], i].mean(axis=0))[y[i]] for i in there])
    left_out = np.array([[score(new[unseen[i], r].mean(axis=0)) for i in there] for r in range(10)])
    for row in range(10):
        if not by_class:
            assert found[row] == cross_set(scores, left_out[row], 0.8)
            continue
        for code in range(3):
            own = y[there] == code
            held = code in cross_set(scores[own], left_out[row][own], 0.8)
            assert held == (code in found[row])


@pytest.mark.parametrize("sampler", ["bootstrap", "subsample", "balanced"])
def test_forests_cover_without_further_rows(sampler):
    forest = RandomForestRegressor(60, sampler=sampler, random_state=0).fit(TRAIN.X, TRAIN.y)
    found = forest.calibrate_out_of_bag(TRAIN.X, TRAIN.y).predict_interval(TEST.X, 0.9)
    assert 0.86 < found.coverage(TEST.y) < 0.99
    votes = RandomForestClassifier(60, sampler=sampler, random_state=0)
    votes.fit(TRAIN.X, classes(TRAIN, 3)).calibrate_out_of_bag(TRAIN.X, classes(TRAIN, 3))
    assert votes.predict_set(TEST.X, 0.9).coverage(classes(TEST, 3)) > 0.86


def test_scoring_out_of_bag_calibrates_as_well():
    for forest, y in (
        (RandomForestRegressor(40, oob_score=True, random_state=0), TRAIN.y),
        (RandomForestClassifier(40, oob_score=True, random_state=0), classes(TRAIN, 3)),
    ):
        weights = RNG.integers(0, 3, 200)
        forest.fit(TRAIN.X, y, weights)
        ask = forest.predict_interval if is_regressor(forest) else forest.predict_set
        free = ask(TEST.X, 0.9).columns()
        assert forest.calibration_.source == "out_of_bag"
        assert ask(TEST.X, 0.9).columns() == free
        again = from_bytes(to_bytes(forest))
        ask = again.predict_interval if is_regressor(forest) else again.predict_set
        assert ask(TEST.X, 0.9).columns() == free
        again.calibrate_out_of_bag(TRAIN.X, y, weights)
        said, scores = (f.calibration_.scores for f in (forest, again))
        there = weights > 0
        assert np.allclose(said[there], scores[there], equal_nan=True)


def test_out_of_bag_calibration_is_the_same_for_any_number_of_threads():
    files = set()
    for n_jobs in (1, 2):
        forest = RandomForestRegressor(20, random_state=0, n_jobs=n_jobs).fit(TRAIN.X, TRAIN.y)
        forest.calibrate_out_of_bag(TRAIN.X, TRAIN.y)
        found = forest.predict_interval(TEST.X, 0.9)
        files.add((found.lower.tobytes(), found.upper.tobytes()))
    assert len(files) == 1


def test_blocks_of_rows_do_not_change_what_is_said(monkeypatch):
    from spinney.uncertainty import out_of_bag

    forest = RandomForestRegressor(10, random_state=0).fit(TRAIN.X, TRAIN.y)
    votes = RandomForestClassifier(10, random_state=0).fit(TRAIN.X, classes(TRAIN, 3))
    forest.calibrate_out_of_bag(TRAIN.X, TRAIN.y)
    votes.calibrate_out_of_bag(TRAIN.X, classes(TRAIN, 3))
    whole = forest.predict_interval(TEST.X), votes.predict_set(TEST.X)
    monkeypatch.setattr(out_of_bag, "CELLS_AT_ONCE", 1500)
    parts = forest.predict_interval(TEST.X), votes.predict_set(TEST.X)
    assert np.array_equal(whole[0].lower, parts[0].lower)
    assert np.array_equal(whole[0].upper, parts[0].upper)
    assert np.array_equal(whole[1].members, parts[1].members)
    forest.calibrate_out_of_bag(TRAIN.X, TRAIN.y)
    assert np.array_equal(forest.predict_interval(TEST.X).lower, whole[0].lower)


def test_forest_whose_trees_saw_everything_says_so():
    for forest in (
        ExtraTreesRegressor(5, random_state=0),
        RandomForestRegressor(5, bootstrap=False, random_state=0),
    ):
        forest.fit(TRAIN.X, TRAIN.y)
        with pytest.raises(InvalidParameter, match="bootstrap=True"):
            forest.calibrate_out_of_bag(TRAIN.X, TRAIN.y)
        assert forest.calibrate(CAL.X, CAL.y).predict_interval(TEST.X).coverage(TEST.y) > 0.8
    everything = QuantileForestRegressor(5, bootstrap=False, random_state=0).fit(TRAIN.X, TRAIN.y)
    with pytest.raises(InvalidInput, match="nothing is known out of bag"):
        everything.calibrate_out_of_bag(TRAIN.X, TRAIN.y)
    with pytest.raises(InvalidInput, match="199 rows"):
        RandomForestRegressor(5).fit(TRAIN.X, TRAIN.y).calibrate_out_of_bag(
            TRAIN.X[:199], TRAIN.y[:199]
        )


# Quantile forests


@pytest.mark.parametrize("quantiles", [None, (0.25, 0.75)])
def test_quantile_forest_moves_its_quantiles(quantiles):
    forest = QuantileForestRegressor(60, random_state=0).fit(TRAIN.X, TRAIN.y)
    pair = list(quantiles or (0.05, 0.95))
    forest.calibrate_out_of_bag(TRAIN.X, TRAIN.y, quantiles=quantiles)
    low, high = forest.oob_quantiles(TRAIN.X, pair).T
    known = ~np.isnan(low)
    scores = np.maximum(low - TRAIN.y, TRAIN.y - high)[known]
    reach = np.sort(scores)[int(np.ceil(0.9 * (len(scores) + 1))) - 1]
    found = forest.predict_interval(TEST.X, 0.9)
    assert np.array_equal(found.lower, forest.predict(TEST.X, pair)[:, 0] - reach)
    assert np.array_equal(found.upper, forest.predict(TEST.X, pair)[:, 1] + reach)
    assert 0.84 < found.coverage(TEST.y) < 0.97
    again = from_bytes(to_bytes(forest))
    assert np.array_equal(again.predict_interval(TEST.X, 0.9).lower, found.lower)
    forest.calibrate(CAL.X, CAL.y, quantiles=quantiles)
    assert 0.84 < forest.predict_interval(TEST.X, 0.9).coverage(TEST.y) < 0.97


# What is refused


def test_rows_and_words_that_make_no_sense_are_refused():
    numbers = made(GradientBoostingRegressor).fit(TRAIN.X, TRAIN.y)
    names = np.array(["ash", "beech", "oak"])[classes(TRAIN, 3)]
    labels = made(GradientBoostingClassifier).fit(TRAIN.X, names)
    with pytest.raises(InvalidInput, match="y contains NaN"):
        numbers.calibrate(CAL.X, np.full(150, np.nan))
    with pytest.raises(InvalidInput, match="inconsistent"):
        numbers.calibrate(CAL.X, CAL.y[:10])
    with pytest.raises(InvalidInput, match="sample_weight"):
        numbers.calibrate(CAL.X, CAL.y, -np.ones(150))
    with pytest.raises(InvalidParameter, match="for classifiers"):
        numbers.calibrate(CAL.X, CAL.y, method="aps")
    with pytest.raises(InvalidParameter, match="predicts no quantiles"):
        numbers.calibrate(CAL.X, CAL.y, quantiles=(0.1, 0.9))
    with pytest.raises(InvalidInput, match="y holds 'elm' at row 1"):
        labels.calibrate(CAL.X[:2], ["oak", "elm"])
    with pytest.raises(InvalidInput, match="y holds 3"):
        labels.calibrate(CAL.X[:2], [3, 4])
    with pytest.raises(InvalidInput, match="a label for each row"):
        labels.calibrate(CAL.X, ["oak"])
    with pytest.raises(InvalidParameter, match="method='apps'"):
        labels.calibrate(CAL.X[:1], ["oak"], method="apps")
    forest = QuantileForestRegressor(5).fit(TRAIN.X, TRAIN.y)
    for quantiles in ((0.9, 0.1), 0.5, (0.1, 2.0), "ab"):
        with pytest.raises(InvalidParameter, match="quantiles="):
            forest.calibrate(CAL.X, CAL.y, quantiles=quantiles)
    two = RandomForestRegressor(5).fit(TRAIN.X, np.column_stack([TRAIN.y, TRAIN.y]))
    for calibrate in (two.calibrate, two.calibrate_out_of_bag):
        with pytest.raises(InvalidInput, match="2 numbers per row"):
            calibrate(TRAIN.X, TRAIN.y)
    numbers.calibrate(CAL.X[:8], CAL.y[:8])
    assert np.isinf(numbers.predict_interval(TEST.X, 0.9).width).all()
    for level in (0, 1, np.nan, "0.9"):
        with pytest.raises(InvalidParameter, match="level="):
            numbers.predict_interval(TEST.X, level)


def test_calibration_prints_as_a_table():
    kept = Calibration.held_out("residual", np.arange(99.0))
    assert "Calibrated by residual with 99 rows held out" in str(kept)
    assert kept.to_frame()["score"].tolist() == [49.0, 79.0, 89.0, 94.0, 98.0]
    with pytest.raises(ValueError, match="read-only"):
        kept.scores[0] = 1.0
