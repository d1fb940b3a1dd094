"""Which output a claim is about, and how many features are examined together."""

import itertools

import numpy as np
import pandas as pd
import pytest

from spinney import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from spinney.explain import verify

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
LABELS = np.where(X[:, 0] + np.sin(3 * X[:, 1]) + RNG.normal(0, 0.3, 300) > 0, "yes", "no")
CORNERS = np.array(list(itertools.product([0.0, 1.0], repeat=5)))


@pytest.mark.parametrize(
    "learner",
    [
        RandomForestClassifier(10, max_depth=4, random_state=0, monotonic_cst=[1, 0, 0]),
        ExtraTreesClassifier(10, max_depth=4, random_state=0, monotonic_cst=[1, 0, 0]),
        DecisionTreeClassifier(max_depth=4, monotonic_cst=[1, 0, 0]),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_of_two_classes_the_second_is_the_one_that_rises(learner):
    fitted = learner.fit(X, LABELS)
    claim = verify(fitted, budget=2000).claims[0]
    assert claim.verdict == "proved"
    assert claim.statement == "the probability of 'yes' never falls as 'x0' grows"
    (explicit,) = verify(fitted, monotonic={0: 1}).claims
    assert explicit == claim
    first = verify(fitted, output="no", budget=2000).claims[0]
    assert first.statement == "the probability of 'no' never rises as 'x0' grows"
    assert first.verdict == "proved"
    assert verify(fitted, monotonic={0: 1}, output="no").claims[0].verdict == "refuted"
    assert verify(fitted, monotonic={1: 1}).claims[0].verdict == "refuted"


def test_zero_has_no_sign():
    fitted = RandomForestClassifier(5, random_state=0).fit(X, LABELS)
    found = verify(fitted, budget=2000)
    ranges = [claim for claim in found.claims if claim.bounds]
    assert ranges[1].statement == "the probability of 'yes' is from 0 to 1"
    assert not any(np.signbit(claim.bounds[0]) for claim in ranges)
    assert "-0 " not in str(found)


def test_of_three_classes_claims_are_said_to_be_about_raw_scores():
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    fitted = GradientBoostingClassifier(max_iter=3).fit(X, labels)
    found = verify(fitted, bounds=(0, 1), monotonic={0: 1}, output=2)
    assert [claim.statement for claim in found.claims] == [
        "the raw score of '2', before softmax, never falls as 'x0' grows",
        "the raw score of '2', before softmax, is at least 0",
        "the raw score of '2', before softmax, is at most 1",
    ]


def test_groups_of_the_fit_may_have_names():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = GradientBoostingRegressor(max_iter=5, interaction_cst=[["a", "b"]])
    claims = verify(fitted.fit(frame, X[:, 0] * X[:, 1]), budget=500).claims
    assert claims[0].statement == "features interact only within their groups"
    assert claims[0].verdict == "proved"


def test_an_effect_of_four_features_together_is_found_if_the_budget_allows():
    fitted = DecisionTreeRegressor().fit(CORNERS, CORNERS[:, :4].prod(axis=1))
    threes = list(itertools.combinations(range(4), 3))
    (claim,) = verify(fitted, interactions=threes).claims
    assert claim.verdict == "refuted"
    assert claim.features == ("x0", "x1", "x2", "x3")
    assert len(claim.counter_example) == 16
    (small,) = verify(fitted, interactions=threes, budget=100).claims
    assert small.verdict == "undecided"
    assert "3 features at most are examined together; give budget=256" in small.evidence
    (enough,) = verify(fitted, interactions=threes, budget=256).claims
    assert enough.verdict == "refuted"


def test_long_paths_without_effects_across_groups_are_proved():
    y = CORNERS[:, 0] * CORNERS[:, 1] * CORNERS[:, 2] + 2.0 * CORNERS[:, 3] + 4.0 * CORNERS[:, 4]
    fitted = DecisionTreeRegressor().fit(CORNERS, y)
    (claim,) = verify(fitted, interactions=[[0, 1, 2], [3], [4]]).claims
    assert claim.verdict == "proved"
    assert "paths leave their group, without effect" in claim.evidence
    (claim,) = verify(fitted, interactions="pairwise").claims
    assert (claim.verdict, claim.features) == ("refuted", ("x0", "x1", "x2"))
