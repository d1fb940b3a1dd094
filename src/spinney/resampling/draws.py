"""Rows drawn by their weights, with replacement."""

import numpy as np

from spinney.randomness import Stream, random_bits
from spinney.typing import AnyArray, FloatArray


def draw_rows(weights: FloatArray, *, seed: int, number: int) -> AnyArray:
    """Draw as many rows as there are, each by its weight; ``number`` says which draw it is.

    Examples
    --------
    >>> import numpy as np
    >>> draw_rows(np.array([0.0, 1.0, 0.0]), seed=0, number=0).tolist()
    [1, 1, 1]
    """
    generator = np.random.default_rng(random_bits(seed, Stream.ROWS, number))
    cumulative = np.cumsum(weights)
    places = generator.random(len(weights)) * cumulative[-1]
    drawn: AnyArray = np.searchsorted(cumulative, places, side="right")
    return np.minimum(drawn, int(np.flatnonzero(weights)[-1]))
