"""Gaussians labelled by their distance from the origin."""

import numpy as np

from spinney.datasets.dataset import Dataset, number_features
from spinney.datasets.drawing import check_count, generator_from
from spinney.typing import RandomState

_N_FEATURES = 10
MEDIAN = 9.34
"""The median of chi-square with 10 degrees of freedom, as printed in the book (9.3418)."""
THIRDS = (7.612109033424629, 11.317357394084143)
"""Quantiles 1/3 and 2/3 of chi-square with 10 degrees of freedom."""


def make_esl_spheres(n_rows: int = 2000, *, random_state: RandomState = None) -> Dataset:
    """Ten independent Gaussians; positive where their squares add up to more than 9.34.

    Half of the rows lie outside of the sphere. The label is without noise and the truth additive
    in the squares, yet a single stump is hardly better than a coin.

    Parameters
    ----------
    n_rows : int
        The book trains on 2 000 and tests on 10 000.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None

    Returns
    -------
    Dataset
        Labels -1 (inside) and 1 (outside).

    Examples
    --------
    >>> data = make_esl_spheres(100, random_state=0)
    >>> bool((((data.X**2).sum(axis=1) > 9.34) == (data.y == 1)).all())
    True
    """
    check_count("n_rows", n_rows)
    points = generator_from(random_state).standard_normal((n_rows, _N_FEATURES))
    labels = np.where((points**2).sum(axis=1) > MEDIAN, 1, -1)
    return Dataset(
        "ESL spheres",
        points,
        labels,
        number_features(_N_FEATURES),
        class_names=("inside", "outside"),
        clean_y=labels,
        bayes_error=0.0,
        source="Hastie, Tibshirani and Friedman, Elements of Statistical Learning, eq. 10.2",
    )


def make_shells(n_rows: int = 3000, *, random_state: RandomState = None) -> Dataset:
    """Ten independent Gaussians in three nested shells of equal probability.

    With trees of ten leaves the paper shows AdaBoost.M1 failing after a few rounds, when a tree is
    wrong on more than half of the weight, and SAMME going on.

    Parameters
    ----------
    n_rows : int
        The paper trains on 3 000 and tests on 10 000.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None

    Returns
    -------
    Dataset
        Labels 0 (nearest to the origin), 1 and 2.

    Examples
    --------
    >>> data = make_shells(9000, random_state=0)
    >>> (np.bincount(data.y) / 9000).round(1)
    array([0.3, 0.3, 0.3])
    """
    check_count("n_rows", n_rows)
    points = generator_from(random_state).standard_normal((n_rows, _N_FEATURES))
    labels = np.searchsorted(THIRDS, (points**2).sum(axis=1)).astype(np.int64)
    return Dataset(
        "three shells",
        points,
        labels,
        number_features(_N_FEATURES),
        class_names=("inner", "middle", "outer"),
        clean_y=labels,
        bayes_error=0.0,
        source="Zhu, Zou, Rosset and Hastie, Statistics and Its Interface 2 (2009)",
    )
