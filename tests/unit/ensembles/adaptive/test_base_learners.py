"""Any classifier as a base learner, and what is said of those that fail."""

import pickle

import numpy as np
import pytest
import sklearn.tree
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from tests.unit.ensembles.adaptive.problems import blobs, small_tree

import spinney
from spinney import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    MarginBoostClassifier,
    RobustBoostClassifier,
)
from spinney.errors import CannotSave, InvalidInput, InvalidParameter, WeakLearnerFailed
from spinney.io.save_load import to_bytes

X2, Y2 = blobs(2)
LEARNERS = {
    "logistic": LogisticRegression(C=1000.0),
    "neighbours": KNeighborsClassifier(15),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "support_vectors": SVC(C=100.0),
    "bayes": GaussianNB(),
    "tree": sklearn.tree.DecisionTreeClassifier(max_depth=1),
    "our_tree_with_limits": spinney.DecisionTreeClassifier(max_depth=3, min_samples_leaf=5),
    "our_tree_with_draws": spinney.DecisionTreeClassifier(max_depth=2, max_features=1),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", LEARNERS)
def test_any_classifier_is_boosted(name, n_classes):
    X, y = blobs(n_classes)
    booster = AdaBoostClassifier(LEARNERS[name], n_estimators=5, random_state=0).fit(X, y)
    assert booster.score(X, y) > (0.55 if n_classes == 3 else 0.65)
    np.testing.assert_allclose(booster.predict_proba(X).sum(axis=1), 1.0)
    assert [type(m) for m in booster.estimators_] == [type(LEARNERS[name])] * len(booster.trace_)
    again = pickle.loads(pickle.dumps(booster))
    np.testing.assert_array_equal(again.predict_proba(X), booster.predict_proba(X))
    np.testing.assert_array_equal(again.alphas_, booster.alphas_)
    same = clone(booster).fit(X, y)
    np.testing.assert_array_equal(same.alphas_, booster.alphas_)
    with pytest.raises(CannotSave, match=r"no safe form in a file.*pickle or joblib"):
        to_bytes(booster)


def test_foreign_stumps_are_boosted_as_scikit_learn_boosts_them():
    from sklearn.ensemble import AdaBoostClassifier as Theirs

    for n_classes in (2, 3):
        X, y = blobs(n_classes)
        stump = sklearn.tree.DecisionTreeClassifier(max_depth=1)
        theirs = Theirs(stump, n_estimators=10, random_state=0).fit(X, y)
        ours = AdaBoostClassifier(stump, n_estimators=10, random_state=0).fit(X, y)
        np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, atol=1e-10)
        np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, atol=1e-9)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        scale = 2 if n_classes == 2 else 1  # theirs of two classes go from -2 to 2
        np.testing.assert_allclose(scale * ours.decision_function(X), theirs.decision_function(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_our_stumps_are_those_of_scikit_learn(n_classes):
    from sklearn.ensemble import AdaBoostClassifier as Theirs

    X, y = blobs(n_classes, n_rows=400, n_features=6)
    theirs = Theirs(n_estimators=25, random_state=0).fit(X, y)
    ours = AdaBoostClassifier(n_estimators=25).fit(X, y)
    cuts = [(tree.feature[0], tree.threshold[0]) for tree in ours.model_]
    their_cuts = [(m.tree_.feature[0], m.tree_.threshold[0]) for m in theirs.estimators_]
    assert [f for f, _ in cuts] == [f for f, _ in their_cuts]
    np.testing.assert_allclose([c for _, c in cuts], [c for _, c in their_cuts], rtol=1e-6)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, atol=1e-9)
    scale = 2 if n_classes == 2 else 1
    np.testing.assert_allclose(
        scale * ours.decision_function(X), theirs.decision_function(X), atol=1e-9
    )


def test_learners_without_weights_see_drawn_rows():
    seen = []

    class Spy(KNeighborsClassifier):
        def fit(self, X, y):
            seen.append(np.sort(X[:, 0]))
            return super().fit(X, y)

    booster = AdaBoostClassifier(Spy(), n_estimators=3, random_state=0).fit(X2, Y2)
    assert [len(rows) for rows in seen] == [len(Y2)] * len(seen)
    assert all(len(np.unique(rows)) < len(Y2) for rows in seen)
    assert len(booster.trace_) <= len(seen)


def test_regressors_are_boosted_by_gentle_and_logit():
    for variant in ("gentle", "logit"):
        for n_classes in (2, 3):
            X, y = blobs(n_classes)
            booster = AdaBoostClassifier(LinearRegression(), variant=variant, n_estimators=4)
            assert booster.fit(X, y).score(X, y) > 0.4
            assert len(list(booster.staged_predict(X))) == len(booster.trace_) == 4


def test_labels_stand_in_for_probabilities_unless_logarithms_are_taken():
    for variant in ("m2", "confidence"):
        booster = AdaBoostClassifier(RidgeClassifier(), variant=variant, n_estimators=2)
        assert booster.fit(X2, Y2).score(X2, Y2) > 0.6
    for variant in ("real", "samme_r"):
        with pytest.raises(WeakLearnerFailed, match="RidgeClassifier has no predict_proba"):
            AdaBoostClassifier(RidgeClassifier(), variant=variant).fit(X2, Y2)


def test_sparse_rows_stay_sparse_and_dense_ones_agree():
    X = np.abs(X2)
    plain = AdaBoostClassifier(SVC(C=100.0), n_estimators=3).fit(X, Y2)
    for form in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.lil_matrix):
        booster = AdaBoostClassifier(SVC(C=100.0), n_estimators=3).fit(form(X), Y2)
        np.testing.assert_allclose(booster.decision_function(form(X)), plain.decision_function(X))
        drawn = AdaBoostClassifier(SVC(), n_estimators=2, mode="resample", random_state=0)
        assert drawn.fit(form(X), Y2).predict(form(X)).shape == Y2.shape
        stumps = AdaBoostClassifier(n_estimators=5).fit(form(X), Y2)
        dense = AdaBoostClassifier(n_estimators=5).fit(X, Y2)
        np.testing.assert_array_equal(stumps.predict_proba(form(X)), dense.predict_proba(X))


def test_rows_may_be_texts():
    texts = ["good day", "bad day", "good night", "bad night", "good good", "bad bad"] * 4
    y = ["up", "down"] * 12
    learner = make_pipeline(CountVectorizer(), MultinomialNB())
    for given in (texts, np.array(texts)):
        booster = AdaBoostClassifier(learner, n_estimators=3, random_state=0).fit(given, y)
        assert booster.predict(given).tolist() == y


def test_limits_of_our_trees_count_rows_whatever_the_weights():
    tree = spinney.DecisionTreeClassifier(max_depth=4, min_samples_leaf=8)
    booster = AdaBoostClassifier(tree, n_estimators=4).fit(X2, Y2)
    assert all(member.model_[0].n_leaves > 2 for member in booster.estimators_)
    total = booster.estimators_[0].model_[0].weight[0]
    assert total == pytest.approx(len(Y2))


def test_every_member_has_a_seed_of_its_own():
    booster = AdaBoostClassifier(
        sklearn.tree.DecisionTreeClassifier(max_depth=2), n_estimators=6, random_state=1
    ).fit(X2, Y2)
    seeds = [member.random_state for member in booster.estimators_]
    assert len(set(seeds)) == 6
    assert seeds == [m.random_state for m in clone(booster).fit(X2, Y2).estimators_]


# Learners that fail


class Odd(ClassifierMixin, BaseEstimator):
    """Answers what it is told to answer."""

    def __init__(self, kind="raise"):
        self.kind = kind

    def fit(self, X, y, sample_weight=None):  # noqa: ARG002
        if self.kind == "raise":
            raise RuntimeError("the disk is full")
        self.classes_ = np.unique(y)
        self.stump_ = sklearn.tree.DecisionTreeClassifier(max_depth=1).fit(X, y)
        return self

    def predict(self, X):
        said = self.stump_.predict(X)
        odd = {
            "strange label": np.where(np.arange(len(X)) == 3, 7, said),
            "text": np.array(["seven"] * len(X)),
            "nan": np.full(len(X), np.nan),
            "short": said[:-1],
            "wide": said[:, None] * np.ones(2),
            "none": None,
        }
        return odd.get(self.kind, said)


class OddShares(Odd):
    def predict_proba(self, X):
        shares = self.stump_.predict_proba(X)
        odd = {
            "nan": shares * np.nan,
            "negative": shares - 0.9,
            "no shares": shares * 5,
            "wide": np.hstack([shares, shares]),
            "short": shares[:-1],
        }
        return odd[self.kind]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("raise", r"Round 1: the base learner Odd raised RuntimeError: the disk is full"),
        ("strange label", r"Round 1: Odd.predict gave .*7.* for row 3, which is no class of y"),
        ("nan", r"Round 1: Odd.predict gave .*nan.* which is no class"),
        ("text", r"Round 1: .*Odd"),
        ("short", r"Round 1: Odd gave 89 answers for 90 rows"),
        ("wide", r"Odd.predict gave an array of shape \(90, 2\); expected one label per row"),
        ("none", r"Round 1: Odd.predict gave an array of shape \(\)"),
        ("deaf", r"takes sample_weight but answers the same whatever the weights.*mode='resample'"),
    ],
)
def test_a_learner_that_answers_nonsense_is_named(kind, words):
    with pytest.raises(WeakLearnerFailed, match=words) as caught:
        AdaBoostClassifier(Odd(kind)).fit(X2, Y2)
    if kind == "raise":
        assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize("kind", ["nan", "negative", "no shares", "wide", "short"])
@pytest.mark.parametrize("variant", ["real", "m2", "confidence"])
def test_shares_that_are_none_are_refused(kind, variant):
    words = r"gave 89 answers for 90 rows" if kind == "short" else r"expected probabilities"
    with pytest.raises(WeakLearnerFailed, match=words):
        AdaBoostClassifier(OddShares(kind), variant=variant).fit(X2, Y2)


def test_a_classifier_where_a_regressor_is_needed_and_the_other_way_round():
    for variant in ("gentle", "logit"):
        with pytest.raises(
            InvalidParameter, match=r"LogisticRegression.* is a classifier.*numbers"
        ):
            AdaBoostClassifier(LogisticRegression(), variant=variant).fit(X2, Y2)
    with pytest.raises(WeakLearnerFailed, match="no class of y"):
        AdaBoostClassifier(LinearRegression()).fit(X2, Y2)
    # Trees of ours are grown by what the variant asks for
    for variant in ("gentle", "discrete"):
        other = {"gentle": "discrete", "discrete": "gentle"}[variant]
        booster = AdaBoostClassifier(small_tree(other), variant=variant, n_estimators=3)
        assert booster.fit(X2, Y2).score(X2, Y2) > 0.7


def test_a_learner_that_heeds_weights_is_not_called_deaf():
    """Dummies answer alike for many weights, but not for all."""
    from sklearn.dummy import DummyClassifier

    booster = AdaBoostClassifier(DummyClassifier(strategy="most_frequent"))
    booster.fit(X2, np.r_[Y2[:-1], 1 - Y2[-1]])
    assert len(booster.trace_) == 1


def test_a_learner_worse_than_guessing_from_the_start_is_refused():
    X, y = np.ones((4, 2)), ["foo", "bar", "one", "two"]
    with pytest.raises(WeakLearnerFailed, match="SVC is worse than random in the first round"):
        AdaBoostClassifier(SVC()).fit(X, y)


def test_other_columns_than_those_of_fit_are_refused():
    booster = AdaBoostClassifier(LogisticRegression(), n_estimators=2).fit(X2, Y2)
    for ask in (booster.predict, lambda X: list(booster.staged_predict(X)), booster.predict_proba):
        with pytest.raises(InvalidInput, match="X has 2 features, but AdaBoostClassifier is exp"):
            ask(X2[:, :2])


def test_members_without_importances_are_told():
    booster = AdaBoostClassifier(GaussianNB(), n_estimators=2).fit(X2, Y2)
    with pytest.raises(AttributeError, match="GaussianNB has no feature_importances_"):
        _ = booster.feature_importances_
    assert not hasattr(booster, "feature_importances_")


def test_one_class_needs_no_learner():
    booster = AdaBoostClassifier(sklearn.tree.DecisionTreeClassifier()).fit(X2, ["a"] * len(Y2))
    assert set(booster.predict(X2)) == {"a"}
    assert booster.feature_importances_.tolist() == [0.0] * 3
    np.testing.assert_array_equal(booster.predict_proba(X2), 1.0)


@pytest.mark.parametrize(
    "booster",
    [
        AdaBoostClassifier(spinney.DecisionTreeClassifier(max_depth=2), n_estimators=4),
        AdaBoostClassifier(variant="mh", n_estimators=20),
        AdaBoostClassifier(variant="logit", n_estimators=10),
    ],
    ids=["trees", "pairs", "scores"],
)
def test_scikit_learn_finds_nothing_to_complain_of(booster):
    """The default parameters are checked with all other estimators."""
    import warnings

    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(booster, on_fail=None, on_skip=None)
    assert len(results) > 50
    failed = [r["check_name"] for r in results if r["status"] == "failed"]
    assert failed == []


class Deaf(ClassifierMixin, BaseEstimator):
    """Takes weights and does not look at them."""

    def fit(self, X, y, sample_weight=None):
        del sample_weight
        self.tree_ = sklearn.tree.DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)

    def predict_proba(self, X):
        return self.tree_.predict_proba(X)


class DeafAndRandom(Deaf):
    """Never says the same twice, weights or not."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        del sample_weight
        tree = sklearn.tree.DecisionTreeClassifier(
            max_depth=3, max_features=1, random_state=self.random_state
        )
        self.tree_ = tree.fit(X, y)
        self.classes_ = self.tree_.classes_
        return self


class DeafToNumbers(RegressorMixin, BaseEstimator):
    """The same for numbers."""

    def fit(self, X, y, sample_weight=None):
        del sample_weight
        self.tree_ = sklearn.tree.DecisionTreeRegressor(max_depth=1, random_state=0).fit(X, y)
        return self

    def predict(self, X):
        return self.tree_.predict(X)


VARIANTS = ("discrete", "real", "mh", "m2", "arc_x4")
PROGRAMS = ("lpboost", "erlpboost", "arc_gv")
SCHEMES = ("savage", "mada", "smooth", "robust")
DEAF = {
    **{name: AdaBoostClassifier(Deaf(), variant=name) for name in VARIANTS},
    "gentle": AdaBoostClassifier(DeafToNumbers(), variant="gentle"),
    **{name: MarginBoostClassifier(Deaf(), algorithm=name) for name in PROGRAMS},
    **{name: RobustBoostClassifier(Deaf(), algorithm=name) for name in SCHEMES},
}


@pytest.mark.parametrize("name", DEAF)
def test_learners_that_ignore_weights_are_found_out(name):
    booster = clone(DEAF[name]).set_params(n_estimators=10)
    with pytest.raises(WeakLearnerFailed, match=r"answers the same whatever.*mode='resample'"):
        booster.fit(X2, Y2)


@pytest.mark.parametrize("name", [name for name in DEAF if name != "gentle"])
def test_random_learners_that_ignore_weights_are_found_out(name):
    booster = clone(DEAF[name]).set_params(n_estimators=10, estimator=DeafAndRandom())
    with pytest.raises(WeakLearnerFailed, match=r"answers the same whatever.*mode='resample'"):
        booster.fit(X2, Y2)


def test_a_regressor_that_ignores_weights_is_found_out():
    y = X2[:, 0] + X2[:, 1] ** 2
    with pytest.raises(WeakLearnerFailed, match=r"answers the same whatever.*mode='resample'"):
        AdaBoostRegressor(DeafToNumbers(), mode="reweight").fit(X2, y)
    assert AdaBoostRegressor(DeafToNumbers(), mode="resample", random_state=0).fit(X2, y)
