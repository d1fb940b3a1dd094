import numpy as np
import pytest
from sklearn import metrics

from spinney.errors import InvalidInput, InvalidInputType
from spinney.theory import confusion


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("names", [["ash", "fir", "oak"], [3, 5, 9], [True, False, True]])
def test_it_counts_as_scikit_learn_does(weighted, names):
    rng = np.random.default_rng(0)
    y, said = np.array(names)[rng.integers(0, 3, (2, 100))]
    weights = rng.integers(0, 4, 100) if weighted else None
    found = confusion(y, said, sample_weight=weights)
    assert found.classes.tolist() == np.unique(names).tolist()
    assert found.weights == pytest.approx(metrics.confusion_matrix(y, said, sample_weight=weights))
    normal = metrics.confusion_matrix(y, said, sample_weight=weights, normalize="true")
    assert found.shares == pytest.approx(normal)
    measures = {"average": None, "sample_weight": weights, "labels": found.classes}
    assert found.recall == pytest.approx(metrics.recall_score(y, said, **measures))
    assert found.precision == pytest.approx(metrics.precision_score(y, said, **measures))
    assert found.accuracy == pytest.approx(metrics.accuracy_score(y, said, sample_weight=weights))


def test_classes_without_rows_have_no_shares():
    found = confusion(["a", "b"], ["a", "c"])
    assert found.classes.tolist() == ["a", "b", "c"]
    assert np.isnan(found.shares[2]).all()
    assert np.isnan(found.recall).tolist() == [False, False, True]
    assert np.isnan(found.precision).tolist() == [False, True, False]


def test_the_frame_has_a_line_for_each_pair():
    frame = confusion([0, 0, 1], [0, 1, 1], sample_weight=[1.0, 2.0, 0.5]).to_frame()
    assert frame.to_numpy().tolist() == [
        [0, 0, 1.0, pytest.approx(1 / 3)],
        [0, 1, 2.0, pytest.approx(2 / 3)],
        [1, 0, 0.0, 0.0],
        [1, 1, 0.5, 1.0],
    ]


def test_bad_input_is_refused():
    with pytest.raises(InvalidInput, match="one label in each of them for every row"):
        confusion([0, 1], [0, 1, 1])
    with pytest.raises(InvalidInput, match="at least one row"):
        confusion([], [])
    with pytest.raises(InvalidInputType, match="holds text and"):
        confusion(["0", "1"], [0, 1])
    with pytest.raises(InvalidInput, match="sample_weight has 1 numbers"):
        confusion([0, 1], [0, 1], sample_weight=[1.0])
