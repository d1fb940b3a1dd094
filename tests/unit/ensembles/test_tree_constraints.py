"""Trees and forests that may only rise or fall with a feature."""

import numpy as np
import pytest

from spinney import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from spinney.errors import InvalidInput
from spinney.explain import verify

RNG = np.random.default_rng(4)
X = RNG.normal(size=(400, 3))
NUMBERS = np.sin(3 * X[:, 0]) - X[:, 1] + RNG.normal(size=400) / 2
CLASSES = np.where(NUMBERS > 0, "yes", "no")
KINDS = [
    (DecisionTreeClassifier(), CLASSES),
    (DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=40), CLASSES),
    (DecisionTreeRegressor(), NUMBERS),
    (DecisionTreeRegressor(splitter="random", random_state=0), NUMBERS),
    (RandomForestClassifier(15, random_state=0), CLASSES),
    (RandomForestRegressor(15, random_state=0), NUMBERS),
    (ExtraTreesClassifier(15, random_state=0), CLASSES),
    (ExtraTreesRegressor(15, random_state=0), NUMBERS),
]
NAMES = [f"{type(kind).__name__}-{place}" for place, (kind, _) in enumerate(KINDS)]


def answers(fitted, rows):
    return fitted.predict_proba(rows)[:, 1] if hasattr(fitted, "classes_") else fitted.predict(rows)


@pytest.mark.parametrize(("kind", "y"), KINDS, ids=NAMES)
def test_predictions_go_the_way_they_must(kind, y):
    free = kind.set_params(monotonic_cst=None).fit(X, y)
    bound = kind.__class__(**kind.get_params() | {"monotonic_cst": [1, -1, 0]}).fit(X, y)
    grid = np.linspace(-3, 3, 101)
    for feature, direction in ((0, 1), (1, -1)):
        rows = np.repeat(X[:30], len(grid), axis=0)
        rows[:, feature] = np.tile(grid, 30)
        steps = np.diff(answers(bound, rows).reshape(30, -1), axis=1) * direction
        assert (steps >= 0).all()
        assert (np.diff(answers(free, rows).reshape(30, -1), axis=1) * direction < -0.01).any()
    assert len(np.unique(answers(bound, X))) > 5


def test_a_proof_agrees_with_the_constraint():
    bound = RandomForestRegressor(5, monotonic_cst=[1, 0, 0], max_depth=4, random_state=0)
    assert verify(bound.fit(X, NUMBERS), monotonic={0: 1}).holds
    free = bound.set_params(monotonic_cst=None).fit(X, NUMBERS)
    assert not verify(free, monotonic={0: 1}).holds


def test_constraints_that_make_no_sense_are_refused():
    with pytest.raises(InvalidInput, match="not supported with multiclass"):
        RandomForestClassifier(monotonic_cst=[1, 0, 0]).fit(X, np.arange(400) % 3)
    with pytest.raises(InvalidInput, match="not supported with multiple outputs"):
        ExtraTreesRegressor(monotonic_cst=[1, 0, 0]).fit(X, np.c_[NUMBERS, NUMBERS])
    with pytest.raises(InvalidInput, match="shape"):
        DecisionTreeRegressor(monotonic_cst=[1, 0]).fit(X, NUMBERS)
