"""Committees in files: what comes back is what was saved, and what cannot be true is refused."""

import json

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeCV
from sklearn.model_selection import GroupKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from tests.attacks.training_rows import classes, frame, target

import spinney
from spinney.errors import CannotSave, InvalidFile
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model import sections
from spinney.resampling import Folds

TABLE, NUMBERS = frame(), target()
TWO, THREE = classes(["no", "yes"]), classes(np.array(["a", "b", "c"], object))
CLASSES = [
    ("tree", spinney.DecisionTreeClassifier(max_depth=3)),
    ("forest", spinney.RandomForestClassifier(4, random_state=0, max_depth=4)),
    ("gone", "drop"),
]
VALUES = [
    ("tree", spinney.DecisionTreeRegressor(max_depth=3)),
    ("boosting", spinney.GradientBoostingRegressor(max_iter=4)),
]
EVERY = {
    "VotingClassifier": {"voting": "soft", "weights": [1, 2, 1]},
    "VotingRegressor": {"aggregation": "median"},
    "WeightedVoteClassifier": {"weights": "log_odds", "vote": "probabilities"},
    "WeightedVoteRegressor": {"weights": [0.5, -0.25]},
    "StackingClassifier": {},
    "StackingRegressor": {},
    "BlendingClassifier": {"random_state": 0},
    "BlendingRegressor": {"random_state": 0, "refit": True},
    "SuperLearnerClassifier": {"loss": "log_loss"},
    "SuperLearnerRegressor": {"combine": "discrete"},
}


def made(name, **changes):
    members = CLASSES if name.endswith("Classifier") else VALUES
    return getattr(spinney, name)(**{"estimators": members, **EVERY[name], **changes})


def fitted(name, y=None, **changes):
    committee = made(name, **changes)
    return committee.fit(TABLE, (TWO if is_classifier(committee) else NUMBERS) if y is None else y)


def said(committee):
    ask = getattr(committee, "predict_proba", committee.predict)
    return ask(TABLE).tobytes(), committee.predict(TABLE).tolist()


def test_every_committee_of_estimators_is_here():
    here = "spinney.ensembles.combining."
    assert {n for n, module in spinney.ESTIMATORS.items() if module.startswith(here)} == set(EVERY)


@pytest.mark.parametrize("name", EVERY)
def test_a_committee_comes_back_with_its_members_and_answers_the_same_bits(name, tmp_path):
    committee = fitted(name)
    spinney.save(committee, tmp_path / "committee.spn")
    again = spinney.load(tmp_path / "committee.spn")
    assert said(again) == said(committee)
    assert to_bytes(again) == to_bytes(committee)
    assert repr(again.get_params()) == repr(committee.get_params())
    assert list(again.named_estimators_) == list(committee.named_estimators_)
    assert [m.model_ for m in again.estimators_] == [m.model_ for m in committee.estimators_]
    assert list(again.feature_names_in_) == list(TABLE.columns)
    assert said(clone(again).fit(TABLE, TWO if is_classifier(again) else NUMBERS)) == said(again)


@pytest.mark.parametrize("y", [TWO, THREE, classes([3, 7, 8]), classes([False, True])])
@pytest.mark.parametrize("name", ["StackingClassifier", "VotingClassifier"])
def test_labels_come_back_as_they_were(name, y):
    again = from_bytes(to_bytes(fitted(name, y)))
    assert again.classes_.dtype == y.dtype
    assert again.predict(TABLE).dtype == y.dtype
    assert again.classes_.tolist() == sorted(set(y.tolist()))


@pytest.mark.parametrize(
    ("name", "final"),
    [
        ("StackingClassifier", LogisticRegression(C=0.3)),
        ("StackingClassifier", "simplex"),
        ("StackingClassifier", spinney.GradientBoostingClassifier(max_iter=3)),
        ("StackingRegressor", RidgeCV(alphas=(0.5, 2.0))),
        ("StackingRegressor", Ridge(alpha=2.0)),
        ("StackingRegressor", LinearRegression()),
        ("StackingRegressor", "nonnegative"),
        ("StackingRegressor", spinney.DecisionTreeRegressor(max_depth=2)),
    ],
)
def test_final_estimators_of_ours_and_linear_ones_come_back(name, final):
    stack = fitted(name, THREE if name.endswith("Classifier") else None, final_estimator=final)
    again = from_bytes(to_bytes(stack))
    assert said(again) == said(stack)
    assert repr(again.get_params()) == repr(stack.get_params())
    assert type(again.final_estimator_) is type(stack.final_estimator_)


def test_a_stack_that_passes_columns_on_comes_back():
    X = np.column_stack([NUMBERS, NUMBERS[::-1]])
    stack = made("StackingRegressor", passthrough=True).fit(X, NUMBERS)
    assert (from_bytes(to_bytes(stack)).predict(X) == stack.predict(X)).all()


def test_a_stack_inside_a_stack_comes_back():
    inner = made("StackingClassifier", cv=3)
    outer = fitted("StackingClassifier", THREE, estimators=[("inner", inner), *CLASSES[:1]], cv=3)
    again = from_bytes(to_bytes(outer))
    assert said(again) == said(outer)
    assert again.estimators_[0].final_estimator_.coef_.shape == (3, 6)


def test_committees_of_the_default_members_come_back():
    X = np.column_stack([NUMBERS, NUMBERS[::-1]])
    stack = spinney.StackingRegressor().fit(X, NUMBERS)
    again = from_bytes(to_bytes(stack))
    assert (again.predict(X) == stack.predict(X)).all()
    assert list(again.named_estimators_) == ["boosting", "forest", "extra_trees"]


def test_members_that_were_fitted_before_keep_what_they_learnt():
    members = [(name, clone(m).fit(TABLE, THREE)) for name, m in CLASSES[:2]]
    for committee in (
        spinney.StackingClassifier(members, cv="prefit"),
        spinney.WeightedVoteClassifier(members, [2.0, 1.0]),
    ):
        committee.fit(TABLE, THREE)
        assert said(from_bytes(to_bytes(committee))) == said(committee)


@pytest.mark.parametrize(
    "cv", [3, TimeSeriesSplit(3, gap=1), GroupKFold(3), Folds(3, random_state=1)]
)
def test_splitters_of_scikit_learn_and_ours_are_parameters_of_a_file(cv):
    stack = made("StackingRegressor", cv=cv)
    groups = np.arange(len(NUMBERS)) // 4 if isinstance(cv, GroupKFold) else None
    stack.fit(TABLE, NUMBERS, groups=groups)
    again = from_bytes(to_bytes(stack))
    assert repr(again.cv) == repr(cv)
    assert said(again) == said(stack)


def test_a_risk_table_comes_back():
    learner = fitted("SuperLearnerRegressor")
    assert str(from_bytes(to_bytes(learner)).risk_) == str(learner.risk_)


def test_what_has_no_safe_form_is_refused_with_its_name():
    X = np.column_stack([NUMBERS, NUMBERS[::-1]])
    vote = spinney.VotingClassifier([*CLASSES, ("bayes", GaussianNB())]).fit(X, TWO)
    with pytest.raises(CannotSave, match=r"estimators is of class GaussianNB"):
        to_bytes(vote)
    stack = fitted("StackingClassifier", final_estimator=GaussianNB())
    with pytest.raises(CannotSave, match="final_estimator is of class GaussianNB"):
        to_bytes(stack)
    several = spinney.StackingClassifier(
        [("forest", spinney.RandomForestRegressor(2))], LogisticRegression()
    )
    with pytest.raises(CannotSave, match="not fitted yet"):
        to_bytes(several)


def forged(committee, change):
    """Change the header or the arrays of a file, and seal it again."""
    contents = sections.unpack(to_bytes(committee))
    meta = json.loads(json.dumps(contents.meta))
    arrays = {name: np.array(array) for name, array in contents.arrays.items()}
    change(meta, arrays)
    return sections.pack(meta, arrays, version=contents.format_version)


def other_member(meta, arrays):
    meta["parts"].reverse()
    for name in list(arrays):
        if name.startswith("parts/"):
            place, rest = name.removeprefix("parts/").split("/", 1)
            arrays[f"swapped/{1 - int(place)}/{rest}"] = arrays.pop(name)
    for name in list(arrays):
        if name.startswith("swapped/"):
            arrays[name.replace("swapped/", "parts/")] = arrays.pop(name)


def unknown_label(meta, arrays):  # noqa: ARG001
    arrays["parts/0/model/target/classes"] += 5


def too_wide(meta, arrays):  # noqa: ARG001
    arrays["attributes/final/coef"] = np.ones((1, 7))


def not_finite(meta, arrays):  # noqa: ARG001
    arrays["attributes/final/intercept"][0] = np.nan


def other_final(meta, arrays):  # noqa: ARG001
    meta["attributes"]["final"] = "estimator"


def no_method(meta, arrays):  # noqa: ARG001
    meta["attributes"]["methods"][0] = "__init__"


def no_such_method(meta, arrays):  # noqa: ARG001
    meta["attributes"]["methods"][0] = "decision_function"


def fewer_names(meta, arrays):  # noqa: ARG001
    meta["attributes"]["members"].pop()


def more(meta, arrays):  # noqa: ARG001
    meta["attributes"]["more"] = 1


def stray(meta, arrays):  # noqa: ARG001
    arrays["parts/9/model/x"] = np.zeros(1)


def no_parts(meta, arrays):
    meta["parts"] = []
    for name in list(arrays):
        if name.startswith("parts/"):
            del arrays[name]


def parts_of_a_tree(meta, arrays):  # noqa: ARG001
    meta["estimator"] = "DecisionTreeClassifier"
    meta["parameters"] = {}


def foreign_part(meta, arrays):  # noqa: ARG001
    meta["parts"][0]["estimator"] = "LogisticRegression"


@pytest.mark.parametrize(
    "change",
    [
        other_member, unknown_label, too_wide, not_finite, other_final, no_method, no_such_method,
        fewer_names, more, stray, no_parts, parts_of_a_tree, foreign_part,
    ],
)  # fmt: skip
def test_a_forged_stack_is_refused_when_it_is_loaded(change):
    with pytest.raises(InvalidFile):
        from_bytes(forged(fitted("StackingClassifier"), change))


def test_a_weight_of_a_vote_must_be_finite():
    def change(meta, arrays):  # noqa: ARG001
        arrays["attributes/weights"][0] = np.inf

    with pytest.raises(InvalidFile, match="finite"):
        from_bytes(forged(fitted("WeightedVoteRegressor"), change))


def test_a_single_model_is_no_committee():
    tree = spinney.DecisionTreeClassifier(max_depth=2).fit(TABLE, TWO)
    contents = sections.unpack(to_bytes(tree))
    with pytest.raises(InvalidFile, match="not a saved committee"):
        from_bytes(sections.pack(contents.meta, contents.arrays, version=3))


def test_an_older_format_holds_no_committee():
    contents = sections.unpack(to_bytes(fitted("VotingRegressor")))
    assert contents.format_version == 3
    with pytest.raises(InvalidFile):
        from_bytes(sections.pack(contents.meta, contents.arrays, version=1))
