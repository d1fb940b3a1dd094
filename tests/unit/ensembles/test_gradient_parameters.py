"""Parameters of boosting: wrong values are refused by name, and losses with leaves of their own."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn import config_context
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from tests.reference.monotone import violations

import spinney
from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.ensembles.gradient import outputs
from spinney.errors import InvalidInput, InvalidParameter
from spinney.losses.loss import PointLoss

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))
Y = X[:, 0] + RNG.standard_t(2, size=400)
NAN, INF = float("nan"), float("inf")

WRONG = {
    "learning_rate": (0.0, "aut", None, NAN),
    "max_iter": (0, 2.5, "AUTO", None),
    "max_leaf_nodes": (1, 2.5, "all"),
    "min_samples_leaf": (0, "few", None),
    "l2_regularization": (-1.0, "none", None),
    "max_features": (0.0, 2, "sqrt", None),
    "cv": ("five", 2.5),
    "subsample": (0.0, 1.5, 1, "all", None, NAN),
    "sampler": ("goss", None, 1, True),
    "top_rate": (-0.1, 1.0, "all", None, NAN, True),
    "bagging_temperature": (-1.0, 11.0, NAN, INF, None, "hot"),
    "dropout": (-0.1, 1.5, "half", None, NAN, True),
    "skip_dropout": (-0.1, 1.5, "half", None, NAN),
    "max_dropped": (0, -1, 2.5, "all", True),
    "max_features_per_tree": (0.0, 1.5, 1, None),
    "monotonic_cst": ([2, 0, 0, 0], [1, 0], "up", {"x0": 1}),
    "interaction_cst": ([0, 1], [[0, 4]], "pairs", [[-1]], [["x0"]]),
    "category_encoding": ("set", None, 1, True),
    "category_pairs": ("some", 3, [0], [(0, 0)], [(0, 1)], [("a", "b")], True),
    "date_features": (1, "yes", None),
    "warm_start": (1, "yes", None),
    "early_stopping": ("yes", "parts", None, 1, 0),
    "scoring": ("los", 1, ["r2"]),
    "validation_fraction": (0.0, 1.0, 0, -1, "0.1"),
    "n_iter_no_change": (0, -1, 2.5, None, True),
    "tol": (-1.0, NAN, INF, None),
    "verbose": (-1, 0.5, "yes", None),
    "quantile": (0.0, 1.0, "half", True),
    "huber_delta": (0.0, -1.0, None),
    "tweedie_power": (1.0, 2.0, None),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in WRONG.items() for value in values],
    ids=str,
)
def test_wrong_value_is_refused_by_name(name, value):
    words = "Interaction|interaction" if name == "interaction_cst" else name
    with pytest.raises((InvalidParameter, InvalidInput), match=words):
        GradientBoostingRegressor(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("value", [True, np.True_, "auto"])
def test_booleans_of_numpy_are_booleans(value):
    model = GradientBoostingRegressor(early_stopping=value, max_iter=2, verbose=np.False_)
    assert type(model.fit(X, Y).do_early_stopping_) is bool


def test_suggestions_know_the_words():
    with pytest.raises(InvalidParameter, match=r"early_stopping='aut'.*Did you mean 'auto'"):
        GradientBoostingRegressor(early_stopping="aut").fit(X, Y)
    with pytest.raises(InvalidParameter, match=r"scoring='los'.*Did you mean 'loss'"):
        GradientBoostingRegressor(scoring="los").fit(X, Y)


# A loss whose leaves are order statistics


@dataclass(frozen=True, slots=True)
class MedianLeaves(PointLoss):
    """Squared loss, but a leaf steps to the median: nothing like its derivatives."""

    @property
    def has_order_statistic_leaves(self):
        return True

    def best_leaf_values(self, y, scores, weights, node_rows, n_threads):
        assert n_threads >= 1
        assert weights is None or len(weights) == len(y)
        bounds = zip(node_rows.first, node_rows.last, strict=True)
        rows = [node_rows.rows[first:last] for first, last in bounds]
        residuals = y - scores.reshape(-1)
        return np.array([np.median(residuals[some]) for some in rows])


@pytest.mark.parametrize("early_stopping", [False, True])
def test_order_statistic_leaves_replace_the_values_of_a_tree(monkeypatch, early_stopping):
    losses = {"squared": MedianLeaves("squared", "identity")}
    monkeypatch.setattr(outputs, "REGRESSION_LOSSES", losses)
    model = GradientBoostingRegressor(
        max_iter=3, learning_rate=0.5, early_stopping=early_stopping, random_state=0
    ).fit(X, Y)
    tree, leaves = model.model_[0], model.model_.leaf_ids(X)[:, 0]
    held_out = np.zeros(400, bool)
    if early_stopping:
        from tests.unit.ensembles.test_gradient_stopping import held_out_of

        held_out[held_out_of(0, n=400)] = True
    residuals = Y - model.model_.arrays["baseline"][0]
    for leaf in np.unique(leaves):
        median = np.median(residuals[(leaves == leaf) & ~held_out])
        assert tree.values[leaf, 0] == pytest.approx(0.5 * median)
    stages = list(model.staged_predict(X))
    if early_stopping:
        last = -np.mean((Y - stages[-1])[held_out] ** 2) / 2
        assert model.validation_score_[-1] == pytest.approx(last)


def test_order_statistic_leaves_keep_monotone_splits(monkeypatch):
    losses = {"squared": MedianLeaves("squared", "identity")}
    monkeypatch.setattr(outputs, "REGRESSION_LOSSES", losses)
    model = GradientBoostingRegressor(max_iter=5, monotonic_cst=[1, 0, 0, 0], learning_rate=1.0)
    assert all(violations(tree, 0, 1) == [] for tree in model.fit(X, Y).model_)
    free = model.set_params(monotonic_cst=None).fit(X, Y).model_
    assert any(violations(tree, 0, 1) for tree in free)


# Validation rows through a pipeline


@pytest.mark.parametrize("name", ["GradientBoosting", "HistGradientBoosting"])
def test_validation_rows_are_transformed_by_a_pipeline(name):
    with config_context(enable_metadata_routing=True):
        kind = getattr(spinney, f"{name}Regressor")
        inner = kind(max_iter=5, early_stopping=True).set_fit_request(X_val=True, y_val=True)
        steps = [("scale", StandardScaler()), ("boost", inner)]
        pipeline = Pipeline(steps, transform_input=["X_val"])
        pipeline.fit(X[:300], Y[:300], X_val=X[300:], y_val=Y[300:])
        scaler = StandardScaler().fit(X[:300])
        direct = kind(max_iter=5, early_stopping=True).fit(
            scaler.transform(X[:300]), Y[:300], X_val=scaler.transform(X[300:]), y_val=Y[300:]
        )
    assert pipeline[-1].model_ == direct.model_
    assert np.array_equal(pipeline[-1].validation_score_, direct.validation_score_)


def test_class_weights_and_subsample_go_together():
    labels = (Y > 1).astype(int)
    settings = {"max_iter": 10, "subsample": 0.7, "random_state": 1}
    plain = GradientBoostingClassifier(**settings).fit(X, labels)
    heavy = GradientBoostingClassifier(**settings, class_weight={1: 10.0}).fit(X, labels)
    assert heavy.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.1
