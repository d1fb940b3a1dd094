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


def hostile_table(n_rows=300, seed=1):
    """Names, categories and labels that attack a page."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.normal(size=n_rows) for name in HOSTILE})
    frame["categories " + HOSTILE[0]] = rng.choice(HOSTILE, n_rows)
    first = frame[HOSTILE[0]] + (frame["categories " + HOSTILE[0]] == HOSTILE[0])
    y = np.array(HOSTILE, object)[(first > 0.5).astype(int) + 2 * (frame[HOSTILE[1]] > 1)]
    return frame, y
