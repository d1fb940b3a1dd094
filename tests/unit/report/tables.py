"""Small tables with everything that a report meets."""

import numpy as np
import pandas as pd

HOSTILE = [
    '</script><script>document.title="stolen"</script>',
    "\"quoted' & <b>bold</b>",
    "line\u2028separator\u2029paragraph",
    "\u202eright to left\u202c",
    "<img src=x onerror=alert(1)>",
    "--><!-- ]]> {{x}} ${y} `z`",
]


def mixed_table(n_rows=400, seed=0):
    """Numbers, categories, booleans, dates, missing values; and a target of two classes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 12, n_rows),
            "income": np.exp(rng.normal(10, 1, n_rows)),
            "town": rng.choice(["Ulm", "Jena", "Bonn", "Köln"], n_rows),
            "member": rng.random(n_rows) < 0.4,
            "since": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 1500, n_rows), unit="D"),
        }
    )
    score = (frame.age - 40) / 12 + (frame.town == "Ulm") * 1.5 + frame.member * 1.0
    frame.loc[rng.random(n_rows) < 0.15, "income"] = np.nan
    frame.loc[rng.random(n_rows) < 0.10, "town"] = None
    y = np.where(score + rng.normal(0, 0.7, n_rows) > 0.7, "yes", "no")
    return frame, y


def many_levels_table(n_rows=900, seed=0):
    """Categories of 300 levels and of few, moments with a time of day; and a target of numbers."""
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.geometric(0.02, n_rows), 299)
    codes[:300] = np.arange(300)  # every level once, at least
    frame = pd.DataFrame(
        {
            "shop": [f"shop {code}" for code in codes],
            "colour": rng.choice(["red", "blue", "green"], n_rows),
            "age": rng.normal(40, 12, n_rows),
            "at": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 20_000, n_rows) * 3_600, unit="s"),
        }
    )
    y = rng.normal(size=300)[codes] + frame.age / 20 + frame["at"].dt.month / 6
    y += (frame.colour == "red") * frame["at"].dt.hour / 12
    frame.loc[rng.random(n_rows) < 0.1, "shop"] = None
    frame.loc[rng.random(n_rows) < 0.1, "at"] = pd.NaT
    return frame, (y + 0.2 * rng.normal(size=n_rows)).to_numpy()


def hostile_table(n_rows=300, seed=1):
    """Names, categories and labels that attack a page."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.normal(size=n_rows) for name in HOSTILE})
    frame["categories " + HOSTILE[0]] = rng.choice(HOSTILE, n_rows)
    first = frame[HOSTILE[0]] + (frame["categories " + HOSTILE[0]] == HOSTILE[0])
    y = np.array(HOSTILE, object)[(first > 0.5).astype(int) + 2 * (frame[HOSTILE[1]] > 1)]
    return frame, y
