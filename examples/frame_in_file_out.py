"""A frame goes in as it is, a safe model file comes out, and predictions match columns by name."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import spinney

rng = np.random.default_rng(0)
n = 2000
frame = pd.DataFrame(
    {
        "city": rng.choice(["Ghent", "Lille", "Turin", None], n),
        "rooms": rng.integers(1, 6, n),
        "built": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 26_000, n), "D"),
        "garden": rng.random(n) < 0.4,
        "area": np.where(rng.random(n) < 0.1, np.nan, rng.gamma(9.0, 10.0, n)),
    }
)
rent = (
    300
    + 120 * frame["rooms"]
    + 4 * frame["area"].fillna(80)
    + frame["city"].map({"Ghent": 150.0, "Lille": 0.0, "Turin": 60.0}).fillna(90)
    + rng.normal(0, 40, n)
)

tree = spinney.DecisionTreeRegressor(max_leaf_nodes=60, min_samples_leaf=10)
tree.fit(frame[:1500], rent[:1500])
print(f"R² on rows it has not seen: {tree.score(frame[1500:], rent[1500:]):.3f}")

# Columns in another order, categories in another encoding: the same predictions.
shuffled = frame[["area", "city", "garden", "rooms", "built"]].astype({"city": "category"})
assert (tree.predict(shuffled[1500:]) == tree.predict(frame[1500:])).all()

# A misspelt column is refused, with the name that was probably meant.
try:
    tree.predict(frame.rename(columns={"rooms": "room"}))
except spinney.errors.InvalidInput as error:
    print(f"refused: {error}")

path = Path(tempfile.mkdtemp()) / "rent.spn"
spinney.save(tree, path)
again = spinney.load(path)
print(f"saved {path.stat().st_size} bytes; the same model: {again.model_ == tree.model_}")
