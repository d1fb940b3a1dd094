"""Waves of three kinds, seen through noise."""

import numpy as np

from spinney.datasets.dataset import Dataset, number_features
from spinney.datasets.drawing import check_count, generator_from
from spinney.typing import RandomState

_N_FEATURES = 21
_PEAKS = (10, 14, 6)
"""Features at which the three base waves are highest."""
_PAIRS = np.array([[0, 1], [0, 2], [1, 2]])
"""Base waves that each class mixes."""
_BAYES_ERROR = 0.132933
"""From a double integral over the plane of the base waves; tests integrate it again."""


def make_waveform(n_rows: int = 300, *, random_state: RandomState = None) -> Dataset:
    """Waves of 21 points: a random mixture of two of three triangles, plus unit Gaussian noise.

    A row is u h + (1 - u) h' + noise with u uniform on [0, 1); the three classes, equally likely,
    mix triangles 0 and 1, 0 and 2, 1 and 2. Triangles are 6 high, have slopes ±1 and peaks at
    features 10, 14 and 6. The best rule errs on 13.29 %.

    Parameters
    ----------
    n_rows : int
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None

    Returns
    -------
    Dataset
        Labels 0, 1 and 2.

    Examples
    --------
    >>> make_waveform(5, random_state=0).X.shape
    (5, 21)
    """
    check_count("n_rows", n_rows)
    rng = generator_from(random_state)
    classes = rng.integers(0, 3, size=n_rows)
    share = rng.random(n_rows)[:, None]
    places = np.arange(_N_FEATURES)
    triangles = np.array([np.maximum(6.0 - abs(places - peak), 0.0) for peak in _PEAKS])
    first, second = triangles[_PAIRS[classes].T]
    waves = share * first + (1.0 - share) * second
    return Dataset(
        "waveform",
        waves + rng.standard_normal((n_rows, _N_FEATURES)),
        classes,
        number_features(_N_FEATURES),
        bayes_error=_BAYES_ERROR,
        source="Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984)",
    )
