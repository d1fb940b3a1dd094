"""Trees on odd input: no crash, and a sensible tree or a clear refusal; forests asked oddly."""

import resource

import numpy as np
import pytest

from spinney import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from spinney.ensembles.trees.growing import CLASS_CRITERIA, NUMBER_CRITERIA
from spinney.errors import InvalidInput, InvalidParameter

KINDS = [(DecisionTreeClassifier, c) for c in sorted(CLASS_CRITERIA)]
KINDS += [(DecisionTreeRegressor, c) for c in sorted(NUMBER_CRITERIA)]
every_tree = pytest.mark.parametrize(("kind", "criterion"), KINDS)
every_search = pytest.mark.parametrize("search", ["exact", "adaptive", "histogram", "random"])


@every_tree
@every_search
def test_nothing_to_split_gives_one_leaf(kind, criterion, search):
    tree = kind(criterion=criterion, search=search, random_state=0)
    X = np.arange(12.0).reshape(6, 2)
    assert tree.fit(X, np.ones(6)).get_n_leaves() == 1  # one class, a constant target
    assert tree.fit([[3.0, 4.0]], [1]).predict([[0.0, np.nan]]).tolist() == [1]  # one row
    y = np.array([1, 2, 1, 2, 1, 2])
    nothing = np.full((6, 3), np.nan)
    assert tree.fit(nothing, y).get_n_leaves() == 1  # all missing
    assert tree.fit(np.ones((6, 3)), y).get_n_leaves() == 1  # all the same
    half = np.column_stack([nothing, X[:, 0]])
    assert tree.fit(half, y).feature_importances_[:3].tolist() == [0, 0, 0]
    assert tree.predict(np.full((1, 4), np.nan)).shape == (1,)
    assert tree.regions().contains(half).sum(axis=1).tolist() == [1] * 6


@every_tree
@every_search
def test_infinities_are_values(kind, criterion, search):
    X = np.array([[-np.inf], [-1e308], [0.0], [1e308], [np.inf], [np.nan]])
    y = np.array([1, 2, 1, 2, 1, 2])
    tree = kind(criterion=criterion, search=search, random_state=0).fit(X, y)
    inside = tree.regions().contains(X)
    assert inside.sum(axis=1).tolist() == [1] * 6
    assert np.isfinite(tree.tree_.value).all()
    if search != "random":
        assert tree.predict(X).tolist() == y.tolist()
        assert tree.get_n_leaves() <= 6


@every_search
def test_neighbouring_floats_are_told_apart(search):
    X = np.array([[1.0], [np.nextafter(1.0, 2.0)], [np.nextafter(0.0, 1.0)], [0.0]])
    for kind in (DecisionTreeClassifier, DecisionTreeRegressor):
        tree = kind(search=search, random_state=0).fit(X, [0, 1, 2, 3])
        assert tree.predict(X).tolist() == [0, 1, 2, 3]


def check_wide(n_features, most_kilobytes):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    X = np.zeros((3, n_features), np.float32)
    tree = DecisionTreeClassifier().fit(X, [0, 1, 0])
    assert tree.get_n_leaves() == 1
    assert tree.predict_proba(X)[0] == pytest.approx([2 / 3, 1 / 3])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < most_kilobytes


def test_many_features_of_which_none_splits():
    check_wide(50_000, 200_000)


@pytest.mark.long
def test_a_million_features_of_which_none_splits():
    check_wide(1_000_000, 2_500_000)


def test_targets_a_criterion_cannot_judge_are_refused():
    X, three = np.arange(6.0).reshape(-1, 1), [0, 1, 2, 0, 1, 2]
    for criterion in ("dkm", "exponential", "hellinger"):
        with pytest.raises(InvalidInput, match=f"criterion='{criterion}' takes two classes"):
            DecisionTreeClassifier(criterion=criterion).fit(X, three)
    with pytest.raises(InvalidInput, match=r"are negative .*: the first is -3, in row 2"):
        DecisionTreeRegressor(criterion="poisson").fit(X, [1, 2, -3, 0, 1, 1])
    with pytest.raises(InvalidInput, match="y is not positive"):
        DecisionTreeRegressor(criterion="poisson").fit(X, np.zeros(6))


@pytest.mark.parametrize(
    "wrong",
    [
        {"search": "fast"},
        {"splitter": "worst"},
        {"criterion": "squared_error"},
        {"min_weight_fraction_leaf": 0.6},
        {"ccp_alpha": -1.0},
        {"max_bins": 256},
    ],
    ids=str,
)
def test_wrong_words_are_refused(wrong):
    (name,) = wrong
    with pytest.raises(InvalidParameter, match=name):
        DecisionTreeClassifier(**wrong).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**-60, 2.0**60, 2.0**600])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_huge_and_tiny_targets_and_weights(criterion, scale):
    X, y = np.arange(8.0).reshape(-1, 1), np.array([1.0, 5, 2, 8, 3, 9, 4, 7])
    w = np.array([1.0, 2, 3, 1, 2, 3, 1, 2])
    shape = {"criterion": criterion, "max_depth": 2}
    expected = DecisionTreeRegressor(**shape).fit(X, y, w)
    by_weight = DecisionTreeRegressor(**shape).fit(X, y, w * scale)
    by_target = DecisionTreeRegressor(**shape).fit(X, y * scale, w)
    assert np.allclose(by_weight.predict(X), expected.predict(X), rtol=1e-12)
    assert np.allclose(by_target.predict(X) / scale, expected.predict(X), rtol=1e-12)
    assert by_weight.model_[0].feature.tolist() == expected.model_[0].feature.tolist()


def test_small_weights_do_not_make_a_leaf_of_the_tree():
    X, y = np.arange(8.0).reshape(-1, 1), np.arange(8) % 2
    tree = DecisionTreeClassifier().fit(X, y, np.full(8, 0.01))
    assert tree.score(X, y) == 1.0
    with pytest.warns(UserWarning, match="weights add up to"):
        DecisionTreeClassifier(min_samples_leaf=2).fit(
            np.arange(80.0).reshape(-1, 1), np.arange(80) % 2, np.full(80, 0.01)
        )


@pytest.mark.parametrize("wrong", ["jackknife", 1, None, np.array([True])])
def test_whether_standard_errors_are_asked_for_is_a_yes_or_no(wrong):
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) % 2
    for forest in (RandomForestClassifier(5), RandomForestRegressor(5)):
        ask = getattr(forest.fit(X, y), "predict_proba", forest.predict)
        assert len(ask(X, return_std=np.True_)) == 2
        with pytest.raises(InvalidParameter, match=r"return_std=.*expected True or False"):
            ask(X, return_std=wrong)
    with pytest.raises(InvalidParameter, match="std_method='jackknife'"):
        forest.predict(X, return_std="jackknife")
