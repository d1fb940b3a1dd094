"""Flipped labels are found by every score, on a problem that is easy otherwise."""

import dataclasses
import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from tests.unit.theory.boosters import TOY10, TOY10_LABELS, Stumps, noisy_rows

from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.theory import detect_mislabels, mislabel_scores

KINDS = ("mean_weight", "final_weight", "negative_margin", "forgetting")
SHARE = 0.08


def easy_rows(seed=0, n_rows=200):
    """One feature decides, with a gap; some labels away from the gap are flipped."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_rows, 3))
    X[:, 0] += np.where(X[:, 0] > 0, 0.3, -0.3)
    y = np.where(X[:, 0] > 0, 1, -1)
    flipped = rng.choice(n_rows, round(SHARE * n_rows), replace=False)
    y[flipped] *= -1
    return X, y, set(flipped.tolist())


@pytest.mark.parametrize("kind", KINDS)
def test_flipped_labels_are_found(kind):
    X, y, flipped = easy_rows()
    booster = Stumps(X, y, 8)
    found = detect_mislabels(booster, X, y, share=SHARE, kind=kind)
    assert len(found.rows) == len(flipped)
    hits = len(flipped & set(found.rows.tolist()))
    assert hits / len(flipped) >= 0.8
    assert (np.diff(found.scores) <= 0).all()
    scores = mislabel_scores(booster, X, y, kind=kind)
    np.testing.assert_array_equal(found.scores, scores[found.rows])
    assert found.n_rows == len(scores) == len(y)


def test_scores_are_what_they_say():
    booster = Stumps(TOY10, TOY10_LABELS, 3)
    D = booster.trace_.distributions
    args = (booster, TOY10, TOY10_LABELS)
    np.testing.assert_allclose(mislabel_scores(*args), D[:3].mean(axis=0))
    np.testing.assert_allclose(mislabel_scores(*args, kind="final_weight"), D[3])
    margins = booster.margins(TOY10, TOY10_LABELS)
    np.testing.assert_array_equal(mislabel_scores(*args, kind="negative_margin"), -margins)


def test_the_final_weight_needs_no_history():
    for X, y in ((TOY10, TOY10_LABELS), noisy_rows(40)[:2]):
        kept, forgot = Stumps(X, y, 6), Stumps(X, y, 6, keep=False)
        np.testing.assert_allclose(
            mislabel_scores(forgot, X, y, kind="final_weight"),
            mislabel_scores(kept, X, y, kind="final_weight"),
            rtol=1e-10,
        )


@pytest.mark.parametrize("seed", range(4))
def test_forgetting_is_counted_from_the_weights_alone(seed):
    """The twin looks at the predictions after every round."""
    X, y, _ = noisy_rows(40, seed=seed)
    booster = Stumps(X, y, 15)
    votes = booster.boosted.alphas[:, None] * booster.answers
    right = y * np.cumsum(votes, axis=0) > 1e-9
    slow = [
        sum(before and not after for before, after in itertools.pairwise(row)) if any(row) else 15
        for row in right.T.tolist()
    ]
    assert mislabel_scores(booster, X, y, kind="forgetting").tolist() == slow
    assert max(slow) > 0


def test_at_least_one_row_is_listed_and_equals_come_in_order():
    booster = SimpleNamespace(margins=lambda _X, _y: np.array([0.5, 0.1, 0.1, 0.1]))
    found = detect_mislabels(booster, None, None, share=0.01, kind="negative_margin")
    assert found.rows.tolist() == [1]
    found = detect_mislabels(booster, None, None, share=1.0, kind="negative_margin")
    assert found.rows.tolist() == [1, 2, 3, 0]
    assert str(found).startswith("4 of 4 rows may be mislabelled, by negative_margin\n")
    with pytest.raises(ValueError, match="read-only"):
        found.rows[0] = 3


def test_weights_that_were_not_kept_are_asked_for():
    booster = Stumps(TOY10, TOY10_LABELS, 3, keep=False)
    for kind in ("mean_weight", "forgetting"):
        with pytest.raises(InvalidInput, match="store_weights=True"):
            mislabel_scores(booster, TOY10, TOY10_LABELS, kind=kind)
    booster.trace_ = dataclasses.replace(booster.trace_, normalisers=np.full(3, 0.9))
    with pytest.raises(InvalidInput, match="not those of exp"):
        mislabel_scores(booster, TOY10, TOY10_LABELS, kind="final_weight")


def test_other_rows_than_those_of_the_fit_are_refused():
    booster = Stumps(TOY10, TOY10_LABELS, 3)
    with pytest.raises(InvalidInput, match=r"expected \(4, 5\)"):
        mislabel_scores(booster, TOY10[:5], TOY10_LABELS[:5])
    with pytest.raises(InvalidInput, match="not those of exp"):
        mislabel_scores(booster, TOY10[::-1], TOY10_LABELS, kind="forgetting")
    weightless = np.array(booster.trace_.distributions)
    weightless[0, 0] = 0.0
    booster.trace_ = dataclasses.replace(booster.trace_, distributions=weightless)
    with pytest.raises(InvalidInput, match="no weight in the first round"):
        mislabel_scores(booster, TOY10, TOY10_LABELS, kind="forgetting")


def test_hostile_questions_are_refused():
    booster = Stumps(TOY10, TOY10_LABELS, 3)
    with pytest.raises(InvalidParameter, match="kind='loss': expected one of 'mean_weight'"):
        mislabel_scores(booster, TOY10, TOY10_LABELS, kind="loss")
    for share in (0.0, 1.1, np.nan, None):
        with pytest.raises(InvalidParameter, match="share="):
            detect_mislabels(booster, TOY10, TOY10_LABELS, share=share)
    silent = SimpleNamespace(margins=lambda _X, _y: np.zeros(3))
    with pytest.raises(InvalidInputType, match="has no trace_"):
        mislabel_scores(silent, None, None)
    loud = SimpleNamespace(margins=lambda _X, _y: np.array([2.0]))
    with pytest.raises(InvalidInput, match=r"margins\[0\] is 2.0"):
        mislabel_scores(loud, None, None)
