"""Trees of random planes against their definition."""

import numpy as np
import pytest
from tests.reference.random_planes import grow_planes

from spinney.trees.planes import PlaneSettings, grow_random_planes

SEED = 2**64 - 9
TREES = range(3, 8)


def cloud(rng):
    return rng.standard_normal((60, 4)) * [1.0, 1e-3, 1e6, 1.0]


def with_gaps(rng):
    X = cloud(rng)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 3] = np.nan
    return X


def few_values(rng):
    X = rng.integers(0, 2, (60, 4)).astype(float)
    X[:, 1] = 7.0
    return X


def far_values(rng):
    return rng.choice([-np.inf, -1.7e308, -1.0, 0.0, 1.0, 1.7e308, np.inf, np.nan], (60, 4))


def neighbours(rng):
    """Between two neighbouring floats there is no third: cuts are at the lower one."""
    return np.where(rng.random((60, 4)) < 0.5, 1.0, np.nextafter(1.0, 2.0))


def with_codes(rng):
    """The last two columns are codes of categories, some of them missing."""
    X = np.column_stack([with_gaps(rng)[:, 1:3], rng.integers(0, 3, 60), rng.integers(0, 40, 60)])
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def far_values_and_codes(rng):
    """Ranges that are infinite, or less than the smallest number there is of full length."""
    X = np.column_stack([far_values(rng)[:, :1], rng.integers(0, 2, (60, 3)).astype(float)])
    X[:, 1] *= 5e-324
    return X


MAKERS = [cloud, with_gaps, few_values, far_values, neighbours, with_codes, far_values_and_codes]
CATEGORICAL = {with_codes: [2, 3], far_values_and_codes: [2, 3]}


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("n_terms", [1, 2, 4])
def test_planes_grow_bit_for_bit_as_they_are_defined(make, n_terms):
    rng = np.random.default_rng(n_terms)
    X = make(rng)
    categorical = CATEGORICAL.get(make, [])
    has_levels = np.isin(range(4), categorical)
    drawn = rng.integers(0, len(X), (len(TREES), 32))
    settings = PlaneSettings(n_terms=n_terms, max_depth=6, seed=SEED)
    grown = grow_random_planes(X, drawn, settings, TREES, categorical=has_levels, n_threads=2)
    parts = [
        grow_planes(
            X,
            rows,
            n_terms=n_terms,
            max_depth=6,
            seed=SEED,
            tree=tree,
            categorical=categorical,
        )
        for tree, rows in zip(TREES, drawn, strict=True)
    ]
    nodes = np.array([node for part, _ in parts for node in part])
    assert grown["tree_start"].tolist() == [0, *np.cumsum([len(part) for part, _ in parts])]
    for place, name in enumerate(("right", "depth", "count")):
        assert np.array_equal(grown[name], nodes[:, place]), name
    terms = np.array([plane for _, part in parts for plane in part]).reshape(-1, n_terms, 3)
    for place, name in enumerate(("feature", "normal", "point")):
        assert np.array_equal(grown[name], terms[:, :, place]), name
    assert len(terms) > 5
