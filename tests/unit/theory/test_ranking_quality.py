"""NDCG and average precision of queries, against definitions and scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, ndcg_score
from tests.reference import ranking as twin

from spinney.errors import InvalidInput, InvalidParameter
from spinney.theory import average_precision, ndcg

RNG = np.random.default_rng(4)
QID = RNG.integers(0, 30, 200)
Y = RNG.integers(0, 4, 200)
SCORES = RNG.normal(size=200).round(1)


@pytest.mark.parametrize("k", [None, 1, 5])
def test_ndcg_is_that_of_scikit_learn_for_the_same_gains(k):
    found = ndcg(Y, SCORES, qid=QID, k=k)
    for query, value in enumerate(found.values):
        at = np.unique(QID)[query] == QID
        expected = ndcg_score([2.0 ** Y[at] - 1], [SCORES[at]], k=k) if at.sum() > 1 else 1.0
        assert value == pytest.approx(expected if Y[at].any() else 1.0)


def test_average_precision_without_ties_is_that_of_scikit_learn():
    scores = RNG.normal(size=200)
    found = average_precision(Y > 1, scores, qid=QID)
    for query, value in zip(np.unique(QID), found.values, strict=True):
        at = query == QID
        if (Y[at] > 1).any():
            assert value == pytest.approx(average_precision_score(Y[at] > 1, scores[at]))
        else:
            assert value == 1.0


@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize("metric", ["ndcg", "map"])
def test_ties_count_as_the_mean_over_all_their_orders(metric, k):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        y, scores = rng.integers(0, 2, 6), rng.integers(0, 3, 6).astype(float)
        found = (average_precision if metric == "map" else ndcg)(y, scores, k=k)
        gains = 2.0**y - 1
        assert found.mean == pytest.approx(twin.mean_over_orders(metric, y, gains, scores, k))


def test_the_order_of_rows_changes_nothing():
    order = RNG.permutation(200)
    for metric, y in ((ndcg, Y), (average_precision, Y > 0)):
        one = metric(y, SCORES, qid=QID, k=3)
        other = metric(y[order], SCORES[order], qid=QID[order], k=3)
        np.testing.assert_allclose(one.values, other.values, rtol=1e-12)


def test_a_weight_is_the_query_so_many_times():
    weights = (QID % 3).astype(float)
    rows = np.concatenate([np.flatnonzero(weights > part) for part in range(2)])
    again = [f"{QID[row]} {part}" for part in range(2) for row in np.flatnonzero(weights > part)]
    weighted = ndcg(Y, SCORES, qid=QID, sample_weight=weights)
    assert weighted.mean == pytest.approx(ndcg(Y[rows], SCORES[rows], qid=again).mean)


def test_without_queries_a_weight_is_the_row_so_many_times():
    weights = Y % 3
    repeated = np.repeat(np.arange(200), weights)
    for metric, y in ((ndcg, Y), (average_precision, Y > 0)):
        expected = metric(y[repeated], SCORES[repeated], k=9).mean
        assert metric(y, SCORES, k=9, sample_weight=weights).mean == expected


def test_sizes_and_labels_say_the_same():
    sizes = [50, 1, 149]
    one = ndcg(Y, SCORES, group=sizes)
    other = ndcg(Y, SCORES, qid=np.repeat(["a", "b", "c"], sizes))
    assert one.values.tolist() == other.values.tolist()
    assert one.to_frame()["rows"].tolist() == sizes


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"qid": [0] * 4, "group": [4]}, "qid and group are both given"),
        ({"qid": [0] * 3}, r"qid has the shape \(3,\)"),
        ({"qid": [0.0, 1.0, np.nan, 1.0]}, "qid.*NaN|qid.*missing"),
        ({"group": [2, 1]}, "group adds up to 3, but there are 4 rows"),
        ({"group": [1, 1, 2, 1]}, "group adds up to 5.*Labels of queries, one per row, are qid"),
        ({"group": [4, 0]}, r"group\[1\] is 0: expected the number of rows"),
        ({"group": [1.5, 2.5]}, r"group\[0\] is 1.5"),
        ({"group": []}, "group has the shape"),
        ({"group": 3}, "group adds up to 3"),
        (
            {"sample_weight": [1, 1, 2, 1], "qid": [0, 1, 0, 1]},
            "sample_weight is 1 in row 0 and 2 in row 2",
        ),
        ({"sample_weight": [1, 1, 0.5, 1]}, "Without qid or group.*expected whole weights"),
        ({"sample_weight": [1, 1, 1e9, 1]}, "add up to 10000000 at most"),
        ({"label_gain": [1, 0]}, r"label_gain=\[1, 0\]: expected the gains"),
        ({"label_gain": ["a"]}, "label_gain"),
        ({"label_gain": [0.0, np.inf, 1.0]}, "label_gain"),
    ],
)
def test_bad_arguments_are_refused(given, message):
    with pytest.raises(InvalidInput, match=message):
        ndcg([0, 1, 2, 0], [0.1, 0.2, 0.3, 0.4], **given)


def test_bad_numbers_of_places_are_refused():
    with pytest.raises(InvalidParameter, match="k=0"):
        ndcg([0, 1], [0.1, 0.2], k=0)
    with pytest.raises(InvalidInput, match="y has 3 labels for 2 scores"):
        ndcg([0, 1, 1], [0.1, 0.2])
    with pytest.raises(InvalidInput, match="average precision knows only"):
        average_precision([0, 2], [0.1, 0.2])
