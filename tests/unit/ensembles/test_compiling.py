"""Estimators without a model of their own say of one row what they say of a table of one."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier as TheirTree

from spinney import (
    BlendingClassifier,
    BlendingRegressor,
    CalibratedClassifier,
    ConformalClassifier,
    ConformalRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    StackingClassifier,
    StackingRegressor,
    SuperLearnerClassifier,
    SuperLearnerRegressor,
    VotingClassifier,
    VotingRegressor,
    WeightedVoteClassifier,
    WeightedVoteRegressor,
)
from spinney.errors import CannotSave, InvalidInput

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 2))
FRAME = pd.DataFrame(X, columns=["near", "far"])
Y = X[:, 0] + 0.1 * RNG.normal(size=200)
LABELS = np.where(Y > 0, "yes", "no")
NUMBERS = [("boosting", GradientBoostingRegressor(max_iter=5)), ("line", LinearRegression())]
VOTERS = [("boosting", GradientBoostingClassifier(max_iter=5)), ("line", LogisticRegression())]
SEED = {"random_state": 0}
ESTIMATORS = [
    VotingRegressor(NUMBERS),
    StackingRegressor(NUMBERS),
    StackingRegressor(NUMBERS, passthrough=True),
    BlendingRegressor(NUMBERS, **SEED),
    SuperLearnerRegressor(NUMBERS),
    WeightedVoteRegressor(NUMBERS),
    ConformalRegressor(DecisionTreeRegressor(), **SEED),
    VotingClassifier(VOTERS, voting="soft"),
    StackingClassifier(VOTERS),
    BlendingClassifier(VOTERS, **SEED),
    SuperLearnerClassifier(VOTERS),
    WeightedVoteClassifier(VOTERS),
    CalibratedClassifier(DecisionTreeClassifier(max_depth=3), **SEED),
    ConformalClassifier(DecisionTreeClassifier(max_depth=3), **SEED),
]


def fitted_on(estimator, table):
    is_classifier = type(estimator).__name__.endswith("Classifier")
    return clone(estimator).fit(table, LABELS if is_classifier else Y)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("named", [True, False])
def test_one_row_is_told_what_a_table_of_one_is_told(estimator, named):
    table = FRAME if named else X
    fitted = fitted_on(estimator, table)
    predict = fitted.predict_proba if hasattr(fitted, "predict_proba") else fitted.predict
    compiled = fitted.compile()
    names = ("near", "far") if named else ("x0", "x1")
    assert compiled.feature_names == names
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # members know the names they were fitted with
        for i in range(4):
            # Of one row, too: a product of matrices may be rounded otherwise for many.
            expected = predict(table[i : i + 1])[0]
            row = X[i]
            for asked in (row, row.tolist(), tuple(row), dict(zip(names, row, strict=True))):
                np.testing.assert_array_equal(compiled(asked), expected)
        if named:
            np.testing.assert_array_equal(compiled(FRAME.iloc[7]), predict(FRAME[7:8])[0])
        np.testing.assert_array_equal(compiled(table), predict(table))
    assert isinstance(compiled(X[0]), float) == (not hasattr(fitted, "classes_"))


def test_a_vote_of_labels_gives_one_to_the_label():
    vote = VotingClassifier(VOTERS, voting="hard").fit(X, LABELS)
    compiled = vote.compile()
    assert compiled.classes.tolist() == ["no", "yes"]
    for row, label in zip(X[:20], vote.predict(X[:20]), strict=True):
        assert compiled(row).tolist() == [float(label == "no"), float(label == "yes")]


def test_categories_and_missing_values_go_to_the_members_as_they_are():
    table = FRAME.assign(kind=pd.Categorical(np.where(Y > 1, "high", "low")))
    table.loc[::9, "far"] = np.nan
    members = [("first", DecisionTreeRegressor()), ("second", GradientBoostingRegressor())]
    vote = VotingRegressor(members).fit(table, Y)
    compiled = vote.compile()
    for i in (0, 1, 9):
        assert compiled(table.iloc[i].to_dict()) == vote.predict(table[i : i + 1])[0]
    missing = table[:1].assign(far=np.nan, kind=None)
    told = {"near": table["near"][0], "far": None, "kind": None}
    assert compiled(told) == vote.predict(missing)[0]


def test_many_threads_may_ask_and_pickles_answer_the_same():
    compiled = StackingClassifier(VOTERS).fit(X, LABELS).compile()
    expected = [compiled(row).tolist() for row in X[:40]]
    with ThreadPoolExecutor(8) as pool:
        assert [answer.tolist() for answer in pool.map(compiled, X[:40])] == expected
    again = pickle.loads(pickle.dumps(compiled))
    assert [again(row).tolist() for row in X[:40]] == expected


def test_a_later_fit_does_not_change_what_was_compiled():
    vote = VotingRegressor(NUMBERS).fit(X, Y)
    compiled, before = vote.compile(), vote.predict(X[:1])[0]
    vote.fit(X, -Y)
    assert compiled(X[0]) == before != vote.predict(X[:1])[0]


def test_wrong_rows_are_refused_with_a_remedy():
    compiled = VotingRegressor(NUMBERS).fit(FRAME, Y).compile()
    with pytest.raises(InvalidInput, match="3 values, but the model has 2"):
        compiled(np.zeros(3))
    with pytest.raises(InvalidInput, match="no value for 'far'"):
        compiled({"near": 1.0})
    with pytest.raises(InvalidInput, match=r"does not know: 'other'\. Leave them out\.$"):
        compiled({"near": 1.0, "far": 2.0, "other": 3.0})
    with pytest.raises(CannotSave, match="Save the estimator itself"):
        compiled.model.to_bytes()


def test_what_cannot_be_compiled_says_why():
    with pytest.raises(NotFittedError):
        VotingRegressor(NUMBERS).compile()
    many = StackingClassifier([("tree", TheirTree())], final_estimator=KNeighborsClassifier())
    many.fit(X, np.column_stack([Y > 0, X[:, 1] > 0]).astype(int))
    with pytest.raises(InvalidInput, match=r"predicts 2 labels .* Use predict"):
        many.compile()
    vote = VotingRegressor([("line", Unaware())]).fit(X, Y)
    with pytest.raises(InvalidInput, match=r"do not say which features .* Use predict"):
        vote.compile()


class Unaware(LinearRegression):
    """A member that forgets how many features it was fitted on."""

    def fit(self, table, y, sample_weight=None):
        super().fit(table, y, sample_weight)
        del self.n_features_in_
        return self
