"""RobustBoostClassifier: what the algorithms are as an estimator."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier as SklearnTree
from tests.reference.stump_oracle import StumpOracle, stump_sum

import spinney
from spinney import AdaBoostClassifier, RobustBoostClassifier
from spinney.datasets import make_long_servedio, make_twonorm
from spinney.ensembles.robust.boosting import boost_robustly
from spinney.ensembles.robust.settings import ALGORITHMS, RobustSettings
from spinney.errors import (
    InvalidInput,
    InvalidModel,
    InvalidParameter,
    NothingLearnt,
    WeakLearnerFailed,
)
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model import BranchingProgram

SUMS = [name for name in ALGORITHMS if name != "martingale"]
QUICK = {"n_estimators": 12, "n_levels": 5, "least_node_weight": 5}
NOISY = make_twonorm(150, random_state=0)
X, Y = NOISY.X[:, :4], np.where(NOISY.y == NOISY.y.max(), "yes", "no")
Y[::9] = np.where(Y[::9] == "yes", "no", "yes")


def quick(algorithm, **parameters):
    return RobustBoostClassifier(algorithm=algorithm, **(QUICK | parameters))


# Long and Servedio's problem


def bits(seed):
    rng = np.random.default_rng(seed)
    train = make_long_servedio(800, noise=0.1, random_state=rng)
    return train, make_long_servedio(4000, noise=0.0, random_state=rng)


@pytest.mark.parametrize("seed", range(5))
def test_ada_boost_is_led_astray_and_the_default_is_not(seed):
    train, test = bits(seed)
    convex = AdaBoostClassifier(n_estimators=100).fit(train.X, train.y)
    robust = RobustBoostClassifier().fit(train.X, train.y)
    assert 1 - convex.score(test.X, test.y) >= 0.20
    assert 1 - robust.score(test.X, test.y) < 0.12


def test_the_search_finds_a_target_above_the_noise_and_the_rule():
    train, test = bits(0)
    noise = np.mean(train.y != train.clean_y)
    found = RobustBoostClassifier(algorithm="robust", n_estimators=200).fit(train.X, train.y)
    assert noise < found.target_error_ < noise + 0.06
    assert found.time_left_ == 0.0
    assert 1 - found.score(test.X, test.y) < 0.12
    given = RobustBoostClassifier(
        algorithm="robust", n_estimators=200, target_error=found.target_error_
    ).fit(train.X, train.y)
    assert given.model_ == found.model_
    assert given.target_error_ == found.target_error_


@pytest.mark.parametrize("seed", range(3))
def test_martingale_boosting_bears_noise_too(seed):
    train, test = bits(seed)
    walk = RobustBoostClassifier(algorithm="martingale").fit(train.X, train.y)
    assert 1 - walk.score(test.X, test.y) < 0.16


# The estimator says what the algorithm says


@pytest.mark.parametrize("algorithm", SUMS)
def test_a_fit_is_the_algorithm_with_stumps(algorithm):
    target = 0.2 if algorithm in ("robust", "brown") else "search"
    fitted = quick(algorithm, target_error=target, largest_step=0.5, store_weights=True).fit(X, Y)
    signs = np.where(Y == "yes", 1.0, -1.0)
    settings = RobustSettings(algorithm=algorithm, n_rounds=12, target_error=0.2, largest_step=0.5)
    boost = boost_robustly(StumpOracle(X, signs, constants=False), signs, settings)
    np.testing.assert_allclose(fitted.alphas_, boost.weights, rtol=1e-5)
    np.testing.assert_allclose(fitted.potentials_, boost.potentials, rtol=1e-6)
    np.testing.assert_allclose(fitted.times_, boost.times, rtol=1e-6)
    scores = stump_sum(boost, X)
    np.testing.assert_allclose(fitted.decision_function(X), scores / boost.weights.sum(), atol=1e-5)
    np.testing.assert_allclose(
        fitted.predict_proba(X)[:, 1], 1 / (1 + np.exp(-2 * scores)), atol=1e-5
    )
    assert fitted.trace_.stop_reason == boost.stop_reason
    assert fitted.trace_.distributions.shape == (len(boost) + 1, len(X))
    assert len(fitted.estimators_) == len(fitted.alphas_) == len(fitted.estimator_errors_)
    np.testing.assert_allclose(fitted.feature_importances_.sum(), 1.0)


def test_votes_of_members_and_weights_give_the_decision():
    fitted = quick("savage").fit(X, Y)
    votes = [np.where(member.predict(X) == "yes", 1.0, -1.0) for member in fitted.estimators_]
    mean = fitted.alphas_ @ np.array(votes) / fitted.alphas_.sum()
    np.testing.assert_allclose(fitted.decision_function(X), mean, atol=1e-12)
    np.testing.assert_allclose(fitted.margins(X, Y), np.where(Y == "yes", 1, -1) * mean, atol=1e-12)
    assert fitted.complexity_class() == ("stumps", 4)


@pytest.mark.parametrize("algorithm", ["savage", "robust", "martingale"])
def test_the_last_stage_is_the_whole(algorithm):
    fitted = quick(algorithm).fit(X, Y)
    n_stages = 5 if algorithm == "martingale" else len(fitted.trace_)
    for staged, whole in (
        (fitted.staged_decision_function, fitted.decision_function),
        (fitted.staged_predict_proba, fitted.predict_proba),
        (fitted.staged_predict, fitted.predict),
    ):
        stages = list(staged(X))
        assert len(stages) == n_stages == len(fitted.trace_)
        if stages[-1].dtype.kind == "f":
            np.testing.assert_allclose(stages[-1], whole(X), atol=1e-12)
        else:
            assert (stages[-1] == whole(X)).all()
    assert list(fitted.staged_score(X, Y))[-1] == fitted.score(X, Y)


@pytest.mark.parametrize("estimator", [None, GaussianNB()])
def test_a_program_tells_what_a_sum_tells(estimator):
    fitted = quick("martingale", estimator=estimator).fit(X, Y)
    program = fitted.model_
    assert isinstance(program, BranchingProgram)
    decision = fitted.decision_function(X)
    np.testing.assert_allclose(fitted.predict_proba(X)[:, 1], (1 + decision) / 2)
    assert ((decision > 0) == (fitted.predict(X) == "yes")).all()
    np.testing.assert_allclose(fitted.margins(X, Y), np.where(Y == "yes", 1, -1) * decision)
    assert len(fitted.estimators_) == len(program) == len(fitted.estimator_errors_)
    assert (fitted.alphas_ == 0.2).all()
    assert (fitted.estimator_errors_ < 0.5).all()
    assert fitted.complexity_class() is None
    assert fitted.target_error_ is None
    assert np.isnan(fitted.time_left_)
    assert fitted.potentials_.size == 0
    first = fitted.estimators_[0].predict(X)
    assert (next(fitted.staged_predict(X)) == first).all()
    with np.errstate(all="raise"):  # a share of 0 has a logarithm nobody need be warned of
        logs = fitted.predict_log_proba(X)
    assert np.exp(logs) == pytest.approx(fitted.predict_proba(X))
    if estimator is None:
        came = program.shares[program.answers == 0]
        features = [tree.feature[0] for tree in program.members]
        by_rows = np.bincount(features, came, 4) / came.sum()
        np.testing.assert_allclose(fitted.feature_importances_, by_rows)
    else:
        with pytest.raises(AttributeError, match="GaussianNB has no feature_importances_"):
            fitted.feature_importances_  # noqa: B018


def test_the_trace_of_a_program_is_that_of_its_levels():
    fitted = quick("martingale").fit(X, Y)
    trace, stages = fitted.trace_, list(fitted.staged_decision_function(X))
    margins = np.where(Y == "yes", 1, -1) * np.array(stages)
    np.testing.assert_allclose(trace.objective, np.mean(margins <= 0, axis=1))
    np.testing.assert_allclose(trace.min_margins, margins.min(axis=1))
    np.testing.assert_allclose(np.cumprod(trace.normalisers), trace.objective)
    np.testing.assert_allclose(trace.errors, (1 - trace.edges) / 2)
    assert trace.alphas.sum() == pytest.approx(1.0)
    root = fitted.estimator_errors_[0]
    assert trace.errors[0] == pytest.approx(root)
    for label in ("yes", "no"):  # the first learner saw both labels with half of the weight
        wrong = fitted.estimators_[0].predict(X)[label == Y] != label
        root -= 0.5 * wrong.mean()
    assert root == pytest.approx(0.0, abs=1e-12)


# Weights


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_weight_is_so_many_copies(algorithm):
    times = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = quick(algorithm).fit(X, Y, times)
    copied = quick(algorithm).fit(np.repeat(X, times, axis=0), np.repeat(Y, times))
    np.testing.assert_allclose(
        weighted.decision_function(X), copied.decision_function(X), atol=1e-6
    )
    assert len(weighted.estimators_) == len(copied.estimators_)
    if algorithm == "martingale":
        assert weighted.model_.members.arrays["feature"].tolist() == (
            copied.model_.members.arrays["feature"].tolist()
        )
        assert (weighted.model_.answers == copied.model_.answers).all()
    else:
        np.testing.assert_allclose(weighted.alphas_, copied.alphas_, rtol=1e-6)
        np.testing.assert_allclose(weighted.potentials_, copied.potentials_, rtol=1e-9)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_threads_change_no_byte(algorithm):
    one, two = (quick(algorithm, n_jobs=n).fit(X, Y).model_ for n in (1, 2))
    assert one.to_bytes() == two.to_bytes()


# Files


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("store", [False, True])
def test_a_file_holds_everything(algorithm, store, tmp_path):
    fitted = quick(algorithm, store_weights=store).fit(X, Y)
    spinney.save(fitted, tmp_path / "model.spn")
    again = spinney.load(tmp_path / "model.spn")
    assert to_bytes(again) == (tmp_path / "model.spn").read_bytes()
    assert (again.predict_proba(X) == fitted.predict_proba(X)).all()
    assert (again.decision_function(X) == fitted.decision_function(X)).all()
    np.testing.assert_array_equal(again.potentials_, fitted.potentials_)
    np.testing.assert_array_equal(again.times_, fitted.times_)
    np.testing.assert_array_equal(again.alphas_, fitted.alphas_)
    np.testing.assert_array_equal(again.estimator_errors_, fitted.estimator_errors_)
    assert again.target_error_ == fitted.target_error_
    assert again.trace_.stop_reason == fitted.trace_.stop_reason
    assert (again.trace_.distributions is not None) == (store and algorithm != "martingale")


@pytest.mark.parametrize(
    "change",
    [
        lambda m, _: m.update(target_error=1.5),
        lambda m, _: m.update(target_error=0),
        lambda m, _: m.update(target_error="0.1"),
        lambda m, _: m.update(other=1),
        lambda _, a: a.pop("times"),
        lambda _, a: a.update(potentials=a["potentials"][:-1]),
        lambda _, a: a.update(potentials=a["potentials"][:0]),
        lambda _, a: a.update(times=a["times"].astype(np.float32)),
        lambda _, a: a.update(times=a["times"].reshape(-1, 1)),
        lambda _, a: a.update(more=np.zeros(3)),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(change):
    fitted = quick("robust", target_error=0.2).fit(X, Y)
    meta, arrays = fitted._attributes()
    change(meta, arrays)
    with pytest.raises(InvalidModel):
        fitted._adopt_attributes(meta, arrays)


def test_no_other_booster_learns_a_program():
    from spinney.model import sections

    program = to_bytes(quick("martingale").fit(X, Y))
    contents = sections.unpack(program)
    other = to_bytes(AdaBoostClassifier(n_estimators=2).fit(X, Y))
    meta = dict(sections.unpack(other).meta) | {"model": contents.meta["model"]}
    with pytest.raises(ValueError, match="BranchingProgram is not what a AdaBoostClassifier"):
        from_bytes(sections.pack(meta, dict(contents.arrays)))


# Base learners and tables


@pytest.mark.parametrize("algorithm", ["savage", "robust", "martingale"])
@pytest.mark.parametrize(
    "estimator",
    [
        SklearnTree(max_depth=2),
        KNeighborsClassifier(3),
        spinney.DecisionTreeClassifier(max_depth=2),
    ],
    ids=lambda e: type(e).__name__,
)
def test_other_base_learners_boost(algorithm, estimator):
    fitted = quick(algorithm, estimator=estimator, random_state=0).fit(X, Y)
    assert fitted.score(X, Y) > 0.75
    assert len(fitted.estimators_) >= 2
    assert (fitted.predict(X) == list(fitted.staged_predict(X))[-1]).all()
    again = quick(algorithm, estimator=estimator, random_state=0).fit(X, Y)
    assert (again.decision_function(X) == fitted.decision_function(X)).all()


def test_a_learner_that_ignores_its_weights_is_pointed_out():
    class Deaf(GaussianNB):
        def fit(self, X, y, sample_weight=None):  # noqa: ARG002
            return super().fit(X, y)

    with pytest.raises(WeakLearnerFailed, match="the same whatever the weights are"):
        quick("robust", estimator=Deaf(), target_error=0.01).fit(X, Y)


def test_a_learner_that_fails_is_named():
    with pytest.raises(WeakLearnerFailed, match="LogisticRegression raised InvalidParameterError"):
        quick("savage", estimator=LogisticRegression(C=-1)).fit(X, Y)


@pytest.mark.parametrize("algorithm", ["savage", "martingale"])
def test_categories_and_missing_values_are_learnt(algorithm):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "town": rng.choice(np.array(["Bonn", "Cork", "Oslo", None], object), 300),
            "size": np.where(rng.random(300) < 0.2, np.nan, rng.normal(size=300)),
        }
    )
    y = frame["town"].isin(["Cork", "Oslo"]) | frame["size"].isna()
    fitted = quick(algorithm, n_estimators=40).fit(frame, y)
    assert fitted.score(frame, y) > 0.95
    assert fitted.predict(frame[["size", "town"]]).tolist() == fitted.predict(frame).tolist()
    unseen = frame.assign(town="Rome")
    assert len(fitted.predict(unseen)) == 300
    strict = quick(algorithm, unseen="error").fit(frame, y)
    with pytest.raises(InvalidInput, match="Rome"):
        strict.predict(unseen)


# Refusals


def test_three_classes_are_refused_in_words():
    with pytest.raises(InvalidInput, match=r"3 classes\. RobustBoostClassifier boosts two"):
        RobustBoostClassifier().fit(X[:6], [0, 1, 2, 0, 1, 2])


@pytest.mark.parametrize("algorithm", ["savage", "robust", "martingale"])
def test_one_class_is_learnt_without_rounds(algorithm):
    fitted = quick(algorithm).fit(X, np.full(len(X), "yes"))
    assert (fitted.predict(X) == "yes").all()
    assert fitted.predict_proba(X).tolist() == [[1.0]] * len(X)
    assert fitted.target_error_ is None
    again = from_bytes(to_bytes(fitted))
    assert to_bytes(again) == to_bytes(fitted)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_where_nothing_can_be_learnt_a_warning_says_so(algorithm):
    with pytest.warns(NothingLearnt, match="RobustBoostClassifier learnt nothing, because no"):
        fitted = quick(algorithm).fit(np.zeros((30, 2)), ["a", "b"] * 15)
    assert len(fitted.estimators_) == 0
    assert len(set(fitted.predict(X[:, :2]).tolist())) == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"algorithm": "adaboost"},
        {"algorithm": "savag"},
        {"n_estimators": 0},
        {"n_estimators": 2.5},
        {"target_error": "serch"},
        {"target_error": 0.0},
        {"target_error": 1},
        {"target_error": np.nan},
        {"target_error": None},
        {"goal_margin": np.inf},
        {"sigma_final": 0.0},
        {"smoothness": 1.0},
        {"edge": 0.5},
        {"least_edge": -1e-3},
        {"steepness": 0.0},
        {"largest_step": 0.0},
        {"in_hull": "yes"},
        {"n_levels": 0},
        {"n_levels": 1001},
        {"least_node_weight": -1.0},
        {"store_weights": None},
        {"mode": "bag"},
    ],
    ids=str,
)
def test_hostile_parameters_are_refused(bad):
    with pytest.raises(InvalidParameter, match=f"{next(iter(bad))}=.*expected"):
        RobustBoostClassifier(**bad).fit(X, Y)


def test_a_misspelt_word_gets_a_hint_and_a_target_that_guessing_reaches_a_remedy():
    with pytest.raises(InvalidParameter, match="Did you mean 'search'"):
        RobustBoostClassifier(target_error="serch").fit(X, Y)
    with pytest.raises(InvalidParameter, match="Lower target_error or raise goal_margin"):
        RobustBoostClassifier(algorithm="robust", target_error=0.6).fit(X, Y)
