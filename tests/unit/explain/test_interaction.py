"""Friedman's H: its definition, where it is zero, and where it is known."""

import numpy as np
import pandas as pd
import pytest
from tests.reference.dependence import slow_h
from tests.unit.explain.forests import boosted, classified, mean_of_vectors, plain_rows

from spinney import DecisionTreeRegressor, GradientBoostingRegressor
from spinney.errors import InvalidInput, InvalidParameter
from spinney.explain import h_statistic
from spinney.explain import leaf_rows as rows_of_leaves


def asked(fitted, X, features=None, **params):
    return h_statistic(fitted, X, features, **{"random_state": 0, **params})


def by_pair(result):
    return dict(zip(result.pairs, result.pairwise.tolist(), strict=True))


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_what_its_definition_says(weighted):
    fitted, frame, _ = boosted(max_iter=4)
    rows, bins = plain_rows(fitted.model_, frame[:12])
    weights = np.arange(12) % 3 + 1.0 if weighted else None
    found = asked(fitted, frame[:12], ["age", "income", "tree", "member"], sample_weight=weights)
    for place in range(4):
        expected = slow_h(fitted.model_, rows, bins, place, weights=weights)
        assert found.overall[place] == pytest.approx(expected, abs=1e-10)
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    for (a, b), h in zip(pairs, found.pairwise, strict=True):
        expected = slow_h(fitted.model_, rows, bins, a, b, weights=weights)
        assert h == pytest.approx(expected, abs=1e-10)
    assert found.pairwise.max() > 0.01


def test_leaves_in_small_parts_give_the_same(monkeypatch):
    fitted, frame, _ = boosted()
    whole = asked(fitted, frame)
    monkeypatch.setattr(rows_of_leaves, "_CELLS_AT_ONCE", 2 * len(frame))
    parts = asked(fitted, frame)
    assert parts.pairs == whole.pairs
    assert np.allclose(parts.pairwise, whole.pairwise, rtol=1e-9, atol=1e-15)
    assert np.allclose(parts.overall, whole.overall, rtol=1e-9, atol=1e-15)


def test_an_additive_model_has_none():
    rng = np.random.default_rng(0)
    X = rng.random((500, 4))
    y = X[:, 0] * X[:, 1] + np.sin(5 * X[:, 2])
    fitted = GradientBoostingRegressor(max_iter=30, interaction_cst="no_interactions").fit(X, y)
    found = asked(fitted, X, range(4))
    assert not found.pairwise.any()
    assert np.abs(found.overall).max() < 1e-25
    assert asked(fitted, X).pairs == ()


def test_a_product_has_the_share_that_theory_says():
    # A lattice has the moments of the square but for 1/1600 of them; a sample strays further.
    steps = (np.arange(40) + 0.5) / 40
    X = np.array([(a, b) for a in steps for b in steps])
    fitted = GradientBoostingRegressor(max_iter=120).fit(X, X[:, 0] * X[:, 1])
    found = asked(fitted, X, max_rows=len(X))
    # (x - 1/2)(y - 1/2) has variance 1/144, and xy has 7/144.
    assert found.pairwise[0] == pytest.approx(1 / 7, rel=0.01)
    assert found.pairwise_sizes[0] == pytest.approx(1 / 12, rel=0.01)
    assert np.allclose(found.overall, found.pairwise[0], rtol=1e-9)


def test_of_a_sample_it_is_that_of_the_sample():
    X = np.random.default_rng(0).random((1000, 2))
    x, y = X.T
    fitted = GradientBoostingRegressor(max_iter=120).fit(X, x * y)
    apart = x * y - x * y.mean() - y * x.mean()
    assert asked(fitted, X).pairwise[0] == pytest.approx(apart.var() / (x * y).var(), rel=0.01)


def test_parity_of_two_bits_is_all_interaction():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    tree = DecisionTreeRegressor().fit(np.vstack([X, X[:1]]), [0.0, 1.0, 1.0, 0.0, 0.0])
    found = asked(tree, X)
    assert found.pairwise.tolist() == [pytest.approx(1.0)]
    assert found.pairwise_sizes.tolist() == [pytest.approx(0.5)]


def test_whole_weights_are_repetitions():
    fitted, frame, _ = boosted()
    weights = np.arange(len(frame)) % 3
    weighted = asked(fitted, frame, sample_weight=weights)
    repeated = asked(fitted, frame.loc[np.repeat(frame.index, weights)])
    assert weighted.pairs == repeated.pairs
    assert np.allclose(weighted.pairwise, repeated.pairwise, rtol=1e-9, atol=1e-15)
    assert np.allclose(weighted.overall_sizes, repeated.overall_sizes, rtol=1e-9)


def test_rows_of_weight_zero_are_as_if_absent():
    fitted, frame, _ = boosted()
    weights = (np.arange(len(frame)) % 2).astype(float)
    assert asked(fitted, frame, sample_weight=weights).n_rows == weights.sum()
    drawn = asked(fitted, frame, sample_weight=weights, max_rows=40)
    assert drawn.n_rows == 40


def test_many_rows_are_drawn_from_by_the_seed():
    fitted, frame, _ = boosted()
    few = asked(fitted, frame, max_rows=50)
    assert few.n_rows == 50
    assert np.array_equal(few.pairwise, asked(fitted, frame, max_rows=50).pairwise)
    assert not np.array_equal(
        few.pairwise, asked(fitted, frame, max_rows=50, random_state=1).pairwise
    )
    assert asked(fitted, frame).n_rows == len(frame)


def test_features_may_be_one_several_or_pairs():
    fitted, frame, _ = boosted()
    everything = by_pair(asked(fitted, frame, ["age", "income", "tree", "member"]))
    one = asked(fitted, frame, "income")
    assert one.feature_names == ("income",)
    assert len(one.pairs) == 3
    assert by_pair(one).items() <= everything.items()
    pairs = asked(fitted, frame, [("member", "income"), (2, "age")])
    assert pairs.pairs == (("income", "member"), ("age", "tree"))
    assert pairs.feature_names == ("age", "income", "tree", "member")
    assert by_pair(pairs).items() <= everything.items()
    listed = by_pair(asked(fitted, frame))
    assert listed.items() <= everything.items()
    assert all(everything[pair] == 0 for pair in everything.keys() - listed.keys())


def test_outputs_are_chosen_by_name():
    fitted, frame, _ = classified(3)
    assert asked(fitted, frame, output="c").output_name == "c"
    forest, frame = mean_of_vectors()
    found = [asked(forest, frame, output=k) for k in (0, 1)]
    assert not np.array_equal(found[0].overall, found[1].overall)
    with pytest.raises(InvalidParameter, match="2 outputs"):
        asked(forest, frame)


def test_what_has_no_effect_has_no_interaction():
    X = np.column_stack([np.arange(20.0), np.ones(20)])
    tree = DecisionTreeRegressor().fit(X, X[:, 0])
    found = asked(tree, X, [0, 1])
    assert found.overall.tolist() == [pytest.approx(0, abs=1e-20), 0]
    assert found.pairwise.tolist() == [0]
    constant = DecisionTreeRegressor().fit(X, np.ones(20))
    assert asked(constant, X, [0, 1]).overall.tolist() == [0, 0]
    assert asked(constant, X).columns()["feature"] == []


def test_the_largest_interaction_is_printed_first():
    fitted, frame, _ = boosted()
    found = asked(fitted, frame)
    columns = found.columns()
    assert columns["size"] == sorted(columns["size"], reverse=True)
    assert len(columns["with"]) == len(found.overall) + len(found.pairwise)
    assert str(found).startswith("Interactions in prediction (raw): Friedman's H² on 150 rows")
    assert isinstance(found.to_frame(), pd.DataFrame)
    with pytest.raises(ValueError, match="read-only"):
        found.overall[0] = 1


@pytest.mark.parametrize(
    ("features", "params", "error", "words"),
    [
        ("incom", {}, InvalidParameter, "Did you mean 'income'"),
        (9, {}, InvalidParameter, "position from 0 to 3"),
        ([("age", "age")], {}, InvalidParameter, "one feature twice"),
        ([("age", "tree", "member")], {}, InvalidParameter, "is neither the name nor the position"),
        (2.5, {}, InvalidParameter, "features=2.5"),
        ([], {}, InvalidParameter, "different features"),
        (None, {"max_rows": 1}, InvalidParameter, "max_rows=1"),
        (None, {"random_state": -1}, InvalidParameter, "random_state=-1"),
        (None, {"sample_weight": [1.0, 2.0]}, InvalidInput, "sample_weight"),
        (None, {"output": "y"}, InvalidParameter, "no raw score 'y'"),
    ],
)
def test_wrong_questions_are_refused(features, params, error, words):
    fitted, frame, _ = boosted(max_iter=1)
    with pytest.raises(error, match=words):
        asked(fitted, frame, features, **params)
