"""Models in notebooks."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from tests.unit.test_markup import HOSTILE, Reader

from spinney import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    GradientBoostingClassifier,
    IsolationForest,
    L2BoostRegressor,
    QuantileForestRegressor,
    RandomForestRegressor,
    RotationForestRegressor,
)

X = pd.DataFrame({"a": np.arange(60.0), HOSTILE: ["oak", "<i>fir</i>", None] * 20})


def test_a_model_tells_what_it_is():
    y = np.where(X["a"] > 20, "<yes>", "no")
    model = GradientBoostingClassifier(max_iter=4, min_samples_leaf=5).fit(X, y).model_
    read = Reader.of(model._repr_html_())
    for told in ("TreeForest", "classification", "2: <yes>, no", "logistic", model.fingerprint):
        assert told in read.text
    assert "<script>alert('x')</script>" in read.text
    assert {"script", "img", "i"}.isdisjoint(read.tags)
    assert "2 features" in read.text


@pytest.mark.parametrize(
    ("estimator", "told"),
    [
        (AdaBoostRegressor(n_estimators=3, random_state=0), "trees3"),
        (IsolationForest(n_estimators=3, random_state=0), "trees3"),
        (IsolationForest(n_estimators=3, extension_level=1, random_state=0), "trees3"),
        (L2BoostRegressor(n_estimators=3, stopping=None), "members3"),
        (L2BoostRegressor(n_estimators=3, stopping=None, learner="spline"), "members3"),
        (QuantileForestRegressor(3, random_state=0), "trees3"),
        (RotationForestRegressor(3, random_state=0), "trees3"),
    ],
    ids=str,
)
def test_models_of_every_kind_tell_their_size(estimator, told):
    numbers = np.random.default_rng(0).normal(size=(60, 4))
    model = estimator.fit(numbers, numbers[:, 0]).model_
    text = Reader.of(model._repr_html_()).text
    assert told in text
    assert model.fingerprint in text


def test_models_of_other_members_have_no_fingerprint_to_show():
    y = (X["a"] > 20).astype(int)
    booster = AdaBoostClassifier(LogisticRegression(), n_estimators=2)
    model = booster.fit(X[["a"]].to_numpy(), y).model_
    read = Reader.of(model._repr_html_())
    assert "members" in read.text
    assert f"link{model.link}" in read.text
    assert "fingerprint" not in read.text


def test_many_features_are_not_all_listed():
    wide = np.random.default_rng(0).normal(size=(20, 150))
    model = RandomForestRegressor(2, random_state=0).fit(wide, wide[:, 0]).model_
    read = Reader.of(model._repr_html_())
    assert "150 features, the first 100 of them" in read.text
    assert "x99" in read.text
    assert "x100" not in read.text
