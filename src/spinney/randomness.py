"""One seed, from which every random choice is a function of what is chosen.

A draw is addressed by (seed, stream, index...), never by how many draws came before it, so that
neither threads nor the order of work can change it. The native twin is ``native/base/random.hpp``.
"""

import numbers

import numpy as np

from spinney.errors import InvalidParameter
from spinney.typing import RandomState


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
