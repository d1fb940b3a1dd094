"""A boosted model is a function of the data and the parameters alone."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.properties.test_determinism import available_sets, instruction_set
from tests.unit.ensembles.gradient import losses

# By name: no module of spinney may be loaded, by its first use, while an example is drawn.
from spinney import (
    GradientBoostingClassifier,
    GradientBoostingRanker,
    GradientBoostingRegressor,
)

EXAMPLES = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
NUMBER_LOSSES = ["squared", "absolute", "huber", "quantile", "poisson", "gamma", "tweedie"]
LOSSES = {
    "number": [*NUMBER_LOSSES, losses.LogCosh(), losses.Quantile(0.3), losses.Poisson()],
    "numbers": NUMBER_LOSSES,
    "quantiles": ["quantile"],
    "two classes": ["logistic", "exponential", losses.Logistic()],
    "three classes": ["logistic"],
    "labels": ["logistic"],
    "ranks": ["ndcg", "map", "pairwise"],
}
OPTIONS = {
    "min_samples_leaf": [1, 20],
    "max_leaf_nodes": [None, 4, 31],
    "max_depth": [None, 3],
    "growth": ["leaf_wise", "level_wise", "symmetric"],
    "splitter": ["best", "random"],
    "l2_regularization": [0.0, 1.0],
    "l1_regularization": [0.0, 0.1],
    "max_delta_step": [None, 0.3],
    "path_smoothing": [0.0, 4.0],
    "min_split_gain": [0.0, 1.0],
    "prune_gain": [0.0, 2.0],
    "subsample": [1.0, 0.6],
    "sampler": ["uniform", "one_side", "minimal_variance", "bayesian", "poisson"],
    "dropout": [0.0, 0.5],
    "skip_dropout": [0.0, 0.3],
    "max_dropped": [None, 1],
    "max_features": [1.0, 0.5],
    "max_features_per_tree": [1.0, 0.7],
    "category_encoding": ["auto", "sets", "target"],
    "category_pairs": [None, "all", [("kind", "shop")]],
    "date_features": [False, True],
    "text_features": [False, ["text"]],
    "monotonic_cst": [None, {"a": 1, "b": -1}],
    "early_stopping": [False, True, "cv"],
    "random_state": [0, 1, 2],
}
NOTHING_DRAWN_OF_ROWS = {
    "subsample": 1.0,
    "sampler": "uniform",
    "category_encoding": "sets",  # with "target" rows are told of those before them
    "category_pairs": None,
    "early_stopping": False,
}


@dataclass
class Problem:
    """A model, and what its ``fit`` is given."""

    model: Any
    X: pd.DataFrame
    y: Any
    weights: Any = None
    others: dict[str, Any] = field(default_factory=dict)
    """What else is said of every row: its query, its offset."""

    def fitted(self, rows=None, weights=None):
        """Fit to all rows with their weights, or to these; what comes again is a query again."""
        if rows is None:
            rows, weights = np.arange(len(self.X)), self.weights
        others = {name: values[rows] for name, values in self.others.items()}
        if "qid" in others:
            others["qid"] = others["qid"] * 4 + pd.Series(rows).groupby(rows).cumcount()
        return self.model.fit(self.X.iloc[rows], self.y[rows], weights, **others).model_


def frame_of(rng, n_rows):
    """Numbers, flags, few levels and many, dates, texts, and columns that share a byte."""
    frame = pd.DataFrame(rng.normal(size=(n_rows, 4)).round(2), columns=list("abcd"))
    frame["flag"] = rng.random(n_rows) < 0.3
    frame["other"] = rng.integers(0, 3, n_rows)
    frame["kind"] = pd.Categorical(rng.integers(0, 12, n_rows).astype(str))
    frame["shop"] = pd.Categorical(rng.integers(0, n_rows // 3, n_rows).astype(str))
    hours = rng.integers(0, 9999, n_rows)
    frame["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(hours, unit="h")
    frame["text"] = [" ".join(words) for words in rng.choice(list("opqrstuvw"), (n_rows, 5))]
    level = rng.integers(0, 60, n_rows)
    return frame.assign(**{f"rare{one}": (level == one).astype(np.float32) for one in range(12)})


def task_of(name, loss, score, options):
    """Make a target of scores, a model for it of options, and say how many scores it has."""
    vectors = {**options, "monotonic_cst": None}  # which leaves of several values refuse
    if vectors["growth"] == "symmetric":
        vectors["growth"] = "level_wise"
    several = np.column_stack([score, score[::-1] ** 2, -score])
    if name == "number":
        return GradientBoostingRegressor(loss=loss, quantile=0.3, **options), np.exp(score), 1
    if name == "numbers":
        model = GradientBoostingRegressor(loss=loss, quantile=0.3, **vectors)
        return model, np.exp(several / 4), 3
    if name == "quantiles":
        return GradientBoostingRegressor(loss=loss, quantile=[0.1, 0.5, 0.8], **vectors), score, 3
    if name == "ranks":
        relevance = np.digitize(score, [1.0] if loss == "map" else [0.0, 1.0, 2.0])
        return GradientBoostingRanker(loss=loss, **options), relevance, 1
    if name == "labels":
        return GradientBoostingClassifier(**vectors), (several > 1.0).astype(int), 3
    if name == "three classes":
        options = {**options, "monotonic_cst": None}
        return GradientBoostingClassifier(loss=loss, **options), np.digitize(score, [0.5, 1.5]), 3
    return GradientBoostingClassifier(loss=loss, **options), (score > 1.0).astype(int), 1


@st.composite
def problems(draw):
    """Any task and options, on a table of columns of every kind."""
    n_rows = draw(st.sampled_from([60, 700, 3000]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    frame = frame_of(rng, n_rows)
    score = frame["a"] - frame["flag"] + (frame["kind"].cat.codes % 3) + frame["rare0"]
    score = (score + frame["text"].str.contains("q") + rng.normal(size=n_rows)).to_numpy()
    if draw(st.booleans()):
        frame = frame.mask(rng.random(frame.shape) < 0.1)
        frame = frame.astype({"kind": "category", "shop": "category"})
    options = {name: draw(st.sampled_from(values)) for name, values in OPTIONS.items()}
    if options["sampler"] in {"one_side", "minimal_variance"}:
        options["subsample"] = 0.6  # of all rows they have nothing to choose
    task = draw(st.sampled_from(list(LOSSES)))
    loss = draw(st.sampled_from(LOSSES[task]))
    model, y, n_outputs = task_of(task, loss, score, {**options, "max_iter": 5, "cv": 2})
    if task in {"two classes", "three classes"}:
        model.set_params(class_weight=draw(st.sampled_from([None, "balanced"])))
    problem = Problem(model, frame, y)
    whole = rng.integers(0, 4, n_rows)
    problem.weights = draw(
        st.sampled_from([None, whole, rng.random(n_rows), 10 ** rng.uniform(-3, 3, n_rows)])
    )
    if draw(st.booleans()):
        problem.others["offset"] = rng.normal(size=(n_rows, n_outputs)).squeeze() / 4
    if task == "ranks":
        problem.others["qid"] = qid = rng.integers(0, n_rows // 8, n_rows)
        problem.weights = None if problem.weights is None else problem.weights[qid]
    return problem


@pytest.mark.filterwarnings("ignore::spinney.errors.SmallWeights")
@settings(EXAMPLES, max_examples=100)
@given(problems())
def test_saved_bytes_do_not_depend_on_threads_or_instruction_sets(problem):
    saved = set()
    for isa in available_sets():
        with instruction_set(isa):
            for n_jobs in (1, 3):
                problem.model.set_params(n_jobs=n_jobs)
                saved.add(problem.fitted().to_bytes())
    assert len(saved) == 1


@settings(EXAMPLES, max_examples=100)
@given(problems(), st.integers(0, 2**32 - 1))
def test_whole_weights_are_repetitions(problem, seed):
    times = np.random.default_rng(seed).integers(0, 4, len(problem.X))
    if "qid" in problem.others:  # queries come again, and not rows of them
        times = times[problem.others["qid"]]
    problem.model.set_params(**NOTHING_DRAWN_OF_ROWS)
    if "class_weight" in problem.model.get_params():  # 3 * 0.1 is not 0.1 + 0.1 + 0.1
        problem.model.set_params(class_weight=None)
    once = problem.fitted(np.arange(len(times)), times)
    again = problem.fitted(np.repeat(np.arange(len(times)), times))
    for name, numbers in again.arrays.items():
        if name != "count":  # rows, whatever they weigh
            assert np.array_equal(once.arrays[name], numbers, equal_nan=True), name
    assert np.array_equal(once.predictions(problem.X), again.predictions(problem.X))


@pytest.mark.filterwarnings("ignore::spinney.errors.SmallWeights")
@settings(EXAMPLES, max_examples=40)
@given(problems(), st.integers(0, 2**32 - 1))
def test_order_of_rows_does_not_matter(problem, seed):
    problem.model.set_params(**NOTHING_DRAWN_OF_ROWS)
    order = np.random.default_rng(seed).permutation(len(problem.X))
    shuffled = None if problem.weights is None else problem.weights[order]
    assert problem.fitted(order, shuffled).fingerprint == problem.fitted().fingerprint


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
            model = GradientBoostingClassifier(max_iter=3, growth=growth, n_jobs=n_jobs)
            model.fit(X, y > 0)
        else:
            model = GradientBoostingRegressor(max_iter=3, growth=growth, n_jobs=n_jobs)
            model.fit(X, y, sample_weight=weights)
        prints.add(model.model_.fingerprint)
    assert len(prints) == 1
