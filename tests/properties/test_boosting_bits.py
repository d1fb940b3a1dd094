"""A boosted model is a function of the data and the parameters alone."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import spinney
from spinney._native import _ext

INSTRUCTION_SETS = ["portable", "avx2", "avx512"]
INSTRUCTION_SETS = INSTRUCTION_SETS[: INSTRUCTION_SETS.index(_ext.best_isa()) + 1]
LOSSES = ["squared", "absolute", "huber", "quantile", "poisson", "gamma", "tweedie"]


@st.composite
def problems(draw):
    """A frame with numbers, flags, categories and gaps; a task; weights; every kind of sampling."""
    n_rows = draw(st.sampled_from([60, 700, 5000]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    frame = pd.DataFrame(rng.normal(size=(n_rows, 4)).round(2), columns=list("abcd"))
    frame["flag"] = rng.random(n_rows) < 0.3
    frame["other"] = rng.integers(0, 3, n_rows)
    frame["kind"] = pd.Categorical(rng.integers(0, 12, n_rows).astype(str))
    score = frame["a"] - frame["flag"] + (frame["kind"].cat.codes % 3) + rng.normal(size=n_rows)
    if draw(st.booleans()):
        frame = frame.mask(rng.random(frame.shape) < 0.1)
        frame["kind"] = frame["kind"].astype("category")
    weights = draw(
        st.sampled_from(
            [None, rng.integers(1, 4, n_rows), rng.random(n_rows), 10 ** rng.uniform(-3, 3, n_rows)]
        )
    )
    parameters = {
        "max_iter": 3,
        "min_samples_leaf": draw(st.sampled_from([1, 20])),
        "max_leaf_nodes": draw(st.sampled_from([None, 4, 31])),
        "max_depth": draw(st.sampled_from([None, 3])),
        "growth": draw(st.sampled_from(["leaf_wise", "level_wise", "symmetric"])),
        "splitter": draw(st.sampled_from(["best", "random"])),
        "path_smoothing": draw(st.sampled_from([0.0, 4.0])),
        "subsample": draw(st.sampled_from([1.0, 0.6])),
        "max_features": draw(st.sampled_from([1.0, 0.5])),
        "max_features_per_tree": draw(st.sampled_from([1.0, 0.7])),
        "l2_regularization": draw(st.sampled_from([0.0, 1.0])),
        "l1_regularization": draw(st.sampled_from([0.0, 0.1])),
        "monotonic_cst": draw(st.sampled_from([None, {"a": 1, "b": -1}])),
        "max_delta_step": draw(st.sampled_from([None, 0.3])),
        "early_stopping": draw(st.sampled_from([False, True, "cv"])),
        "cv": 2,
        "random_state": draw(st.integers(0, 9)),
    }
    if draw(st.booleans()):
        n_classes = 2 if parameters["monotonic_cst"] else draw(st.sampled_from([2, 3]))
        cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
        losses = ["logistic", "exponential"] if n_classes == 2 else ["logistic"]
        loss = draw(st.sampled_from(losses))
        model = spinney.GradientBoostingClassifier(loss=loss, **parameters)
        return frame, np.digitize(score, cuts), weights, model
    loss = draw(st.sampled_from(LOSSES))
    model = spinney.GradientBoostingRegressor(loss=loss, quantile=0.3, **parameters)
    return frame, np.exp(score.to_numpy()), weights, model


@pytest.mark.filterwarnings("ignore::spinney.errors.SmallWeights")
@settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(problems())
def test_saved_bytes_do_not_depend_on_threads_or_instruction_sets(problem):
    X, y, weights, model = problem
    before, prints = _ext.active_isa(), set()
    try:
        for isa in INSTRUCTION_SETS:
            _ext.use_isa(isa)
            for n_jobs in (1, 2, 3, 7):
                fitted = model.set_params(n_jobs=n_jobs).fit(X, y, sample_weight=weights)
                prints.add(fitted.model_.fingerprint)
    finally:
        _ext.use_isa(before)
    assert len(prints) == 1


@pytest.mark.parametrize("growth", ["leaf_wise", "symmetric"])
@pytest.mark.parametrize("n_rows", [20_000, 70_000])
@pytest.mark.parametrize("task", ["squared", "logistic", "weighted"])
def test_tables_whose_rows_threads_share(n_rows, task, growth):
    """Beyond some thousand rows threads share the rows of a node, not its columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6)).astype(np.float32)
    y = X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=n_rows)
    weights = rng.random(n_rows) if task == "weighted" else None
    prints = set()
    for n_jobs in (1, 2, 3, 7):
        if task == "logistic":
            model = spinney.GradientBoostingClassifier(max_iter=3, growth=growth, n_jobs=n_jobs)
            model.fit(X, y > 0)
        else:
            model = spinney.GradientBoostingRegressor(max_iter=3, growth=growth, n_jobs=n_jobs)
            model.fit(X, y, sample_weight=weights)
        prints.add(model.model_.fingerprint)
    assert len(prints) == 1


@settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(problems(), st.integers(0, 2**32 - 1))
def test_order_of_rows_does_not_matter(problem, seed):
    X, y, weights, model = problem
    model.set_params(subsample=1.0, early_stopping=False)
    order = np.random.default_rng(seed).permutation(len(y))
    given_order = model.fit(X, y, sample_weight=weights).model_.fingerprint
    shuffled = None if weights is None else weights[order]
    assert model.fit(X.iloc[order], y[order], sample_weight=shuffled).model_.fingerprint == (
        given_order
    )
