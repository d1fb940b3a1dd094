"""Mease and Wyner's simulation, on which boosting contradicts what is said about it."""

import numpy as np

from spinney.datasets.dataset import Dataset, number_features
from spinney.datasets.drawing import check_count, check_flips, flip_labels, generator_from
from spinney.errors import InvalidParameter
from spinney.typing import RandomState


def make_mease_wyner(
    n_rows: int = 200,
    *,
    n_features: int = 20,
    n_relevant: int = 5,
    noise: float = 0.2,
    random_state: RandomState = None,
) -> Dataset:
    """Uniform features; positive with probability 1 - noise where the first few add up to much.

    The sum of ``n_relevant`` features is compared with half their number. The truth is
    additive, as if made for stumps; the paper finds that large trees overfit less.

    Parameters
    ----------
    n_rows : int
    n_features : int
        Uniform on [0, 1).
    n_relevant : int
        How many of them decide.
    noise : float
        Share of labels turned round, 0 to 0.5.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None

    Returns
    -------
    Dataset
        Labels -1 and 1; ``bayes_error`` is ``noise``.

    Examples
    --------
    >>> data = make_mease_wyner(100, noise=0.0, random_state=0)
    >>> bool(((data.X[:, :5].sum(axis=1) > 2.5) == (data.y == 1)).all())
    True
    """
    check_count("n_rows", n_rows)
    check_count("n_features", n_features)
    check_count("n_relevant", n_relevant)
    if n_relevant > n_features:
        raise InvalidParameter(
            f"n_relevant={n_relevant}: expected no more than n_features={n_features}. Lower the "
            "one or raise the other."
        )
    share = check_flips("noise", noise)
    rng = generator_from(random_state)
    table = rng.random((n_rows, n_features))
    labels = np.where(table[:, :n_relevant].sum(axis=1) > n_relevant / 2.0, 1, -1)
    return Dataset(
        "Mease-Wyner",
        table,
        flip_labels(labels, share, rng),
        number_features(n_features),
        clean_y=labels,
        bayes_error=share,
        source="Mease and Wyner, Journal of Machine Learning Research 9 (2008)",
    )
