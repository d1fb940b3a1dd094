"""One seed, from which every random choice is a function of what is chosen.

A draw is addressed by (seed, stream, index...), never by how many draws came before it, so that
neither threads nor the order of work can change it. The native twin is ``native/base/random.hpp``.
"""

import enum
import numbers

import numpy as np

from spinney.errors import InvalidParameter
from spinney.typing import AnyArray, RandomState

_GOLDEN = 0x9E3779B97F4A7C15
_STREAM_STEP = 0xD1342543DE82EF95
_WORD = 2**64 - 1


class Stream(enum.IntEnum):
    """What draws are for; the numbers of ``native/base/random.hpp``."""

    BINNING_SAMPLE = 1
    ROWS = 2
    FEATURES = 3
    NODES = 4
    THRESHOLDS = 5
    CATEGORIES = 6
    ROW_FACTORS = 8
    DROPPED_ROUNDS = 9


def random_bits(seed: int, stream: Stream, index: int) -> int:
    """Give 64 random bits: those of ``random_bits`` in ``native/base/random.hpp``.

    Examples
    --------
    >>> hex(random_bits(42, Stream.FEATURES, 1000000))
    '0x1b459eb7bea06a1a'
    """
    return _mix((_key(seed, stream) + (index + 1) * _GOLDEN) & _WORD)


class RowBits:
    """Random bits of rows in ranges: ``random_bits(seed, stream, row)``, without a loop."""

    def __init__(self, most: int) -> None:
        self._steps = np.arange(1, most + 1, dtype=np.uint64) * np.uint64(_GOLDEN)
        self._shifted = np.empty_like(self._steps)

    def __call__(self, seed: int, stream: Stream, rows: range) -> AnyArray:
        """Give the bits of consecutive rows, no more than ``most`` of them."""
        start = (_key(seed, stream) + rows.start * _GOLDEN) & _WORD
        bits = self._steps[: len(rows)] + np.uint64(start)
        return _mix_all(bits, self._shifted[: len(rows)])


def table_of_bits(seed: int, stream: Stream, numbers: range, n: int) -> AnyArray:
    """Give n times 64 random bits for each of some numbers, as an array (len(numbers), n).

    Row by row they are ``RowBits(n)(random_bits(seed, stream, number), stream, range(n))``.

    Examples
    --------
    >>> table = table_of_bits(5, Stream.ROWS, range(2, 4), 3)
    >>> int(table[1, 2]) == random_bits(random_bits(5, Stream.ROWS, 3), Stream.ROWS, 2)
    True
    """
    keys = RowBits(len(numbers))(seed, stream, numbers) + np.uint64(_GOLDEN)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, 1):  # what ``_key`` does
        keys = (keys ^ (keys >> np.uint64(33))) * np.uint64(factor)
    keys = _mix_all(keys + np.uint64(stream * _STREAM_STEP & _WORD), np.empty_like(keys))
    steps = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(_GOLDEN)
    bits = keys[:, np.newaxis] + steps
    return _mix_all(bits, np.empty_like(bits))


def mix_words(words: AnyArray) -> AnyArray:
    """Scatter 64-bit words, so that words which differ a little differ in half their bits.

    Examples
    --------
    >>> [hex(word) for word in mix_words(np.array([1, 2], np.uint64))]
    ['0x5692161d100b05e5', '0xdbd238973a2b148a']
    """
    return _mix_all(words.astype(np.uint64), np.empty(words.shape, np.uint64))


def _mix_all(bits: AnyArray, shifted: AnyArray) -> AnyArray:
    """Do what ``_mix`` does, in place; ``shifted`` is room to work in."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        np.right_shift(bits, np.uint64(shift), out=shifted)
        np.bitwise_xor(bits, shifted, out=bits)
        if factor != 1:
            np.multiply(bits, np.uint64(factor), out=bits)
    return bits


def _key(seed: int, stream: Stream) -> int:
    hashed = (seed + _GOLDEN) & _WORD
    hashed = ((hashed ^ (hashed >> 33)) * 0xFF51AFD7ED558CCD) & _WORD
    hashed = ((hashed ^ (hashed >> 33)) * 0xC4CEB9FE1A85EC53) & _WORD
    return _mix(((hashed ^ (hashed >> 33)) + stream * _STREAM_STEP) & _WORD)


def _mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
    return z ^ (z >> 31)


def seed_from(random_state: RandomState) -> int:
    """Turn scikit-learn's ``random_state`` into one 64-bit seed.

    An int is the seed itself; a generator gives its next draw (and moves on, as scikit-learn's
    estimators do); None asks the operating system.

    Examples
    --------
    >>> seed_from(7)
    7
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31 - 1))
    is_integer = isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool)
    if is_integer and 0 <= int(random_state) < 2**64:
        return int(random_state)
    raise InvalidParameter(
        f"random_state={random_state!r}: expected None, an integer in [0, 2**64), a "
        "numpy.random.Generator or a numpy.random.RandomState."
    )
