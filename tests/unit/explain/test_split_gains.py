"""What is told of gains is what the grower compared, whatever moves outputs."""

import numpy as np
import pytest
from tests.reference.boosting import LOSSES, slow_cuts
from tests.reference.growth import PathLimits, sums_of

from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.explain import explain_split

LIMITS = {
    "none": {},
    "steps": {"max_step": 0.3},
    "smoothed": {"smoothing": 4.0},
    "steps smoothed": {"max_step": 0.3, "smoothing": 4.0, "l1": 0.2, "l2": 0.5},
    "refused": {"min_gain": 0.4, "smoothing": 1.0},
    "pruned": {"prune_gain": 0.7, "max_step": 0.5},
    "pruned alone": {"prune_gain": 0.7},
}
DERIVATIVES = {
    **{name: slow for name, (_, slow) in LOSSES.items()},
    "poisson": lambda y, scores: (np.exp(scores) - y, np.exp(scores)),
    "absolute": lambda y, scores: (np.sign(scores - y), np.ones_like(y)),
}


def problem(task):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 6, size=(40, 3)).astype(float)
    signal = X[:, 0] / 2 + np.sin(X[:, 1]) * (X[:, 2] > 3) + rng.normal(size=40)
    if task == "rare":  # one row of its own: a step of 40, cut off at 10
        X[0], y = 6.0, np.zeros(40)
        y[0] = 1.0
        return X, y
    return X, {"logistic": signal > 1.5, "poisson": np.ceil(np.exp(signal / 2))}.get(
        task, signal
    ).astype(float)


def fitted(task, growth, limits, X, y):
    settings = {
        "learning_rate": 0.5,
        "max_iter": 2,
        "max_depth": 3,
        "max_leaf_nodes": None,
        "min_samples_leaf": int(limits.min_rows),
        "growth": growth,
        "l1_regularization": limits.l1,
        "l2_regularization": limits.l2,
        "max_delta_step": limits.max_step if limits.max_step < np.inf else None,
        "path_smoothing": limits.smoothing,
        "min_split_gain": limits.min_gain,
        "prune_gain": limits.prune_gain,
    }
    if task in ("logistic", "rare"):
        return GradientBoostingClassifier(**settings).fit(X, y)
    return GradientBoostingRegressor(loss=task, **settings).fit(X, y)


def derivatives_of(task, model, X, y, number):
    """Of each row gradient, hessian and weight before a round."""
    scores = np.full(len(y), model.model_.arrays["baseline"][0])
    for t in range(number):
        alone = model.model_[t : t + 1]
        scores += alone.arrays["values"][alone.leaf_ids(X)[:, 0], 0]
    slow = DERIVATIVES["logistic" if task == "rare" else task]
    return (*slow(y, scores), np.ones(len(y)))


def walked(tree, X, derivatives, limits):
    """Of each node its rows, and the step that its search began with."""
    everything = np.arange(len(X))
    found = {0: (everything, limits.own_value(sums_of(derivatives, everything)))}
    for node in range(len(tree)):
        right = int(tree.right[node])
        if right < 0:
            continue
        rows, value = found[node]
        is_left = X[rows, tree.feature[node]] <= tree.threshold[node]
        for child, some in ((node + 1, rows[is_left]), (right, rows[~is_left])):
            found[child] = (some, limits.child_value(sums_of(derivatives, some), value))
    return found


def all_gains(X, derivatives, limits, nodes):
    """Of every question what it gains in these nodes together."""
    gains = {}
    for feature, column in enumerate(X.T):
        for threshold in slow_cuts(column)[:-1]:
            each = []
            for rows, value in nodes:
                is_left = column[rows] <= threshold
                sides = [sums_of(derivatives, some) for some in (rows[is_left], rows[~is_left])]
                each.append(limits.gain(sides, value) if is_left.any() else None)
            gains[feature, threshold] = 2.0 * sum(gain or 0.0 for gain in each)
    return gains


def assert_best(gains, question, told, limits):
    """What is told is the gain of the question, and no other gains more; the runner-up less."""
    assert told == pytest.approx(gains[question], rel=1e-5, abs=1e-7)
    assert told > 2.0 * limits.min_gain
    runner_up = max(gain for other, gain in gains.items() if other != question)
    assert runner_up <= told * (1 + 1e-5) + 1e-7


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("task", ["squared", "logistic", "rare", "poisson", "absolute"])
@pytest.mark.parametrize("growth", ["leaf_wise", "level_wise", "symmetric"])
def test_gains_told_are_the_best_there_were(growth, task, limit):
    X, y = problem(task)
    limits = PathLimits(min_rows=1.0 if task == "rare" else 3.0, **LIMITS[limit])
    model = fitted(task, growth, limits, X, y)
    number = 0 if task == "rare" else 1  # its second tree has nothing strong to say
    tree, derivatives = model.model_[number], derivatives_of(task, model, X, y, number)
    found = walked(tree, X, derivatives, limits)
    inner = np.flatnonzero(tree.right >= 0).tolist()
    told = {node: explain_split(model, number, node, X, y) for node in inner}
    questions = {node: (int(tree.feature[node]), float(tree.threshold[node])) for node in inner}
    assert inner
    for node in inner:
        assert told[node].gain == pytest.approx(2 * told[node].loss_removed, rel=1e-5, abs=1e-7)
    if growth != "symmetric":
        for node in inner:
            gains = all_gains(X, derivatives, limits, [found[node]])
            assert_best(gains, questions[node], told[node].gain, limits)
        return
    level = [0]
    while any(node in told for node in level):
        gains = all_gains(X, derivatives, limits, [found[node] for node in level])
        question = max(gains, key=gains.get)
        chosen = [node for node in level if questions.get(node) == question]
        for node in chosen:
            total = float(told[node].decision[1].rpartition(" ")[2])
            assert_best(gains, question, total, limits)
        assert sum(told[n].gain for n in chosen) == pytest.approx(gains[question], rel=1e-5)
        level = [node for node in level if node not in chosen]
        level += [child for n in chosen for child in (n + 1, int(tree.right[n]))]
