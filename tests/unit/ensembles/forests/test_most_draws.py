"""Bags that no machine could draw are refused before anything is drawn."""

import numpy as np
import pytest

from spinney import (
    BaggingClassifier,
    BaggingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from spinney.errors import InvalidParameter

X = np.arange(40.0).reshape(20, 2)


@pytest.mark.parametrize("many", [2**31, 10**12, 10**30], ids=str)
@pytest.mark.parametrize(
    "kind", [RandomForestClassifier, RandomForestRegressor, BaggingClassifier, BaggingRegressor]
)
def test_more_draws_than_can_be_made_are_refused(kind, many):
    with pytest.raises(InvalidParameter, match=f"max_samples={many} asks for {many} rows per tree"):
        kind(n_estimators=2, max_samples=many).fit(X, np.arange(20) % 2)


def test_shares_are_counted_in_rows():
    with pytest.raises(InvalidParameter, match=r"at most 2147483647 can be drawn\. Ask"):
        RandomForestClassifier(2, max_samples=1e12).fit(X, np.arange(20) % 2)
    few = RandomForestClassifier(2, max_samples=5.0, random_state=0).fit(X, np.arange(20) % 2)
    assert [len(rows) for rows in few.estimators_samples_] == [100, 100]
