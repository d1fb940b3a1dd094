import numpy as np
import pytest
from sklearn import metrics

from spinney.errors import InvalidInput, InvalidInputType
from spinney.theory import precision_recall_curve, roc_curve


def rows(seed, *, tied=False):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 80)
    scores = y + rng.normal(size=80)
    return y, scores.round(0) if tied else scores, rng.integers(0, 4, 80)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_curves_are_those_of_scikit_learn(tied, weighted):
    y, scores, counts = rows(0, tied=tied)
    weights = counts if weighted else None
    roc = roc_curve(y, scores, sample_weight=weights)
    found = metrics.roc_curve(y, scores, sample_weight=weights, drop_intermediate=False)
    # scikit-learn keeps thresholds of rows that count nothing.
    assert np.isin(roc.thresholds, found[2]).all()
    there = np.isin(found[2], roc.thresholds)
    assert roc.false_alarms == pytest.approx(found[0][there])
    assert roc.found == pytest.approx(found[1][there])
    area = metrics.roc_auc_score(y, scores, sample_weight=weights)
    assert roc.area == pytest.approx(area)

    both = precision_recall_curve(y, scores, sample_weight=weights)
    precision, recall, thresholds = metrics.precision_recall_curve(y, scores, sample_weight=weights)
    there = np.isin(thresholds, both.thresholds)
    assert both.precision == pytest.approx(precision[:-1][there][::-1])
    assert both.recall == pytest.approx(recall[:-1][there][::-1])
    mean = metrics.average_precision_score(y, scores, sample_weight=weights)
    assert both.average_precision == pytest.approx(mean)
    assert both.base_rate == pytest.approx(np.average(y, weights=weights))


def test_a_weight_is_a_repetition():
    y, scores, counts = rows(1, tied=True)
    for make in (roc_curve, precision_recall_curve):
        weighted = make(y, scores, sample_weight=counts)
        repeated = make(np.repeat(y, counts), np.repeat(scores, counts))
        assert weighted.columns() == repeated.columns()
        assert weighted.title() == repeated.title()


def test_frames_have_a_line_for_each_threshold():
    frame = roc_curve([True, False, True], [3.0, 2.0, 2.0]).to_frame()
    assert frame.columns.tolist() == ["threshold", "false_alarms", "found"]
    assert frame["threshold"].tolist() == [np.inf, 3.0, 2.0]
    assert frame["found"].tolist() == [0.0, 0.5, 1.0]
    frame = precision_recall_curve([1, 0, 1], [3.0, 2.0, 2.0]).to_frame("polars")
    assert frame.columns == ["threshold", "precision", "recall"]


def test_results_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        roc_curve([0, 1], [0.0, 1.0]).found[0] = 1.0


def test_what_cannot_be_ranked_is_refused():
    for make in (roc_curve, precision_recall_curve):
        with pytest.raises(InvalidInput, match="y is 1 in all 2 rows of positive weight"):
            make([0, 1, 1], [0.0, 1.0, 2.0], sample_weight=[0, 1, 1])
        with pytest.raises(InvalidInput, match="Of labels give y == label"):
            make(["no", "yes"], [0.0, 1.0])
        with pytest.raises(InvalidInput, match=r"score\[1\] is nan"):
            make([0, 1], [0.0, np.nan])
        with pytest.raises(InvalidInput, match="expected 2 numbers, 1 where it happened"):
            make([0, 1, 1], [0.0, 1.0])
        with pytest.raises(InvalidInputType, match="cannot be read as numbers"):
            make([0, 1], ["low", "high"])
