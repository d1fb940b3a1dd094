"""A table of towns, of which there are more than bins hold, and a booster for it."""

from operator import attrgetter

import numpy as np
import pandas as pd

from spinney import GradientBoostingRegressor

values_of = attrgetter("values")  # of columns, which are no frames


def table(n_rows=2000, n_levels=400, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_levels, n_rows)
    effect = np.random.default_rng(99).normal(size=n_levels)
    X = pd.DataFrame(
        {
            "town": np.array([f"t{code}" for code in codes], object),
            "kind": np.array(["a", "b", "c"], object)[rng.integers(0, 3, n_rows)],
            "size": rng.normal(size=n_rows),
        }
    )
    X.loc[::50, "town"] = None
    y = effect[codes] + 0.3 * X["size"].to_numpy() + 0.1 * rng.normal(size=n_rows)
    return X, y


def booster(**params):
    usual = {"max_iter": 10, "random_state": 3, "date_features": True}
    return GradientBoostingRegressor(**{**usual, **params})
