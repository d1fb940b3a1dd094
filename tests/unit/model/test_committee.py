import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from spinney import DecisionTreeClassifier, DecisionTreeRegressor
from spinney.errors import CannotSave, InvalidModel
from spinney.model import Committee, Policy
from spinney.model.state import model_from_bytes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
LABELS = np.array(["no", "yes"])[(X[:, 0] + X[:, 1] > 0).astype(int)]


def models(kind=DecisionTreeClassifier, y=LABELS):
    return [kind(max_depth=depth).fit(X, y).model_ for depth in (1, 2, 4)]


def committee(members, weights=(1.0, 2.0, 3.0), combine="mean"):
    return Committee(members, np.array(weights), combine=combine, policy=Policy())


def test_mean_is_the_weighted_mean_of_predictions():
    members = models()
    expected = sum(w * m.predictions(X) for w, m in zip((1, 2, 3), members, strict=True)) / 6
    assert np.allclose(committee(members).predictions(X), expected)


def test_vote_is_the_share_of_weight_behind_each_class():
    members = models()
    votes = committee(members, combine="vote").predictions(X)
    choices = np.array([m.predictions(X).argmax(axis=1) for m in members])
    expected = (np.array([1.0, 2.0, 3.0])[:, None] * (choices == 1)).sum(axis=0) / 6
    assert np.allclose(votes[:, 1], expected)


def test_members_need_not_be_trees_nor_ours():
    y = X @ [1.0, 2.0, 3.0]
    ours = DecisionTreeRegressor(max_depth=3).fit(X, y).model_
    linear = LinearRegression().fit(X, y)
    both = committee([ours, linear], weights=(1.0, 1.0))
    assert np.allclose(both.predictions(X)[:, 0], (ours.predictions(X)[:, 0] + y) / 2)
    logistic = LogisticRegression().fit(X, LABELS)
    mixed = committee([models()[0], logistic], weights=(1.0, 1.0))
    assert np.allclose(mixed.predictions(X).sum(axis=1), 1.0)
    with pytest.raises(CannotSave, match="Member 1 is a LogisticRegression"):
        mixed.to_bytes()


def test_slices_and_nested_committees_are_models_with_bytes():
    inner = committee(models())
    outer = committee([inner, models()[2]], weights=(1.0, 1.0))
    again = model_from_bytes(outer.to_bytes())
    assert again == outer
    assert (again.predictions(X) == outer.predictions(X)).all()
    assert len(inner[:2]) == 2
    assert inner[:3] == inner
    assert inner[1] == models()[1]


def test_a_file_cannot_nest_committees_without_end():
    nested = committee(models()[:1], weights=(1.0,))
    for _ in range(9):
        nested = committee([nested], weights=(1.0,))
    with pytest.raises(InvalidModel, match="deep"):
        model_from_bytes(nested.to_bytes())


@pytest.mark.parametrize(
    ("weights", "combine", "message"),
    [
        ((1.0, 2.0), "mean", "one weight for each"),
        ((0.0, 0.0, 0.0), "vote", "not all zero"),
        ((np.nan, 1.0, 1.0), "mean", "finite"),
        ((1.0, -2.0, 0.5), "mean", "positive sum"),
        ((1.0, 1.0, 1.0), "median", "'mean' or 'vote'"),
    ],
)
def test_contradictory_committees_are_refused(weights, combine, message):
    with pytest.raises(InvalidModel, match=message):
        committee(models(), weights, combine)


def test_members_must_predict_the_same_thing():
    other = models(y=np.where(LABELS == "no", "maybe", LABELS))
    with pytest.raises(InvalidModel, match="same thing"):
        committee([*models()[:2], other[0]])
