"""Importances by splits are those of the trees."""

import numpy as np
import pytest
from tests.unit.explain.forests import boosted, mean_of_vectors

from spinney import DecisionTreeRegressor
from spinney.errors import InvalidInputType
from spinney.explain import Importances, gain_importance, split_importance


def test_gain_importance_is_what_the_estimator_says():
    fitted, frame, _ = boosted()
    found = gain_importance(fitted)
    assert found.feature_names == tuple(frame.columns)
    assert np.array_equal(found.values, fitted.feature_importances_)
    assert found.standard_errors is None
    totals = gain_importance(fitted.model_, normalise=False)
    assert np.array_equal(totals.values, fitted.model_.feature_gains())


def test_splits_are_counted():
    fitted, _, _ = boosted()
    counts = [sum(int((tree.feature == f).sum()) for tree in fitted.model_) for f in range(4)]
    assert split_importance(fitted, normalise=False).values.tolist() == counts
    shares = split_importance(fitted).values
    assert np.allclose(shares, np.array(counts) / sum(counts))
    assert split_importance(mean_of_vectors()[0]).values.sum() == pytest.approx(1)


def test_a_model_without_splits_has_importances_of_zero():
    tree = DecisionTreeRegressor().fit([[1.0, 2.0], [1.0, 2.0]], [0.0, 1.0])
    assert gain_importance(tree).values.tolist() == [0, 0]
    assert split_importance(tree).values.tolist() == [0, 0]


def test_the_largest_is_printed_first_and_the_numbers_cannot_be_changed():
    errors = np.array([0.1, 0.2, 0.3])
    result = Importances("trial", ("a", "b", "c"), np.array([1.0, 3.0, 1.0]), errors)
    assert result.columns() == {
        "feature": ["b", "a", "c"],
        "importance": [3.0, 1.0, 1.0],
        "standard_error": [0.2, 0.1, 0.3],
    }
    assert str(result).splitlines()[0] == "Importance of features: trial"
    assert result.to_frame()["feature"].tolist() == ["b", "a", "c"]
    with pytest.raises(ValueError, match="read-only"):
        gain_importance(boosted()[0]).values[0] = 1


def test_what_has_no_trees_is_refused():
    with pytest.raises(InvalidInputType, match="no trees"):
        gain_importance("a tree")
