"""Parameters that are set after ``fit``: a calibration is of what was predicted then."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

from spinney import (
    CalibratedClassifier,
    ConformalClassifier,
    DecisionTreeClassifier,
    RandomForestClassifier,
    VotingClassifier,
    VotingRegressor,
    WeightedVoteClassifier,
)
from spinney.datasets import make_friedman
from spinney.ensembles.uncertain.kept import Calibration
from spinney.errors import NotCalibrated
from spinney.io.save_load import from_bytes, to_bytes

TRAIN, CAL, TEST = (make_friedman(1, 200, random_state=seed) for seed in range(3))
NUMBERS = [("line", LinearRegression()), ("mean", DummyRegressor())]
VOTERS = [
    ("stump", DecisionTreeClassifier(max_depth=1)),
    ("tree", DecisionTreeClassifier(max_depth=4)),
    ("forest", RandomForestClassifier(5, random_state=0)),
]


def labels(data):
    return (data.y > np.median(TRAIN.y)).astype(int)


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        (VotingRegressor(NUMBERS, weights=[1, 0]), {"weights": [0, 1]}),
        (VotingRegressor(NUMBERS), {"aggregation": "median"}),
        (VotingClassifier(VOTERS), {"voting": "soft"}),
        (VotingClassifier(VOTERS, voting="soft"), {"weights": [1, 2, 3]}),
        (WeightedVoteClassifier(VOTERS), {"vote": "probabilities"}),
    ],
)
def test_a_calibration_is_of_the_settings_that_predictions_follow(model, changes):
    is_number = "Regressor" in type(model).__name__
    pick = (lambda data: data.y) if is_number else labels
    model = copy.deepcopy(model).fit(TRAIN.X, pick(TRAIN)).calibrate(CAL.X, pick(CAL))
    ask = model.predict_interval if is_number else model.predict_set
    before = {name: getattr(model, name) for name in changes}
    covered = ask(TEST.X).coverage(pick(TEST))
    model.set_params(**changes)
    (name,) = changes
    with pytest.raises(NotCalibrated, match=f"{name}=.* has changed since it was calibrated"):
        ask(TEST.X)
    for carried in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        with pytest.raises(NotCalibrated):
            (carried.predict_interval if is_number else carried.predict_set)(TEST.X)
    model.set_params(**before)
    assert ask(TEST.X).coverage(pick(TEST)) == covered
    model.set_params(**changes).calibrate(CAL.X, pick(CAL))
    assert ask(TEST.X).coverage(pick(TEST)) > 0.8


def test_a_calibration_that_failed_changes_nothing():
    model = VotingRegressor(NUMBERS).fit(TRAIN.X, TRAIN.y).calibrate(CAL.X, CAL.y)
    model.set_params(weights=[0, 1])
    with pytest.raises(ValueError, match="NaN"):
        model.calibrate(CAL.X, np.full(200, np.nan))
    with pytest.raises(NotCalibrated, match="weights="):
        model.predict_interval(TEST.X)


def test_files_hold_calibrations_of_what_they_predict():
    model = VotingClassifier(VOTERS[:2], voting="soft").fit(TRAIN.X, labels(TRAIN))
    model.calibrate(CAL.X, labels(CAL))
    kept = from_bytes(to_bytes(model))
    assert np.array_equal(kept.predict_set(TEST.X).members, model.predict_set(TEST.X).members)
    with pytest.raises(NotCalibrated, match="weights="):
        kept.set_params(weights=[1, 3]).predict_set(TEST.X)
    with pytest.raises(NotCalibrated, match="has not been calibrated"):
        from_bytes(to_bytes(kept)).predict_set(TEST.X)


def test_calibrated_probabilities_are_those_of_the_curves_that_were_fitted():
    tree = DecisionTreeClassifier(max_depth=4)
    model = CalibratedClassifier(tree, method="platt", random_state=0)
    before = model.fit(TRAIN.X, labels(TRAIN)).predict_proba(TEST.X)
    model.set_params(method="venn_abers")
    assert np.array_equal(model.predict_proba(TEST.X), before)
    with pytest.raises(ValueError, match="method='platt' gives one probability"):
        model.probability_bounds(TEST.X)


def test_conformal_sets_are_asked_as_the_rows_were_judged():
    model = ConformalClassifier(DecisionTreeClassifier(max_depth=4), random_state=0)
    before = model.fit(TRAIN.X, labels(TRAIN)).predict_set(TEST.X).members
    for changes in ({"method": "lac"}, {"randomised": True}, {"conditional_on": "class"}):
        changed = copy.deepcopy(model).set_params(**changes)
        assert np.array_equal(changed.predict_set(TEST.X).members, before)
        fitted = changed.fit(TRAIN.X, labels(TRAIN))
        assert fitted.predict_set(TEST.X).coverage(labels(TEST)) > 0.8


def test_pickles_from_before_are_asked_as_they_were():
    model = ConformalClassifier(DecisionTreeClassifier(max_depth=4), random_state=0)
    model.fit(TRAIN.X, labels(TRAIN))
    state = dict(model.__getstate__())
    for name in ("_asked_by", "_is_drawn", "_promised_to"):
        del state[name]
    old = ConformalClassifier.__new__(ConformalClassifier)
    old.__setstate__(state)
    assert old._asked_by.including
    assert not model._asked_by.including
    kept = Calibration.held_out("aps", np.arange(9.0))
    for method, including in (("aps", True), ("lac", False), ("residual", False)):
        again = Calibration.__new__(Calibration)
        again.__setstate__(["held_out", method, kept.scores, None, None, (0.0, 0.0)])
        assert again.including == including
    assert not pickle.loads(pickle.dumps(kept)).including
