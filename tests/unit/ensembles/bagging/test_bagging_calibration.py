"""How far off bagging is, from the rows that members did not see."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import spinney
from spinney import BaggingClassifier, BaggingRegressor
from spinney.datasets import make_friedman
from spinney.errors import InvalidInput, InvalidParameter, NotCalibrated
from spinney.io.save_load import from_bytes, to_bytes
from spinney.uncertainty import after_bootstrap_intervals, out_of_bag_means

TRAIN, TEST = (make_friedman(1, 150, random_state=seed) for seed in (0, 1))
LABELS = np.array(["low", "middle", "high"])[np.digitize(TRAIN.y, [11, 17])]
BASES = [None, LinearRegression()]


def bag_of(base=None, **changes):
    bag = BaggingRegressor(base, 25, random_state=0, **changes)
    return bag.fit(TRAIN.X, TRAIN.y)


def answers_of(bag, X):
    return np.column_stack([member.predict(X) for member in bag.estimators_])


@pytest.mark.parametrize("base", BASES)
def test_intervals_are_those_of_the_jackknife_after_the_bootstrap(base):
    bag = bag_of(base, oob_score=True)
    unseen = bag.out_of_bag(TRAIN.X)
    errors = np.abs(TRAIN.y - out_of_bag_means(answers_of(bag, TRAIN.X), unseen))
    expected = after_bootstrap_intervals(answers_of(bag, TEST.X), errors, unseen, 0.8)
    for found in (
        bag.predict_interval(TEST.X, 0.8),
        bag.calibrate_out_of_bag(TRAIN.X, TRAIN.y).predict_interval(TEST.X, 0.8),
    ):
        assert found.lower == pytest.approx(expected.lower)
        assert found.upper == pytest.approx(expected.upper)
    assert 0.7 < found.coverage(TEST.y) < 0.97


@pytest.mark.parametrize("base", BASES)
def test_medians_are_left_out_by_definition(base):
    bag = bag_of(base, aggregation="median", oob_score=True)
    told = bag.calibration_.scores
    again = bag.calibrate_out_of_bag(TRAIN.X, TRAIN.y).calibration_.scores
    assert np.array_equal(told, again, equal_nan=True)
    unseen, said = bag.out_of_bag(TRAIN.X), answers_of(bag, TEST.X)

    def lower_median(values):
        return np.sort(values)[(len(values) - 1) // 2]

    known = unseen.any(axis=1)
    medians = [lower_median(said[0][lacks]) for lacks in unseen[known]]
    ends = np.sort(medians + again[known])
    rank = int(np.ceil(0.8 * (known.sum() + 1)))
    assert bag.predict_interval(TEST.X[:1], 0.8).upper == pytest.approx([ends[rank - 1]])


@pytest.mark.parametrize("changes", [{}, {"aggregation": "hard"}])
@pytest.mark.parametrize("base", [None, LogisticRegression()])
def test_sets_hold_classes(base, changes):
    bag = BaggingClassifier(base, 25, oob_score=True, random_state=0, **changes)
    bag.fit(TRAIN.X, LABELS)
    sets = bag.predict_set(TRAIN.X, 0.8)
    assert sets.coverage(LABELS) > 0.8
    by_class = bag.calibrate_out_of_bag(TRAIN.X, LABELS, method="lac", by_class=True)
    assert len(by_class.calibration_.codes) == 150


def test_rows_are_told_one_by_one_as_together():
    bag = bag_of(LinearRegression(), oob_score=True)
    far = np.vstack([TEST.X[:5], 1e6 * TEST.X[5:6]])  # one large answer must not blur the others
    together = bag.predict_interval(far)
    for row in range(5):
        alone = bag.predict_interval(far[row : row + 1])
        assert (alone.lower[0], alone.upper[0]) == (together.lower[row], together.upper[row])


@pytest.mark.parametrize("name", ["Pasting", "RandomPatches"])
def test_presets_know_it_too(name):
    bag = getattr(spinney, f"{name}Regressor")(n_estimators=20, oob_score=True, random_state=0)
    said = bag.fit(TRAIN.X, TRAIN.y).predict_interval(TEST.X, 0.8)
    assert 0.7 < said.coverage(TEST.y) <= 1


@pytest.mark.parametrize("base", BASES)
def test_rows_of_weight_0_do_not_count(base):
    weights = np.ones(150)
    weights[::3] = 0
    bag = BaggingRegressor(base, 25, oob_score=True, random_state=0)
    kept = bag.fit(TRAIN.X, TRAIN.y, weights).calibration_
    assert not set(kept.known().tolist()) & set(range(0, 150, 3))
    again = bag.calibrate_out_of_bag(TRAIN.X, TRAIN.y, weights).calibration_
    assert kept.known().tolist() == again.known().tolist()
    assert again.scores[kept.known()] == pytest.approx(kept.scores[kept.known()])


@pytest.mark.parametrize("aggregation", ["mean", "median"])
def test_files_keep_what_is_known(aggregation):
    bag = bag_of(oob_score=True, aggregation=aggregation)
    again = from_bytes(to_bytes(bag))
    expected, found = (one.predict_interval(TEST.X) for one in (bag, again))
    assert np.array_equal(found.lower, expected.lower)
    assert np.array_equal(found.upper, expected.upper)


def test_a_new_fit_forgets():
    bag = bag_of(oob_score=True).set_params(oob_score=False).fit(TRAIN.X, TRAIN.y)
    with pytest.raises(NotCalibrated, match="calibrate_out_of_bag"):
        bag.predict_interval(TEST.X)


def test_what_is_not_known_is_refused():
    with pytest.raises(InvalidParameter, match="Every member of this RandomSubspaceRegressor saw"):
        spinney.RandomSubspaceRegressor().fit(TRAIN.X, TRAIN.y).calibrate_out_of_bag(
            TRAIN.X, TRAIN.y
        )
    with pytest.raises(InvalidInput, match="X has 50 rows"):
        bag_of().calibrate_out_of_bag(TRAIN.X[:50], TRAIN.y[:50])
    pairs = np.column_stack([TRAIN.y, TRAIN.y])
    several = BaggingRegressor(n_estimators=25, oob_score=True, random_state=0)
    several.fit(TRAIN.X, pairs)
    with pytest.raises(InvalidInput, match="2 numbers per row"):
        several.calibrate_out_of_bag(TRAIN.X, pairs)
