"""Estimators in notebooks."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.unit.test_markup import HOSTILE, Reader

import spinney
from spinney import (
    AdaBoostClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
)

RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=80), HOSTILE: RNG.normal(size=80)})
Y = np.where(X["a"] > 0, "<yes>", "no")


@pytest.mark.parametrize("name", spinney.ESTIMATORS)
def test_every_estimator_has_a_page_before_it_is_fitted(name):
    page = getattr(spinney, name)()._repr_html_()
    assert name in page
    if not page.startswith("<style>"):  # that is scikit-learn's diagram, of combinations
        assert name in Reader.of(page).text


def test_changed_parameters_come_first_and_others_fold():
    page = GradientBoostingClassifier(learning_rate=0.25, max_iter=7)._repr_html_()
    read = Reader.of(page)
    assert read.text.index("0.25") < read.text.index("as by default") < read.text.index("max_bins")
    assert "Not fitted" in read.text
    assert "what was learnt" not in read.text
    assert "All parameters have their defaults." in DecisionTreeRegressor()._repr_html_()


def test_a_fitted_booster_tells_rounds_scores_and_fingerprint():
    booster = GradientBoostingClassifier(max_iter=9, early_stopping=True, random_state=0)
    fitted = booster.fit(X, Y)
    read = Reader.of(fitted._repr_html_())
    assert f"rounds{fitted.n_iter_}task" in read.text
    assert f"validation score{fitted.validation_score_[-1]:.6g}" in read.text
    assert fitted.model_.fingerprint in read.text
    assert "2: <yes>, no" in read.text
    assert "<script>alert('x')</script>" in read.text
    assert {"script", "img", "yes"}.isdisjoint(read.tags)


def test_others_tell_what_they_know():
    forest = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, Y)
    assert f"score out of bag{forest.oob_score_:.6g}" in Reader.of(forest._repr_html_()).text
    booster = AdaBoostClassifier(n_estimators=3).fit(X, Y)
    assert booster.trace_.stop_reason in Reader.of(booster._repr_html_()).text
    tree = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    assert "the treea <= " in Reader.of(tree._repr_html_()).text


def test_estimators_within_are_cards_that_unfold_and_hostile_values_are_text():
    outer = BaggingRegressor(DecisionTreeRegressor(max_depth=3))
    read = Reader.of(outer._repr_html_())
    assert "DecisionTreeRegressor" in read.text
    assert "max_depth3" in read.text
    fitted = Reader.of(outer.fit(X, X["a"])._repr_html_())
    assert "Not fitted" not in fitted.text  # copies of the tree are
    hostile = GradientBoostingClassifier(scoring=HOSTILE)
    assert {"script", "img"}.isdisjoint(Reader.of(hostile._repr_html_()).tags)


def test_bundles_are_as_scikit_learn_says():
    fitted = DecisionTreeClassifier().fit(X, Y)
    bundle = fitted._repr_mimebundle_()
    assert bundle == {"text/plain": repr(fitted), "text/html": fitted._repr_html_()}
    with sklearn.config_context(display="text"):
        assert set(fitted._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(fitted, "_repr_html_")


def test_pipelines_keep_the_diagram_of_scikit_learn():
    pipeline = make_pipeline(StandardScaler(), GradientBoostingClassifier(max_iter=2))
    for one in (pipeline, pipeline.fit(X[["a"]], Y)):
        page = one._repr_html_()
        assert "sk-top-container" in page
        assert "GradientBoostingClassifier" in page
        assert 'class="spinney"' not in page
