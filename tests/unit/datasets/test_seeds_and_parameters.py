"""What all generators have in common: seeds, sizes, and parameters that make no sense."""

import doctest
import functools
import hashlib
import math
import re
from pathlib import Path

import numpy as np
import pytest

import spinney.datasets
from spinney.datasets import (
    make_esl_spheres,
    make_friedman,
    make_long_servedio,
    make_long_servedio_points,
    make_mease_wyner,
    make_moons,
    make_ringnorm,
    make_shells,
    make_threenorm,
    make_twonorm,
    make_waveform,
    make_xor,
)
from spinney.errors import InvalidParameter

MAKERS = {
    make_twonorm: (20, {-1, 1}),
    make_threenorm: (20, {-1, 1}),
    make_ringnorm: (20, {-1, 1}),
    make_waveform: (21, {0, 1, 2}),
    make_mease_wyner: (20, {-1, 1}),
    make_esl_spheres: (10, {-1, 1}),
    make_shells: (10, {0, 1, 2}),
    make_moons: (2, {-1, 1}),
    make_xor: (2, {-1, 1}),
    make_long_servedio: (21, {-1, 1}),
    functools.partial(make_friedman, 1): (10, None),
    functools.partial(make_friedman, 2): (4, None),
    functools.partial(make_friedman, 3): (4, None),
}
NAMES = [getattr(make, "__name__", f"friedman{i}") for i, make in enumerate(MAKERS, start=-9)]
every_maker = pytest.mark.parametrize("make", MAKERS, ids=NAMES)


def digest(data):
    return hashlib.sha256(data.X.tobytes() + data.y.tobytes()).hexdigest()


@every_maker
def test_same_seed_same_bytes_and_other_seed_other_bytes(make):
    assert digest(make(60, random_state=5)) == digest(make(60, random_state=5))
    assert digest(make(60, random_state=5)) != digest(make(60, random_state=6))
    assert digest(make(60)) != digest(make(60))  # nobody asked for a seed


@every_maker
def test_a_generator_is_used_as_it_is_and_moves_on(make):
    rng = np.random.default_rng(5)
    assert digest(make(60, random_state=rng)) == digest(make(60, random_state=5))
    assert digest(make(60, random_state=rng)) != digest(make(60, random_state=5))


@every_maker
def test_global_state_is_neither_read_nor_changed(make):
    before = np.random.get_state()[1].copy()
    make(10, random_state=0)
    make(10)
    assert np.array_equal(np.random.get_state()[1], before)


@every_maker
def test_tables_are_complete(make):
    n_features, labels = MAKERS[make]
    data = make(200, random_state=0)
    assert data.X.shape == (200, n_features)
    assert data.X.dtype == np.float64
    assert np.isfinite(data.X).all()
    assert len(data.feature_names) == n_features
    assert data.y.shape == (200,)
    assert data.source
    if labels is None:
        assert data.y.dtype == np.float64
    else:
        assert set(data.y.tolist()) == labels
        assert len(data.class_names) in (0, len(labels))
    assert make(1, random_state=0).X.shape == (1, n_features)


def test_uniform_draws_are_the_same_numbers_everywhere():
    """The bits of PCG64 are a promise; a change here changes everybody's data."""
    corner = make_mease_wyner(2, random_state=0).X[:, 0].tolist()
    assert corner == [0.6369616873214543, 0.028319671145462966]
    bits = make_long_servedio(400, random_state=0)
    assert digest(bits) == ("c828b807caef97e953fbaab205f88bd0e529fb36e428fb5f7c2e9e12ea43539f")


def test_gaussian_draws_are_the_same_numbers_within_a_stream_version_of_numpy():
    assert make_esl_spheres(1, random_state=0).X[0, :3] == pytest.approx(
        [0.12573022, -0.13210486, 0.64042265], abs=1e-8
    )


@pytest.mark.parametrize("make", [make_xor, make_mease_wyner, make_long_servedio])
def test_more_noise_turns_more_labels_of_the_same_rows(make):
    none, some, much = (make(500, noise=share, random_state=3) for share in (0.0, 0.1, 0.3))
    assert np.array_equal(none.y, none.clean_y)
    assert np.array_equal(none.X, much.X)
    turned = some.y != some.clean_y
    assert turned.any()
    assert (much.y != much.clean_y)[turned].all()


@pytest.mark.parametrize("make", [make_xor, make_mease_wyner, make_long_servedio])
@pytest.mark.parametrize("noise", [0.05, 0.3, 0.5])
def test_the_share_of_turned_labels_is_the_noise_and_the_bayes_error(make, noise):
    data = make(20_000, noise=noise, random_state=1)
    slack = 4.0 * math.sqrt(noise * (1.0 - noise) / 20_000)
    assert np.mean(data.y != data.clean_y) == pytest.approx(noise, abs=slack)
    assert data.bayes_error == noise


@every_maker
@pytest.mark.parametrize("n_rows", [0, -1, 2.5, True, None, "many", math.nan])
def test_number_of_rows_that_makes_no_sense(make, n_rows):
    with pytest.raises(InvalidParameter, match=r"n_rows=.*expected a whole number.*Give"):
        make(n_rows)


@every_maker
@pytest.mark.parametrize("random_state", [-1, 2**64, "seed", 0.5, True])
def test_seed_that_makes_no_sense(make, random_state):
    with pytest.raises(InvalidParameter, match="random_state="):
        make(10, random_state=random_state)


HOSTILE = [
    (make_long_servedio, {"noise": 2}, "0 to 0.5"),
    (make_long_servedio, {"noise": -0.1}, "0 to 0.5"),
    (make_long_servedio_points, {"noise": math.nan}, "0 to 0.5"),
    (make_long_servedio_points, {"gamma": 0.0}, "gamma=1/24"),
    (make_long_servedio_points, {"gamma": -1.0}, "gamma=1/24"),
    (make_long_servedio_points, {"gamma": 0.21}, "gamma=1/24"),
    (make_long_servedio_points, {"gamma": math.nan}, "gamma=1/24"),
    (make_long_servedio_points, {"gamma": "small"}, "gamma=1/24"),
    (make_mease_wyner, {"noise": 0.6}, "0 to 0.5"),
    (make_mease_wyner, {"n_relevant": 21}, "no more than n_features=20"),
    (make_mease_wyner, {"n_relevant": 0}, "1 or more"),
    (make_xor, {"noise": "much"}, "0 to 0.5"),
    (make_xor, {"n_features": 1}, "2 or more"),
    (make_moons, {"noise": -1.0}, "0 or more"),
    (make_moons, {"noise": math.inf}, "finite"),
    (make_moons, {"label_noise": 1.0}, "0 to 0.5"),
    (make_twonorm, {"n_features": 0}, "1 or more"),
    (make_threenorm, {"n_features": 1}, "2 or more"),
    (make_ringnorm, {"distance": -2.0}, "how far apart"),
    (make_friedman, {"number": 4}, "1, 2 or 3"),
    (make_friedman, {"number": True}, "1, 2 or 3"),
    (make_friedman, {"number": [1]}, "1, 2 or 3"),
    (make_friedman, {"number": 1, "noise": -1.0}, "0 or more"),
]


@pytest.mark.parametrize(("make", "parameters", "remedy"), HOSTILE)
def test_parameters_that_make_no_sense_get_the_value_and_a_remedy(make, parameters, remedy):
    name, value = list(parameters.items())[-1]
    with pytest.raises(InvalidParameter, match=re.escape(f"{name}={value!r}")) as error:
        make(**parameters)
    assert remedy in str(error.value)


def test_numbers_of_numpy_are_numbers():
    data = make_xor(np.int64(7), noise=np.float32(0.25), random_state=np.uint32(1))
    assert len(data) == 7
    assert make_friedman(np.int64(3), 5).name == "Friedman 3"
    assert make_long_servedio_points(np.float32(0.125)).X[1, 1] == 0.625


PAGE = Path(__file__).parents[3] / "docs/reference/datasets.md"


def test_the_reference_page_names_everything():
    page = PAGE.read_text("utf-8")
    names = spinney.datasets.__all__
    assert [name for name in names if not re.search(rf"`{name}[`(]", page)] == []


def test_the_reference_page_says_what_is_so():
    assert doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8").failed == 0
