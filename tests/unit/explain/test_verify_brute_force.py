"""Verdicts on small random forests are those of trying every cell."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import cells
from tests.unit.explain.small_forests import forest_from, random_forest

from spinney.explain import verify
from spinney.explain.verification.rows import scores_at

ROUNDING = 1e-12
seeds = st.integers(0, 2**32 - 1)
forests = st.builds(
    random_forest,
    seeds,
    n_trees=st.integers(0, 4),
    dyadic=st.booleans(),
    aggregate=st.sampled_from(["sum", "mean"]),
)
few = settings(max_examples=60, deadline=None)


def check(claim, forest, excess):
    """``excess``: how far the claim fails by brute force; 0 where it holds."""
    if claim.verdict == "undecided":
        assert excess <= ROUNDING  # only what rounding hides may stay open
    else:
        assert (claim.verdict == "proved") == (excess <= 0)
    if claim.verdict == "refuted":
        assert list(scores_at(forest, claim.counter_example, 0)) == list(claim.raw_scores)
    else:
        assert claim.counter_example is None


@given(forests)
@few
def test_the_range_is_exact_to_the_last_bit(forest):
    scores = cells.grid_scores(forest)
    claim = next(c for c in verify(forest).claims if c.bounds)
    assert claim.bounds == (scores.min(), scores.max())
    assert "exact" in claim.evidence


@given(forests, st.floats(-4, 4))
@few
def test_bounds(forest, bound):
    scores = cells.grid_scores(forest)
    lower, upper = verify(forest, bounds=(bound, bound)).claims
    check(lower, forest, bound - scores.min())
    check(upper, forest, scores.max() - bound)


@given(forests)
@few
def test_the_extremes_themselves_are_bounds_and_the_next_numbers_are_not(forest):
    scores = cells.grid_scores(forest)
    low, high = scores.min(), scores.max()
    assert verify(forest, bounds=(low, high)).holds
    inside = (np.nextafter(low, np.inf), np.nextafter(high, -np.inf))
    refuted = [
        verify(forest, bounds=pair).claims[0] for pair in ((inside[0], None), (None, inside[1]))
    ]
    assert [claim.verdict for claim in refuted] == ["refuted", "refuted"]
    assert [claim.predictions[0] for claim in refuted] == [low, high]


@given(forests, st.integers(0, 1), st.sampled_from([-1, 1]))
@few
def test_monotonicity(forest, feature, direction):
    fall = cells.largest_fall(cells.grid_scores(forest), feature, direction)
    (claim,) = verify(forest, monotonic={feature: direction}).claims
    check(claim, forest, fall)
    if claim.verdict == "refuted":
        name = forest.schema.names[feature]
        one, other = claim.counter_example
        assert one[name] < other[name]
        assert {k: v for k, v in one.items() if k != name} == {
            k: v for k, v in other.items() if k != name
        }
        assert direction * claim.raw_scores[0] > direction * claim.raw_scores[1]


@given(forests, st.integers(0, 2))
@few
def test_unused(forest, feature):
    (claim,) = verify(forest, unused=[feature]).claims
    check(claim, forest, cells.effect(cells.grid_scores(forest), feature))
    if claim.verdict == "refuted":
        one, other = claim.counter_example
        assert [k for k in one if one[k] != other[k]] == [forest.schema.names[feature]]
        assert claim.raw_scores[0] != claim.raw_scores[1]


@given(forests, st.sampled_from([[[0, 1]], [[0], [1, 2]], "no_interactions", "pairwise"]))
@few
def test_interactions(forest, groups):
    spelt = {
        "no_interactions": [[0], [1], [2]],
        "pairwise": list(itertools.combinations(range(3), 2)),
    }.get(str(groups), [*groups, [2]])
    mixed = cells.forbidden_interaction(cells.grid_scores(forest), spelt)
    (claim,) = verify(forest, interactions=groups).claims
    check(claim, forest, 0.0 if mixed < ROUNDING else mixed)
    if claim.verdict == "refuted":
        assert len(claim.counter_example) == 2 ** len(claim.features)


@pytest.mark.parametrize("dyadic", [True, False])
def test_both_verdicts_occur(dyadic):
    """Otherwise the tests above would say little."""
    found = {"monotonic": set(), "unused": set(), "interactions": set()}
    for seed in range(40):
        forest = random_forest(seed, n_trees=2, depth=2, dyadic=dyadic)
        found["monotonic"].add(verify(forest, monotonic={0: 1}).claims[0].verdict)
        found["unused"].add(verify(forest, unused=[0]).claims[0].verdict)
        found["interactions"].add(verify(forest, interactions=[[0, 1]]).claims[0].verdict)
    assert all({"proved", "refuted"} <= verdicts for verdicts in found.values())


@given(seeds)
@few
def test_trees_that_cancel_are_proved_to_have_no_effect(seed):
    """No tree alone is monotone, additive or blind; only a search over boxes sees the sum."""
    tree = random_forest(seed, n_trees=1)[0]
    step = random_forest(seed + 1, n_trees=1, depth=1)[0]
    forest = forest_from([tree, step, tree], [1.0, 1.0, -1.0])
    scores = cells.grid_scores(forest)
    for direction in (1, -1):
        (claim,) = verify(forest, monotonic={0: direction}).claims
        falls = cells.largest_fall(scores, 0, direction)
        assert claim.verdict == ("refuted" if falls else "proved")
    (claim,) = verify(forest, unused=[1]).claims
    assert claim.verdict == ("refuted" if cells.effect(scores, 1) else "proved")
    (claim,) = verify(forest, interactions="no_interactions").claims
    assert claim.verdict == "proved"  # one split is left: nothing to interact


@given(seeds)
@few
def test_what_rounding_alone_can_break_is_undecided_and_said_to_be_tiny(seed):
    tree = random_forest(seed, n_trees=1, dyadic=False)[0]
    (claim,) = verify(forest_from([tree, tree], [0.3, -0.3]), monotonic={0: 1}).claims
    if claim.verdict == "undecided":
        assert float(claim.evidence.split("at most ")[1].split(";")[0]) < ROUNDING


@given(seeds, st.integers(0, 2))
@few
def test_one_output_of_several(seed, output):
    forest = random_forest(seed, width=3)
    scores = [cells.grid_scores(forest, k) for k in range(3)]
    (claim,) = [c for c in verify(forest, output=output).claims if c.bounds]
    assert claim.bounds == (scores[output].min(), scores[output].max())
    (all_of_them,) = verify(forest, monotonic={1: -1}).claims
    falls = [cells.largest_fall(s, 1, -1) for s in scores]
    assert (all_of_them.verdict == "proved") == (max(falls) == 0)


@given(seeds)
@few
def test_within_leaves_only_those_rows(seed):
    forest = random_forest(seed, dyadic=False)
    rows = {"x0": (-0.3, 0.05), "x1": (None, 5), "x2": ["elm", "yew"]}
    scores = cells.grid_scores(forest)
    values = [cells.grid_values(forest, f) for f in range(3)]

    def cell(feature, number):
        return int(np.searchsorted(values[feature][:-1], number))

    part = scores[cell(0, -0.3) : cell(0, 0.05) + 1, : cell(1, 5) + 1, [1, 3]]
    (claim,) = [c for c in verify(forest, within=rows).claims if c.bounds]
    assert claim.bounds == (part.min(), part.max())
    refuted = verify(forest, within=rows, bounds=(None, part.max() - 1e-6)).claims[0]
    (row,) = refuted.counter_example
    assert -0.3 <= row["x0"] <= 0.05
    assert row["x1"] <= 5
    assert row["x2"] in ("elm", "yew")
    (claim,) = verify(forest, within=rows, unused=["x2"]).claims
    assert (claim.verdict == "proved") == (cells.effect(part, 2) == 0)
