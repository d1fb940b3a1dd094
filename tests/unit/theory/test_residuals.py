import numpy as np
import pytest
from sklearn import metrics

from spinney.errors import InvalidInput
from spinney.theory import residuals


@pytest.mark.parametrize("weighted", [False, True])
def test_measures_are_those_of_scikit_learn(weighted):
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    said = y + rng.normal(size=60)
    weights = rng.integers(0, 4, 60) if weighted else None
    found = residuals(y, said, sample_weight=weights)
    own = {"sample_weight": weights}
    assert found.residuals.tolist() == (y - said).tolist()
    assert found.root_mean_square == pytest.approx(metrics.root_mean_squared_error(y, said, **own))
    assert found.mean_absolute == pytest.approx(metrics.mean_absolute_error(y, said, **own))
    assert found.r2 == pytest.approx(metrics.r2_score(y, said, **own))
    assert found.mean == pytest.approx(np.average(y - said, weights=weights))


def test_targets_that_do_not_vary_have_no_r2():
    assert np.isnan(residuals([1.0, 1.0], [0.0, 1.0]).r2)


def test_the_frame_has_the_rows_in_their_order():
    frame = residuals([3.0, 1.0], [2.0, 2.0], sample_weight=[2, 1]).to_frame()
    assert frame.columns.tolist() == ["target", "prediction", "residual", "weight"]
    assert frame.to_numpy().tolist() == [[3.0, 2.0, 1.0, 2.0], [1.0, 2.0, -1.0, 1.0]]


def test_bad_input_is_refused():
    with pytest.raises(InvalidInput, match="y has 2 numbers and predicted 1"):
        residuals([1.0, 2.0], [1.0])
    with pytest.raises(InvalidInput, match=r"predicted\[0\] is nan"):
        residuals([1.0], [np.nan])
