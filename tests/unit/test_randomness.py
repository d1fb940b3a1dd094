"""One seed from every kind of random_state."""

import numpy as np
import pytest

from spinney.errors import InvalidParameter
from spinney.randomness import seed_from


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1, np.int64(5), np.uint64(2**63)])
def test_integer_is_the_seed_itself(seed):
    assert seed_from(seed) == int(seed)
    assert type(seed_from(seed)) is int


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generator_gives_its_next_draw_and_moves_on(make):
    one, two = make(3), make(3)
    first, second = seed_from(one), seed_from(one)
    assert first != second
    assert (seed_from(two), seed_from(two)) == (first, second)
    assert 0 <= first < 2**64


def test_generators_of_many_seeds_give_many_seeds():
    assert len({seed_from(np.random.default_rng(seed)) for seed in range(1000)}) == 1000
    assert len({seed_from(np.random.RandomState(seed)) for seed in range(1000)}) > 990


def test_none_asks_the_system_each_time():
    assert len({seed_from(None) for _ in range(100)}) == 100


def test_global_state_of_numpy_is_left_alone():
    np.random.seed(1)
    before = np.random.get_state()[1].copy()
    seed_from(None)
    assert np.array_equal(np.random.get_state()[1], before)


@pytest.mark.parametrize("value", [-1, 2**64, 1.5, "a", float("nan"), [1], np.random, True])
def test_anything_else_is_refused_with_its_value(value):
    with pytest.raises(InvalidParameter, match="random_state=") as caught:
        seed_from(value)
    assert repr(value)[:20] in str(caught.value)
