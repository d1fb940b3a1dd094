"""Trees that split by errors or by exponential loss, on sorted rows."""

import numpy as np
import pytest
from sklearn.base import clone

from spinney import DecisionTreeClassifier, RandomForestClassifier
from spinney.errors import InvalidInput, InvalidParameter
from spinney.io.save_load import from_bytes, to_bytes


def rows(n_classes=2, seed=0, n_rows=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows) * 0.3
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


@pytest.mark.parametrize(
    ("criterion", "n_classes"), [("error", 2), ("error", 4), ("exponential", 2)]
)
def test_leaves_hold_the_shares_of_the_classes(criterion, n_classes):
    X, y = rows(n_classes)
    tree = DecisionTreeClassifier(criterion=criterion, max_depth=4).fit(X, y)
    leaves, shares = tree.apply(X), tree.predict_proba(X)
    for leaf in np.unique(leaves):
        expected = np.bincount(y[leaves == leaf], minlength=n_classes) / np.sum(leaves == leaf)
        np.testing.assert_allclose(shares[leaves == leaf][0], expected, atol=1e-15)
    assert tree.score(X, y) > 1.4 / n_classes
    assert to_bytes(from_bytes(to_bytes(tree))) == to_bytes(tree)


def test_the_first_split_makes_the_fewest_errors():
    X, y = rows()
    tree = DecisionTreeClassifier(criterion="error", max_depth=1).fit(X, y)
    fewest = min(
        np.sum(y[s] != np.bincount(y[s]).argmax()) + np.sum(y[~s] != np.bincount(y[~s]).argmax())
        for column in X.T
        for s in (column <= cut for cut in np.sort(column)[:-1])
    )
    assert np.sum(tree.predict(X) != y) == fewest
    assert tree.model_[0].gain[0] == min(np.bincount(y)) - fewest


def test_the_first_split_leaves_the_least_exponential_loss():
    X, y = rows()

    def left_over(y):
        return 2 * np.sqrt(np.sum(y == 0) * np.sum(y == 1))

    tree = DecisionTreeClassifier(criterion="exponential", max_depth=1).fit(X, y)
    least = min(
        left_over(y[s]) + left_over(y[~s])
        for column in X.T
        for s in (column <= cut for cut in np.sort(column)[:-1])
    )
    leaves = tree.apply(X)
    assert sum(left_over(y[leaves == k]) for k in np.unique(leaves)) == pytest.approx(least)
    assert tree.model_[0].gain[0] == pytest.approx(left_over(y) - least)


@pytest.mark.parametrize("criterion", ["error", "exponential"])
def test_weights_are_repetitions_and_count_for_limits(criterion):
    X, y = rows()
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weights)
    tree = DecisionTreeClassifier(
        criterion=criterion, min_samples_leaf=9, min_impurity_decrease=0.01
    )
    weighted = tree.fit(X, y, sample_weight=weights).model_[0]
    repeated = clone(tree).fit(X[copies], y[copies]).model_[0]
    for name in ("feature", "threshold", "right", "values", "weight", "gain"):
        assert getattr(weighted, name).tobytes() == getattr(repeated, name).tobytes(), name
    leaves = weighted.right < 0
    assert weighted.weight[leaves].min() >= 9
    assert weighted.weight[0] == len(copies)
    split = weighted.gain[~leaves]
    assert split.min() >= 0.01 * len(copies)
    halves = clone(tree).set_params(min_samples_leaf=4.5 / len(copies) * 2)
    scaled = halves.fit(X, y, sample_weight=weights / 2).model_[0]
    assert scaled.threshold.tolist() == weighted.threshold.tolist()
    np.testing.assert_allclose(scaled.weight, weighted.weight / 2)


def test_one_class_and_too_many_classes():
    X, y = rows(3)
    one = DecisionTreeClassifier(criterion="error").fit(X, np.zeros(len(y)))
    np.testing.assert_array_equal(one.predict_proba(X), 1.0)
    with pytest.raises(InvalidInput, match="criterion='exponential' takes two classes"):
        DecisionTreeClassifier(criterion="exponential").fit(X, y)
    with pytest.raises(InvalidParameter, match=r"criterion='errors'.*Did you mean 'error'"):
        DecisionTreeClassifier(criterion="errors").fit(X, y)


def test_threads_do_not_matter():
    X, y = rows(n_rows=9000)
    prints = {
        DecisionTreeClassifier(criterion="error", max_depth=6, n_jobs=n)
        .fit(X, y)
        .model_.fingerprint
        for n in (1, 2, 3, 7)
    }
    assert len(prints) == 1


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestClassifier])
@pytest.mark.parametrize(
    ("name", "other"), [("log_loss", "entropy"), ("misclassification", "error")]
)
def test_criteria_of_two_names(kind, name, other):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 3, 200)
    one, two = (kind(criterion=word, random_state=0).fit(X, y) for word in (name, other))
    assert one.model_ == two.model_
