"""Explanations of models that read texts: told of the user's column, or refused in words."""

from operator import attrgetter

import numpy as np
import pandas as pd
import pytest
from tests.unit.ensembles.gradient.reviews import booster, reviews

from spinney.errors import InvalidInput, InvalidParameter
from spinney.explain import (
    accumulated_effects,
    explain_row,
    explain_split,
    gain_importance,
    h_statistic,
    individual_curves,
    partial_dependence,
    permutation_importance,
    shap_values,
    verify,
)

values_of = attrgetter("values")  # of results, which are no frames
X, Y = reviews(600)
FITTED = booster().fit(X, Y)


def test_shapley_values_are_those_of_the_column():
    found = shap_values(FITTED, X[:50])
    assert found.feature_names == ("review", "x")
    raw = FITTED.decision_function(X[:50])
    np.testing.assert_allclose(found.raw_scores()[:, 0], raw, atol=1e-9)
    values = values_of(found)[:, 0, 0]
    assert (values[Y[:50] == "bad"] < 0).all()
    assert (values[Y[:50] == "good"] > 0).all()


def test_a_row_is_told_with_its_text():
    assert X["review"][0] in str(explain_row(FITTED, X.iloc[0]))
    assert "missing" in str(explain_row(FITTED, {"review": None, "x": 1.0}))
    assert "unseen" not in str(explain_row(FITTED, {"review": "never read before", "x": 1.0}))


def test_importances_are_those_of_the_column_or_of_the_words():
    assert gain_importance(FITTED).feature_names[0] == "review"
    of_words = gain_importance(FITTED.model_.forest)
    assert of_words.feature_names[np.argmax(values_of(of_words))] == "review (word broken)"
    assert permutation_importance(FITTED, X, Y).feature_names[0] == "review"
    assert h_statistic(FITTED, X[:60]).feature_names[0] == "review"


def test_dependence_asks_about_the_texts_that_are_given():
    texts = ["it is broken", "it is fine", None]
    found = partial_dependence(FITTED, "review", X[:40], grid=texts, scale="raw")
    asked = [FITTED.decision_function(X[:40].assign(review=text)).mean() for text in texts]
    np.testing.assert_allclose(values_of(found), asked, atol=1e-12)
    assert list(found.grids[0]) == texts
    curves = individual_curves(FITTED, "review", X[:5], grid=texts)
    assert values_of(curves).shape == (5, 3)
    other = partial_dependence(FITTED, "x", X[:40])
    assert np.isfinite(values_of(other)).all()


def test_what_cannot_be_asked_of_texts_says_so():
    with pytest.raises(InvalidParameter, match="'review' is text, and there is no end of texts"):
        partial_dependence(FITTED, "review", X[:40])
    with pytest.raises(InvalidParameter, match="texts have no order"):
        accumulated_effects(FITTED, X[:40], "review")
    with pytest.raises(InvalidInput, match="'review' is text, and texts have no order"):
        verify(FITTED, monotonic={"review": 1})
    with pytest.raises(InvalidInput, match="text_features=False"):
        verify(FITTED, within={"review": ["a"]})


@pytest.mark.parametrize("params", [{}, {"dropout": 0.5, "skip_dropout": 0.0}], ids=str)
def test_splits_on_words_are_explained_from_the_rows_of_the_fit(params):
    fitted = booster(min_samples_leaf=2, **params).fit(X, Y)
    found = explain_split(fitted, 3, 0, X, Y)
    assert found.from_rows
    assert explain_split(fitted, 0, 0, X, Y).question == "review (word broken) <= 0.5"
    assert explain_split(fitted, 0, 0).question == "review (word broken) <= 0.5"
    assert "and equal: rows, weights, outputs, gain" in str(found)


def test_bounds_hold_and_are_refuted_by_a_text():
    known = verify(FITTED, bounds=(0, 1)).claims
    assert [claim.verdict for claim in known] == ["proved", "proved"]
    (claim,) = verify(FITTED, bounds=(0.5, None)).claims
    assert claim.verdict == "refuted"
    row = pd.DataFrame([claim.counter_example[0]])
    assert "broken" in row["review"][0]
    assert FITTED.predict_proba(row)[0, 1] == claim.predictions[0] < 0.5


def test_other_features_are_proved_beside_texts():
    bound = booster(monotonic_cst={"x": 1}).fit(X, Y)
    (claim,) = verify(bound, monotonic={"x": 1}).claims
    assert claim.verdict == "proved"
