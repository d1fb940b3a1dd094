"""An AdaBoost model is a function of the data and the parameters alone."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spinney import AdaBoostClassifier, DecisionTreeClassifier, DecisionTreeRegressor
from spinney._native import _ext
from spinney.io.save_load import to_bytes

INSTRUCTION_SETS = ["portable", "avx2", "avx512"]
INSTRUCTION_SETS = INSTRUCTION_SETS[: INSTRUCTION_SETS.index(_ext.best_isa()) + 1]
VARIANTS = ["discrete", "samme", "real", "gentle", "logit", "m1", "m2", "mh", "arc_x4"]
pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.NothingLearnt")


@st.composite
def problems(draw):
    """A frame with numbers, flags, categories and gaps; weights; any variant."""
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
    n_classes = draw(st.sampled_from([2, 3]))
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    variant = draw(st.sampled_from(VARIANTS))
    regresses = variant in ("gentle", "logit")
    kind = DecisionTreeRegressor if regresses else DecisionTreeClassifier
    tree = kind(
        max_depth=draw(st.sampled_from([1, 2, 5])),
        max_leaf_nodes=draw(st.sampled_from([None, 4])),
    )
    booster = AdaBoostClassifier(
        tree,
        variant=variant,
        n_estimators=4,
        mode=draw(st.sampled_from(["reweight", "resample"])),
        learning_rate=draw(st.sampled_from([1.0, 0.3])),
        random_state=draw(st.integers(0, 9)),
    )
    return frame, y, weights, booster


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(problems())
def test_saved_bytes_do_not_depend_on_threads_or_instruction_sets(problem):
    X, y, weights, booster = problem
    before, files = _ext.active_isa(), set()
    try:
        for isa in INSTRUCTION_SETS:
            _ext.use_isa(isa)
            for n_jobs in (1, 2, 3, 7):
                booster.set_params(n_jobs=n_jobs).fit(X, y, sample_weight=weights)
                files.add(to_bytes(booster.set_params(n_jobs=None)))
    finally:
        _ext.use_isa(before)
    assert len(files) == 1


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(problems(), st.integers(0, 2**32 - 1))
def test_order_of_rows_does_not_matter_to_votes(problem, seed):
    """Sums of votes' weights are exact; real-valued scores are summed by NumPy and may not be."""
    X, y, weights, booster = problem
    tree = DecisionTreeClassifier(max_depth=2)
    booster.set_params(variant="samme", mode="reweight", estimator=tree)
    order = np.random.default_rng(seed).permutation(len(y))
    given_order = booster.fit(X, y, sample_weight=weights).model_.fingerprint
    shuffled = None if weights is None else weights[order]
    again = booster.fit(X.iloc[order], y[order], sample_weight=shuffled)
    assert again.model_.fingerprint == given_order
