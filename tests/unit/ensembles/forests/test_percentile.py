"""Percentiles by weight, against those of rows that stand there several times."""

import numpy as np
import pytest

from spinney import IsolationForest
from spinney.ensembles.forests.percentile import weighted_percentile

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))


@pytest.mark.parametrize("seed", range(20))
def test_whole_weights_are_repetitions_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    values, times = rng.normal(size=n).round(1), rng.integers(1, 9, n)
    for percent in [0.0, 100.0, *rng.uniform(0, 100, 20)]:
        wanted = np.percentile(np.repeat(values, times), percent)
        assert weighted_percentile(values, percent, times.astype(float)) == wanted


def test_equal_weights_of_any_size_are_none():
    values = RNG.normal(size=64)
    for weight in (0.25, 0.5):
        found = weighted_percentile(values, 10.0, np.full(64, weight))
        assert found == np.percentile(values, 10.0)


@pytest.mark.parametrize("extension_level", [0, 1])
def test_offset_of_an_isolation_forest_counts_rows_by_weight(extension_level):
    times = RNG.integers(0, 5, 200)
    rows = np.repeat(np.arange(200), times)
    settings = {"contamination": 0.1, "random_state": 0, "extension_level": extension_level}
    weighed = IsolationForest(**settings).fit(X, sample_weight=times)
    repeated = np.percentile(weighed.score_samples(X)[rows], 10.0)
    assert weighed.offset_ == repeated
    assert np.mean(weighed.predict(X)[rows] == -1) == pytest.approx(0.1, abs=0.02)
    alone = IsolationForest(**settings).fit(X[rows])
    assert weighed.offset_ == alone.offset_
