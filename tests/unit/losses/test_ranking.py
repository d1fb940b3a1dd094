"""Losses of ranking against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import ranking as twin

from spinney._native import _ext
from spinney.data.queries import read_gains
from spinney.errors import InvalidInput, InvalidParameter
from spinney.losses.ranking import RANKING_LOSSES, QueryRows, RankingLoss

ISAS = ["portable", "avx2", "avx512"]
ISAS = ISAS[: ISAS.index(_ext.best_isa()) + 1]


@st.composite
def queries(draw, most_label=4, sizes=(1, 2, 3, 8, 40)):
    """Rows of several queries, in no order; scores with ties; few different bins."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lengths = draw(st.lists(st.sampled_from(sizes), min_size=1, max_size=4))
    codes = rng.permutation(np.repeat(np.arange(len(lengths)), lengths))
    n = len(codes)
    y = rng.integers(0, draw(st.integers(1, most_label + 1)), n).astype(float)
    scores = rng.normal(scale=draw(st.sampled_from([0.0, 1.0, 30.0])), size=n)
    scores = scores.round(draw(st.sampled_from([0, 1, 12])))
    return codes, y, scores, rng.integers(0, 3, (n, 3)).astype(np.uint8)


def ranking_loss(name="ndcg", **changes):
    given_gains = changes.pop("label_gain", None)
    gains = read_gains(given_gains)
    known = {
        "name": name,
        "gains": gains,
        "n_gains": None if given_gains is None else len(gains),
        "truncation": 30,
        "normalize": True,
        "metric": "map" if name == "map" else "ndcg",
        "eval_at": None,
    }
    return RankingLoss(**{**known, **changes})


def bound(loss, codes, y, bins):
    return loss.over_rows(QueryRows.of(codes, y, loss.gains, bins, 1))


@pytest.mark.parametrize("name", RANKING_LOSSES)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(rows=queries(), truncation=st.sampled_from([1, 3, 30]), normalize=st.booleans())
def test_derivatives_are_those_of_the_definition(name, rows, truncation, normalize):
    compare_derivatives(name, rows, truncation, normalize)


@pytest.mark.parametrize("name", RANKING_LOSSES)
def test_derivatives_of_long_queries_are_those_of_the_definition(name):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=300).round(1)
    bins = rng.integers(0, 9, (300, 3)).astype(np.uint8)
    rows = (np.zeros(300, np.int64), rng.integers(0, 3, 300).astype(float), scores, bins)
    compare_derivatives(name, rows, 4, True)


def compare_derivatives(name, rows, truncation, normalize):
    codes, y, scores, bins = rows
    y = np.minimum(y, 1.0) if name == "map" else y
    loss = ranking_loss(name, truncation=truncation, normalize=normalize)
    at = bound(loss, codes, y, bins).derivatives(y, scores[:, np.newaxis], 2)
    keys = np.array([twin.tie_key(row) for row in bins], dtype=object)
    expected = np.zeros((2, len(y)))
    for query in np.unique(codes):
        rows_of = np.flatnonzero(codes == query)
        of_rows = (y[rows_of], loss.gains[y[rows_of].astype(int)], scores[rows_of], keys[rows_of])
        expected[:, rows_of] = twin.query_derivatives(
            name, *of_rows, truncation=truncation, normalize=normalize
        )
    largest = np.abs(expected).max(axis=1) + 1e-30
    np.testing.assert_allclose(at.gradients[0], expected[0], rtol=1e-5, atol=1e-6 * largest[0])
    np.testing.assert_allclose(at.hessians[0], expected[1], rtol=1e-5, atol=1e-6 * largest[1])
    assert at.limits[0] == (np.abs(at.gradients).max(), at.hessians.max())


@pytest.mark.parametrize("name", RANKING_LOSSES)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(rows=queries(sizes=(1, 3, 40, 300)), seed=st.integers(0, 99))
def test_bits_depend_on_neither_threads_nor_instruction_set_nor_row_order(name, rows, seed):
    codes, y, scores, bins = rows
    y = np.minimum(y, 1.0) if name == "map" else y
    before, found = _ext.active_isa(), set()
    shuffled = np.random.default_rng(seed).permutation(len(y))
    back = np.argsort(shuffled)
    # Rows that agree in everything may be told apart by their numbers only; together they agree.
    alike = np.lexsort((*bins.T, y, scores, codes))
    try:
        for isa in ISAS:
            _ext.use_isa(isa)
            for n_threads in (1, 2, 3, 7):
                for order, undo in ((np.arange(len(y)), np.arange(len(y))), (shuffled, back)):
                    loss = bound(ranking_loss(name), codes[order], y[order], bins[order])
                    at = loss.derivatives(y[order], scores[order][:, np.newaxis], n_threads)
                    rows_of = [part[0][undo][alike] for part in (at.gradients, at.hessians)]
                    found.add(_sorted_within(rows_of, (codes, scores, y, bins), alike))
    finally:
        _ext.use_isa(before)
    assert len(found) == 1


def _sorted_within(parts, given_rows, alike):
    """Bytes of the numbers, sorted among rows that agree in everything."""
    codes, scores, y, bins = (part[alike] for part in given_rows)
    changes = (np.diff(codes) != 0) | (np.diff(scores) != 0) | (np.diff(y) != 0)
    changes |= (np.diff(bins.astype(int), axis=0) != 0).any(axis=1)
    runs = np.append(0, np.cumsum(changes))
    return b"".join(part[np.lexsort((part, runs))].tobytes() for part in parts)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    rows=queries(sizes=(1, 2, 5, 6)),
    metric=st.sampled_from(["ndcg", "map"]),
    k=st.sampled_from([None, 1, 3]),
)
def test_the_metric_is_the_mean_over_all_orders_of_equal_scores(rows, metric, k):
    codes, y, scores, bins = rows
    y = np.minimum(y, 1.0) if metric == "map" else y
    loss = bound(ranking_loss(metric=metric, eval_at=k), codes, y, bins)
    values = []
    for query in np.unique(codes):
        at = codes == query
        gains = loss.gains[y[at].astype(int)]
        values.append(twin.mean_over_orders(metric, y[at], gains, scores[at], k))
    total = loss.total(y, scores[:, np.newaxis], None, 2)
    assert -total == pytest.approx(sum(values), rel=1e-12)
    assert loss.weight_measured(None, len(y)) == len(values)


def test_rows_of_no_query_are_pushed_nowhere():
    codes, y = np.array([0, -1, 0, -1]), np.array([1.0, 9.0, 0.0, 0.0])
    loss = bound(ranking_loss(), codes, y, np.zeros((4, 1), np.uint8))
    at = loss.derivatives(y, np.zeros((4, 1)), 1)
    assert at.gradients[0].tolist()[1::2] == [0.0, 0.0]
    assert at.gradients[0, 0] < 0.0 < at.gradients[0, 2]


def test_scores_that_are_not_finite_show_in_the_limits():
    codes, y = np.zeros(3, np.int64), np.array([1.0, 0.0, 2.0])
    loss = bound(ranking_loss(), codes, y, np.zeros((3, 1), np.uint8))
    at = loss.derivatives(y, np.array([[0.0], [np.inf], [1.0]]), 1)
    assert np.isnan(at.limits[0][0])


def test_zero_and_minus_zero_are_one_score():
    y, bins = np.array([0.0, 1.0, 2.0]), np.array([[3], [1], [2]], np.uint8)
    loss = bound(ranking_loss(), np.zeros(3, np.int64), y, bins)
    plus = loss.derivatives(y, np.array([[0.0], [0.0], [0.0]]), 1).gradients
    minus = loss.derivatives(y, np.array([[0.0], [-0.0], [0.0]]), 1).gradients
    assert np.array_equal(plus, minus)


def test_a_loss_without_queries_says_that_they_are_needed():
    with pytest.raises(InvalidInput, match="depends on the other rows of its query"):
        ranking_loss().derivatives(np.zeros(2), np.zeros((2, 1)), 1)


def test_kernels_refuse_what_does_not_fit_together():
    y, keys = np.zeros(3), np.zeros(3, np.uint64)
    rows, first = np.arange(3, dtype=np.uint32), np.array([0, 3])
    for wrong in (
        ((y, y[:2]), keys, rows, first),
        ((y, y), keys[:2], rows, first),
        ((y, y), keys, rows, np.array([0, 2])),
        ((y, y), keys, rows, np.array([0, 3, 2, 3])),
        ((y, y), keys, rows + np.uint32(1), first),
    ):
        with pytest.raises(InvalidInput):
            _ext.RankedQueries(*wrong)
    known = _ext.RankedQueries((y, y), keys, rows, first)
    with pytest.raises(InvalidParameter, match="ndgc"):
        known.measure("ndgc", 0, y, 1)
    with pytest.raises(InvalidInput, match="differ in length"):
        known.measure("ndcg", 0, y[:2], 1)


@pytest.mark.parametrize(
    ("y", "changes", "message"),
    [
        ([0, -1], {}, "Row 1 of y is -1: relevance is a whole number from 0"),
        ([0.5, 1], {}, "Row 0 of y is 0.5: relevance is a whole number"),
        ([0, 32], {}, "Row 1 of y is 32: gains are 2..relevance - 1.*label_gain"),
        ([0, 2], {"name": "map"}, "Row 1 of y is 2: average precision knows only"),
        ([0, 2], {"metric": "map"}, "Row 1 of y is 2: average precision knows only"),
        ([0, 3], {"label_gain": [0, 1, 2]}, "label_gain has 3 gains, for relevance 0 to 2"),
    ],
)
def test_labels_that_say_no_relevance_are_refused(y, changes, message):
    with pytest.raises(InvalidInput, match=message):
        ranking_loss(**changes).check(np.array(y, float))


def test_large_labels_are_fine_with_gains_of_their_own():
    ranking_loss(label_gain=np.arange(100)).check(np.array([0.0, 99.0]))
