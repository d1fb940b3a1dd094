import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.tree import DecisionTreeClassifier as GuestTree
from tests.unit.plots.drawings import legend_of, lines_of

from spinney import AdaBoostClassifier, DecisionTreeRegressor, MarginBoostClassifier
from spinney.errors import InvalidInputType, InvalidParameter
from spinney.plots import plot_margin_distribution

VARIANTS = ["discrete", "real", "gentle", "logit", "confidence", "m1", "m2", "mh", "arc_x4"]


def rows(n_classes=2, n_rows=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    y = (X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n_rows) > 0.5).astype(int)
    return X, y + (n_classes - 2) * (X[:, 2] > 0.7)


def heights(line, thetas):
    """Where a curve of steps is at thetas."""
    x, y = line
    return y[np.searchsorted(x, thetas, side="right") - 1]


CASES = [(v, k, None) for v in VARIANTS for k in (2, 3) if (v, k) != ("confidence", 3)]
CASES += [(v, k, GuestTree(max_depth=2, random_state=0)) for v in ("real", "m2") for k in (2, 3)]


@pytest.mark.parametrize(("variant", "n_classes", "learner"), CASES, ids=str)
def test_curves_are_the_empirical_distributions_of_shorter_fits(variant, n_classes, learner):
    if variant in ("gentle", "logit"):
        learner = DecisionTreeRegressor(max_depth=1)
    X, y = rows(n_classes)

    def fit(n_rounds):
        return AdaBoostClassifier(learner, variant=variant, n_estimators=n_rounds).fit(X, y)

    lines = lines_of(plot_margin_distribution(fit(9), X, y, (4, 9)))
    thetas = np.linspace(-0.99, 0.99, 67)
    for n_rounds in (4, 9):
        margins = fit(n_rounds).margins(X, y)
        shares = [np.mean(margins <= theta) for theta in thetas]
        assert heights(lines[f"{n_rounds} rounds"], thetas) == pytest.approx(shares, abs=1e-12)


def test_curves_rise_from_0_to_1_and_the_first_error_is_at_0():
    X, y = rows()
    fitted = AdaBoostClassifier(n_estimators=40).fit(X, y)
    ax = plot_margin_distribution(fitted, X, y)
    assert legend_of(ax) == ["5 rounds", "40 rounds"]  # 100 and 1000 are beyond the last
    for label, stage in (("5 rounds", 4), ("40 rounds", 39)):
        x, share = lines_of(ax)[label]
        assert (x[0], x[-1], share[0], share[-1]) == (-1.0, 1.0, 0.0, 1.0)
        assert (np.diff(x) >= 0).all()
        assert (np.diff(share) >= 0).all()
        error = 1 - list(fitted.staged_score(X, y))[stage]
        assert heights((x, share), 0.0) == pytest.approx(error, abs=1e-12)
    assert all(line.get_drawstyle() == "steps-post" for line in ax.get_lines()[1:])
    assert ax.get_xlabel() == "margin"
    assert "share of rows" in ax.get_ylabel()


def test_a_weight_is_a_repetition():
    X, y = rows()
    fitted = AdaBoostClassifier(n_estimators=10).fit(X, y)
    counts = np.arange(len(y)) % 3
    weighted = plot_margin_distribution(fitted, X, y, (10,), sample_weight=counts)
    again = np.repeat(np.arange(len(y)), counts)
    repeated = plot_margin_distribution(fitted, X[again], y[again], (10,))
    thetas = np.linspace(-0.99, 0.99, 67)
    assert heights(lines_of(weighted)["10 rounds"], thetas) == pytest.approx(
        heights(lines_of(repeated)["10 rounds"], thetas)
    )


def test_the_booster_is_left_as_it_was():
    X, y = rows()
    fitted = AdaBoostClassifier(n_estimators=10).fit(X, y)
    before = fitted.model_, fitted.trace_, fitted.margins(X, y)
    plot_margin_distribution(fitted, X, y, (1, 5))
    assert fitted.model_ is before[0]
    assert fitted.trace_ is before[1]
    assert np.array_equal(fitted.margins(X, y), before[2])


def test_margins_of_a_program_end_at_its_certificate():
    X, y = rows()
    fitted = MarginBoostClassifier(algorithm="lpboost", nu=0.001).fit(X, y)
    ax = plot_margin_distribution(fitted, X, y, rounds=(10_000,), ax=Figure().subplots())
    (label,) = legend_of(ax)
    x, share = lines_of(ax)[label]
    assert x[1] == pytest.approx(fitted.certificate_.primal)
    assert share[1] > 0


def test_given_axes_are_drawn_on():
    X, y = rows()
    ax = Figure().subplots()
    assert plot_margin_distribution(AdaBoostClassifier().fit(X, y), X, y, ax=ax) is ax


def test_bad_input_is_refused():
    X, y = rows()
    with pytest.raises(InvalidInputType, match="Call fit"):
        plot_margin_distribution(AdaBoostClassifier(), X, y)
    with pytest.raises(InvalidParameter, match="rounds holds -1"):
        plot_margin_distribution(AdaBoostClassifier().fit(X, y), X, y, (-1,))
