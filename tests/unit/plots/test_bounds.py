import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from tests.unit.plots.drawings import legend_of, lines_of

from spinney import AdaBoostClassifier, MarginBoostClassifier
from spinney.errors import InvalidInput
from spinney.plots import plot_error_bounds
from spinney.theory import training_error_bounds

PRODUCT, SUM, POWER = (
    r"bound $\prod Z_t$",
    r"bound $\exp(-2\sum\gamma_t^2)$",
    r"bound $(1-4\gamma^2)^{T/2}$",
)


def rows(seed=0, n_rows=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n_rows) > 0).astype(int)


def test_lines_are_the_numbers_of_theory():
    X, y = rows()
    X_test, y_test = rows(1)
    fitted = AdaBoostClassifier(n_estimators=30).fit(X, y)
    ax = plot_error_bounds(fitted, X, y, X_test, y_test)
    lines = lines_of(ax)
    assert legend_of(ax) == ["training error", "test error", PRODUCT, SUM, POWER]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("round", "share of rows")
    bounds = training_error_bounds(fitted.estimator_errors_)
    for label, numbers in (
        ("training error", 1 - np.array(list(fitted.staged_score(X, y)))),
        ("test error", 1 - np.array(list(fitted.staged_score(X_test, y_test)))),
        (PRODUCT, bounds.product),
        (SUM, bounds.exponential_sum),
        (POWER, bounds.power),
    ):
        assert lines[label][0].tolist() == list(range(1, 31))
        assert lines[label][1] == pytest.approx(numbers, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    variant=st.sampled_from(["discrete", "real", "gentle", "confidence"]),
    rate=st.sampled_from([1.0, 0.4]),
    weighted=st.booleans(),
)
def test_no_bound_is_exceeded(seed, variant, rate, weighted):
    X, y = rows(seed, 30)
    weights = np.random.default_rng(seed).integers(0, 3, 30) if weighted else None
    if weighted and len(np.unique(y[weights > 0])) < 2:
        return
    booster = AdaBoostClassifier(n_estimators=12, variant=variant, learning_rate=rate)
    lines = lines_of(plot_error_bounds(booster.fit(X, y, weights), X, y, sample_weight=weights))
    error = lines.pop("training error")[1]
    assert PRODUCT in lines
    for _, bound in lines.values():
        assert (error <= bound + 1e-12).all()
    assert (np.diff(lines[PRODUCT][1]) <= 1e-12).all()
    if SUM in lines:
        assert (np.diff(lines[SUM][1]) <= 0).all()
        assert (lines[PRODUCT][1] <= np.minimum(lines[SUM][1], lines[POWER][1]) + 1e-9).all()


def test_shrunken_votes_have_the_product_alone():
    X, y = rows()
    fitted = AdaBoostClassifier(n_estimators=10, learning_rate=0.2).fit(X, y)
    assert legend_of(plot_error_bounds(fitted, X, y)) == ["training error", PRODUCT]


def test_many_rounds_are_drawn_on_a_logarithmic_axis():
    X, y = rows()
    fitted = [AdaBoostClassifier(n_estimators=n).fit(X, y) for n in (20, 60)]
    scales = [plot_error_bounds(one, X, y).get_xscale() for one in fitted]
    assert scales == ["linear", "log"]


def test_given_axes_are_drawn_on():
    X, y = rows()
    ax = Figure().subplots()
    assert plot_error_bounds(AdaBoostClassifier().fit(X, y), X, y, ax=ax) is ax


def test_bounds_are_refused_where_they_say_nothing():
    X, y = rows()
    fitted = AdaBoostClassifier(n_estimators=10).fit(X, y)
    with pytest.raises(InvalidInput, match="No bound speaks of these 60 rows of 2 classes"):
        plot_error_bounds(fitted, *rows(1))
    with pytest.raises(InvalidInput, match="sample_weight it was fitted to"):
        plot_error_bounds(fitted, X, y, sample_weight=np.arange(60))
    three = y + (X[:, 2] > 0.5)
    with pytest.raises(InvalidInput, match="of 3 classes"):
        plot_error_bounds(AdaBoostClassifier(n_estimators=5).fit(X, three), X, three)
    for booster in (
        MarginBoostClassifier(algorithm="lpboost"),
        AdaBoostClassifier(variant="arc_x4"),
        AdaBoostClassifier(variant="logit", n_estimators=5),
    ):
        with pytest.raises(InvalidInput, match="No bound speaks"):
            plot_error_bounds(booster.fit(X, y), X, y)
    with pytest.raises(InvalidInput, match="belong together"):
        plot_error_bounds(fitted, X, y, X)
