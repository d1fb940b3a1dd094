"""Errors of forests on the data of their papers, against what the papers found."""

import numpy as np
import pytest

from spinney import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from spinney.datasets import (
    make_friedman,
    make_ringnorm,
    make_threenorm,
    make_twonorm,
    make_waveform,
)


def percent_wrong(make, n_repeats, **parameters):
    """Breiman's protocol: train on 300 rows, test on 3000, repeat."""
    errors = []
    for seed in range(n_repeats):
        train, test = make(300, random_state=seed), make(3000, random_state=1000 + seed)
        forest = RandomForestClassifier(100, random_state=seed, **parameters)
        errors.append(100 * (1 - forest.fit(train.X, train.y).score(test.X, test.y)))
    return float(np.mean(errors))


@pytest.mark.parametrize(
    ("make", "max_features", "published", "tolerance"),
    [
        (make_twonorm, 1, 3.9, 0.6),
        (make_threenorm, 1, 17.5, 1.2),
        (make_ringnorm, 1, 4.9, 1.4),  # others find 3.9 too: 3.5 to 7 is all that can be asked
        (make_waveform, 1, 17.2, 1.0),
        (make_waveform, 5, 17.2, 1.0),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
@pytest.mark.long
def test_breimans_problems(make, max_features, published, tolerance):
    """Breiman (2001), table 2: N6 to N9."""
    found = percent_wrong(make, 12, max_features=max_features)
    assert found == pytest.approx(published, abs=tolerance)


def test_twonorm_in_short():
    """N6 with three repeats; the Bayes error is 2.3."""
    assert percent_wrong(make_twonorm, 3, max_features=1) == pytest.approx(3.9, abs=0.8)


@pytest.mark.long
def test_bagged_trees_on_waveform():
    """Breiman (1996): fifty bagged trees, 19.3."""
    errors = []
    for seed in range(12):
        train, test = (
            make_waveform(300, random_state=seed),
            make_waveform(3000, random_state=999 + seed),
        )
        forest = RandomForestClassifier(50, max_features=None, voting="hard", random_state=seed)
        errors.append(100 * (1 - forest.fit(train.X, train.y).score(test.X, test.y)))
    assert np.mean(errors) == pytest.approx(19.3, abs=1.5)


@pytest.mark.long
@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_friedmans_function(kind):
    """Breiman (2001), table 6: a mean squared error of 5.7 with 200 rows, noise 1 included."""
    errors = []
    for seed in range(12):
        train, test = (
            make_friedman(1, 200, random_state=seed),
            make_friedman(1, 2000, random_state=999 + seed),
        )
        forest = kind(100, max_features=1 / 3, random_state=seed).fit(train.X, train.y)
        errors.append(np.mean((forest.predict(test.X) - test.y) ** 2))
    assert 4.0 < np.mean(errors) < 7.5
