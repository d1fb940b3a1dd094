"""Rows drawn by their numbers: shares, independence of everything else, and the slow twin."""

import numpy as np
import pytest

from spinney.randomness import RowBits, Stream, random_bits
from spinney.resampling import RowDraws


def test_bits_of_rows_are_those_of_the_native_generator():
    # tests/native/base/test_random.cpp has the same numbers
    assert random_bits(0, Stream.ROWS, 0) == 0x18F73D46C58B8088
    assert random_bits(1, Stream.BINNING_SAMPLE, 0) == 0x891AC654E49CB8F0
    bits = RowBits(100)(2**64 - 1, Stream.ROWS, range(50, 150))
    assert bits.tolist() == [random_bits(2**64 - 1, Stream.ROWS, row) for row in range(50, 150)]


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_share_of_rows_is_drawn_and_every_row_in_its_turn(share):
    draws = RowDraws(100_000, share=share, seed=5)
    rounds = [draws.draw(number) for number in range(4)]
    for rows in rounds:
        assert rows.dtype == np.uint32
        assert np.all(np.diff(rows.astype(int)) > 0)
        assert abs(len(rows) / 100_000 - share) < 0.01
    both = np.intersect1d(rounds[0], rounds[1])
    assert abs(len(both) / 100_000 - share**2) < 0.01


def test_row_is_drawn_by_seed_round_and_number_alone():
    few, many = RowDraws(1000, share=0.3, seed=9), RowDraws(70_000, share=0.3, seed=9)
    later = many.draw(7)
    assert np.array_equal(few.draw(7), later[later < 1000])
    some = np.arange(0, 70_000, 3, dtype=np.uint32)
    chosen = RowDraws(70_000, share=0.3, seed=9, candidates=some).draw(7)
    assert np.array_equal(chosen, np.intersect1d(some, later))
    assert not np.array_equal(RowDraws(1000, share=0.3, seed=8).draw(7), few.draw(7))


def test_draw_equals_its_slow_twin():
    drawn = RowDraws(200, share=0.25, seed=3).draw(11)
    seed = random_bits(3, Stream.ROWS, 11)
    slow = [row for row in range(200) if random_bits(seed, Stream.ROWS, row) < 2**62]
    assert drawn.tolist() == slow


def test_there_is_always_a_row():
    draws = RowDraws(3, share=1e-12, seed=0, candidates=np.array([1, 2], np.uint32))
    assert all(len(draws.draw(number)) == 1 for number in range(20))
    assert {int(draws.draw(number)[0]) for number in range(20)} == {1, 2}
