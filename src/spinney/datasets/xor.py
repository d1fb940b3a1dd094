"""Exclusive or: no stump is better than a coin, a tree with two levels is right."""

import numpy as np

from spinney.datasets.dataset import Dataset, number_features
from spinney.datasets.drawing import check_count, check_flips, flip_labels, generator_from
from spinney.typing import FloatArray, IntArray, RandomState

_SOURCE = "folklore; Minsky and Papert, Perceptrons (1969)"


def make_xor_points() -> Dataset:
    """Four corners of a square; those with coordinates of unlike signs are positive.

    Every stump gets half of the weight wrong, so stumps are no weak learners here and AdaBoost
    over them never starts.

    Returns
    -------
    Dataset
        Four rows, labels -1 and 1.

    Examples
    --------
    >>> print(make_xor_points())
    xor: 4 rows, 2 features; no rule errs less than 0
    x0  x1   y
    -1  -1  -1
    -1   1   1
     1  -1   1
     1   1  -1
    """
    corners = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    return Dataset(
        "xor", corners, _unlike(corners), number_features(2), bayes_error=0.0, source=_SOURCE
    )


def make_xor(
    n_rows: int = 200,
    *,
    n_features: int = 2,
    noise: float = 0.1,
    random_state: RandomState = None,
) -> Dataset:
    """Points of a square, positive where x0 and x1 have unlike signs, with labels turned round.

    Features are uniform on [-1, 1). No stump is better than a coin in the long run.

    Parameters
    ----------
    n_rows : int
    n_features : int
        From 2; those after the second say nothing about the label.
    noise : float
        Share of labels turned round, 0 to 0.5.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None

    Returns
    -------
    Dataset
        Labels -1 and 1; ``bayes_error`` is ``noise``.

    Examples
    --------
    >>> data = make_xor(5, noise=0.0, random_state=0)
    >>> (data.X[:, 0] * data.X[:, 1] < 0) == (data.y == 1)
    array([ True,  True,  True,  True,  True])
    """
    check_count("n_rows", n_rows)
    check_count("n_features", n_features, least=2, remedy="The label needs two features.")
    share = check_flips("noise", noise)
    rng = generator_from(random_state)
    points = rng.uniform(-1.0, 1.0, size=(n_rows, n_features))
    labels = _unlike(points)
    return Dataset(
        "noisy xor",
        points,
        flip_labels(labels, share, rng),
        number_features(n_features),
        clean_y=labels,
        bayes_error=share,
        source=_SOURCE,
    )


def _unlike(points: FloatArray) -> IntArray:
    positive = points > 0.0
    return np.where(positive[:, 0] != positive[:, 1], 1, -1)
