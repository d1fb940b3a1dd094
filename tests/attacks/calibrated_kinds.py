"""Estimators that know how far off they are, in files."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from tests.attacks.training_rows import N_ROWS, classes, numbers, target

import spinney
from spinney.uncertainty import SetScore


def _calibrated() -> Any:
    labels, weights = classes(["a", "b", "c"]), np.arange(N_ROWS) % 3
    forest = spinney.RandomForestClassifier(5, max_depth=3, random_state=2)
    forest.fit(numbers(), labels, weights)
    return forest.calibrate_out_of_bag(numbers(), labels, weights, method="raps", by_class=True)


def _calibrated_including() -> Any:
    """Calibrate as files before the mark of ``including`` were: its bytes are from that time."""
    labels = classes(["a", "b", "c"])
    model = spinney.GradientBoostingClassifier(max_iter=3, min_samples_leaf=3, random_state=2)
    model.fit(numbers()[:30], labels[:30])
    return model.calibrate(numbers()[30:], labels[30:], method=SetScore("aps", including=True))


def _calibrated_sets() -> Any:
    labels = classes(["a", "b", "c"])
    forest = spinney.RandomForestClassifier(6, max_depth=4, random_state=2)
    return forest.fit(numbers()[:30], labels[:30]).calibrate(numbers()[30:], labels[30:])


def _calibrated_quantiles() -> Any:
    forest = spinney.QuantileForestRegressor(4, max_depth=3, random_state=5)
    return forest.fit(numbers(), target()).calibrate(numbers()[:20], target()[:20])


CALIBRATED: Mapping[str, Callable[[], Any]] = {
    "calibrated": _calibrated,
    "calibrated_including": _calibrated_including,
    "calibrated_sets": _calibrated_sets,
    "calibrated_quantiles": _calibrated_quantiles,
}
