"""scikit-learn citizenship: exact, with nothing skipped and nothing expected to fail."""

import copy
import io
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from tests.contracts.estimator_variants import VARIANTS, WEIGHTS_REPEAT

import spinney
from spinney.ensembles.estimator import Estimator
from spinney.model.state import model_from_bytes

RANKER = spinney.GradientBoostingRanker  # checks give no queries for folds to divide
EVERY = [getattr(spinney, name) for name in spinney.ESTIMATORS]
ESTIMATORS = [
    e
    for e in EVERY
    if issubclass(e, Estimator) and e._task != "unsupervised" and ".selecting." not in e.__module__
]
"""Those whose model predicts a target and is ours; the others have tests of their own."""
X, Y = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(X))
X, Y = X[ORDER], Y[ORDER]

every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)


def has(estimator, parameters):
    return set(parameters) <= set(estimator().get_params())


def size(estimator, number):
    """The parameter by which a model of this kind is made small; ten rounds for a level."""
    if has(estimator, ["max_depth"]):
        return {"max_depth": number}
    return {"n_estimators": 10 * number if isinstance(number, int) else number}


def only_known(estimator, parameters):
    known = {name: value for name, value in parameters.items() if has(estimator, [name])}
    assert len(known) >= 2
    return known


def labels(estimator):
    """Three classes or numbers; two classes for those who tell only two apart."""
    tags = get_tags(estimator()).classifier_tags
    return Y if tags is None or tags.multi_class else (Y == 2).astype(int)


def draws(estimator):  # unless told otherwise
    return has(estimator, ["bootstrap"]) or estimator().get_params().get("max_iter") == "auto"


def made(estimator, **parameters):
    return estimator(**{**({"random_state": 0} if draws(estimator) else {}), **parameters})


def fitted(estimator, **parameters):
    return made(estimator, **parameters).fit(X, labels(estimator))


# check_estimator, in a process where the array API is on from the start: nothing is skipped

CHECK = Path(__file__).with_name("check_estimator.py")


def takes(estimator, variant):
    """Whether an estimator has these parameters, and these values are words it knows."""
    if not has(estimator, variant) or (estimator is RANKER and "cv" in variant):
        return False
    rules = {name: estimator._rules[name] for name in variant}
    return all(rules[name].accepts(value) for name, value in variant.items())


CHECKED = [(e, variant) for e in EVERY for variant in VARIANTS if takes(e, variant)]


def test_every_variant_is_checked_with_some_estimator():
    assert all(any(variant is v for _, v in CHECKED) for variant in VARIANTS)
    assert {estimator for estimator, _ in CHECKED} == set(EVERY)


@pytest.mark.parametrize(
    ("estimator", "variant"), CHECKED, ids=[f"{e.__name__}-{v}" for e, v in CHECKED]
)
def test_every_check_of_scikit_learn_passes_and_none_is_skipped(estimator, variant):
    command = [sys.executable, CHECK, estimator.__name__, json.dumps(variant)]
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    results = json.loads(done.stdout.splitlines()[-1])
    predicts = is_classifier(estimator()) or is_regressor(estimator())
    assert len(results) >= (58 if predicts else 48 if estimator is RANKER else 54)
    others = {name for name, status, *_ in results if status != "passed"}
    assert others <= (WEIGHTS_REPEAT if "sampler" in variant else set())
    assert not any(expected for _, _, expected, _ in results)
    assert any("sample_weight_equivalence" in name for name, *_ in results)
    assert any("array_api" in name for name, *_ in results)


@every_estimator
def test_nothing_is_declared_untestable(estimator):
    tags = get_tags(estimator())
    assert not tags.no_validation
    assert not tags._skip_test
    assert not tags.non_deterministic
    assert tags.input_tags.sparse
    assert tags.input_tags.allow_nan
    assert is_classifier(estimator()) + is_regressor(estimator()) + (estimator is RANKER) == 1


# Parameters


@every_estimator
def test_clone_copies_parameters_and_nothing_learnt(estimator):
    tree = fitted(estimator, **size(estimator, 2), n_jobs=1)
    twin = clone(tree)
    assert twin.get_params() == tree.get_params()
    assert not hasattr(twin, "model_")
    assert twin.fit(X, labels(estimator)).model_ == tree.model_


@every_estimator
def test_parameters_go_in_and_come_out_unchanged(estimator):
    tree = estimator()
    new = {"max_depth": 3, "max_bins": 16, "n_estimators": 5, "extra_columns": "ignore"}
    new = only_known(estimator, {**new, "max_features": 0.9})
    assert tree.set_params(**new) is tree
    assert {name: tree.get_params()[name] for name in new} == new
    assert {name: getattr(tree, name) for name in new} == new
    before = tree.get_params()
    tree.fit(X, labels(estimator))
    assert tree.get_params() == before


@every_estimator
def test_constructor_does_not_look_at_values(estimator):
    nonsense = size(estimator, "nonsense")
    known = estimator(**nonsense).get_params()
    assert {name: known[name] for name in nonsense} == nonsense


# Tools that take any estimator


@every_estimator
def test_grid_search_finds_the_same_model_as_a_direct_fit(estimator):
    grid = {
        "max_depth": [1, 3],
        "max_bins": [16, 255],
        "n_estimators": [3, 40],
        "extra_columns": ["error", "ignore"],
        "max_features": [0.6, 1.0],
    }
    grid = dict(list(only_known(estimator, grid).items())[:2])
    search = GridSearchCV(made(estimator), grid, cv=3)
    search.fit(X, labels(estimator))
    assert search.best_score_ > 0.85
    assert search.best_estimator_.model_ == fitted(estimator, **search.best_params_).model_


@every_estimator
def test_cross_validation_scores_are_good_and_repeatable(estimator):
    first, second = (cross_val_score(made(estimator), X, labels(estimator), cv=5) for _ in range(2))
    assert np.array_equal(first, second)
    assert first.mean() > 0.85


@every_estimator
def test_grid_search_in_parallel_processes_agrees_with_one_process(estimator):
    ((name, few), (_, more)) = (*size(estimator, 1).items(), *size(estimator, 2).items())
    grid = {name: [few, more]}
    scores = [
        GridSearchCV(made(estimator), grid, cv=3, n_jobs=n_jobs)
        .fit(X, labels(estimator))
        .cv_results_["mean_test_score"]
        for n_jobs in (1, 2)
    ]
    assert np.array_equal(*scores)


@every_estimator
def test_pipeline_fits_predicts_and_is_cloned(estimator):
    y = labels(estimator)
    pipeline = make_pipeline(StandardScaler(), made(estimator, **size(estimator, 3)))
    pipeline.fit(X, y)
    assert pipeline.score(X, y) > 0.9
    twin = clone(pipeline).fit(X, y)
    assert twin[-1].model_ == pipeline[-1].model_


@every_estimator
def test_sample_weight_is_routed_through_metadata(estimator):
    y, small = labels(estimator), size(estimator, 2)
    weights = np.where(Y == 1, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = made(estimator, **small).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, inner)
        pipeline.fit(X, y, sample_weight=weights)
        direct = made(estimator, **small).fit(StandardScaler().fit_transform(X), y, weights)
        assert pipeline[-1].model_ == direct.model_
        scorable = estimator().set_fit_request(sample_weight=True)
        scorable.set_score_request(sample_weight=True)
        given = {"sample_weight": 1.0 + (Y == 1)}
        assert len(cross_validate(scorable, X, y, params=given)["test_score"]) == 5


@every_estimator
def test_weights_that_nobody_asked_for_are_refused_by_the_router(estimator):
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, estimator())
        with pytest.raises(ValueError, match="sample_weight"):
            pipeline.fit(X, labels(estimator), sample_weight=np.ones(len(Y)))


@every_estimator
def test_html_and_text_show_changed_parameters_before_and_after_fit(estimator):
    ((name, value),) = size(estimator, 3).items()
    tree = estimator(**{name: value})
    assert repr(tree) == f"{estimator.__name__}({name}={value})"
    before = tree._repr_html_()
    after = tree.fit(X, labels(estimator))._repr_html_()
    assert estimator.__name__ in before
    assert name in after
    assert "Not fitted" in before
    assert "Not fitted" not in after


@every_estimator
def test_estimators_that_do_not_transform_do_not_offer_set_output(estimator):
    assert not hasattr(fitted(estimator), "transform")
    assert not hasattr(fitted(estimator), "set_output")


def test_set_output_of_a_step_before_the_tree_gives_it_names():
    pipeline = make_pipeline(StandardScaler(), spinney.DecisionTreeClassifier())
    pipeline.set_output(transform="pandas")
    pipeline.fit(pd.DataFrame(X, columns=list("abcd")), Y)
    assert pipeline[-1].feature_names_in_.tolist() == list("abcd")


# Randomness


DRAWS = ({"max_features": 0.5}, {"mode": "resample"}, {"subsample": 0.5}, {"stopping": "cv"})
"""Parameters that leave something to chance; each estimator has one of them."""


def drawn(estimator, random_state):
    some = next(draws for draws in DRAWS if has(estimator, draws))
    if "stopping" in some:  # a round more or less, by the folds: noise tells them apart
        noise = np.random.default_rng(0).normal(size=len(Y))
        model = estimator(**some, random_state=random_state).fit(X, Y + 2 * noise)
        return model.model_.fingerprint
    return fitted(estimator, **some, random_state=random_state).model_.fingerprint


@pytest.mark.parametrize("make", [int, np.random.default_rng, np.random.RandomState, np.int64])
@every_estimator
def test_same_seed_gives_the_same_model_and_another_seed_another(estimator, make):
    assert drawn(estimator, make(7)) == drawn(estimator, make(7))
    assert len({drawn(estimator, make(seed)) for seed in range(8)}) > 1


@every_estimator
def test_generator_moves_on_and_none_is_different_each_time(estimator):
    generator = np.random.default_rng(0)
    assert len({drawn(estimator, generator) for _ in range(8)}) > 1
    assert len({drawn(estimator, None) for _ in range(8)}) > 1


@every_estimator
def test_seed_does_not_matter_when_nothing_is_drawn(estimator):
    models = {fitted(estimator, random_state=s).model_.fingerprint for s in (None, 1, 2)}
    assert len(models) == (3 if draws(estimator) else 1)


# Names of features

FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"])
NAMED = {
    "pandas": FRAME,
    "polars": pl.from_pandas(FRAME),
    "arrow": pa.Table.from_pandas(FRAME),
    "arrow_batch": pa.RecordBatch.from_pandas(FRAME),
}


@pytest.mark.parametrize("library", NAMED)
@every_estimator
def test_names_and_number_of_features_are_kept_from_every_library(estimator, library):
    tree = estimator().fit(NAMED[library], labels(estimator))
    assert tree.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert tree.feature_names_in_.dtype == object
    assert tree.n_features_in_ == 4


@every_estimator
def test_refit_on_unnamed_data_forgets_the_names(estimator):
    tree = estimator().fit(FRAME, labels(estimator))
    tree.fit(X[:, :3], labels(estimator))
    assert not hasattr(tree, "feature_names_in_")
    assert tree.n_features_in_ == 3
    tree.predict(X[:, :3])


@every_estimator
def test_unnamed_data_after_a_fit_with_names_warns_and_works(estimator):
    tree = estimator().fit(FRAME, labels(estimator))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert np.array_equal(tree.predict(X), tree.predict(FRAME))


# Copies carry the bytes of the model


def through_pickle(tree):
    return pickle.loads(pickle.dumps(tree))


def through_joblib(tree):
    stream = io.BytesIO()
    joblib.dump(tree, stream)
    stream.seek(0)
    return joblib.load(stream)


@pytest.mark.parametrize("carry", [through_pickle, through_joblib, copy.deepcopy, copy.copy])
@every_estimator
def test_copies_of_a_fitted_estimator_carry_the_same_bytes(estimator, carry):
    tree = fitted(estimator, **size(estimator, 3))
    again = carry(tree)
    assert again.model_.to_bytes() == tree.model_.to_bytes()
    assert again.get_params() == tree.get_params()
    assert np.array_equal(again.predict(X), tree.predict(X))
    assert again.n_features_in_ == 4


@every_estimator
def test_pickle_stream_contains_the_canonical_bytes_and_no_second_copy(estimator):
    tree = fitted(estimator)
    inner, stream = tree.model_.to_bytes(), pickle.dumps(tree)
    beside = {name: value for name, value in vars(tree).items() if name != "model_"}
    assert stream.count(inner) == 1
    assert len(stream) < len(inner) + len(pickle.dumps(beside)) + 2000
    assert inner in pickle.dumps(tree.model_)
    assert model_from_bytes(inner) == tree.model_


@every_estimator
def test_unfitted_estimator_survives_pickle_and_clone(estimator):
    small = estimator(**size(estimator, 2))
    again = through_pickle(small)
    assert again.get_params() == small.get_params()
    assert not hasattr(again, "model_")


def test_classes_and_scores_follow_scikit_learn():
    tree = spinney.DecisionTreeClassifier().fit(X, np.array(["x", "y", "z"])[Y])
    assert tree.classes_.tolist() == ["x", "y", "z"]
    assert tree.predict_proba(X).shape == (len(X), 3)
    assert np.allclose(tree.predict_proba(X).sum(axis=1), 1.0)
    assert tree.score(X, np.array(["x", "y", "z"])[Y]) == 1.0
