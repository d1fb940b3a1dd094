"""What generators have in common: parameters that are looked at, and a source of randomness.

Random bits are those of NumPy's PCG64, the same on every machine; what ``log``, ``sin``, ``cos``
and ``arctan`` make of them may differ in the last digit between machines, and NumPy may draw other
numbers from the same bits in a later version of its streams (its NEP 19).
"""

import math
import numbers
from typing import Any

import numpy as np

from spinney.errors import InvalidParameter
from spinney.randomness import seed_from
from spinney.typing import IntArray, RandomState


def generator_from(random_state: RandomState) -> np.random.Generator:
    """Give a generator: the one that was handed in, which moves on, or one for this seed."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(seed_from(random_state))


def check_count(name: str, value: Any, *, least: int = 1, remedy: str = "") -> int:
    """Give a whole number that is large enough, or say what is wrong."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < least:
        raise InvalidParameter(
            f"{name}={value!r}: expected a whole number, {least} or more. "
            f"{remedy or f'Give for example {name}={max(least, 100)}.'}"
        )
    return int(value)


def check_flips(name: str, value: Any) -> float:
    """Give the share of labels to turn round, from 0 to 1/2, or say what is wrong."""
    if not _is_number(value) or not 0.0 <= value <= 0.5:
        raise InvalidParameter(
            f"{name}={value!r}: expected a number from 0 to 0.5, the share of labels that are "
            f"turned round. Give for example {name}=0.1; beyond 0.5 the labels would mean their "
            "opposite."
        )
    return float(value)


def check_size(
    name: str, value: Any, what: str = "the standard deviation of Gaussian noise"
) -> float:
    """Give a finite number that is not below 0, or say what is wrong."""
    if not _is_number(value) or value < 0.0:
        raise InvalidParameter(
            f"{name}={value!r}: expected a finite number, 0 or more, which is {what}. Give for "
            f"example {name}=0.5."
        )
    return float(value)


def fair_signs(n_rows: int, rng: np.random.Generator) -> IntArray:
    """Throw a fair coin for each row: -1 or 1."""
    return 2 * rng.integers(0, 2, size=n_rows) - 1


def flip_labels(labels: IntArray, share: float, rng: np.random.Generator) -> IntArray:
    """Turn labels -1 and 1 round, each with the same probability.

    It draws as many numbers for no noise as for much: with one seed, data of two noise levels have
    the same rows, and the labels turned round at the lower level are so at the higher one too.
    """
    return np.where(rng.random(len(labels)) < share, -labels, labels)


def _is_number(value: Any) -> bool:
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return real and math.isfinite(value)
