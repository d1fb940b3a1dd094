"""One split taken apart: the printed toy, XGBoost's dump, slow sums over rows, words."""

import json

import numpy as np
import pandas as pd
import pytest
import xgboost

from spinney import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from spinney.errors import InvalidInput
from spinney.explain import explain_split
from spinney.theory.second_order import split_gain

TOY_X, TOY_Y = np.array([[10.0], [20.0], [25.0], [35.0]]), np.array([-10.0, 7.0, 8.0, -7.0])
SMALL = {"max_iter": 3, "learning_rate": 0.3, "max_leaf_nodes": 6, "min_samples_leaf": 3}


def fit_toy(**settings):
    """The toy begins with 0.5, a model with the mean: a fifth row makes 0.5 the mean of all, and
    the seed is one that does not draw it.
    """
    X, y = np.append(TOY_X, [[50.0]], axis=0), np.append(TOY_Y, 4.5)
    for seed in range(200):
        fitted = GradientBoostingRegressor(
            max_iter=1,
            learning_rate=0.3,
            max_depth=2,
            min_samples_leaf=1,
            subsample=0.8,
            random_state=seed,
            **settings,
        ).fit(X, y)
        tree = fitted.model_[0]
        total = (
            fitted.model_.arrays["values"][0, 0]
            / 0.3
            * (4 + fitted.automatic_.applied(fitted.get_params())["l2_regularization"])
        )
        if tree.count[0] == 4 and total == pytest.approx(-4.0):
            assert fitted.model_.arrays["baseline"] == 0.5
            return fitted, X, y
    raise AssertionError("no seed draws the four rows")


@pytest.mark.parametrize("given_rows", [True, False])
@pytest.mark.parametrize(
    ("l2", "similarities", "gains", "leaves"),
    [
        (0.0, (4.0, 110.25, 14.083333333), (120.333333333, 140.166666667), (-3.15, 2.1, -2.25)),
        (1.0, (3.2, 55.125, 10.5625), (62.4875, 82.895833333), (-1.575, 1.4, -1.125)),
    ],
)
def test_published_toy(given_rows, l2, similarities, gains, leaves):
    fitted, X, y = fit_toy(l2_regularization=l2)
    rows = {"X": X, "y": y} if given_rows else {}
    top, below = (explain_split(fitted, 0, node, **rows) for node in (0, 2))
    assert [node.similarity for node in top.nodes] == pytest.approx(similarities, rel=1e-9)
    assert [top.gain, below.gain] == pytest.approx(gains, rel=1e-9)
    assert [node.residuals for node in top.nodes] == pytest.approx([-4.0, -10.5, 6.5], rel=1e-12)
    assert [node.hessians for node in top.nodes] == [4.0, 1.0, 3.0]
    found = [top.left.value, below.left.value, below.right.value]
    assert found == pytest.approx(leaves, rel=1e-12)
    assert [0.3 * node.output for node in (top.left, *below.nodes[1:])] == pytest.approx(leaves)
    assert (top.question, below.question) == ("x0 <= 15", "x0 <= 30")
    for explained, leaf in zip((1, 3, 4), leaves, strict=True):
        assert explain_split(fitted, 0, explained, **rows).node.value == pytest.approx(leaf)


def test_pruning_keeps_a_weak_split_above_a_strong_one():
    fitted, X, y = fit_toy(prune_gain=130 / 2)
    assert len(fitted.model_[0]) == 5
    top, below = (explain_split(fitted, 0, node, X, y) for node in (0, 2))
    assert top.decision[1].startswith(
        "gain - 2 * prune_gain = 120.333 - 130 = -9.66667 < 0: pruning"
    )
    assert top.decision[1].endswith("split at node 2")
    assert (
        below.decision[1] == "gain - 2 * prune_gain = 140.167 - 130 = 10.1667 >= 0: pruning kept it"
    )
    pruned, X, y = fit_toy(prune_gain=150 / 2)
    leaf = explain_split(pruned, 0, 0, X, y)
    assert len(pruned.model_[0]) == 1
    assert leaf.question is leaf.gain is leaf.left is leaf.right is leaf.loss_removed is None
    assert (leaf.node.output, leaf.node.value) == (-1.0, pytest.approx(-0.3))
    assert "node 0: -4 / (4 + 0) = -1; 0.3 * (-1) = -0.3" in str(leaf)
    assert "similarity" not in str(leaf)


def table(seed, n=60):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 30, size=(n, 3)).astype(float)
    return X, X[:, 0] / 10 + np.sin(X[:, 1]) + rng.normal(size=n)


def dumped(booster, number):
    """(gain or None, sum of hessians, leaf value or None) of the nodes in preorder."""
    nodes = []

    def walk(node):
        nodes.append((node.get("gain"), node["cover"], node.get("leaf")))
        children = {child["nodeid"]: child for child in node.get("children", [])}
        for side in ("yes", "no") if children else ():
            walk(children[node[side]])

    walk(json.loads(booster.get_dump(dump_format="json", with_stats=True)[number]))
    return nodes


@pytest.mark.parametrize(("l2", "l1"), [(0.0, 0.0), (1.0, 0.0), (0.5, 0.7)])
@pytest.mark.parametrize("task", ["squared", "logistic"])
def test_gains_and_sums_are_those_of_xgboost(task, l2, l1):
    X, y = table(2)
    make = GradientBoostingRegressor if task == "squared" else GradientBoostingClassifier
    objective = "reg:squarederror" if task == "squared" else "binary:logistic"
    y = y if task == "squared" else (y > np.median(y)).astype(int)
    sizes = {"max_depth": 3, "min_child_weight": 0.01}
    fitted = make(
        loss=task,
        max_iter=3,
        learning_rate=0.3,
        max_leaf_nodes=None,
        growth="level_wise",
        min_samples_leaf=1,
        l2_regularization=l2,
        l1_regularization=l1,
        **sizes,
    ).fit(X, y)
    theirs = {
        "objective": objective,
        "tree_method": "exact",
        "eta": 0.3,
        "lambda": l2,
        "nthread": 1,
    }
    theirs |= {"alpha": l1, "base_score": float(y.mean()), **sizes}
    booster = xgboost.train(theirs, xgboost.DMatrix(X, y), num_boost_round=3)
    for number, tree in enumerate(fitted.model_):
        nodes = dumped(booster, number)
        assert len(nodes) == len(tree) > 7
        for node, (gain, cover, leaf) in enumerate(nodes):
            found = explain_split(fitted, number, node, X, y)
            assert found.node.hessians == pytest.approx(cover, rel=1e-5)
            if gain is None:
                assert found.node.value == pytest.approx(leaf, rel=1e-4, abs=1e-6)
            else:
                assert found.gain == pytest.approx(gain, rel=1e-3, abs=1e-5)
                assert found.gain == pytest.approx(2.0 * found.loss_removed, rel=1e-5, abs=1e-7)


def rows_of(tree, node, X):
    """Rows that reach a node of a tree over numbers without gaps, walked one by one."""
    reached = []
    for row, x in enumerate(X):
        at = 0
        while at not in (node, -1):
            goes_left = x[tree.feature[at]] <= tree.threshold[at]
            at = -1 if tree.feature[at] < 0 else at + 1 if goes_left else int(tree.right[at])
        reached += [row] * int(at == node)
    return np.array(reached)


def slow_derivatives(fitted, X, y, weights, number):
    """(r, h) of each row at the scores before a tree of a regressor or of a classifier."""
    n_outputs = fitted.n_trees_per_iteration_
    rounds, output = divmod(number, n_outputs)
    base = fitted.model_.arrays["baseline"]
    scores = np.tile(base, (len(y), 1))
    for t in range(rounds * n_outputs):
        alone = fitted.model_[t : t + 1]
        scores[:, t % n_outputs] += alone.arrays["values"][alone.leaf_ids(X)[:, 0], 0]
    if fitted.model_.target.classes is None:
        return weights * (y - scores[:, 0]), weights
    hit = y == fitted.classes_[output if n_outputs > 1 else 1]
    if n_outputs > 1:
        p = np.exp(scores[:, output]) / np.exp(scores).sum(axis=1)
    else:
        p = 1 / (1 + np.exp(-scores[:, 0]))
    return weights * (hit - p), weights * p * (1 - p)


CASES = {
    "numbers": (GradientBoostingRegressor, lambda y: y, {}),
    "two classes": (GradientBoostingClassifier, lambda y: np.where(y > 1, "yes", "no"), {}),
    "three classes": (GradientBoostingClassifier, lambda y: np.digitize(y, [0.5, 2.0]), {}),
    "class weights": (
        GradientBoostingClassifier,
        lambda y: (y > 2).astype(int),
        {"class_weight": {0: 0.5, 1: 3.0}},
    ),
    "scikit-learn's numbers": (HistGradientBoostingRegressor, lambda y: y, {}),
    "scikit-learn's classes": (HistGradientBoostingClassifier, lambda y: y > 1, {}),
}
WEIGHTS = {
    "none": lambda _: None,
    "whole": lambda rng: rng.integers(0, 4, 60),
    "fractional": lambda rng: 0.5 + rng.gamma(2.0, 1.0, 60),
}


@pytest.mark.parametrize("weighted", WEIGHTS)
@pytest.mark.parametrize("case", CASES)
def test_sums_are_those_of_the_rows_with_and_without_them(case, weighted):
    make, of_numbers, more = CASES[case]
    X, numbers = table(5)
    y, weight = of_numbers(numbers), WEIGHTS[weighted](np.random.default_rng(3))
    settings = {**SMALL, **more, "l2_regularization": 0.5}
    fitted = make(**settings).fit(X, y, sample_weight=weight)
    weights = np.ones(60) if weight is None else weight.astype(float)
    in_loss = weights * np.array([more["class_weight"][k] for k in y]) if more else weights
    last = len(fitted.model_) - 1
    r, h = slow_derivatives(fitted, X, y, in_loss, last)
    tree, n_outputs = fitted.model_[last], fitted.n_trees_per_iteration_
    for node in range(len(tree)):
        rows = rows_of(tree, node, X)
        rows = rows[weights[rows] > 0]
        found = explain_split(fitted, last, node, X, y, sample_weight=weight)
        assert found.from_rows
        assert found.round_number == last // n_outputs
        assert found.node.rows == len(rows)
        assert found.node.hessians == pytest.approx(h[rows].sum(), rel=1e-5)
        assert found.node.residuals == pytest.approx(r[rows].sum(), rel=1e-5, abs=1e-4)
        stored = explain_split(fitted, last, node)
        assert not stored.from_rows
        assert stored.node.hessians == pytest.approx(found.node.hessians, rel=1e-4)
        assert stored.node.residuals == pytest.approx(found.node.residuals, rel=1e-4, abs=1e-4)
        if found.gain is not None:
            left, right = rows_of(tree, node + 1, X), rows_of(tree, tree.right[node], X)
            slow = split_gain(r[left], r[right], h[left], h[right], l2=0.5)
            assert found.gain == pytest.approx(slow, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("n", [60, 900])
@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
def test_exact_steps_are_taken_back(loss, n):
    X, numbers = table(6, n)
    y = np.ceil(np.exp(numbers / 3))
    fitted = GradientBoostingRegressor(loss=loss, **SMALL).fit(X, y)
    for node in range(len(fitted.model_[2])):
        found, stored = explain_split(fitted, 2, node, X, y), explain_split(fitted, 2, node)
        assert "leaf_steps='exact'" in str(found)
        assert stored.node.hessians == pytest.approx(
            found.node.hessians, rel=1e-5 if n == 60 else 0.01
        )
        assert found.node.output == pytest.approx(found.node.value / 0.3, rel=1e-9, abs=1e-12)
        assert "but as it is used" in str(found)


@pytest.mark.parametrize("loss", ["absolute", "huber"])
def test_leaves_that_are_no_newton_steps(loss):
    X, y = table(7)
    fitted = GradientBoostingRegressor(loss=loss, **SMALL).fit(X, y)
    found, stored = explain_split(fitted, 1, 0, X, y), explain_split(fitted, 1, 0)
    assert found.gain == pytest.approx(2 * found.loss_removed, rel=1e-6)
    assert found.remarks[-1].endswith("equal: rows, weights, gain.")
    assert found.left.output == pytest.approx(found.left.value / 0.3)
    assert stored.gain is stored.node.residuals is stored.node.similarity is None
    assert "does not determine the sums, because the outputs of this loss" in str(stored)
    assert stored.loss_removed == found.loss_removed


def test_bounded_outputs_are_said_to_be():
    rng = np.random.default_rng(9)
    X = rng.integers(0, 30, size=(60, 2)).astype(float)
    y = np.sin(X[:, 0] / 4) * 2 + X[:, 1] / 10 + rng.normal(size=60)
    fitted = GradientBoostingRegressor(monotonic_cst=[1, 0], **{**SMALL, "max_leaf_nodes": 8})
    fitted.fit(X, y)
    splits = np.flatnonzero(fitted.model_[0].right >= 0)
    found = [explain_split(fitted, 0, node, X, y) for node in splits]
    bounded = [one for one in found if "monotonic_cst moved outputs" in str(one)]
    assert 0 < len(bounded) < len(found)
    for one in found:
        assert one.gain == pytest.approx(2 * one.loss_removed, rel=1e-6)
        is_bounded = any(one is other for other in bounded)
        assert ("but as it is used" in str(one)) == is_bounded
        assert one.remarks[-1].endswith("equal: rows, weights, outputs, gain.")
    assert "monotonic_cst may have moved outputs" in str(explain_split(fitted, 0, 0))
    with pytest.raises(InvalidInput, match=r"has an output of|reach node"):
        explain_split(fitted, 0, bounded[0].node.node, X, y[::-1])


def test_a_choice_among_many_categories_has_its_penalty():
    rng = np.random.default_rng(0)
    town = rng.choice(list("abcdefgh"), 300)
    y = np.isin(town, ["b", "e", "g"]) * 2.0 + rng.normal(size=300)
    X = pd.DataFrame({"town": town})
    X.iloc[:20, 0] = None
    for make in (GradientBoostingRegressor, HistGradientBoostingRegressor):
        fitted = make(max_iter=1).fit(X, y)
        found = explain_split(fitted, 0, 0, X, y)
        assert found.question == "town is one of 'b', 'e', 'g'"
        assert found.gain > 2.05 * found.loss_removed
        assert "Among 9 categories some look good by chance" in str(found)
        assert "5 was added to l2" in str(found)
        assert explain_split(fitted, 0, 0).left.residuals == pytest.approx(found.left.residuals)
    classes = GradientBoostingClassifier(max_iter=1).fit(X, y > 1)
    assert "because the gain of a split by many categories" in str(explain_split(classes, 0, 0))


def test_questions_in_words():
    n = 80
    frame = pd.DataFrame(
        {
            "wood": pd.Categorical(np.array(["ash", "oak", "elm", None])[np.arange(n) % 4]),
            "member": np.arange(n) % 8 < 4,
            "seen": pd.to_datetime("2024-03-01") + pd.to_timedelta(np.arange(n), "D"),
            "height": np.where(np.arange(n) % 5 == 0, np.nan, np.arange(n) % 5),
        }
    )
    settings = {"max_iter": 1, "max_leaf_nodes": 2, "min_samples_leaf": 2}

    def asked(column, y):
        fitted = GradientBoostingRegressor(**settings).fit(frame[[column]], y)
        return explain_split(fitted, 0, 0, frame[[column]], y)

    wood = asked("wood", (frame["wood"] == "oak") * 1.0 - frame["wood"].isna())
    assert (wood.question, wood.missing_goes) == ("wood is one of 'oak'", "right")
    assert asked("member", frame["member"] * 1.0).question == "member is False"
    assert asked("seen", (np.arange(n) > 40) * 1.0).question.startswith("seen <= 2024-04-10 ")
    known = asked("height", frame["height"].isna() * 1.0)
    assert (known.question, known.missing_goes) == ("height is known", "right")
    assert "missing: node 2" in str(known)
    gap = asked("height", frame["height"].isna() | (frame["height"] < 2))
    assert (gap.question, gap.missing_goes) == ("height <= 1.5", "left")
    assert gap.left.rows == 32


def test_several_classes_take_turns():
    X, numbers = table(9)
    y = np.array(["low", "mid", "top"])[np.digitize(numbers, [0.5, 2.0])]
    fitted = GradientBoostingClassifier(**SMALL).fit(X, y)
    found = [explain_split(fitted, tree, 0, X, y) for tree in range(9)]
    assert [one.output_name for one in found] == ["low", "mid", "top"] * 3
    assert [one.round_number for one in found] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert found[5].title().startswith("Tree 5 (round 2, top), node 0: x")
    assert found[5].loss == "multinomial"
    share = np.mean(y == "low")
    assert found[0].node.hessians == pytest.approx(60 * share * (1 - share), rel=1e-6)
    residuals = sum(one.node.residuals for one in found[3:6])
    assert residuals == pytest.approx(0.0, abs=1e-4)  # probabilities sum to 1


def test_a_result_is_frozen_and_gives_a_frame():
    fitted = GradientBoostingRegressor(**{**SMALL, "min_samples_leaf": 1}).fit(TOY_X, TOY_Y)
    found = explain_split(fitted, 0, 0, TOY_X, TOY_Y)
    frame = found.to_frame()
    assert frame["role"].tolist() == ["node", "left", "right"]
    assert frame["similarity"].iloc[1] == found.left.similarity
    assert repr(found) == str(found)
    with pytest.raises(AttributeError):
        found.gain = 0.0
    with pytest.raises(AttributeError):
        found.left.output = 0.0
    assert explain_split(fitted, 0, 0).to_frame("polars").shape == (3, 9)
