"""Folds that choose the rounds of a ranker: whole queries, groups of them, and their times."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

from spinney import GradientBoostingRanker
from spinney.errors import InvalidInput
from spinney.resampling import TimeFolds

N = 600
RNG = np.random.default_rng(7)
X = RNG.normal(size=(N, 5)).round(2)
QID = RNG.integers(0, 40, N)
Y = np.clip(np.round(X[:, 0] + 0.3 * RNG.normal(size=N)), 0, 4).astype(int)
MONTH = RNG.permutation(40)[QID] // 4
USER = QID // 5


def curve(cv, rows=slice(None), **given):
    """What folds say of four rounds."""
    model = GradientBoostingRanker(max_iter=4, random_state=0, early_stopping="cv", cv=cv)
    return model.fit(X[rows], Y[rows], qid=QID[rows], **given).cv_score_.tolist()


def test_folds_in_time_test_the_queries_that_follow():
    pairs = [(np.flatnonzero(k > MONTH), np.flatnonzero(k == MONTH)) for k in (8, 9)]
    assert curve(TimeFolds(2, test_size=1), time=MONTH) == curve(pairs)
    folds = list(TimeFolds(3).split(X, time=MONTH))
    assert curve(3, time=MONTH) == curve(folds)


def test_groups_of_queries_are_not_divided():
    pairs = list(GroupKFold(4).split(X, groups=USER))
    assert curve(GroupKFold(4), groups=USER) == curve(pairs) != curve(GroupKFold(4))
    with pytest.raises(InvalidInput, match="8"):
        curve(9, groups=USER)  # of 8 groups


def test_rows_of_weight_zero_have_no_say():
    weights = (QID % 3 > 0).astype(float)
    kept = weights > 0
    with_zeros = curve(3, time=MONTH, sample_weight=weights)
    assert with_zeros == curve(3, kept, time=MONTH[kept])


@pytest.mark.parametrize("name", ["groups", "time"])
def test_a_query_has_one_entry_of_either(name):
    entries = QID.copy()
    wrong = int(np.flatnonzero(QID[0] == QID)[1])
    entries[wrong] += 1
    words = rf"Rows 0 and {wrong} belong to the same query and differ in {name}"
    with pytest.raises(InvalidInput, match=words):
        curve(3, **{name: entries})
    weights = (QID[1] != QID).astype(float)  # messages number the rows that were given
    with pytest.raises(InvalidInput, match=words):
        curve(3, **{name: entries}, sample_weight=weights)


@pytest.mark.parametrize("name", ["groups", "time"])
def test_neither_is_taken_where_there_are_no_folds(name):
    with pytest.raises(InvalidInput, match=f"{name} is given.*Leave {name} out"):
        GradientBoostingRanker(max_iter=2).fit(X, Y, qid=QID, **{name: QID})
