import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.unit.plots.drawings import legend_of, lines_of

from spinney import AdaBoostClassifier
from spinney.datasets import make_toy10
from spinney.errors import InvalidInput
from spinney.plots import plot_weight_history

TOY = make_toy10()


def boosted(**changed):
    return AdaBoostClassifier(n_estimators=4, **{"store_weights": True} | changed).fit(TOY.X, TOY.y)


def test_lines_are_the_weights_of_the_rows():
    fitted = boosted()
    kept = fitted.trace_.distributions
    ax = plot_weight_history(fitted, rows=range(10))
    lines = lines_of(ax)
    assert legend_of(ax) == list(lines)
    assert lines.pop("even share")[1].tolist() == [0.1, 0.1]
    for row in range(10):
        rounds, weights = lines[f"row {row}"]
        assert rounds.tolist() == [1, 2, 3, 4, 5]  # the last is what a fifth round would see
        assert np.array_equal(weights, kept[:, row])
    assert sum(weights for _, weights in lines.values()) == pytest.approx(1.0)


def test_as_a_default_the_heaviest_rows_are_shown():
    fitted = boosted()
    ax = Figure().subplots()
    assert plot_weight_history(fitted.trace_, ax=ax) is ax
    shown = [int(label.removeprefix("row ")) for label in legend_of(ax)[1:]]
    last = fitted.trace_.distributions[-1]
    assert len(shown) == 5
    assert last[shown].min() >= np.delete(last, shown).max()


def test_bad_input_is_refused():
    with pytest.raises(InvalidInput, match="store_weights=True"):
        plot_weight_history(boosted(store_weights=False))
    for rows in ([10], [-1], [0.5], []):
        with pytest.raises(InvalidInput, match="whole numbers from 0 to 9"):
            plot_weight_history(boosted(), rows)
