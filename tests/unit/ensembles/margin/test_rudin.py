"""Published numbers: the matrix on which AdaBoost does not find the largest margin, 3/8."""

import numpy as np
import pytest
from tests.reference.margins import RUDIN, best_column

from spinney.ensembles.margin.boosting import boost_margins
from spinney.ensembles.margin.settings import MarginSettings

HARD = 1e-9


def boost(algorithm, **changed):
    settings = MarginSettings(algorithm=algorithm, nu=HARD, **changed)
    return boost_margins(best_column(RUDIN), np.ones(8), settings)


def test_adaboost_stays_at_a_third():
    margins = boost("adaboost_rho", n_rounds=1000).trace.min_margins
    assert margins[99].round(4) == 0.3248
    assert margins[999].round(5) == 0.33248


def test_adaboost_cycles_from_the_published_start():
    root = np.sqrt(5)
    low, high = (3 - root) / 8, (root - 1) / 8
    start = [low, low, 1 / 6, 1 / 6, 1 / 6, high, high, 0.0]
    settings = MarginSettings(algorithm="adaboost_rho", n_rounds=30)
    boosted = boost_margins(best_column(RUDIN), np.ones(8), settings, start)
    assert boosted.members == [0, 2, 1] * 10
    assert boosted.trace.errors == pytest.approx(np.full(30, (3 - root) / 4), abs=1e-9)
    assert boosted.trace.min_margins[2::3] == pytest.approx(np.full(10, 1 / 3), abs=1e-9)


def test_arc_gv_goes_on_towards_three_eighths():
    margins = boost("arc_gv", n_rounds=2000).trace.min_margins
    assert 0.368 < margins[1999] < 0.375
    assert margins[1999] > margins[199] > 1 / 3


@pytest.mark.long
def test_adaboost_is_at_a_third_after_ten_thousand_rounds():
    margins = boost("adaboost_rho", n_rounds=10_000).trace.min_margins
    assert margins[-1].round(5) == 0.33325


@pytest.mark.long
def test_arc_gv_after_twenty_thousand_rounds():
    assert boost("arc_gv", n_rounds=20_000).certificate.primal == pytest.approx(0.3731, abs=1e-4)


@pytest.mark.parametrize(("nu", "margin"), [(0.05, 0.3721), (0.02, 0.3737)])
def test_adaboost_star(nu, margin):
    boosted = boost("adaboost_star", precision=nu, n_rounds=10**6)
    assert len(boosted.trace) == np.ceil(2 * np.log(8) / nu**2)
    assert boosted.stop_reason == "the rounds that suffice for the precision are done"
    assert boosted.certificate.primal == pytest.approx(margin, abs=2e-4)
    assert boosted.certificate.gap <= nu
    assert boosted.certificate.holds


def test_lpboost_finds_the_weights_exactly():
    boosted = boost("lpboost")
    weights = np.zeros(8)
    weights[boosted.members] = boosted.weights
    assert weights * 16 == pytest.approx([2, 3, 4, 1, 2, 2, 1, 1], abs=1e-9)
    assert boosted.certificate.primal == pytest.approx(0.375, abs=1e-9)
    assert boosted.certificate.dual == pytest.approx(0.375, abs=1e-9)
    assert RUDIN @ weights == pytest.approx(np.full(8, 0.375), abs=1e-9)
    assert len(boosted.trace) <= 9


@pytest.mark.parametrize("algorithm", ["totalboost", "softboost", "erlpboost"])
@pytest.mark.parametrize("precision", [0.1, 0.01])
def test_entropy_is_within_its_precision(algorithm, precision):
    boosted = boost(algorithm, precision=precision)
    assert 0.375 - precision <= boosted.certificate.primal <= 0.375 + 1e-9
    assert boosted.certificate.verify(RUDIN[:, boosted.members])
    assert len(boosted.trace) <= 2 * np.log(8) / precision**2


def test_corrective_erlpboost_without_any_solver():
    boosted = boost("corrective_erlpboost", precision=0.01, n_rounds=10_000)
    assert 0.374 <= boosted.certificate.primal <= 0.375
    assert boosted.certificate.holds
    assert len(boosted.trace) < 6000  # 19 921 with the published step
