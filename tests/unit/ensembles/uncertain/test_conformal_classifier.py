"""Sets of classes around any classifier."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from tests.reference.conformal import aps_score, aps_set, cross_set

import spinney
from spinney import ConformalClassifier, RandomForestClassifier
from spinney.errors import CannotSave, InvalidInput, InvalidParameter
from spinney.uncertainty import conformal_rank

RNG = np.random.default_rng(0)


def blobs(n, seed, k=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.normal(size=(n, 2)) * 1.5 + np.eye(k, 2)[y] * 3, y


X, Y = blobs(400, 0)
X_NEW, Y_NEW = blobs(1500, 1)


@pytest.mark.parametrize("cv", [5, 0.3])
@pytest.mark.parametrize("method", ["aps", "raps", "lac"])
def test_sets_cover_at_least_about_as_many_as_promised(method, cv):
    model = ConformalClassifier(GaussianNB(), method=method, cv=cv, random_state=0).fit(X, Y)
    found = model.predict_set(X_NEW, 0.9)
    # Of 120 rows held back the coverage is Beta distributed: a millionth of the seeds are below.
    least = beta(conformal_rank(120, 0.9), 121 - conformal_rank(120, 0.9)).ppf(1e-6)
    assert least < found.coverage(Y_NEW) < 0.99
    assert found.classes.tolist() == [0, 1, 2]
    assert 1.0 < found.mean_size < 2.9
    assert (found.members <= model.predict_set(X_NEW, 0.99).members).all()
    assert np.array_equal(model.predict(X_NEW), model.estimator_.predict(X_NEW))


def test_randomised_sets_cover_what_was_asked_and_no_more():
    plain, drawn = (
        ConformalClassifier(GaussianNB(), cv=0.5, randomised=wish, random_state=0)
        .fit(X, Y)
        .predict_set(X_NEW, 0.7)
        for wish in (False, True)
    )
    assert plain.size.min() == 1  # the likeliest class is always there
    assert plain.coverage(Y_NEW) == np.mean(plain.members.argmax(axis=1) == Y_NEW)
    assert drawn.coverage(Y_NEW) < plain.coverage(Y_NEW) - 0.03
    assert 0.64 < drawn.coverage(Y_NEW) < 0.77


def test_held_back_rows_give_the_sets_of_the_definition():
    learn, judge = np.arange(200), np.arange(200, 400)
    base = GaussianNB().fit(X[learn], Y[learn])
    model = ConformalClassifier(GaussianNB(), cv=[(learn, judge)]).fit(X, Y)
    prefit = ConformalClassifier(base, cv="prefit").fit(X[judge], Y[judge])
    shares, new = base.predict_proba(X[judge]), base.predict_proba(X_NEW[:40])
    expected = [aps_set(shares, Y[judge], row, 0.9) for row in new]
    assert model.predict_set(X_NEW[:40], 0.9).sets() == expected
    assert prefit.predict_set(X_NEW[:40], 0.9).sets() == expected


def test_folds_give_the_sets_of_the_definition():
    pairs = list(KFold(4).split(X[:80]))
    model = ConformalClassifier(GaussianNB(), cv=pairs).fit(X[:80], Y[:80])
    scores, left_out = [None] * 80, [[None] * 80 for _ in range(10)]
    for learn, judge in pairs:
        base = GaussianNB().fit(X[learn], Y[learn])
        for row in judge:
            scores[row] = aps_score(base.predict_proba(X[row : row + 1])[0], Y[row])
        for new, shares in enumerate(base.predict_proba(X_NEW[:10])):
            for row in judge:
                left_out[new][row] = [aps_score(shares, k) for k in range(3)]
    found = model.predict_set(X_NEW[:10], 0.8).sets()
    assert found == [cross_set(scores, left_out[new], 0.8) for new in range(10)]


@pytest.mark.parametrize("cv", [5, 0.5])
def test_each_class_is_covered_by_itself(cv):
    rare_x, rare_y = blobs(3000, 2)
    keep = (rare_y != 2) | (np.arange(3000) % 12 == 0)
    rare_x, rare_y = rare_x[keep], rare_y[keep]
    together, apart = (
        ConformalClassifier(GaussianNB(), method="lac", cv=cv, conditional_on=on, random_state=0)
        .fit(rare_x, rare_y)
        .predict_set(X_NEW, 0.9)
        for on in (None, "class")
    )
    assert together.covers(Y_NEW)[Y_NEW == 2].mean() < 0.8  # the rare one pays for the others
    for label in range(3):
        assert apart.covers(Y_NEW)[label == Y_NEW].mean() > 0.82


def test_each_group_is_covered_by_itself():
    frame = pd.DataFrame({"x": RNG.normal(size=3000), "kind": ["clear", "noisy"] * 1500})
    chance = np.where(frame["kind"] == "clear", 0.02, 0.4)
    y = np.where((frame["x"] > 0) ^ (RNG.random(3000) < chance), "yes", "no")
    base = RandomForestClassifier(30, max_depth=3, max_features=1, random_state=0)
    model = ConformalClassifier(base, method="lac", cv=0.5, conditional_on="kind", random_state=0)
    found = model.fit(frame, y).predict_set(frame, 0.9)
    for kind in ("clear", "noisy"):
        assert found.covers(y)[frame["kind"] == kind].mean() > 0.86
    with pytest.raises(InvalidInput, match="of the group 'odd'"):
        model.predict_set(pd.DataFrame({"x": [0.0], "kind": ["odd"]}))


@pytest.mark.parametrize("on", [None, "class"])
def test_weight_is_a_repetition_and_zero_is_absence(on):
    weights = RNG.integers(0, 3, 90)
    fold = np.arange(90) % 3

    def pairs(of_row):
        return [(np.flatnonzero(of_row != f), np.flatnonzero(of_row == f)) for f in range(3)]

    model = ConformalClassifier(GaussianNB(), cv=pairs(fold), conditional_on=on)
    weighted = model.fit(X[:90], Y[:90], weights).predict_set(X_NEW, 0.8)
    model.set_params(cv=pairs(np.repeat(fold, weights)))
    model.fit(np.repeat(X[:90], weights, axis=0), np.repeat(Y[:90], weights))
    assert np.array_equal(weighted.members, model.predict_set(X_NEW, 0.8).members)


def test_labels_are_the_users_and_too_few_rows_hold_all_classes():
    names = np.array(["ash", "beech", "oak"])
    model = ConformalClassifier(GaussianNB(), random_state=0).fit(X[:12], names[Y[:12]])
    found = model.predict_set(X_NEW[:3], 0.99)
    assert found.sets() == [["ash", "beech", "oak"]] * 3
    assert found.coverage(names[Y_NEW[:3]]) == 1.0


def test_one_class_and_classes_that_a_fold_lacks():
    alone = ConformalClassifier(random_state=0).fit(X[:30], np.zeros(30))
    assert alone.predict_set(X_NEW[:2], 0.9).sets() == [[0.0], [0.0]]
    rare = np.where(np.arange(60) == 7, 9, Y[:60] % 2)
    model = ConformalClassifier(GaussianNB(), random_state=0).fit(X[:60], rare)
    assert model.predict_proba(X_NEW).shape == (1500, 3)
    assert model.scores_.max() >= 1.0  # the class that nobody who judged knew


def test_same_for_any_number_of_jobs_and_through_pickle():
    models = [
        ConformalClassifier(
            LogisticRegression(), randomised=True, random_state=1, n_jobs=n_jobs
        ).fit(X, Y)
        for n_jobs in (1, 2)
    ]
    said = [model.predict_set(X_NEW, 0.8).members for model in models]
    assert np.array_equal(*said)
    again = pickle.loads(pickle.dumps(models[0]))
    assert np.array_equal(again.predict_set(X_NEW, 0.8).members, said[0])
    assert clone(models[0]).get_params()["randomised"] is True


def test_what_cannot_be_done_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="RidgeClassifier has no predict_proba"):
        ConformalClassifier(RidgeClassifier()).fit(X, Y)
    with pytest.raises(InvalidParameter, match="expected a classifier"):
        ConformalClassifier(LinearRegression()).fit(X, Y)
    with pytest.raises(InvalidParameter, match="method='asp'"):
        ConformalClassifier(method="asp").fit(X, Y)
    with pytest.raises(InvalidParameter, match="penalty"):
        ConformalClassifier(penalty=-1).fit(X, Y)
    with pytest.raises(InvalidInput, match="y holds 7"):
        ConformalClassifier(GaussianNB().fit(X, Y), cv="prefit").fit(X[:2], [0, 7])
    with pytest.raises(InvalidInput, match="fitted already"):
        ConformalClassifier(GaussianNB(), cv="prefit").fit(X, Y)
    with pytest.raises(InvalidParameter, match="conditional_on='kind'"):
        ConformalClassifier(GaussianNB(), conditional_on="kind").fit(X, Y)
    fitted = ConformalClassifier(GaussianNB()).fit(X, Y)
    with pytest.raises(InvalidParameter, match="level=2"):
        fitted.predict_set(X, 2)
    with pytest.raises(CannotSave, match="pickle"):
        spinney.save(fitted, tmp_path / "model.spn")
