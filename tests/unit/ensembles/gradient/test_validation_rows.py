"""The rows that ``early_stopping=True`` holds out, where ``fit`` knows groups or times."""

import numpy as np
import pytest
from sklearn.metrics import r2_score

import spinney
from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.data.row_keys import keys_wanted
from spinney.ensembles.gradient import boosting
from spinney.errors import InvalidInput
from spinney.io import load, save

RNG = np.random.default_rng(5)
N = 240
X = RNG.normal(size=(N, 3))
Y = X[:, 0] + RNG.normal(size=N) / 2
LABELS = (Y > 0).astype(int)
GROUPS = RNG.permutation(N) // 6
TIME = RNG.permutation(N) // 3
QUICK = {"early_stopping": True, "max_iter": 5, "random_state": 0, "validation_fraction": 0.25}


@pytest.fixture
def held(monkeypatch):
    """Collect the rows that are held out."""
    seen, plain = [], boosting.arrange_rows

    def arrange_rows(reading, factors, held_out, *others):
        seen.append(held_out)
        return plain(reading, factors, held_out, *others)

    monkeypatch.setattr(boosting, "arrange_rows", arrange_rows)
    return seen


@pytest.mark.parametrize(
    ("model", "y"), [(GradientBoostingRegressor, Y), (GradientBoostingClassifier, LABELS)]
)
def test_no_group_is_divided_and_about_the_share_is_held_out(model, y, held):
    for seed in range(5):
        model(**{**QUICK, "random_state": seed}).fit(X, y, groups=GROUPS)
        rest = np.delete(GROUPS, held[-1])
        assert not np.isin(rest, GROUPS[held[-1]]).any()
        assert abs(len(held[-1]) - N / 4) <= 3  # half a group
    assert len({tuple(rows) for rows in held}) == 5


@pytest.mark.parametrize("fraction", [0.25, 60])
def test_the_latest_rows_are_held_out_and_no_time_is_divided(fraction, held):
    model = GradientBoostingRegressor(**{**QUICK, "validation_fraction": fraction})
    model.fit(X, Y, time=TIME)
    assert TIME[held[-1]].min() > np.delete(TIME, held[-1]).max()
    assert len(held[-1]) == 60


def test_validation_scores_are_those_of_rows_that_were_held_out():
    model = GradientBoostingRegressor(**QUICK, scoring="r2").fit(X, Y, time=TIME)
    late = TIME >= 60
    assert model.validation_score_[-1] == pytest.approx(
        r2_score(Y[late], model.predict(X[late])), rel=1e-12
    )
    given = GradientBoostingRegressor(**QUICK, scoring="r2")
    given.fit(X[~late], Y[~late], X_val=X[late], y_val=Y[late])
    assert np.array_equal(given.validation_score_, model.validation_score_)


def test_copies_in_one_group_do_not_tell_of_themselves():
    copies, y = np.repeat(X[:80], 3, axis=0), np.repeat(RNG.normal(size=80), 3)
    settings = {**QUICK, "min_samples_leaf": 1, "learning_rate": 0.3, "scoring": "r2"}
    leaky = GradientBoostingRegressor(**settings).fit(copies, y)
    honest = GradientBoostingRegressor(**settings).fit(copies, y, groups=np.repeat(range(80), 3))
    assert leaky.validation_score_.max() > 0.3
    assert honest.validation_score_.max() < 0.1


def test_rows_of_weight_zero_are_as_if_absent_and_a_weight_is_a_repetition(held):
    weights = np.arange(N) % 3
    rows = np.repeat(np.arange(N), weights)
    for name, keys in (("groups", GROUPS), ("time", TIME)):
        model = GradientBoostingRegressor(**QUICK)
        once = model.fit(X, Y, weights, **{name: keys}).model_
        again = model.fit(X[rows], Y[rows], **{name: keys[rows]}).model_
        left = np.flatnonzero(weights)
        assert set(left[held[-2]]) == set(rows[held[-1]])
        for part in ("feature", "threshold", "values", "weight", "baseline"):
            assert np.array_equal(once.arrays[part], again.arrays[part]), part


def test_members_of_committees_hold_out_by_the_keys_of_their_rows(held):
    member = GradientBoostingRegressor(**QUICK)
    stack = spinney.StackingRegressor([("one", member)], cv=3)
    stack.fit(X, Y, groups=GROUPS)
    assert len(held) == 4  # three folds, and all rows
    assert not np.isin(np.delete(GROUPS, held[-1]), GROUPS[held[-1]]).any()
    spinney.VotingRegressor([("one", member)]).fit(X, Y, time=TIME)
    assert TIME[held[-1]].min() > np.delete(TIME, held[-1]).max()


def test_who_divides_no_rows_wants_no_keys():
    for settings, wanted in (
        ({}, ("groups", "time")),
        ({"validation_fraction": None}, ()),
        ({"early_stopping": False}, ()),
        ({"early_stopping": "auto"}, ()),
        ({"early_stopping": "cv"}, ("groups", "time")),
    ):
        assert keys_wanted(GradientBoostingRegressor(**{**QUICK, **settings})) == wanted
    drop_in = spinney.HistGradientBoostingRegressor(early_stopping=True)
    assert keys_wanted(drop_in) == ()


def test_a_warm_start_goes_on_with_the_same_rows_and_files_know_them(tmp_path):
    settings = {**QUICK, "warm_start": True, "n_iter_no_change": 50}
    whole = GradientBoostingRegressor(**{**settings, "max_iter": 9}).fit(X, Y, groups=GROUPS)
    parts = GradientBoostingRegressor(**settings).fit(X, Y, groups=GROUPS)
    save(parts, tmp_path / "model.spn")
    for half in (parts, load(tmp_path / "model.spn")):
        assert half.set_params(max_iter=9).fit(X, Y, groups=GROUPS).model_ == whole.model_
        assert np.array_equal(half.validation_score_, whole.validation_score_)
        with pytest.raises(InvalidInput, match="warm_start=True goes on"):
            half.set_params(max_iter=12).fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "given", "words"),
    [
        ({}, {"groups": GROUPS, "time": TIME}, "would divide groups. Leave one of them out, or"),
        ({}, {"groups": np.zeros(N)}, "All rows are of the same group"),
        ({}, {"time": np.zeros(N)}, "All rows are of the same time"),
        ({}, {"groups": GROUPS[:9]}, r"groups has the shape \(9,\)"),
        ({}, {"time": [None] * N}, "time"),
        ({}, {"groups": GROUPS, "X_val": X, "y_val": Y}, "groups is given, but so are X_val"),
        ({"validation_fraction": N}, {"time": TIME}, "validation_fraction=240 leaves none of 240"),
        ({"validation_fraction": None}, {"time": TIME}, "validation_fraction=None divides no rows"),
    ],
)
def test_what_cannot_be_kept_is_refused(settings, given, words):
    with pytest.raises(InvalidInput, match=words):
        GradientBoostingRegressor(**{**QUICK, **settings}).fit(X, Y, **given)


def test_a_class_that_would_be_held_out_as_a_whole_is_refused():
    labels = np.where(TIME > 70, "late", np.where(X[:, 0] > 0, "a", "b"))
    with pytest.raises(
        InvalidInput, match=r"holds out all rows of class 'late', and nothing .*='cv'"
    ):
        GradientBoostingClassifier(**QUICK).fit(X, labels, time=TIME)


@pytest.mark.parametrize("fraction", [0.25, 10])
def test_rankers_hold_out_groups_of_queries_or_the_latest(fraction, held):
    queries = np.repeat(np.arange(40), RNG.multinomial(N - 40, np.full(40, 1 / 40)) + 1)
    groups, time = RNG.permutation(40)[queries] // 4, RNG.permutation(40)[queries]
    ranker = spinney.GradientBoostingRanker(
        early_stopping=True, validation_fraction=fraction, max_iter=3, random_state=0
    )
    ranker.fit(X, LABELS, qid=queries, groups=groups)
    ranker.fit(X, LABELS, qid=queries, time=time)
    for keys, rows in zip((groups, time), held, strict=True):
        assert not np.isin(np.delete(keys, rows), keys[rows]).any()
        assert not np.isin(np.delete(queries, rows), queries[rows]).any()
    assert abs(len(np.unique(queries[held[0]])) - 10) <= 2  # half a group
    assert np.array_equal(np.unique(time[held[1]]), np.arange(30, 40))
    with pytest.raises(InvalidInput, match="belong to the same query and differ in groups"):
        ranker.fit(X, LABELS, qid=queries, groups=np.arange(N))
