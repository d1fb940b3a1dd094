"""What ensemble selection refuses, and the words it finds."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GroupKFold,
    RepeatedKFold,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import spinney
from spinney import EnsembleSelectionClassifier, EnsembleSelectionRegressor
from spinney.errors import (
    InvalidInput,
    InvalidInputType,
    InvalidParameter,
    WeakLearnerFailed,
)

X, Y = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(X))
X, Y = X[ORDER], Y[ORDER]
X_NUMBERS, Y_NUMBERS = load_diabetes(return_X_y=True)


def library():
    return [
        ("bayes", GaussianNB()),
        ("near", KNeighborsClassifier(5)),
        ("line", LogisticRegression(solver="newton-cholesky")),
        ("tree", spinney.DecisionTreeClassifier(max_depth=3)),
    ]


def numbers_library():
    return [
        ("mean", DummyRegressor()),
        ("line", LinearRegression()),
        ("tree", spinney.DecisionTreeRegressor(max_depth=3)),
        ("ridge", Ridge(0.1)),
    ]


def fails(error, words, *, X=X, y=Y, fit=None, **parameters):
    with pytest.raises(error, match=words):
        EnsembleSelectionClassifier(**{"estimators": library(), **parameters}).fit(
            X, y, **(fit or {})
        )


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"estimators": []}, "at least one member"),
        ({"estimators": GaussianNB()}, "list of"),
        ({"estimators": [("a", GaussianNB()), ("a", GaussianNB())]}, "several members called 'a'"),
        ({"estimators": [("a__b", GaussianNB())]}, "'a__b'"),
        ({"estimators": [("a", GaussianNB)]}, "a class"),
        ({"estimators": [("a", 5)]}, "without fit"),
        ({"estimators": [("a", Ridge())]}, "no classifier"),
        ({"cv": 1}, "cv=1 .*None for 5"),
        ({"cv": 1.5}, "cv=1.5"),
        ({"cv": True}, "cv=True"),
        ({"cv": "prefitted"}, "cv='prefitted'"),
        ({"cv": "prefit"}, "is not fitted"),
        ({"cv": "prefit", "estimators": None}, "needs fitted members"),
        ({"scoring": "accurate"}, "scoring='accurate'"),
        ({"scoring": 5}, "scoring=5"),
        ({"n_steps": 0}, "n_steps=0"),
        ({"n_init": 0}, "n_init=0"),
        ({"patience": 0}, "patience=0"),
        ({"n_bags": 0}, "n_bags=0"),
        ({"bag_fraction": 0.0}, "bag_fraction=0.0"),
        ({"keep": 1.5}, "keep=1.5"),
        ({"random_state": -1}, "random_state=-1"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, words):
    fails(InvalidParameter, words, **parameters)


def test_splitters_that_repeat_rows_are_refused():
    repeated = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    fails(InvalidInput, "a second time in fold 3", cv=repeated)
    pair = (np.arange(100), np.arange(100, 150))
    fails(InvalidInput, "row 100 a second time in fold 1", cv=[pair, pair])


def test_pairs_that_name_no_rows_are_refused():
    fails(InvalidInput, "Row 150 among the test rows", cv=[(np.arange(100), np.arange(100, 151))])
    fails(InvalidInputType, "type float64", cv=[(np.arange(100), np.array([0.5]))])
    fails(InvalidInput, "no folds at all", cv=[])
    fails(InvalidInput, "no rows in the training rows", cv=[(np.arange(0), np.arange(150))])


def test_folds_that_rows_cannot_fill_are_refused():
    fails(
        InvalidInput, "of n_samples=6 the largest class of y has 2", X=X[:6], y=[0, 0, 1, 1, 2, 2]
    )
    fails(InvalidInput, "groups", cv=GroupKFold(3))
    fails(InvalidInput, "one per row", fit={"groups": [1, 2]})
    missing = np.where(np.arange(150) == 3, np.nan, 1.0)
    fails(InvalidInput, "missing value is in row 3", fit={"groups": missing})
    fails(InvalidInput, "set aside", cv=0.5, X=X[:1], y=Y[:1])
    fails(InvalidInput, "set aside", cv=0.5, fit={"groups": np.ones(150)})


def test_weights_that_a_member_cannot_take_are_refused():
    weights = np.ones(150)
    fails(InvalidInput, "'near' .* takes none", fit={"sample_weight": weights})
    fails(InvalidInput, "weight", fit={"sample_weight": -weights})
    fitted = [(name, one.fit(X, Y)) for name, one in library()]  # nobody is fitted: weights may be
    model = EnsembleSelectionClassifier(fitted, cv="prefit").fit(X, Y, sample_weight=weights)
    assert model.weights_.sum() == pytest.approx(1.0)


def test_scorers_that_take_no_weights_or_give_no_number_are_refused():
    def plain(estimator, X, y):
        return estimator.score(X, y)

    members = library()[2:]
    fails(
        InvalidParameter,
        "takes no sample_weight",
        estimators=members,
        scoring=plain,
        fit={"sample_weight": np.full(150, 2.0)},
    )
    fails(InvalidInput, "finite", scoring=lambda *_: float("nan"))
    fails(InvalidInput, "finite", scoring=lambda *_: "good")
    weighted = make_scorer(lambda y, said, sample_weight: (y == said) @ sample_weight)
    model = EnsembleSelectionClassifier(members, scoring=weighted, n_steps=3)
    model.fit(X, Y, sample_weight=np.full(150, 2.0))
    assert model.library_.committee_score > 250


def test_members_that_fail_are_named():
    class Broken(GaussianNB):
        def fit(self, X, y):
            raise RuntimeError(f"no disk for {len(X)} rows and {len(y)} labels")

    class Silent(GaussianNB):
        def predict_proba(self, X):
            return super().predict_proba(X) * np.nan

    class Loud(GaussianNB):
        def predict_proba(self, X):
            raise MemoryError(f"full after {len(X)} rows")

    fails(WeakLearnerFailed, "'b' .Broken.*no disk", estimators=[("b", Broken())])
    fails(InvalidInput, "'s' .Silent", estimators=[("s", Silent())])
    fails(WeakLearnerFailed, "'l' .Loud.*full", estimators=[("l", Loud())])


def test_prefit_members_of_other_labels_are_refused():
    fitted = [("a", GaussianNB().fit(X, np.array(list("xyz"))[Y]))]
    fails(InvalidInput, "Give y the labels", estimators=fitted, cv="prefit")


def test_numbers_beyond_squares_are_refused():
    with pytest.raises(InvalidInput, match="adds squares"):
        EnsembleSelectionRegressor(numbers_library()).fit(X_NUMBERS, Y_NUMBERS * 1e200)
    with pytest.raises(InvalidInput, match="1d array"):
        EnsembleSelectionRegressor().fit(X_NUMBERS, np.column_stack([Y_NUMBERS] * 2))
    with pytest.raises(InvalidParameter, match="a classifier"):
        EnsembleSelectionRegressor(library()).fit(X_NUMBERS, Y_NUMBERS)


def test_members_may_not_be_called_as_parameters():
    library = [("cv", GaussianNB()), ("line", GaussianNB())]
    with pytest.raises(InvalidParameter, match="members called 'cv', and parameters of the same"):
        EnsembleSelectionClassifier(library).fit(np.eye(8), [0, 1] * 4)
