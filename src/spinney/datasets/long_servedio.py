"""Long and Servedio's data: some noise, and every booster of a convex loss is lost."""

import numpy as np

from spinney.datasets.dataset import Dataset, number_features
from spinney.datasets.drawing import (
    check_count,
    check_flips,
    fair_signs,
    flip_labels,
    generator_from,
)
from spinney.errors import InvalidParameter
from spinney.typing import IntArray, RandomState

_SOURCE = "Long and Servedio, Machine Learning 78 (2010)"


def make_long_servedio_points(gamma: float = 1.0 / 24.0, *, noise: float = 0.1) -> Dataset:
    """Four points, all positive, whose coordinates are the votes of two weak hypotheses.

    With g for gamma they are (1, 0), the puller (g, 5 g) and twice the penaliser (g, -g), a quarter
    of the mass each. The first hypothesis alone is right on all. With noise each point stands there
    a second time, with the wrong label; if g is small enough, the weights that minimise a convex
    loss then follow the puller so far that both penalisers, half of the mass, are misclassified.
    The exponential loss has its minimum at (1.2399, 2.4314) for g = 1/24 and 10 % noise.

    Parameters
    ----------
    gamma : float
        Above 0, up to 0.2: beyond it the puller's vote would be above 1.
    noise : float
        Share of the mass of each point that bears the wrong label, 0 to 0.5.

    Returns
    -------
    Dataset
        Four rows without noise, eight with; ``sample_weight`` holds the masses, which add up to 1.

    Examples
    --------
    >>> print(make_long_servedio_points(gamma=0.1, noise=0.25))
    Long-Servedio points: 8 rows, 2 features; no rule errs less than 0.25
     x0    x1   y  clean_y  sample_weight
      1     0   1        1         0.1875
    0.1   0.5   1        1         0.1875
    0.1  -0.1   1        1         0.1875
    0.1  -0.1   1        1         0.1875
      1     0  -1        1         0.0625
    0.1   0.5  -1        1         0.0625
    0.1  -0.1  -1        1         0.0625
    0.1  -0.1  -1        1         0.0625
    """
    share = check_flips("noise", noise)
    number = isinstance(gamma, float | int | np.floating) and not isinstance(gamma, bool)
    if not number or not 0.0 < gamma <= 0.2:
        raise InvalidParameter(
            f"gamma={gamma!r}: expected a number above 0 and up to 0.2, so that no hypothesis "
            "votes beyond -1 and 1. Give for example gamma=1/24."
        )
    points = np.array([[1.0, 0.0], [gamma, 5.0 * gamma], [gamma, -gamma], [gamma, -gamma]])
    masses, labels = np.full(4, (1.0 - share) / 4.0), np.ones(4, np.int64)
    if share > 0.0:
        points = np.concatenate([points, points])
        masses = np.concatenate([masses, np.full(4, share / 4.0)])
        labels = np.concatenate([labels, -labels])
    return Dataset(
        "Long-Servedio points",
        points,
        labels,
        number_features(2),
        sample_weight=masses,
        clean_y=np.ones_like(labels),
        bayes_error=share,
        source=_SOURCE,
    )


def make_long_servedio(
    n_rows: int = 800, *, noise: float = 0.1, random_state: RandomState = None
) -> Dataset:
    """Rows of 21 bits, -1 or 1, whose majority is the label before noise.

    A quarter of the rows has all bits equal to the label (large margin); a quarter has the first 11
    right and the last 10 wrong (pullers); half has 5 of the first 11 and 6 of the last 10 right,
    drawn anew for each row (penalisers). Boosters of single bits with a convex loss give the first
    11 too much weight as soon as there is noise.

    Parameters
    ----------
    n_rows : int
    noise : float
        Share of labels turned round, 0 to 0.5.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None

    Returns
    -------
    Dataset
        Labels -1 and 1; ``bayes_error`` is ``noise``.

    Examples
    --------
    >>> data = make_long_servedio(100, random_state=0)
    >>> bool((np.sign(data.X.sum(axis=1)) == data.clean_y).all())
    True
    """
    check_count("n_rows", n_rows)
    share = check_flips("noise", noise)
    rng = generator_from(random_state)
    labels = fair_signs(n_rows, rng)
    right = _right_bits(rng.integers(0, 4, size=n_rows), rng)
    return Dataset(
        "Long-Servedio bits",
        (right * labels[:, None]).astype(float),
        flip_labels(labels, share, rng),
        number_features(21),
        clean_y=labels,
        bayes_error=share,
        source=_SOURCE,
    )


def _right_bits(quarters: IntArray, rng: np.random.Generator) -> IntArray:
    """Give 1 where a bit equals the label, -1 elsewhere.

    Quarter 0 is the rows of large margin, 1 the pullers, 2 and 3 the penalisers.
    """
    n_rows = len(quarters)
    puller = np.repeat([1, -1], [11, 10])
    # A random order of 0, 1, 2, ... has its k least numbers at k places drawn without replacement.
    few = [np.argsort(rng.random((n_rows, n)), axis=1, kind="stable") < k for n, k in _PENALISER]
    penaliser = np.where(np.concatenate(few, axis=1), 1, -1)
    group = quarters[:, None]
    return np.where(group == 0, 1, np.where(group == 1, puller, penaliser))


_PENALISER = ((11, 5), (10, 6))
"""Bits in the block, and how many of them are right."""
