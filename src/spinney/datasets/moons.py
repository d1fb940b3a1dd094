"""Two interleaving half circles."""

import numpy as np

from spinney.datasets.dataset import Dataset
from spinney.datasets.drawing import (
    check_count,
    check_flips,
    check_size,
    fair_signs,
    flip_labels,
    generator_from,
)
from spinney.typing import FloatArray, IntArray, RandomState


def make_moons(
    n_rows: int = 200,
    *,
    noise: float = 0.3,
    label_noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Points around two half circles of radius 1 that reach into each other.

    The curves are those of scikit-learn. Here rows are independent: a fair coin gives the moon and
    a uniform number the place on it, where scikit-learn places points at equal distances.

    Parameters
    ----------
    n_rows : int
    noise : float
        Standard deviation of the Gaussian noise on both coordinates.
    label_noise : float
        Share of labels turned round, 0 to 0.5.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None

    Returns
    -------
    Dataset
        Label -1 for the upper moon, 1 for the lower one (0 and 1 in scikit-learn). ``bayes_error``
        is known only without noise on the coordinates: the moons do not touch.

    Examples
    --------
    >>> data = make_moons(100, noise=0.0, random_state=0)
    >>> bool((data.X[data.y == -1, 1] >= 0).all())
    True
    """
    check_count("n_rows", n_rows)
    spread = check_size("noise", noise)
    share = check_flips("label_noise", label_noise)
    rng = generator_from(random_state)
    moons = fair_signs(n_rows, rng)
    points = place_on_moons(np.pi * rng.random(n_rows), moons)
    points += spread * rng.standard_normal((n_rows, 2))
    return Dataset(
        "two moons",
        points,
        flip_labels(moons, share, rng),
        ("x0", "x1"),
        class_names=("upper", "lower"),
        clean_y=moons,
        bayes_error=share if spread == 0.0 else None,
        source="scikit-learn's make_moons",
    )


def place_on_moons(angles: FloatArray, moons: IntArray) -> FloatArray:
    """Give the points at these angles of the upper (-1) and the lower (1) moon."""
    upper = np.column_stack([np.cos(angles), np.sin(angles)])
    return np.where(moons[:, None] == 1, [1.0, 0.5] - upper, upper)
