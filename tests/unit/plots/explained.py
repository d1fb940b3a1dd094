"""A small table of all kinds of columns, and a booster of it."""

import functools

import numpy as np
import pandas as pd

from spinney import GradientBoostingRegressor

HOSTILE = "$x_{1}$ & a <b>name</b> that is longer\nthan any reasonable name €ωж"


@functools.cache
def fitted_frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "number": np.where(rng.random(120) < 0.2, np.nan, rng.normal(size=120)),
            "wood": pd.Series(rng.choice(["oak", "fir", "_ash$"], 120)).where(
                rng.random(120) < 0.9
            ),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 400, 120), "D"),
            "wait": pd.to_timedelta(rng.integers(0, 200, 120), "h"),
            "flag": rng.random(120) < 0.5,
            HOSTILE: rng.integers(0, 4, 120).astype(float),
        }
    )
    days = (frame["day"] - frame["day"].min()).dt.days / 200
    y = frame["number"].fillna(2) + days + (frame["wood"] == "oak") * frame[HOSTILE]
    y += frame["wait"].dt.total_seconds() / 3e5 + frame["flag"]
    return GradientBoostingRegressor(max_iter=20, min_samples_leaf=5).fit(frame, y), frame
