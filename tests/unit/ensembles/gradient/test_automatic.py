"""What "auto" becomes, by rows, features and what ``fit`` was given."""

import math
import pickle

import numpy as np
import pytest
from tests.unit.ensembles.gradient.towns import table

from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.ensembles.gradient import automatic
from spinney.ensembles.gradient.automatic import AutomaticSettings
from spinney.ensembles.gradient.fold_curve import FoldCurve
from spinney.errors import (
    InterruptedFit,
    InvalidInput,
    InvalidModel,
    InvalidParameter,
    OutOfTime,
)
from spinney.explain import explain_split
from spinney.io import load, save
from spinney.resampling import TimeFolds

RNG = np.random.default_rng(3)
X = RNG.normal(size=(240, 4)).round(2)
Y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * RNG.normal(size=240)
LABELS = np.digitize(Y, [-0.5, 0.5])
USUAL = {
    "max_iter": 100,
    "learning_rate": 0.1,
    "max_leaf_nodes": 31,
    "min_samples_leaf": 20,
    "l2_regularization": 0.0,
    "subsample": 1.0,
    "max_features": 1.0,
    "early_stopping": False,
    "n_iter_no_change": 10,
}
QUICK = {"learning_rate": 0.3, "n_iter_no_change": 5, "random_state": 0}


def test_folds_choose_the_rounds_of_a_small_table():
    model = GradientBoostingRegressor(**QUICK).fit(X, Y)
    found = model.automatic_
    assert found.scheme == "folds"
    assert found.values["early_stopping"] == "cv"
    assert found.values["cv"] == 5
    best = int(np.argmax(model.cv_score_))
    assert found.values["max_iter"] == model.n_iter_ == math.ceil(best * automatic.FURTHER)
    assert not {"learning_rate", "n_iter_no_change"} & set(found.values)  # they were given


def test_folds_hurry_and_the_model_takes_more_rounds_of_shorter_steps():
    model = GradientBoostingRegressor(learning_rate=0.05, random_state=0).fit(X, Y)
    fast = GradientBoostingRegressor(
        **{**model.automatic_.values, "max_iter": 1_000}, learning_rate=0.1, random_state=0
    ).fit(X, Y)
    assert np.array_equal(fast.cv_score_, model.cv_score_)
    assert model.n_iter_ == math.ceil(fast.n_iter_ * 2 * automatic.FURTHER)


def test_the_values_of_auto_given_by_hand_make_the_same_model():
    model = GradientBoostingClassifier(**QUICK).fit(X, LABELS)
    values = {k: v for k, v in model.automatic_.values.items() if k not in ("early_stopping", "cv")}
    again = GradientBoostingClassifier(**{**QUICK, **values}).fit(X, LABELS)
    assert again.model_ == model.model_
    assert again.automatic_.values == {"early_stopping": False, "cv": 5}


@pytest.mark.parametrize(
    "given", [{"max_iter": 7}, {"warm_start": True}, {"early_stopping": False}]
)
def test_whoever_gives_the_rounds_gets_what_is_usual(given):
    model = GradientBoostingRegressor(**given).fit(X, Y)
    assert model.automatic_.scheme == "given"
    assert model.model_ == GradientBoostingRegressor(**{**USUAL, **given}).fit(X, Y).model_
    assert model.n_iter_ == given.get("max_iter", 100)


def test_stopping_that_is_asked_for_bounds_the_rounds_that_are_given():
    model = GradientBoostingRegressor(max_iter=6, early_stopping="cv", random_state=0).fit(X, Y)
    assert model.automatic_.values["learning_rate"] == 0.1
    assert len(model.cv_score_) <= 7


def test_few_rows_are_not_divided_and_weights_are_repetitions_of_them():
    counts = RNG.integers(1, 4, 40).astype(float)
    counts[0] += automatic.FEWEST_ROWS - 1 - counts.sum()
    repeated = np.repeat(np.arange(40), counts.astype(int))
    once = GradientBoostingRegressor(random_state=0).fit(X[repeated], Y[repeated])
    weighted = GradientBoostingRegressor(random_state=0).fit(X[:40], Y[:40], counts)
    assert once.automatic_.scheme == weighted.automatic_.scheme == "few"
    assert once.automatic_ == weighted.automatic_
    assert np.allclose(weighted.predict(X), once.predict(X), rtol=1e-12)
    assert len(weighted.model_) == 100


def test_rows_count_as_often_as_whole_weights_repeat_them():
    model = GradientBoostingRegressor(**QUICK)
    assert model.fit(X[:50], Y[:50], np.full(50, 3.0)).automatic_.n_rows == 150
    assert model.fit(X[:50], Y[:50], np.full(50, 0.25)).automatic_.n_rows == 50


def test_one_part_chooses_the_rounds_of_a_large_table(monkeypatch):
    monkeypatch.setattr(automatic, "MOST_FOLDED", 200)
    monkeypatch.setattr(automatic, "MOST_FOLDED_TREES", 200)
    model = GradientBoostingRegressor(**QUICK).fit(X, Y)
    assert model.automatic_.scheme == "part"
    assert model.automatic_.values["early_stopping"] == "part"
    asked = GradientBoostingRegressor(**QUICK, early_stopping="part").fit(X, Y)
    assert asked.model_ == model.model_
    assert np.isnan(model.cv_score_error_).all()  # a single fold has no spread
    many_classes = GradientBoostingClassifier(**QUICK).fit(X[:100], LABELS[:100])
    assert many_classes.automatic_.scheme == "part"  # three trees per round
    assert GradientBoostingRegressor(**QUICK, cv=3).fit(X, Y).automatic_.scheme == "folds"


def test_a_part_keeps_groups_whole_and_is_the_last_of_time(monkeypatch):
    monkeypatch.setattr(automatic, "MOST_FOLDED", 200)
    tested = []

    def spy(rows, folds):
        tested.extend(test for _, test in folds)
        return kept(rows, folds)

    from spinney.ensembles.gradient import boosting

    kept = boosting.rows_of_folds
    monkeypatch.setattr(boosting, "rows_of_folds", spy)
    groups = np.arange(240) % 30
    model = GradientBoostingRegressor(**QUICK)
    model.fit(X, Y, groups=groups)
    model.fit(X, Y, time=np.arange(240)[::-1])
    assert len(tested) == 2
    assert not np.isin(np.delete(groups, tested[0]), groups[tested[0]]).any()
    assert tested[1].max() < 240 // 4  # numbers run backwards in time
    assert 0 in tested[1]


@pytest.mark.parametrize(
    ("name", "n_different", "n_folds"),
    [("groups", 3, 3), ("groups", 8, 5), ("time", 4, 3), ("time", 2, 1), ("time", 8, 5)],
)
def test_there_are_no_more_folds_than_groups_or_times_make(name, n_different, n_folds):
    keys = np.arange(240) % n_different
    model = GradientBoostingRegressor(**QUICK).fit(X, Y, **{name: keys})
    assert model.automatic_.values["cv"] == n_folds
    given = GradientBoostingRegressor(**QUICK, cv=n_folds if n_folds > 1 else TimeFolds(1))
    assert given.fit(X, Y, **{name: keys}).model_ == model.model_
    weights = (keys < n_different - 1).astype(float)  # one of them is gone
    if n_different > 2:
        fewer = GradientBoostingRegressor(**QUICK).fit(X, Y, weights, **{name: keys})
        assert fewer.automatic_.values["cv"] == min(n_folds, n_different - 1 - (name == "time"), 5)


@pytest.mark.parametrize("name", ["groups", "time"])
def test_a_single_group_or_time_makes_no_folds(name):
    with pytest.raises(InvalidInput, match=rf"{name} has the same entry in all 240 rows.*Leave"):
        GradientBoostingRegressor(**QUICK).fit(X, Y, **{name: np.zeros(240)})


def test_validation_rows_choose_the_rounds():
    model = GradientBoostingRegressor(**QUICK).fit(X[:200], Y[:200], X_val=X[200:], y_val=Y[200:])
    assert model.automatic_.scheme == "watched"
    assert model.automatic_.values["early_stopping"] is True
    assert model.automatic_.values["max_iter"] == model.n_iter_ < 2_000


def test_it_is_told_as_a_table():
    model = GradientBoostingRegressor(max_iter=3).fit(X, Y)
    lines = str(model.automatic_).splitlines()
    assert lines[0].startswith("240 rows, 4 features: rounds are not chosen")
    assert "learning_rate      0.1" in lines
    with pytest.raises(AttributeError):
        model.automatic_.n_rows = 3


def test_files_and_pickles_keep_it(tmp_path):
    model = GradientBoostingRegressor(**QUICK).fit(X, Y)
    save(model, tmp_path / "model.spinney")
    loaded = load(tmp_path / "model.spinney")
    for other in (loaded, pickle.loads(pickle.dumps(model))):
        assert other.automatic_ == model.automatic_
        assert other.get_params() == model.get_params()


@pytest.mark.parametrize(
    "change",
    [
        {"scheme": "luck"},
        {"rows": -1},
        {"rows": 1.5},
        {"values": {"max_depth": 3}},
        {"values": {"max_iter": "auto"}},
        {"values": {"max_iter": 0}},
        {"values": {"cv": [1]}},
        {"values": {"subsample": 7.0}},
        {"more": 1},
    ],
)
def test_what_a_file_cannot_have_kept_is_refused(change):
    state = GradientBoostingRegressor(max_iter=2).fit(X, Y).automatic_.to_state()
    assert AutomaticSettings.from_state(state).scheme == "given"
    with pytest.raises(InvalidModel, match="'auto' became"):
        AutomaticSettings.from_state({**state, **change})


def test_time_runs_out_for_folds_too():
    with pytest.warns(OutOfTime):
        model = GradientBoostingRegressor(time_budget=1e-9, random_state=0).fit(X, Y)
    assert model.n_iter_ == 1


def test_groups_without_folds_are_refused():
    with pytest.raises(InvalidInput, match="groups is given, but early_stopping=False"):
        GradientBoostingRegressor(max_iter=3).fit(X, Y, groups=np.arange(240) % 9)


def test_words_other_than_auto_are_refused():
    with pytest.raises(InvalidParameter, match=r"learning_rate='aut'.*or 'auto'"):
        GradientBoostingRegressor(learning_rate="aut").fit(X, Y)


def test_a_class_that_folds_can_not_learn_leaves_rounds_to_the_others():
    labels = LABELS.copy()
    labels[0] = 9  # one row: the fold that tests it has not seen it
    model = GradientBoostingClassifier(**QUICK).fit(X, labels)
    assert model.n_iter_ > 1
    assert np.isfinite(model.cv_score_).all()


def test_a_later_fit_forgets_what_an_earlier_one_chose():
    model = GradientBoostingRegressor(**QUICK).fit(X, Y)
    model.set_params(max_iter=4).fit(X, Y)
    assert model.automatic_.scheme == "given"
    assert not hasattr(model, "cv_score_")


def test_folds_choose_small_trees_for_noise_and_large_ones_for_detail():
    small, large, _ = (rival["max_leaf_nodes"] for rival in automatic.RIVALS)
    noise = 0.3 * X[:, 0] + RNG.normal(size=240)
    many = RNG.normal(size=(2_000, 3))
    detailed = np.sin(3 * many[:, 0]) * np.sin(3 * many[:, 1])
    quick = {"learning_rate": 0.3, "n_iter_no_change": 5, "random_state": 0}
    chosen = [
        GradientBoostingRegressor(**quick).fit(*rows).automatic_.values["max_leaf_nodes"]
        for rows in ((X, noise), (many, detailed))
    ]
    assert chosen[0] == small
    assert chosen[1] >= large
    given = GradientBoostingRegressor(**quick, max_leaf_nodes=5).fit(X, noise)
    assert max(len(leaves) for leaves in map(np.unique, given.apply(X).T)) <= 5


def test_statistics_of_levels_are_joined_by_larger_trees():
    towns, _ = table(800)
    noise = np.random.default_rng(0).normal(size=800)
    _, smallest, _ = (rival["max_leaf_nodes"] for rival in automatic.RIVALS)
    fitted = GradientBoostingRegressor(random_state=0).fit(towns, noise)
    assert fitted.automatic_.values["max_leaf_nodes"] == smallest
    given = GradientBoostingRegressor(random_state=0, max_leaf_nodes=5).fit(towns, noise)
    assert "max_leaf_nodes" not in given.automatic_.values


def test_a_rival_must_win_by_more_than_chance():
    scores = np.array([-1.0, -0.5])
    held = FoldCurve(scores, scores, "max_iter", np.full(4, -0.5))
    sure = FoldCurve(scores + 0.1, scores, "max_iter", np.array([-0.41, -0.39, -0.4, -0.4]))
    lucky = FoldCurve(scores + 0.1, scores, "max_iter", np.array([0.2, -0.6, -0.6, -0.6]))
    assert sure.beats(held)
    assert not lucky.beats(held)
    alone = FoldCurve(scores + 0.1, scores, "max_iter", np.array([-0.4]))
    assert alone.beats(FoldCurve(scores, scores, "max_iter", np.array([-0.5])))
    assert not alone.beats(alone)


def test_a_fit_that_was_cut_goes_on_to_the_model_that_was_chosen():
    whole = GradientBoostingRegressor(**QUICK).fit(X, Y)

    def cut(view):
        if view.round == 3:
            raise KeyboardInterrupt

    with pytest.warns(InterruptedFit):
        model = GradientBoostingRegressor(**QUICK).fit(X, Y, callbacks=cut)
    assert len(model.model_) < model.automatic_.values["max_iter"] == whole.n_iter_
    assert model.set_params(warm_start=True).fit(X, Y).model_ == whole.model_


def test_a_round_of_chosen_settings_is_explained_from_its_rows():
    model = GradientBoostingRegressor(**QUICK).fit(X, Y)
    told = explain_split(model, 0, 0, X, Y)
    assert told.from_rows
    assert told.learning_rate == 0.3
    assert told.l2 == model.automatic_.values["l2_regularization"]


def test_the_choice_does_not_depend_on_threads():
    models = [GradientBoostingClassifier(**QUICK, n_jobs=n).fit(X, LABELS) for n in (1, 2)]
    assert models[0].model_ == models[1].model_
    assert models[0].automatic_ == models[1].automatic_
