"""Proofs and counter-examples where trees split on features that were derived from those of X."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.errors import InvalidInput
from spinney.explain import verify

RNG = np.random.default_rng(0)
N = 1200
CODES = RNG.integers(0, 300, N)
X = pd.DataFrame(
    {
        "town": CODES.astype(str),
        "kind": RNG.integers(0, 4, N).astype(str),
        "size": RNG.normal(size=N),
        "noise": RNG.normal(size=N),
        "idle": np.zeros(N),
        "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 9000, N), "h"),
    }
)
Y = RNG.normal(size=300)[CODES] + X["size"] + 0.2 * X["when"].dt.month + np.sin(3 * X["noise"])
KINDS = {
    "levels": {},
    "dates": {"date_features": True},
    "pairs": {"date_features": True, "category_pairs": [("town", "kind")]},
}


@pytest.fixture(scope="module", params=list(KINDS))
def fitted(request):
    learner = GradientBoostingRegressor(
        max_iter=10, random_state=0, monotonic_cst={"size": 1}, **KINDS[request.param]
    )
    return learner.fit(X, Y)


def odd_rows(n=3000):
    """Rows that no row is like: unseen and missing levels, any combination, far away numbers."""
    rng = np.random.default_rng(1)
    parts = {name: X[name].sample(n, replace=True, random_state=k) for k, name in enumerate(X)}
    rows = pd.DataFrame({name: part.to_numpy() for name, part in parts.items()})
    rows["town"] = rows["town"].astype(object)
    rows.loc[rng.random(n) < 0.1, "town"] = "nowhere"
    rows.loc[rng.random(n) < 0.1, "town"] = None
    rows.loc[rng.random(n) < 0.1, "when"] = pd.NaT
    rows["noise"] *= 10.0
    return rows


def test_without_claims_constraints_range_and_idle_features_are_examined(fitted):
    found = verify(fitted, budget=1000)
    assert found.holds
    monotone, extent, idle = found.claims
    assert monotone.statement == "the score never falls as 'size' grows"
    assert idle.features == ("idle",)
    low, high = extent.bounds
    predicted = fitted.predict(odd_rows())
    assert low <= predicted.min() <= predicted.max() <= high


def test_claims_are_refuted_by_rows_that_the_model_predicts(fitted):
    found = verify(
        fitted,
        monotonic={"noise": 1},
        unused=["town", "kind", "size", "when"],
        interactions="no_interactions",
        bounds=(0, 1),
        budget=1000,
    )
    for claim in found.claims:
        assert claim.verdict == "refuted", claim
        rows = pd.DataFrame(list(claim.counter_example))
        assert fitted.predict(rows).tolist() == list(claim.predictions)
    of_town = [claim for claim in found.claims if claim.features == ("town",)]
    one, other = of_town[0].counter_example
    assert {name for name in one if one[name] != other[name]} == {"town"}


def test_bounds_beyond_the_range_are_proved(fitted):
    (extent,) = [claim for claim in verify(fitted, budget=1000).claims if claim.bounds]
    assert verify(fitted, bounds=extent.bounds, budget=1000).holds
    assert verify(fitted, unused=["idle"]).holds


def test_what_no_row_is_found_for_is_undecided_and_says_why():
    labels = np.digitize(Y, np.quantile(Y, [0.33, 0.67]))
    fitted = GradientBoostingClassifier(max_iter=10, random_state=0).fit(
        X[["town", "size"]], labels
    )
    claims = verify(fitted, output=1).claims
    (extent,) = [claim for claim in claims if claim.bounds]
    rows = odd_rows()[["town", "size"]]
    assert extent.bounds[0] <= fitted.decision_function(rows)[:, 1].min()
    assert "exact" not in extent.evidence
    attained = float(extent.evidence.split(" and ")[1].split(";")[0])
    between = (attained + extent.bounds[1]) / 2
    (claim,) = verify(fitted, bounds=(None, between), output=1).claims
    assert claim.verdict == "undecided"
    assert "no row found that has such derived features; fit with" in claim.evidence


def test_a_date_that_is_told_in_parts_has_no_direction_that_can_be_decided():
    dated = GradientBoostingRegressor(max_iter=5, date_features=True, random_state=0).fit(X, Y)
    (claim,) = verify(dated, monotonic={"when": 1}).claims
    assert claim.verdict == "undecided"
    assert "date_features=False" in claim.evidence
    plain = GradientBoostingRegressor(max_iter=5, date_features=False, random_state=0).fit(X, Y)
    assert verify(plain, monotonic={"when": 1}).claims[0].verdict == "refuted"


def test_groups_that_hold_derived_features_together_are_proved():
    parts = [["town", "kind"], ["size"], ["noise", "idle", "when"]]
    fitted = GradientBoostingRegressor(max_iter=8, random_state=0, interaction_cst=parts).fit(X, Y)
    assert verify(fitted, interactions=parts).holds
    assert verify(fitted, budget=1000).claims[0].verdict == "proved"


def test_what_was_derived_of_two_features_keeps_them_together():
    fitted = GradientBoostingRegressor(
        max_iter=5, random_state=0, category_pairs=[("town", "kind")]
    ).fit(X[["town", "kind"]], Y)
    (claim,) = verify(fitted, interactions="no_interactions").claims
    assert claim.verdict == "undecided"
    assert "category_pairs=None" in claim.evidence


def test_rows_can_be_narrowed_down_by_features_that_trees_see_as_they_are(fitted):
    (claim,) = verify(fitted, within={"size": (-1, 0)}, bounds=(None, 0), budget=500).claims
    assert -1 <= claim.counter_example[0]["size"] <= 0
    with pytest.raises(InvalidInput, match=r"within\['town'\].* Leave it out, or fit with"):
        verify(fitted, within={"town": ["1"]}, bounds=(None, 0))


@pytest.mark.parametrize(
    "ends",
    [
        ("2024-03-01", "2024-03-09"),
        ("2024-03-01 10:00:00.25", "2024-03-01 10:00:00.5"),
        ("4100-01-01", None),
        (None, "0040-01-01"),
    ],
    ids=str,
)
def test_rows_of_proofs_keep_to_the_dates_that_are_asked_about(ends):
    dated = GradientBoostingRegressor(max_iter=10, random_state=0).fit(X, Y)
    low, high = (None if end is None else dt.datetime.fromisoformat(end) for end in ends)
    claims = verify(dated, bounds=(1e9, None), within={"when": (low, high)}).claims
    for claim in claims:
        assert claim.verdict == "refuted"
        (row,) = claim.counter_example
        assert low is None or low <= row["when"]
        assert high is None or row["when"] <= high


def test_a_bound_that_holds_for_some_dates_is_proved_for_them():
    rng = np.random.default_rng(0)
    days = rng.integers(0, 700, 2000)
    when = pd.Timestamp("2023-01-01") + pd.to_timedelta(days, unit="D")
    table = pd.DataFrame({"when": when, "x": rng.normal(size=2000)})
    y = np.where(days < 365, 0.0, 5.0) + (when.day_of_week >= 5)
    fitted = GradientBoostingRegressor(max_iter=40, random_state=0).fit(table, y)
    early = {"when": (dt.datetime(2023, 1, 1), dt.datetime(2023, 12, 1))}  # noqa: DTZ001
    assert verify(fitted, bounds=(None, 3.0), within=early).claims[0].verdict == "proved"
    assert verify(fitted, bounds=(None, 3.0)).claims[0].verdict == "refuted"
