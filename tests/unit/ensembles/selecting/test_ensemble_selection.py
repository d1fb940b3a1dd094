"""Ensemble selection as an estimator: where its answers come from, and what becomes of members."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import spinney
from spinney import EnsembleSelectionClassifier, EnsembleSelectionRegressor
from spinney.errors import (
    CannotSave,
    InvalidParameter,
    UnknownParameter,
)

X, Y = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(X))
X, Y = X[ORDER], Y[ORDER]
X_NUMBERS, Y_NUMBERS = load_diabetes(return_X_y=True)


def library():
    return [
        ("bayes", GaussianNB()),
        ("near", KNeighborsClassifier(5)),
        ("line", LogisticRegression(solver="newton-cholesky")),
        ("tree", spinney.DecisionTreeClassifier(max_depth=3)),
    ]


def numbers_library():
    return [
        ("mean", DummyRegressor()),
        ("line", LinearRegression()),
        ("tree", spinney.DecisionTreeRegressor(max_depth=3)),
        ("ridge", Ridge(0.1)),
    ]


# Where the answers come from


def test_folds_ask_every_member_out_of_fold():
    cv = StratifiedKFold(4, shuffle=True, random_state=3)
    model = EnsembleSelectionClassifier(library(), cv=cv, n_steps=10).fit(X, Y)
    for (_, member), score in zip(library(), model.library_.scores, strict=True):
        said = cross_val_predict(member, X, Y, cv=cv, method="predict_proba")
        assert score == pytest.approx(-log_loss(Y, said), 1e-9)


def test_an_int_is_scikit_learns_folds():
    models = [
        EnsembleSelectionClassifier(library(), cv=cv, n_steps=10).fit(X, Y)
        for cv in (4, StratifiedKFold(4), list(StratifiedKFold(4).split(X, Y)))
    ]
    for model in models[1:]:
        assert np.array_equal(model.library_.scores, models[0].library_.scores)
        assert np.array_equal(model.predict_proba(X), models[0].predict_proba(X))
    numbers = EnsembleSelectionRegressor(numbers_library(), cv=4).fit(X_NUMBERS, Y_NUMBERS)
    said = cross_val_predict(Ridge(0.1), X_NUMBERS, Y_NUMBERS, cv=KFold(4))
    assert numbers.library_.scores[3] == pytest.approx(-np.mean((said - Y_NUMBERS) ** 2), 1e-9)


def test_selected_members_are_fitted_again_to_all_rows_and_averaged():
    model = EnsembleSelectionClassifier(library(), n_steps=30).fit(X, Y)
    chosen = np.flatnonzero(model.weights_)
    assert len(chosen) > 1
    assert list(model.named_estimators_) == [library()[m][0] for m in chosen]
    expected = np.zeros((len(X), 3))
    for m in chosen:
        expected += model.weights_[m] * library()[m][1].fit(X, Y).predict_proba(X)
    assert model.predict_proba(X) == pytest.approx(expected, 1e-12)
    assert np.array_equal(model.predict(X), model.classes_[expected.argmax(axis=1)])


def test_rows_held_out_are_not_learnt_from_and_members_stay_as_they_are():
    table = np.column_stack([X, np.arange(150) / 1e6])  # no row twice
    model = EnsembleSelectionClassifier(
        [("near", KNeighborsClassifier(1))], cv=0.3, random_state=0
    ).fit(table, Y)
    (near,) = model.estimators_
    assert len(near._fit_X) == pytest.approx(0.7 * len(X), abs=3)
    held = [row for row in table if not (near._fit_X == row).all(axis=1).any()]
    assert len(near._fit_X) + len(held) == len(X)
    # The only score there is: that of the member, on rows it has not seen
    said = near.predict_proba(np.array(held))
    truth = [Y[(row == table).all(axis=1)][0] for row in held]
    assert model.library_.scores[0] == pytest.approx(-log_loss(truth, said, labels=[0, 1, 2]))


def test_prefit_members_are_taken_as_they_are_and_all_rows_are_selected_on():
    fitted = [(name, member.fit(X[:75], Y[:75])) for name, member in library()]
    before = [member.predict_proba(X).tobytes() for _, member in fitted]
    model = EnsembleSelectionClassifier(fitted, cv="prefit", n_steps=20).fit(X[75:], Y[75:])
    assert [member.predict_proba(X).tobytes() for _, member in fitted] == before
    assert all(any(one is member for _, member in fitted) for one in model.estimators_)
    for (_, member), score in zip(fitted, model.library_.scores, strict=True):
        assert score == pytest.approx(-log_loss(Y[75:], member.predict_proba(X[75:])), 1e-9)


def test_prefit_members_may_know_classes_that_the_rows_at_hand_lack():
    fitted = [(name, member.fit(X, Y)) for name, member in library()]
    some = Y > 0
    model = EnsembleSelectionClassifier(fitted, cv="prefit").fit(X[some], Y[some])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict(X[Y == 0][:3]).tolist() == [0, 0, 0]


def test_rows_of_no_fold_are_not_selected_on():
    cv = TimeSeriesSplit(3)
    model = EnsembleSelectionRegressor(numbers_library(), cv=cv).fit(X_NUMBERS, Y_NUMBERS)
    errors = []
    for train, test in cv.split(X_NUMBERS):
        said = Ridge(0.1).fit(X_NUMBERS[train], Y_NUMBERS[train]).predict(X_NUMBERS[test])
        errors.append((said - Y_NUMBERS[test]) ** 2)
    assert model.library_.scores[3] == pytest.approx(-np.mean(np.concatenate(errors)), 1e-9)


@pytest.mark.parametrize("cv", [3, GroupKFold(3), LeaveOneGroupOut(), 0.4])
def test_groups_are_never_divided(cv):
    groups = np.repeat(list("pqrstu"), 25)
    seen = []

    class Watching(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            seen.append(set(X[:, 0]))
            return super().fit(X, y, sample_weight)

    numbered = np.column_stack([np.arange(150), X])
    model = EnsembleSelectionClassifier([("w", Watching())], cv=cv, random_state=1)
    model.fit(numbered, Y, groups=groups)
    for rows in seen:
        inside = [len(rows & set(range(25 * g, 25 * g + 25))) for g in range(6)]
        assert set(inside) <= {0, 25}
    assert any(len(rows) < 150 for rows in seen)


def test_none_stands_for_five_folds():
    made = [EnsembleSelectionClassifier(cv=cv, random_state=0).fit(X, Y) for cv in (None, 5)]
    assert np.array_equal(*(model.library_.scores for model in made))


def test_rare_classes_may_be_missing_from_folds():
    y = Y.copy()
    y[0] = 7
    model = EnsembleSelectionClassifier(library()[:2], cv=5).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2, 7]
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(150))


# Weights


def test_weight_is_a_repetition_if_copies_share_a_fold():
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, len(X))
    fold = np.arange(len(X)) % 4
    repeated = np.repeat(np.arange(len(X)), weights)
    members = [library()[0], library()[3]]
    weighted = EnsembleSelectionClassifier(members, cv=PredefinedSplit(fold[weights > 0]))
    weighted.fit(X, Y, sample_weight=weights)
    copies = EnsembleSelectionClassifier(members, cv=PredefinedSplit(fold[repeated]))
    copies.fit(X[repeated], Y[repeated])
    # As exact as scikit-learn's naive Bayes, which rounds where it takes weights
    assert weighted.library_.scores == pytest.approx(copies.library_.scores, 1e-7)
    assert weighted.library_.scores[1] == pytest.approx(copies.library_.scores[1], 1e-12)
    assert np.array_equal(weighted.weights_, copies.weights_)
    assert weighted.predict_proba(X) == pytest.approx(copies.predict_proba(X), 1e-7)


def test_rows_of_no_weight_are_absent_also_from_pairs_that_name_them():
    weights = np.where(np.arange(150) % 5 == 0, 0.0, 1.0)
    kept = np.flatnonzero(weights)
    fold = np.arange(150) % 3
    pairs = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(3)]
    with_zeros = EnsembleSelectionClassifier(library()[2:], cv=pairs)
    with_zeros.fit(X, Y, sample_weight=weights)
    without = EnsembleSelectionClassifier(library()[2:], cv=PredefinedSplit(fold[kept]))
    without.fit(X[kept], Y[kept])
    assert np.array_equal(with_zeros.selection_path_.scores, without.selection_path_.scores)
    assert np.array_equal(with_zeros.predict_proba(X), without.predict_proba(X))


def test_held_out_rows_do_not_depend_on_order_nor_on_repetitions():
    model = EnsembleSelectionClassifier(
        [("tree", spinney.DecisionTreeClassifier(max_depth=2))], cv=0.4, random_state=5
    )
    first = model.fit(X, Y).estimators_[0].model_
    order = np.random.default_rng(1).permutation(150)
    assert model.fit(X[order], Y[order]).estimators_[0].model_ == first
    weights = np.random.default_rng(2).integers(0, 4, 150)
    repeated = np.repeat(np.arange(150), weights)
    weighted = model.fit(X, Y, sample_weight=weights).predict_proba(X)
    score = model.library_.committee_score
    assert np.array_equal(model.fit(X[repeated], Y[repeated]).predict_proba(X), weighted)
    assert model.library_.committee_score == pytest.approx(score, 1e-12)


# Tables, members and parameters


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, csr_matrix, np.ndarray.tolist])
def test_tables_of_any_library_give_the_same_committee(make):
    members = [
        ("tree", spinney.DecisionTreeClassifier(max_depth=3)),
        ("forest", spinney.RandomForestClassifier(10, random_state=0)),
    ]
    plain = EnsembleSelectionClassifier(members, n_steps=10).fit(X, Y)
    other = EnsembleSelectionClassifier(members, n_steps=10)
    table = make(X) if make is not pl.DataFrame else pl.DataFrame(X, schema=list("abcd"))
    if make is pd.DataFrame:
        table.columns = list("abcd")
        assert other.fit(table, Y).feature_names_in_.tolist() == list("abcd")
    assert np.array_equal(other.fit(table, Y).predict_proba(table), plain.predict_proba(X))


def test_tables_with_text_and_missing_values_pass_through_to_members_of_ours():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 200)
    size = np.where(rng.random(200) < 0.2, np.nan, rng.normal(size=200))
    y = np.where((colour == "red") ^ (np.nan_to_num(size) > 0), "yes", "no")
    frame = pd.DataFrame({"colour": colour, "size": size})
    model = EnsembleSelectionClassifier(random_state=0, n_steps=5).fit(frame, y)
    assert model.score(frame, y) > 0.9
    rows = [[c, None if np.isnan(s) else s] for c, s in zip(colour, size, strict=True)]
    again = EnsembleSelectionClassifier(random_state=0, n_steps=5).fit(rows, y)
    assert np.array_equal(again.predict_proba(rows), model.predict_proba(frame))


def test_members_without_probabilities_vote_for_a_label():
    members = [("svm", LinearSVC(random_state=0)), ("bayes", GaussianNB())]
    model = EnsembleSelectionClassifier(members, scoring="accuracy", cv=3, n_steps=7).fit(X, Y)
    shares = model.predict_proba(X)
    assert shares.sum(axis=1) == pytest.approx(np.ones(150))
    assert model.score(X, Y) > 0.9


def test_seeds_of_members_come_from_the_committees_seed_unless_they_have_their_own():
    members = [
        ("free", spinney.RandomForestClassifier(5)),
        ("own", spinney.RandomForestClassifier(5, random_state=3)),
    ]

    def models(seed):
        model = EnsembleSelectionClassifier(members, cv=0.5, random_state=seed, scoring="accuracy")
        model.set_params(n_steps=2, n_init=2).fit(X, Y)
        return [model.named_estimators_.get(name) for name in ("free", "own")]

    assert members[0][1].random_state is None
    free, own = models(7)
    same, _ = models(7)
    assert free.random_state == same.random_state
    assert free.random_state is not None
    assert own is None or own.random_state == 3


def test_parameters_of_members_can_be_set_and_searched():
    members = [library()[0], library()[1], library()[3]]
    model = EnsembleSelectionClassifier(members, n_steps=5)
    assert model.get_params()["near__n_neighbors"] == 5
    model.set_params(near__n_neighbors=9, tree=GaussianNB(), n_steps=6)
    assert model.estimators[1][1].n_neighbors == 9
    assert isinstance(model.estimators[2][1], GaussianNB)
    assert clone(model).get_params()["near__n_neighbors"] == 9
    with pytest.raises(UnknownParameter, match="n_steps"):
        model.set_params(n_step=5)
    search = GridSearchCV(model, {"near__n_neighbors": [1, 5], "n_init": [1, 2]}, cv=3).fit(X, Y)
    assert search.best_score_ > 0.9


def test_members_can_be_left_out_as_in_other_committees():
    fewer = EnsembleSelectionClassifier([library()[0], library()[3]], n_steps=6).fit(X, Y)
    model = EnsembleSelectionClassifier(library(), n_steps=6).set_params(near="drop", line="drop")
    model.fit(X, Y)
    assert model.library_.names == ("bayes", "tree")
    assert np.array_equal(model.predict_proba(X), fewer.predict_proba(X))
    assert clone(model).get_params()["near"] == "drop"
    grid = {"bayes": ["drop", GaussianNB()]}
    assert GridSearchCV(model, grid, cv=3, error_score="raise").fit(X, Y).best_score_ > 0.9
    with pytest.raises(InvalidParameter, match=r"All members of EnsembleSelection.* are dropped"):
        model.set_params(bayes="drop", tree="drop").fit(X, Y)
    twice = [library()[0], ("bayes", "drop")]
    with pytest.raises(InvalidParameter, match="several members called 'bayes'"):
        EnsembleSelectionClassifier(twice).fit(X, Y)


def test_pipelines_are_members_too():
    members = [("p", make_pipeline(StandardScaler(), LogisticRegression())), library()[0]]
    assert EnsembleSelectionClassifier(members, n_steps=5).fit(X, Y).score(X, Y) > 0.9


def test_members_of_others_have_no_file_but_pickle():
    model = EnsembleSelectionClassifier(library(), n_steps=5).fit(X, Y)
    with pytest.raises(CannotSave, match="pickle"):
        spinney.save(model, "never.spn")
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(again.weights_, model.weights_)


def test_committee_beats_its_members_on_new_rows():
    table, y = make_classification(1500, 12, n_informative=6, flip_y=0.1, random_state=2)
    train, test = slice(0, 700), slice(700, None)
    members = [
        ("bayes", GaussianNB()),
        ("near", KNeighborsClassifier(15)),
        ("line", LogisticRegression()),
        ("forest", spinney.RandomForestClassifier(50)),
    ]
    model = EnsembleSelectionClassifier(members, random_state=0).fit(table[train], y[train])
    alone = [
        log_loss(y[test], m.fit(table[train], y[train]).predict_proba(table[test]))
        for _, m in members
    ]
    assert log_loss(y[test], model.predict_proba(table[test])) < 1.01 * min(alone)


def test_members_of_ours_share_one_table_over_all_folds(monkeypatch):
    from spinney.ensembles import sharing

    ranked, rank_table = [], sharing.rank_table

    def counted(*given):
        ranked.append(given)
        return rank_table(*given)

    monkeypatch.setattr(sharing, "rank_table", counted)
    data = spinney.datasets.make_friedman(1, 120, random_state=0)
    library = [(f"trees{n}", spinney.ExtraTreesRegressor(n, random_state=0)) for n in (3, 5)]
    model = spinney.EnsembleSelectionRegressor(library, cv=3, random_state=0)
    model.fit(data.X, data.y)
    assert len(ranked) == 1
    alone = spinney.ExtraTreesRegressor(5, random_state=0).fit(data.X, data.y)
    assert model.named_estimators_["trees5"].model_ == alone.model_
