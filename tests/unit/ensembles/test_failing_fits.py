"""What is told of members that fail, of settings beyond the rows, and of metrics for others."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import spinney
from spinney.errors import InvalidInput, InvalidParameter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + RNG.normal(size=60)
LABELS = np.array(["ash", "beech", "oak"])[np.digitize(Y, [-0.5, 0.5])]
COMMITTEES = [
    spinney.VotingClassifier,
    spinney.StackingClassifier,
    spinney.BlendingClassifier,
    spinney.WeightedVoteClassifier,
    spinney.SuperLearnerClassifier,
]


class Failing(LogisticRegression):
    def fit(self, X, y, sample_weight=None):  # noqa: ARG002 - it does not get that far
        raise RuntimeError("no idea")


@pytest.mark.parametrize("committee", COMMITTEES)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_of_members_keep_their_words_and_name_the_member(committee, n_jobs):
    members = [("fine", LogisticRegression()), ("worse", Failing())]
    with pytest.raises(RuntimeError, match=r"^no idea") as caught:
        committee(members, n_jobs=n_jobs).fit(X, LABELS)
    assert str(caught.value) == "no idea"
    assert "Failing (the member 'worse') was fitted to the rows" in caught.value.__notes__[0]


@pytest.mark.parametrize("committee", COMMITTEES)
def test_members_of_the_wrong_kind_and_of_one_class_are_named(committee):
    pair = [("lines", LinearRegression()), ("fine", LogisticRegression())]
    if committee is not spinney.StackingClassifier:  # which takes numbers of members as well
        with pytest.raises(InvalidParameter, match=r"(be a classifier|weighs prob).*'lines'"):
            committee(pair).fit(X, LABELS)
    with pytest.raises(InvalidParameter, match=r"'some text', the member 'odd', is no member"):
        committee([("odd", "some text"), *pair]).fit(X, LABELS)
    if committee is not spinney.StackingClassifier:
        with pytest.raises(InvalidInput, match=r"LogisticRegression \(the member 'fine'\) could"):
            committee([("fine", LogisticRegression())]).fit(X, ["oak"] * 60)


@pytest.mark.parametrize(
    ("selection", "target", "scoring", "words"),
    [
        (spinney.EnsembleSelectionClassifier, LABELS, "r2", "classes such as '.*'accuracy'"),
        (spinney.EnsembleSelectionClassifier, LABELS, "roc_auc", "classes such as .*roc_auc_ovr"),
        (spinney.EnsembleSelectionRegressor, Y, "accuracy", "numbers such as .*'r2'"),
    ],
)
def test_metrics_of_another_kind_are_refused_in_our_words(selection, target, scoring, words):
    with pytest.raises(InvalidParameter, match=f"scoring={scoring} cannot judge {words}"):
        selection(scoring=scoring).fit(X, target)


@pytest.mark.parametrize("base", [None, LinearRegression()])
def test_blocks_are_shorter_than_what_they_are_drawn_from(base):
    def bag(length, time=None):
        bag = spinney.BaggingRegressor(base, 3, sampler="block", block_length=length)
        return bag.fit(X, Y, time=time)

    assert len(bag(59)) == 3
    for length in (60, 61, 10**6):
        with pytest.raises(InvalidParameter, match=rf"block_length={length} with 60 rows.*root, 4"):
            bag(length)
    weeks = np.arange(60) // 10
    assert len(bag(5, weeks)) == 3
    with pytest.raises(InvalidParameter, match="block_length=6 with 6 times"):
        bag(6, weeks)
    forest = spinney.RandomForestRegressor(3, sampler="block", block_length=60)
    with pytest.raises(InvalidParameter, match="each bag would be all of them"):
        forest.fit(X, Y)


def test_neighbourhoods_of_everybody_are_told():
    members = [("lr", LogisticRegression()), ("tree", spinney.DecisionTreeClassifier())]
    for k, weight in ((100, None), (40, np.full(60, 2.0))):
        selection = spinney.DynamicSelectionClassifier(members, k=k, random_state=0)
        with pytest.warns(UserWarning, match=f"k={k} neighbours are asked for.*judged on"):
            selection.fit(X, LABELS, weight)
    spinney.DynamicSelectionClassifier(members, k=12, random_state=0).fit(X, LABELS)
    few = np.argsort(LABELS, kind="stable")[::5]  # less than seven are set aside
    spinney.KNORAEClassifier(members, random_state=0).fit(X[few], LABELS[few])


def test_verbose_of_votes_is_scikit_learns_where_it_is_true(capsys):
    members = [("lr", LogisticRegression()), ("tree", spinney.DecisionTreeClassifier())]
    spinney.VotingClassifier(members, verbose=True).fit(X, LABELS)
    said = capsys.readouterr().out.splitlines()
    assert sorted(line.split("(")[1].split(",")[0] for line in said) == [
        "1 of 2) Processing lr",
        "2 of 2) Processing tree",
    ]
    for quiet in (1, 0, False):
        spinney.VotingClassifier(members, verbose=quiet).fit(X, LABELS)
        assert capsys.readouterr().out == ""
