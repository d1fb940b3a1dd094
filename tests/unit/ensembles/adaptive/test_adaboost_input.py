"""Labels and tables of every kind; parameters that are wrong."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from tests.unit.ensembles.adaptive.problems import blobs

import spinney
from spinney import AdaBoostClassifier, DecisionTreeClassifier
from spinney.errors import InvalidInput, InvalidParameter, UnknownParameter
from spinney.io.save_load import from_bytes, to_bytes

X2, Y2 = blobs(2)
LABELS = {
    "text": np.array(["no", "yes"]),
    "objects": np.array(["no", "yes"], object),
    "flags": np.array([False, True]),
    "signs": np.array([-1, 1]),
    "large": np.array([10**12, 10**13]),
    "fractions": np.array([0.0, 3.0]),
}


@pytest.mark.parametrize("estimator", [None, LogisticRegression()], ids=["stumps", "foreign"])
@pytest.mark.parametrize("kind", LABELS)
def test_labels_come_back_as_they_were(kind, estimator):
    y = LABELS[kind][Y2]
    booster = AdaBoostClassifier(estimator, n_estimators=4).fit(X2, y)
    assert booster.classes_.dtype == y.dtype
    assert booster.predict(X2).dtype == y.dtype
    codes = AdaBoostClassifier(estimator, n_estimators=4).fit(X2, Y2)
    np.testing.assert_array_equal(booster.predict(X2), LABELS[kind][codes.predict(X2)])
    np.testing.assert_allclose(booster.predict_proba(X2), codes.predict_proba(X2), atol=1e-12)
    np.testing.assert_allclose(booster.margins(X2, y), codes.margins(X2, Y2), atol=1e-12)
    as_series = AdaBoostClassifier(estimator, n_estimators=4).fit(X2, pd.Series(y))
    np.testing.assert_array_equal(as_series.predict(X2), booster.predict(X2))


def frame(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "town": rng.choice(["Aix", "Bonn", "Cork", "Delft"], n_rows),
            "married": rng.random(n_rows) < 0.5,
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 999, n_rows), "D"),
        }
    )
    y = (table["town"].isin(["Aix", "Delft"]) ^ (table["size"] > 0.5)).astype(int)
    table.loc[::7, "size"] = None
    table.loc[3::11, "town"] = None
    table["town"] = table["town"].astype("category")
    return table, y


@pytest.mark.parametrize("depth", [1, 3])
def test_frames_go_in_as_they_are(depth):
    X, y = frame()
    tree = DecisionTreeClassifier(max_depth=depth)
    booster = AdaBoostClassifier(tree, n_estimators=15).fit(X, y)
    assert booster.score(X, y) > (0.65 if depth == 1 else 0.85)  # towns and sizes act together
    assert booster.feature_names_in_.tolist() == list(X.columns)
    shuffled = X[["when", "married", "town", "size"]]  # columns are matched by name
    np.testing.assert_array_equal(booster.predict_proba(shuffled), booster.predict_proba(X))
    again = from_bytes(to_bytes(booster))
    np.testing.assert_array_equal(again.predict_proba(X), booster.predict_proba(X))
    unseen = X.assign(town=pd.Categorical(["Zug"] * len(X)))
    assert np.isfinite(booster.predict_proba(unseen)).all()
    with pytest.raises(InvalidInput, match="Zug"):
        AdaBoostClassifier(tree, n_estimators=3, unseen="error").fit(X, y).predict(unseen)


def test_early_stopping_on_frames():
    X, y = frame()
    for way in ("validation", "cv"):
        booster = AdaBoostClassifier(early_stopping=way, random_state=0).fit(X, y)
        assert 1 <= len(booster.trace_) <= 50


def test_a_label_that_is_no_class_has_no_margin():
    booster = AdaBoostClassifier(n_estimators=3).fit(X2, Y2)
    with pytest.raises(InvalidInput, match="y holds 5 at row 0, which is no class"):
        booster.margins(X2, np.where(np.arange(len(Y2)) == 0, 5, Y2))


WRONG = {
    "n_estimators": (0, -1, 2.5, None, "9", True),
    "learning_rate": (0, -1.0, float("nan"), float("inf"), "1", None, True),
    "variant": ("discret", None, 1, "SAMME"),
    "mode": ("resampling", None, 0),
    "alpha": ("exactly", None, 0.5),
    "on_weak_failure": ("revert", None, True),
    "eps_clip": (0.0, 0.5, 1.0, -1e-9, float("nan"), None),
    "totally_corrective": (1, None, "yes"),
    "store_weights": (1, None, "no"),
    "early_stopping": ("margins", True, False, 5, "auto"),
    "validation_fraction": (0.0, 1.0, 1, -0.5, float("nan"), None),
    "n_iter_no_change": (0, -3, 1.5, None),
    "tol": (-1e-9, float("nan"), None, "0"),
    "estimator": (5, "stump", DecisionTreeClassifier, object(), [LogisticRegression()]),
    "unseen": ("mising", None),
    "extra_columns": ("ignor", None),
    "random_state": (-1, "a", 1.5),
    "n_jobs": (0, "2", 1.5),
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in WRONG.items() for v in values])
def test_a_wrong_parameter_is_refused_by_name(name, value):
    with pytest.raises(InvalidParameter, match=f"{name}=.* of AdaBoostClassifier: expected"):
        AdaBoostClassifier(**{name: value}).fit(X2, Y2)


def test_wrong_parameters_of_a_base_tree_are_refused():
    with pytest.raises(InvalidParameter, match="max_depth=-3 of DecisionTreeClassifier"):
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=-3)).fit(X2, Y2)
    with pytest.raises(InvalidInput, match="criterion='exponential' takes two classes"):
        AdaBoostClassifier(DecisionTreeClassifier(criterion="exponential")).fit(*blobs(3))
    with pytest.raises(UnknownParameter, match="Did you mean 'n_estimators'"):
        AdaBoostClassifier(n_estimator=3)


@pytest.mark.parametrize(
    "call", ["predict", "predict_proba", "decision_function", "staged_predict", "margins"]
)
def test_nothing_is_said_before_fit(call):
    from sklearn.exceptions import NotFittedError

    booster = AdaBoostClassifier()
    arguments = (X2, Y2) if call == "margins" else (X2,)
    with pytest.raises(NotFittedError):
        list(getattr(booster, call)(*arguments))
    for name in ("alphas_", "estimators_", "estimator_weights_", "feature_importances_"):
        with pytest.raises(NotFittedError):
            getattr(booster, name)


@pytest.mark.parametrize("n_rows", [1, 2])
def test_a_row_or_two(n_rows):
    booster = AdaBoostClassifier().fit(X2[:n_rows], [0, 1][:n_rows])
    assert booster.predict(X2[:n_rows]).tolist() == [0, 1][:n_rows]


def test_huge_and_tiny_weights_count_by_their_ratio():
    weights = np.random.default_rng(0).integers(1, 5, len(Y2)).astype(float)
    plain = AdaBoostClassifier(n_estimators=5).fit(X2, Y2, sample_weight=weights)
    for scale in (2.0**900, 2.0**-900):
        scaled = AdaBoostClassifier(n_estimators=5).fit(X2, Y2, sample_weight=scale * weights)
        np.testing.assert_allclose(scaled.alphas_, plain.alphas_, rtol=1e-9)


# Base learners in files


def test_a_base_learner_of_ours_travels_in_the_file(tmp_path):
    tree = DecisionTreeClassifier(max_depth=2, criterion="error", random_state=7)
    booster = AdaBoostClassifier(tree, n_estimators=3).fit(X2, Y2)
    spinney.save(booster, tmp_path / "booster.spn")
    again = spinney.load(tmp_path / "booster.spn")
    assert type(again.estimator) is DecisionTreeClassifier
    assert again.estimator.get_params() == tree.get_params()
    refitted = again.fit(X2, Y2)
    assert refitted.model_.fingerprint == booster.model_.fingerprint
