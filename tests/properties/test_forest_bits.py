"""A forest is a function of the data and the parameters alone."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spinney import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from spinney._native import _ext
from spinney.io.save_load import to_bytes

INSTRUCTION_SETS = ["portable", "avx2", "avx512"]
INSTRUCTION_SETS = INSTRUCTION_SETS[: INSTRUCTION_SETS.index(_ext.best_isa()) + 1]
SAMPLERS = [None, "bootstrap", "subsample", "bayesian", "balanced", "stratified", "block"]


@st.composite
def problems(draw):
    """A frame with numbers, flags, categories and gaps; weights; any sampler."""
    n_rows = draw(st.sampled_from([40, 300, 3000]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    frame = pd.DataFrame(rng.normal(size=(n_rows, 3)).round(2), columns=list("abc"))
    frame["flag"] = rng.random(n_rows) < 0.3
    frame["kind"] = pd.Categorical(rng.integers(0, 12, n_rows).astype(str))
    score = frame["a"] - frame["flag"] + (frame["kind"].cat.codes % 3) + rng.normal(size=n_rows)
    if draw(st.booleans()):
        frame = frame.mask(rng.random(frame.shape) < 0.1)
        frame["kind"] = frame["kind"].astype("category")
    weights = draw(st.sampled_from([None, rng.integers(1, 4, n_rows), rng.random(n_rows) + 1e-3]))
    n_classes = draw(st.sampled_from([0, 2, 3]))
    parameters = {
        "n_estimators": 5,
        "random_state": draw(st.integers(0, 9)),
        "max_leaf_nodes": draw(st.sampled_from([None, 9])),
        "sampler": draw(st.sampled_from(SAMPLERS)),
    }
    random = draw(st.booleans())
    if not random:
        parameters["search"] = draw(st.sampled_from(["adaptive", "exact", "histogram"]))
    if n_classes:
        y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
        parameters["class_weight"] = draw(st.sampled_from([None, "balanced_subsample"]))
        kind = ExtraTreesClassifier if random else RandomForestClassifier
        return frame, y, weights, kind, parameters
    if parameters["sampler"] == "stratified":
        parameters["sampler"] = None
    kind = ExtraTreesRegressor if random else RandomForestRegressor
    return frame, score.to_numpy(), weights, kind, parameters


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(problems())
def test_saved_bytes_do_not_depend_on_threads_or_instruction_sets(problem):
    X, y, weights, kind, parameters = problem
    before, files = _ext.active_isa(), set()
    try:
        for isa in INSTRUCTION_SETS:
            _ext.use_isa(isa)
            for n_jobs in (1, 2, 3, 7):
                forest = kind(**parameters, n_jobs=n_jobs).fit(X, y, weights)
                files.add(to_bytes(forest.set_params(n_jobs=None)))
    finally:
        _ext.use_isa(before)
    assert len(files) == 1


@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(problems(), st.integers(0, 99))
def test_forest_does_not_depend_on_the_order_of_rows(problem, seed):
    X, y, weights, kind, parameters = problem
    if parameters["sampler"] == "block":
        parameters["sampler"] = None
    order = np.random.default_rng(seed).permutation(len(X))
    one = kind(**parameters).fit(X, y, weights)
    two = kind(**parameters).fit(
        X.iloc[order], y[order], None if weights is None else weights[order]
    )
    assert one.model_ == two.model_


@pytest.mark.parametrize("n_rows", [300, 700, 2000])  # repeated: below, around and above 768
@pytest.mark.parametrize("settings", [{}, {"bootstrap": False}, {"max_leaf_nodes": 60}])
@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_whole_weights_are_repetitions_in_nodes_of_any_size(kind, settings, n_rows):
    """Which nodes are searched by bins is asked of what is repeated, too."""
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, 4))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=n_rows)
    y = np.digitize(y, [-1, 1]) if kind is RandomForestClassifier else np.round(16 * y)
    weights = rng.integers(1, 4, n_rows)
    weighted = kind(8, random_state=0, **settings).fit(X, y, weights)
    repeated = kind(8, random_state=0, **settings).fit(np.repeat(X, weights, 0), y.repeat(weights))
    answer = "predict_proba" if kind is RandomForestClassifier else "predict"
    new = rng.normal(size=(2000, 4))
    assert np.array_equal(getattr(weighted, answer)(new), getattr(repeated, answer)(new))


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_large_nodes_do_not_depend_on_threads():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 6)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=20_000) > 0).astype(int)
    files = {
        to_bytes(
            RandomForestClassifier(4, random_state=0, n_jobs=n, oob_score=True)
            .fit(X, y)
            .set_params(n_jobs=1)
        )
        for n in (1, 2, 7)
    }
    assert len(files) == 1
