"""What datasets and samples look like, and that nobody can write into them."""

import pickle

import numpy as np
import pytest

from spinney.datasets import Dataset, load_law_school, load_tumours, make_toy10, make_twonorm
from spinney.datasets import make_long_servedio_points as make_points
from spinney.errors import InvalidParameter


def test_arrays_are_read_only():
    data = make_points()
    for array in (data.X, data.y, data.clean_y, data.sample_weight, load_law_school()["GPA"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_frame_has_features_target_and_weights():
    frame = make_points().to_frame()
    assert list(frame.columns) == ["x0", "x1", "y", "clean_y", "sample_weight"]
    assert frame["sample_weight"].sum() == pytest.approx(1.0, abs=1e-15)
    assert load_law_school().to_frame("polars").shape == (15, 2)


def test_wide_tables_are_printed_in_part():
    lines = str(make_twonorm(50, random_state=0)).splitlines()
    assert lines[0] == (
        "twonorm: 50 rows, 20 features; no rule errs less than 0.02275 (the first 6 features shown)"
    )
    assert lines[1].split() == ["x0", "x1", "x2", "x3", "x4", "x5", "y"]
    assert lines[-1] == "… and 38 more rows; to_frame() has them all"
    assert make_twonorm(50, random_state=0).to_frame().shape == (50, 21)


def test_a_dataset_of_one_row_and_one_feature_is_told_in_the_singular():
    data = Dataset("dot", np.ones((1, 1)), np.ones(1), ("x0",))
    assert data.title() == "dot: 1 row, 1 feature"
    assert len(data) == 1
    assert repr(data) == str(data)


def test_unknown_column_of_a_sample_is_named_with_its_neighbours():
    with pytest.raises(InvalidParameter, match=r"no column 'GPAs'.*'LSAT', 'GPA'.*mean 'GPA'"):
        load_law_school()["GPAs"]


def test_datasets_survive_pickling():
    data = make_toy10()
    again = pickle.loads(pickle.dumps(data))
    assert np.array_equal(again.X, data.X)
    assert again.source == data.source


def test_bundled_table_is_as_before():
    data = load_tumours()
    assert data.X.shape == (569, 30)
    assert sorted(set(data.y.tolist())) == ["benign", "malignant"]
    assert data.bayes_error is None
