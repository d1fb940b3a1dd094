"""Errors of bagging on the data of its paper, against what the paper found."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from spinney import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    IteratedBaggingRegressor,
)
from spinney.datasets import make_friedman, make_waveform

NOISE = {1: 1.0, 2: 125.0, 3: 0.1}


def squared_errors(function, n_repeats, *models):
    """Breiman's protocol: train on 200 rows, test on 1000, both with noise; repeat."""
    errors = []
    for seed in range(n_repeats):
        noise = NOISE[function]
        train = make_friedman(function, 200, noise=noise, random_state=seed)
        test = make_friedman(function, 1000, noise=noise, random_state=1000 + seed)
        fitted = [model(seed).fit(train.X, train.y) for model in models]
        errors.append([np.mean((one.predict(test.X) - test.y) ** 2) for one in fitted])
    return np.mean(errors, axis=0)


def bagged(seed, n_estimators=25):
    return BaggingRegressor(n_estimators=n_estimators, random_state=seed)


def pruned_tree(seed):
    """A tree pruned by cross-validation, as CART does."""
    del seed
    alphas = {"ccp_alpha": [0.0]}

    class Pruned(GridSearchCV):
        def fit(self, X, y):
            path = DecisionTreeRegressor().cost_complexity_pruning_path(X, y).ccp_alphas
            chosen = path[np.linspace(0, len(path) - 2, 25).astype(int)]
            self.param_grid = {"ccp_alpha": chosen.tolist()}
            return super().fit(X, y)

    return Pruned(DecisionTreeRegressor(), alphas, cv=10, scoring="neg_mean_squared_error")


@pytest.mark.long
@pytest.mark.parametrize(
    ("function", "tree", "bags", "tolerances"),
    [
        (1, 11.4, 6.2, (0.8, 0.5)),
        (2, 31_100, 22_100, (3110, 2210)),
        (3, 0.0403, 0.0242, (0.00403, 0.00242)),
    ],
)
def test_friedmans_functions(function, tree, bags, tolerances):
    """N2, N3, N4: a pruned tree, and 25 bagged ones (Breiman 1996)."""
    found = squared_errors(function, 15, pruned_tree, bagged)
    assert found[0] == pytest.approx(tree, abs=tolerances[0])
    assert found[1] == pytest.approx(bags, abs=tolerances[1])


def test_friedmans_first_function_in_short():
    """N2 with four repeats, bags only."""
    assert squared_errors(1, 4, bagged)[0] == pytest.approx(6.2, abs=0.8)


def percent_wrong(n_repeats, *models):
    errors = []
    for seed in range(n_repeats):
        train = make_waveform(300, random_state=seed)
        test = make_waveform(1500, random_state=1000 + seed)
        fitted = [model(seed).fit(train.X, train.y) for model in models]
        errors.append([100 * (1 - one.score(test.X, test.y)) for one in fitted])
    return np.mean(errors, axis=0)


@pytest.mark.long
def test_waveform_and_the_number_of_members():
    """N5: a tree 29.1; 10, 25, 50 and 100 bagged trees 21.8, 19.4, 19.3, 19.3 (Breiman 1996)."""
    found = percent_wrong(
        15,
        lambda _: DecisionTreeClassifier(),
        *(
            lambda seed, n=n: BaggingClassifier(
                n_estimators=n, aggregation="hard", random_state=seed
            )
            for n in (10, 25, 50, 100)
        ),
    )
    assert found == pytest.approx([29.1, 21.8, 19.4, 19.3, 19.3], abs=1.5)


def test_waveform_in_short():
    found = percent_wrong(
        3,
        lambda _: DecisionTreeClassifier(),
        lambda seed: BaggingClassifier(n_estimators=50, random_state=seed),
    )
    assert found == pytest.approx([29.1, 19.3], abs=2.0)


@pytest.mark.long
@pytest.mark.parametrize(("function", "published"), [(1, 4.1), (2, 21_500), (3, 0.0248)])
def test_iterated_bagging(function, published):
    """Breiman (2001), adaptive bagging: 4.1, 21 500 and .0248."""
    found = squared_errors(
        function, 10, lambda seed: IteratedBaggingRegressor(random_state=seed), bagged
    )
    assert found[0] == pytest.approx(published, rel=0.15)
