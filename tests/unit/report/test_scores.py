import numpy as np
import pytest
from sklearn import metrics as theirs

from spinney import AdaBoostClassifier
from spinney.report.scores import curves
from spinney.report.scores.metrics import area_under_roc, average_precision, row_losses, score_rows
from spinney.report.scores.suspects import (
    booster_suspects,
    hardest_rows,
    suspect_labels,
    suspect_numbers,
)
from spinney.theory import precision_recall_curve, roc_curve


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def named(found):
    return {metric.name: metric for metric in found}


def test_metrics_of_two_classes_are_scikit_learns(rng):
    y = rng.integers(0, 2, 300)
    p = np.clip(0.5 + 0.3 * (y - 0.5) + rng.normal(0, 0.2, 300), 0.01, 0.99).round(2)
    w = rng.integers(1, 4, 300).astype(float)
    both = np.column_stack([1 - p, p])
    found = named(score_rows("binary", y, both, w, n_resamples=0, seed=0))
    expected = {
        "ROC AUC": theirs.roc_auc_score(y, p, sample_weight=w),
        "Average precision": theirs.average_precision_score(y, p, sample_weight=w),
        "Log loss": theirs.log_loss(y, both, sample_weight=w),
        "Accuracy": theirs.accuracy_score(y, both.argmax(axis=1), sample_weight=w),
        "Brier score": theirs.brier_score_loss(y, p, sample_weight=w),
    }
    for name, value in expected.items():
        assert found[name].estimate == pytest.approx(value, abs=1e-12), name
    assert area_under_roc(y * 1.0, p) == pytest.approx(theirs.roc_auc_score(y, p), abs=1e-12)
    assert average_precision(y * 1.0, p) == pytest.approx(theirs.average_precision_score(y, p))


def test_metrics_of_many_classes_are_scikit_learns(rng):
    y = rng.integers(0, 4, 400)
    p = rng.dirichlet(np.ones(4), 400) + np.eye(4)[y]
    p /= p.sum(axis=1, keepdims=True)
    found = named(score_rows("classes", y, p, None, n_resamples=0, seed=0))
    area = theirs.roc_auc_score(y, p, multi_class="ovr")
    balanced = theirs.balanced_accuracy_score(y, p.argmax(axis=1))
    assert found["Mean ROC AUC"].estimate == pytest.approx(area, abs=1e-12)
    assert found["Balanced accuracy"].estimate == pytest.approx(balanced, abs=1e-12)
    assert found["Accuracy"].baseline == np.bincount(y).max() / 400


def test_metrics_of_numbers_are_scikit_learns(rng):
    y = rng.normal(size=300)
    said = y + rng.normal(0, 0.5, 300)
    found = named(score_rows("numbers", y, said, None, n_resamples=200, seed=0))
    assert found["R²"].estimate == pytest.approx(theirs.r2_score(y, said), abs=1e-12)
    assert found["MAE"].estimate == pytest.approx(theirs.mean_absolute_error(y, said), abs=1e-12)
    assert found["RMSE"].estimate == pytest.approx(theirs.root_mean_squared_error(y, said))
    assert found["R²"].baseline == pytest.approx(0.0, abs=1e-12)
    for metric in found.values():
        assert metric.low <= metric.estimate <= metric.high, metric.name


def test_intervals_cover_and_shrink_with_rows(rng):
    widths = []
    for n in (100, 1600):
        y = rng.integers(0, 2, n)
        p = np.clip(0.5 + 0.4 * (y - 0.5) + rng.normal(0, 0.3, n), 0.01, 0.99)
        both = np.column_stack([1 - p, p])
        found = score_rows("binary", y, both, None, n_resamples=200, seed=0)
        widths.append(np.array([metric.high - metric.low for metric in found]))
    assert (widths[1] < widths[0]).all()


def test_weights_are_repetitions_in_every_metric(rng):
    y, p = rng.integers(0, 3, 60), rng.dirichlet(np.ones(3), 60)
    w = rng.integers(1, 4, 60)
    weighed = score_rows("classes", y, p, w.astype(float), n_resamples=0, seed=0)
    again = np.repeat(np.arange(60), w)
    repeated = score_rows("classes", y[again], p[again], None, n_resamples=0, seed=0)
    for a, b in zip(weighed, repeated, strict=True):
        assert a.estimate == pytest.approx(b.estimate, abs=1e-12), a.name


def test_drawn_curves_are_points_of_the_theorys_and_end_in_their_corners(rng):
    y = rng.integers(0, 2, 3000)
    score, weights = y + rng.normal(size=3000), rng.integers(1, 4, 3000)
    whole = roc_curve(y, score, sample_weight=weights)
    roc = curves.drawn_roc(whole)
    assert (roc.x[0], roc.y[0], roc.x[-1], roc.y[-1]) == (0, 0, 1, 1)
    assert len(roc.x) <= 80
    points = zip(whole.false_alarms, whole.found, whole.thresholds, strict=True)
    assert set(zip(roc.x, roc.y, roc.at, strict=True)) <= set(points)
    assert np.trapezoid(roc.y, roc.x) == pytest.approx(whole.area, abs=0.005)
    found = precision_recall_curve(y, score, sample_weight=weights)
    precision = curves.drawn_precision(found)
    assert precision.x[-1] == 1.0
    assert precision.y[-1] == pytest.approx(found.base_rate)
    points = zip(found.recall, found.precision, found.thresholds, strict=True)
    assert set(zip(precision.x[1:], precision.y[1:], precision.at[1:], strict=True)) <= set(points)


def test_precision_is_drawn_from_where_something_is_found():
    drawn = curves.drawn_precision(precision_recall_curve([0, 1, 0], [0.9, 0.5, 0.1]))
    assert drawn == curves.Curve((0.0, 1.0, 1.0), (0.5, 0.5, 1 / 3), (np.inf, 0.5, 0.1))


def test_the_areas_that_are_drawn_again_are_those_of_the_theorys_curves(rng):
    """Resamples sort nothing, so these two sums are written a second time."""
    y, weights = rng.integers(0, 2, 400), rng.integers(0, 4, 400).astype(float)
    score = (y + rng.normal(size=400)).round(1)
    area = roc_curve(y, score, sample_weight=weights).area
    assert area_under_roc(y * 1.0, score, weights) == pytest.approx(area, abs=1e-12)
    mean = precision_recall_curve(y, score, sample_weight=weights).average_precision
    assert average_precision(y * 1.0, score, weights) == pytest.approx(mean, abs=1e-12)


def test_confusion_counts_truth_down_and_predictions_across():
    counts = curves.confusion(np.array([0, 0, 1]), np.array([0, 1, 1]), 2, np.array([1.0, 2, 4]))
    assert counts.tolist() == [[1.0, 2.0], [0.0, 4.0]]
    first, second = curves.class_scores(counts, ("a", "b"))
    assert (first.precision, first.recall) == (1.0, 1 / 3)
    assert (second.precision, second.recall) == (4 / 6, 1.0)


def test_binned_means_keep_the_overall_mean(rng):
    x, y = rng.normal(size=240), rng.normal(size=240)
    means, other, errors = curves.binned_means(x, y, np.ones(240))
    assert len(means) == 12
    assert other.mean() == pytest.approx(y.mean())
    assert (np.diff(means) > 0).all()
    assert (errors > 0).all()


def test_swapped_labels_are_the_most_suspect(rng):
    y = rng.integers(0, 3, 500)
    p = 0.85 * np.eye(3)[y] + 0.05  # alike, so that none is less sure than usual
    wrong = np.array([3, 77, 200])
    given = y.copy()
    given[wrong] = (given[wrong] + 1) % 3
    assert set(suspect_labels(given, p).rows) == set(wrong.tolist())
    assert set(hardest_rows("classes", given, p, 3)) == set(wrong.tolist())
    assert suspect_labels(y, p).rows.size == 0


def test_numbers_far_outside_are_suspect_and_exact_predictions_are_not(rng):
    y = rng.normal(size=300)
    said = y + rng.normal(0, 0.1, 300)
    y[5] += 40
    assert suspect_numbers(y, said).rows.tolist() == [5]
    assert suspect_numbers(y, y).rows.size == 0
    assert row_losses("numbers", y, said).argmax() == 5


def test_boosters_are_asked_about_their_own_training_rows_only(rng):
    X = rng.normal(size=(150, 3))
    y = np.where(X[:, 0] > 0, "a", "b")
    y[7] = "a" if y[7] == "b" else "b"
    fitted = AdaBoostClassifier(n_estimators=10, store_weights=True).fit(X, y)
    assert booster_suspects(fitted, X, y).rows[0] == 7
    assert booster_suspects(fitted, X[:50], y[:50]) is None
    assert booster_suspects(object(), X, y) is None
