"""The model is a function of the data alone, not of threads, machines, orders or libraries."""

import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import fields

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import spinney
from spinney._native import _ext

examples = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
INSTRUCTION_SETS = ["portable", "avx2", "avx512"]


@st.composite
def problems(draw, *, missing=True, most_rows=120):
    """A float32 table with ties, gaps and odd values, a target of either task, parameters."""
    n_rows, n_columns = draw(st.integers(2, most_rows)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n_rows, n_columns)) * 10.0 ** rng.integers(-3, 4, n_columns)
    levels = draw(st.sampled_from([2, 10, 1000]))
    X = (np.rint(X * levels) / levels).astype(np.float32)
    if missing:
        X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    y = np.nan_to_num(X[:, 0]) + rng.normal(size=n_rows)
    is_classifier = draw(st.booleans())
    if is_classifier:
        y = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    parameters = {
        "max_leaf_nodes": draw(st.sampled_from([None, 2, 9])),
        "max_bins": draw(st.sampled_from([2, 16, 255])),
        "min_samples_leaf": draw(st.sampled_from([1, 3])),
        "max_features": draw(st.sampled_from([None, "sqrt"])),
        "search": draw(st.sampled_from(["exact", "adaptive", "histogram", "random"])),
        "ccp_alpha": draw(st.sampled_from([0.0, 0.0, 0.01])),
        "random_state": 5,
    }
    criteria = (
        ["gini", "entropy", "twoing"] if is_classifier else ["squared_error", "absolute_error"]
    )
    parameters["criterion"] = draw(st.sampled_from(criteria))
    estimator = spinney.DecisionTreeClassifier if is_classifier else spinney.DecisionTreeRegressor
    return X, y, estimator(**parameters)


def fingerprint(estimator, X, y, sample_weight=None, **parameters):
    return estimator.set_params(**parameters).fit(X, y, sample_weight).model_.fingerprint


def arrays_of(estimator, X, y, sample_weight=None):
    """Give all arrays of the tree as bytes."""
    tree = estimator.fit(X, y, sample_weight).model_[0]
    return {field.name: getattr(tree, field.name).tobytes() for field in fields(tree)}


@contextmanager
def instruction_set(name):
    before = _ext.active_isa()
    _ext.use_isa(name)
    try:
        yield
    finally:
        _ext.use_isa(before)


def available_sets():
    return INSTRUCTION_SETS[: INSTRUCTION_SETS.index(_ext.best_isa()) + 1]


# Threads and machines


@examples
@given(problems())
def test_model_is_the_same_for_every_number_of_threads(problem):
    X, y, estimator = problem
    assert len({fingerprint(estimator, X, y, n_jobs=n) for n in (1, 2, 3, 7)}) == 1


def test_model_of_many_rows_is_the_same_for_every_number_of_threads():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30_000, 9)).astype(np.float32)
    y = rng.normal(size=(30_000, 2)) + X[:, :2]
    weights = 10.0 ** rng.uniform(-6, 6, 30_000)
    tree = spinney.DecisionTreeRegressor(max_leaf_nodes=60, min_samples_leaf=1e-9)
    assert len({fingerprint(tree, X, y, weights, n_jobs=n) for n in (1, 2, 3, 7)}) == 1
    predicted = {tree.set_params(n_jobs=n).predict(X).tobytes() for n in (1, 2, 3, 7)}
    assert len(predicted) == 1


@examples
@given(problems())
def test_model_is_the_same_for_every_instruction_set(problem):
    X, y, estimator = problem
    seen = set()
    for name in available_sets():
        with instruction_set(name):
            seen.add((fingerprint(estimator, X, y), estimator.predict(X).tobytes()))
    assert len(seen) == 1


CHILD = """
import numpy as np, spinney
from spinney._native import _ext
X = np.modf(np.arange(1, 3001).reshape(500, 6) * 0.618)[0].astype(np.float32)
tree = spinney.DecisionTreeRegressor(max_leaf_nodes=30).fit(X, X[:, 0] * X[:, 1])
print(_ext.active_isa(), tree.model_.fingerprint)
"""


def run_with(name):
    environment = {**os.environ, "SPINNEY_ISA": name}
    command = [sys.executable, "-c", CHILD]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_environment_variable_chooses_the_instruction_set_and_not_the_model():
    seen = [run_with(name).stdout.split() for name in available_sets()]
    assert [name for name, _ in seen] == available_sets()
    assert len({digest for _, digest in seen}) == 1


def test_wrong_instruction_set_in_the_environment_gives_a_helpful_error():
    done = run_with("avx1024")
    assert done.returncode != 0
    assert "SPINNEY_ISA='avx1024' names no instruction set" in done.stderr
    assert "portable, avx2, avx512" in done.stderr
    assert "InvalidParameter" in done.stderr


# The same table in another form


@examples
@given(problems(), st.randoms(use_true_random=False))
def test_order_of_the_rows_does_not_matter(problem, random):
    X, y, estimator = problem
    order = list(range(len(X)))
    random.shuffle(order)
    assert fingerprint(estimator, X, y) == fingerprint(estimator, X[order], y[order])


@examples
@given(problems(), st.randoms(use_true_random=False))
def test_order_of_the_rows_does_not_matter_with_uneven_weights(problem, random):
    X, y, estimator = problem
    weights = 10.0 ** np.linspace(-4, 4, len(X))
    order = list(range(len(X)))
    random.shuffle(order)
    first = fingerprint(estimator, X, y, weights)
    assert first == fingerprint(estimator, X[order], y[order], weights[order])


@examples
@given(problems())
def test_memory_order_and_float_width_do_not_matter(problem):
    X, y, estimator = problem
    wide = X.astype(np.float64)
    forms = [X, np.asfortranarray(X), wide, np.asfortranarray(wide), X[:, ::-1][:, ::-1]]
    forms += [np.repeat(X, 2, axis=0)[::2], X.astype(">f4"), wide.astype(object), wide.tolist()]
    assert len({fingerprint(estimator, form, y) for form in forms}) == 1


@examples
@given(problems(), st.integers(0, 2**32 - 1))
def test_sparse_tables_give_the_model_of_dense_ones(problem, seed):
    X, y, estimator = problem
    X = np.where(np.random.default_rng(seed).random(X.shape) < 0.6, np.float32(0), X)
    forms = [X, sp.csr_array(X), sp.csc_array(X), sp.coo_array(X), sp.csr_matrix(X)]
    assert len({fingerprint(estimator, form, y) for form in forms}) == 1
    assert len({estimator.predict(form).tobytes() for form in forms}) == 1


def named(X):
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    return [frame, pl.from_pandas(frame, nan_to_null=True), pa.Table.from_pandas(frame)]


@examples
@given(problems())
def test_every_library_gives_the_tree_of_numpy(problem):
    X, y, estimator = problem
    expected = arrays_of(estimator, X, y)
    predicted = estimator.predict(X).tobytes()
    seen = set()
    for frame in named(X):
        assert arrays_of(estimator, frame, y) == expected
        assert estimator.predict(frame).tobytes() == predicted
        seen.add(estimator.model_.fingerprint)
    assert len(seen) == 1


@examples
@given(problems(), st.randoms(use_true_random=False))
def test_order_of_named_columns_at_predict_does_not_matter(problem, random):
    X, y, estimator = problem
    frame = named(X)[0]
    expected = estimator.fit(frame, y).predict(frame)
    order = list(frame.columns)
    random.shuffle(order)
    for other in named(X):
        shuffled = other[order] if isinstance(other, pd.DataFrame) else other.select(order)
        assert np.array_equal(estimator.predict(shuffled), expected)


def test_order_of_categories_does_not_matter():
    texts = np.array(["pear", "apple", "fig", "kiwi"])[np.arange(40) % 4]
    y = np.arange(40) % 4 * 1.5 + np.arange(40) % 3
    seen = set()
    for order in (["pear", "apple", "fig", "kiwi"], ["zzz", "kiwi", "fig", "apple", "pear"]):
        column = pd.Categorical(texts, categories=order)
        enum = pl.Series(texts.tolist(), dtype=pl.Enum(order))
        for form in (pd.DataFrame({"a": column}), pl.DataFrame({"a": enum})):
            seen.add(fingerprint(spinney.DecisionTreeRegressor(), form, y))
    assert len(seen) == 1


# A weight is a repetition


@examples
@given(problems(), st.integers(0, 2**32 - 1))
def test_integer_weights_are_repetitions(problem, seed):
    X, y, estimator = problem
    if estimator.search == "histogram":  # bins hold as many rows as others, not as much weight
        estimator.set_params(search="exact")
    weights = np.random.default_rng(seed).integers(0, 5, len(X))
    weights[0] = 1
    weighted = arrays_of(estimator, X, y, weights)
    repeated = arrays_of(estimator, np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.pop("count") is not None
    del repeated["count"]  # it counts rows, and there are more of them
    assert weighted == repeated


@examples
@given(problems(), st.integers(0, 2**32 - 1))
def test_rows_of_weight_zero_are_as_if_absent(problem, seed):
    X, y, estimator = problem
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, len(X))
    weights[1::2] = 0.0
    X, outliers = X.copy(), X.copy()
    outliers[1::2] = 1e30
    kept = fingerprint(estimator, X[::2], y[::2], weights[::2])
    assert fingerprint(estimator, X, y, weights) == kept
    assert fingerprint(estimator, outliers, y, weights) == kept


@examples
@given(problems(), st.integers(0, 2**32 - 1), st.integers(1, 20))
def test_weights_times_a_power_of_two_give_the_same_tree(problem, seed, power):
    X, y, estimator = problem
    estimator.set_params(min_samples_leaf=1)
    if estimator.search == "adaptive":  # by bins where repetitions are many, and these are more
        estimator.set_params(search="exact")
    if estimator.criterion == "entropy":  # logarithms of other numbers are rounded in another way
        estimator.set_params(criterion="gini")
    if isinstance(estimator, spinney.DecisionTreeRegressor):
        y = np.rint(y * 8)  # exact on every grid
    weights = np.random.default_rng(seed).integers(1, 9, len(X)).astype(float)
    one = estimator.fit(X, y, weights).model_[0]
    two = estimator.fit(X, y, weights * 2.0**power).model_[0]
    for field in fields(one):
        scale = 2.0**power if field.name in {"gain", "weight"} else 1
        scaled = getattr(one, field.name) * scale
        assert np.array_equal(scaled, getattr(two, field.name)), field.name


@pytest.mark.parametrize("name", available_sets())
def test_instruction_set_is_restored_after_each_test(name):
    before = _ext.active_isa()
    with instruction_set(name):
        assert _ext.active_isa() == name
    assert _ext.active_isa() == before
