import numpy as np
import pytest
from sklearn import metrics

from spinney import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingRegressor,
    FunctionalGradientBoostingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.theory import learning_curve, out_of_bag_curve

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
NUMBERS = X[:, 0] + 0.3 * RNG.normal(size=120)
LABELS = np.where(NUMBERS > 0, "yes", "no")
COUNTS = RNG.integers(0, 3, 120)


def test_what_was_written_down_is_told():
    booster = GradientBoostingRegressor(max_iter=8, early_stopping=True, random_state=0)
    fitted = booster.fit(X, NUMBERS)
    found = learning_curve(fitted)
    assert found.names == ("training", "validation")
    assert found.steps.tolist() == list(range(len(fitted.train_score_)))
    assert found.curve("training").tolist() == (-fitted.train_score_).tolist()
    assert found.curve("validation").tolist() == (-fitted.validation_score_).tolist()
    assert found.best() == int(fitted.validation_score_.argmax())
    assert (found.measure, found.step, found.more_is_better) == ("loss", "round", False)


def test_scores_of_scorers_are_the_better_the_larger():
    booster = GradientBoostingClassifier(max_iter=5, early_stopping=True, scoring="accuracy")
    fitted = booster.fit(X, LABELS)
    found = learning_curve(fitted)
    assert (found.measure, found.more_is_better) == ("accuracy", True)
    assert found.curve("validation").tolist() == fitted.validation_score_.tolist()
    assert found.best() == int(fitted.validation_score_.argmax())


def test_functional_boosting_knows_its_training_loss():
    fitted = FunctionalGradientBoostingRegressor(n_estimators=4).fit(X, NUMBERS)
    found = learning_curve(fitted)
    assert found.names == ("training",)
    assert found.values.tolist() == [(-fitted.train_score_).tolist()]


@pytest.mark.parametrize("weights", [None, COUNTS])
def test_stages_are_measured_as_scikit_learn_does(weights):
    fitted = AdaBoostClassifier(n_estimators=6).fit(X, LABELS)
    rows = (X, LABELS) if weights is None else (X, LABELS, weights)
    found = learning_curve(fitted, {"seen": rows})
    right = list(fitted.staged_score(X, LABELS, sample_weight=weights))
    assert found.curve("seen") == pytest.approx(1 - np.array(right))
    assert found.steps.tolist() == list(range(1, 7))

    found = learning_curve(fitted, {"seen": rows}, measure="log_loss")
    losses = [
        metrics.log_loss(LABELS, said, sample_weight=weights)
        for said in fitted.staged_predict_proba(X)
    ]
    assert found.curve("seen") == pytest.approx(losses)


@pytest.mark.parametrize("measure", ["squared_error", "absolute_error"])
def test_stages_of_regressors(measure):
    fitted = AdaBoostRegressor(n_estimators=4, random_state=0).fit(X, NUMBERS)
    found = learning_curve(fitted, {"seen": (X, NUMBERS, COUNTS)}, measure=measure)
    measured = getattr(metrics, f"mean_{measure}")
    expected = [measured(NUMBERS, said, sample_weight=COUNTS) for said in fitted.staged_predict(X)]
    assert found.curve("seen") == pytest.approx(expected)


def test_out_of_bag_scores_are_those_of_the_forest():
    forest = RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, LABELS)
    found = out_of_bag_curve(forest)
    assert found.curve("out of bag").tolist() == forest.oob_curve_.tolist()
    assert found.curve("out of bag")[-1] == pytest.approx(forest.oob_score_)
    assert (found.measure, found.step, found.more_is_better) == ("accuracy", "member", True)
    bag = BaggingRegressor(n_estimators=30, oob_score=True, random_state=0).fit(X, NUMBERS)
    assert out_of_bag_curve(bag).measure == "R²"


def test_frames_have_a_column_for_each_part_whatever_it_is_called():
    fitted = AdaBoostClassifier(n_estimators=2).fit(X, LABELS)
    frame = learning_curve(fitted, {"round": (X, LABELS)}).to_frame()
    assert frame.columns.tolist() == ["round_", "round"]
    assert len(frame) == 2


def test_what_has_no_curve_is_refused():
    fitted = AdaBoostClassifier(n_estimators=2).fit(X, LABELS)
    with pytest.raises(InvalidInput, match="wrote down no scores"):
        learning_curve(fitted)
    with pytest.raises(InvalidInput, match="wrote down no scores"):
        learning_curve(GradientBoostingRegressor(max_iter=2).fit(X, NUMBERS))
    with pytest.raises(InvalidParameter, match="without parts"):
        learning_curve(fitted, measure="error")
    with pytest.raises(InvalidParameter, match="expected one of 'error', 'log_loss'"):
        learning_curve(fitted, {"seen": (X, LABELS)}, measure="squared_error")
    with pytest.raises(InvalidParameter, match="measure='auc'"):
        learning_curve(fitted, {"seen": (X, LABELS)}, measure="auc")
    with pytest.raises(InvalidInputType, match="mapping from names to rows"):
        learning_curve(fitted, (X, LABELS))
    with pytest.raises(InvalidInputType, match=r"expected \(X, y\)"):
        learning_curve(fitted, {"seen": X})
    with pytest.raises(InvalidInput, match="has the label 'maybe'"):
        learning_curve(fitted, {"seen": (X[:1], ["maybe"])}, measure="log_loss")
    forest = RandomForestClassifier(2).fit(X, LABELS)
    with pytest.raises(InvalidInputType, match="has no staged_predict"):
        learning_curve(forest, {"seen": (X, LABELS)})
    with pytest.raises(InvalidInputType, match="oob_score=True"):
        out_of_bag_curve(forest)
