"""Features that share a byte give the model that they give without: bundles are a layout."""

from unittest import mock

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import spinney
from spinney._native import _ext
from spinney.data.binning import Binner
from spinney.data.intake import read_table
from spinney.trees import gradient
from spinney.trees.gradient import GradientGrower, GradientTreeSettings

INSTRUCTION_SETS = ["portable", "avx2", "avx512"]
INSTRUCTION_SETS = INSTRUCTION_SETS[: INSTRUCTION_SETS.index(_ext.best_isa()) + 1]
ALWAYS, NEVER, AUTO = _ext.Bundling.ALWAYS, _ext.Bundling.NEVER, _ext.Bundling.AUTO


def sparse_frame(rng, n_rows, gaps):
    """One-hot groups, rare counts and numbers, a feature that is mostly missing, categories."""
    frame = pd.DataFrame({"dense": rng.normal(size=n_rows).round(2)})
    for group, n_levels in enumerate([3, 17, 40]):
        level = np.minimum((rng.random(n_rows) ** 2 * n_levels).astype(int), n_levels - 1)
        for one in range(n_levels):
            frame[f"group{group}_{one}"] = (level == one).astype(np.float32)
    slots = rng.permutation(n_rows)  # disjoint rows: these bundle whatever is drawn
    stretch = n_rows // 12
    for k in range(8):
        values = np.zeros(n_rows)
        rows = slots[k * stretch : (k + 1) * stretch]
        values[rows] = rng.integers(-2, 4, len(rows)) if k % 2 else rng.normal(size=len(rows))
        if gaps and k in {2, 3}:
            values[rows[: len(rows) // 2]] = np.nan
        frame[f"rare{k}"] = values
    seldom = np.full(n_rows, np.nan)
    seldom[slots[8 * stretch : 9 * stretch]] = rng.normal(size=stretch)
    frame["seldom"] = seldom if gaps else np.nan_to_num(seldom)
    kind = np.full(n_rows, "usual", object)
    kind[slots[9 * stretch : 10 * stretch]] = rng.choice(list("abcdefg"), stretch)
    frame["kind"] = pd.Categorical(kind)
    frame["constant"] = 1.0
    return frame


@st.composite
def problems(draw):
    """A sparse table, a task, weights, and everything that decides how trees grow."""
    n_rows = draw(st.sampled_from([60, 700, 5000, 20_000]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    frame = sparse_frame(rng, n_rows, draw(st.booleans()))
    score = frame["dense"] + frame["group0_1"] - frame["group2_0"] + frame["rare1"].fillna(2)
    score = (score + (frame["kind"] == "a") + rng.normal(size=n_rows)).to_numpy()
    weights = draw(st.sampled_from([None, rng.integers(1, 4, n_rows), rng.random(n_rows)]))
    parameters = {
        "max_iter": 3,
        "min_samples_leaf": draw(st.sampled_from([1, 20])),
        "max_leaf_nodes": draw(st.sampled_from([None, 4, 31])),
        "max_depth": draw(st.sampled_from([None, 3])),
        "growth": draw(st.sampled_from(["leaf_wise", "level_wise", "symmetric"])),
        "subsample": draw(st.sampled_from([1.0, 0.6])),
        "max_features": draw(st.sampled_from([1.0, 0.5])),
        "max_features_per_tree": draw(st.sampled_from([1.0, 0.3])),
        "l2_regularization": draw(st.sampled_from([0.0, 1.0])),
        "l1_regularization": draw(st.sampled_from([0.0, 0.1])),
        "monotonic_cst": draw(st.sampled_from([None, {"dense": 1, "rare1": -1, "group2_0": -1}])),
        "interaction_cst": draw(st.sampled_from([None, "no_interactions"])),
        "path_smoothing": draw(st.sampled_from([0.0, 5.0])),
        "splitter": draw(st.sampled_from(["best", "random"])),
        "max_delta_step": draw(st.sampled_from([None, 0.3])),
        "early_stopping": draw(st.sampled_from([False, True])),
        "random_state": draw(st.integers(0, 9)),
    }
    task = draw(st.sampled_from(["squared", "poisson", "logistic", "three classes"]))
    if task in {"squared", "poisson"}:
        model = spinney.GradientBoostingRegressor(loss=task, **parameters)
        return frame, np.exp(score), weights, model
    n_classes = 3 if task == "three classes" and not parameters["monotonic_cst"] else 2
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    model = spinney.GradientBoostingClassifier(**parameters)
    return frame, np.digitize(score, cuts), weights, model


def fingerprint(problem, bundling, n_jobs):
    X, y, weights, model = problem
    with mock.patch.object(gradient, "BUNDLING", bundling):
        fitted = model.set_params(n_jobs=n_jobs).fit(X, y, sample_weight=weights)
    return fitted.model_.fingerprint


def n_bundles(X, bundling):
    table = read_table(X)
    binned = Binner.learn(table, None).transform(table)
    with mock.patch.object(gradient, "BUNDLING", bundling):
        return GradientGrower(binned, GradientTreeSettings()).n_bundles


@pytest.mark.filterwarnings("ignore::spinney.errors.SmallWeights")
@settings(
    max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(problems())
def test_bundled_and_plain_tables_give_the_same_bytes(problem):
    plain = fingerprint(problem, NEVER, 1)
    for n_jobs in (1, 3):
        assert fingerprint(problem, ALWAYS, n_jobs) == plain
    assert fingerprint(problem, AUTO, 2) == plain


@settings(
    max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(problems())
def test_bundled_tables_give_the_same_bytes_on_every_instruction_set(problem):
    before, prints = _ext.active_isa(), set()
    try:
        for isa in INSTRUCTION_SETS:
            _ext.use_isa(isa)
            prints |= {fingerprint(problem, ALWAYS, n_jobs) for n_jobs in (1, 2, 7)}
    finally:
        _ext.use_isa(before)
    assert len(prints) == 1


@pytest.mark.parametrize("task", ["squared", "logistic", "weighted"])
def test_tables_whose_rows_threads_share_and_whose_words_run_over(task):
    """Code 0 of a bundle holds more rows than a word does, and is never read."""
    rng = np.random.default_rng(0)
    n_rows = 70_000 if task != "weighted" else 20_000
    X = scipy.sparse.random_array((n_rows, 120), density=2e-4, rng=rng, format="csr")
    y = X[:, :60].sum(axis=1) - X[:, 60:].sum(axis=1) + rng.normal(size=n_rows)
    weights = rng.random(n_rows) if task == "weighted" else None
    model = spinney.GradientBoostingRegressor(max_iter=3, min_samples_leaf=2)
    if task == "logistic":
        model, y = spinney.GradientBoostingClassifier(max_iter=3, min_samples_leaf=2), y > 0
    assert n_bundles(X, ALWAYS) < 60  # no feature is left alone
    problem = X, y, weights, model
    plain = fingerprint(problem, NEVER, 2)
    for n_jobs in (1, 2, 7):
        assert fingerprint(problem, ALWAYS, n_jobs) == plain


@pytest.mark.parametrize("density", [0.01, 0.3, 0.8])
@pytest.mark.parametrize("bundling", [ALWAYS, NEVER, AUTO])
def test_sparse_tables_give_the_bytes_of_dense_ones(density, bundling):
    """Bins of stored values go into bundles directly; what is usual need not be zero."""
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((3000, 40), density=density, rng=rng, format="csr")
    X.data = np.where(rng.random(len(X.data)) < 0.1, np.nan, X.data.round(1))
    full = X.toarray()
    y = np.nan_to_num(full[:, :20]).sum(axis=1) + rng.normal(size=3000)
    model = spinney.GradientBoostingRegressor(max_iter=5, subsample=0.7, random_state=0)
    sparse = fingerprint((X, y, None, model), bundling, 2)
    assert sparse == fingerprint((full, y, None, model), NEVER, 1)
    assert n_bundles(X, bundling) == n_bundles(full, bundling)


def test_sparse_validation_rows_of_their_own_are_measured_on():
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((3000, 40), density=0.05, rng=rng, format="csr")
    y = X[:, :20].sum(axis=1) + 0.1 * rng.normal(size=3000)
    model = spinney.GradientBoostingRegressor(max_iter=20, early_stopping=True, random_state=0)
    prints = []
    for table in (X, X.toarray()):
        fitted = model.fit(table[:2000], y[:2000], X_val=table[2000:], y_val=y[2000:])
        prints.append(fitted.model_.fingerprint)
    assert prints[0] == prints[1]


def test_one_hot_features_take_a_byte_per_group():
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 50, (5000, 6))
    X = (levels[:, :, None] == np.arange(50)).reshape(5000, 300).astype(np.float32)
    assert n_bundles(X, NEVER) == 300
    assert n_bundles(X, AUTO) == 6


def test_dense_features_are_left_as_they_are():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    X[:, :2] = rng.random((3000, 2)) < 0.01
    X[:, 1] *= 1 - X[:, 0]
    assert n_bundles(X, ALWAYS) == 19  # two flags that are never set together
    assert n_bundles(X, AUTO) == 20  # one byte of twenty is not worth it


@pytest.mark.parametrize("growth", ["leaf_wise", "symmetric"])
@pytest.mark.parametrize("n_rows", [1, 2, 300, 3000])
def test_columns_that_are_all_constant_leave_the_mean(n_rows, growth):
    y = np.random.default_rng(0).normal(size=n_rows)
    model = spinney.GradientBoostingRegressor(max_iter=2, min_samples_leaf=1, growth=growth)
    constant = np.zeros((n_rows, 9))
    assert np.allclose(model.fit(constant, y).predict(constant), y.mean())
