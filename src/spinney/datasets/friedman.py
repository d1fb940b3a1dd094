"""Friedman's three functions for regression."""

import numbers
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from spinney.datasets.dataset import Dataset, number_features
from spinney.datasets.drawing import check_count, check_size, generator_from
from spinney.errors import InvalidParameter
from spinney.typing import FloatArray, RandomState


def make_friedman(
    number: int,
    n_rows: int = 200,
    *,
    noise: float | None = None,
    random_state: RandomState = None,
) -> Dataset:
    """Rows of one of Friedman's regression problems.

    1. 10 sin(π x0 x1) + 20 (x2 - ½)² + 10 x3 + 5 x4, with ten features uniform on [0, 1), of which
       five are noise;
    2. √(x0² + (x1 x2 - 1 / (x1 x3))²), the impedance of a circuit, with x0 in [0, 100), x1 in
       [40π, 560π), x2 in [0, 1), x3 in [1, 11);
    3. atan((x1 x2 - 1 / (x1 x3)) / x0), its phase.

    Parameters
    ----------
    number : 1, 2 or 3
    n_rows : int
    noise : float, optional
        Standard deviation of the Gaussian noise on y; by default Friedman's and Breiman's: 1, 125
        and 0.1.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None

    Returns
    -------
    Dataset
        ``bayes_error`` is the variance of the noise: no rule has a smaller mean squared error.

    Examples
    --------
    >>> make_friedman(1, 50, random_state=0).X.shape
    (50, 10)
    >>> make_friedman(2, 50, random_state=0).bayes_error
    15625.0
    """
    whole = isinstance(number, numbers.Integral) and not isinstance(number, bool)
    if not whole or number not in _RECIPES:
        raise InvalidParameter(
            f"number={number!r}: expected 1, 2 or 3; Friedman made three problems. Give number=1 "
            "for the one with ten features."
        )
    recipe = _RECIPES[number]
    check_count("n_rows", n_rows)
    spread = recipe.noise if noise is None else check_size("noise", noise)
    rng = generator_from(random_state)
    table = rng.uniform(recipe.low, recipe.high, size=(n_rows, len(recipe.low)))
    truth = recipe.function(table)
    return Dataset(
        f"Friedman {int(number)}",
        table,
        truth + spread * rng.standard_normal(n_rows),
        number_features(table.shape[1]),
        clean_y=truth,
        bayes_error=spread**2,
        source="Friedman, Annals of Statistics 19 (1991); sizes of Breiman, Bagging (1996)",
    )


def additive_with_product(table: FloatArray) -> FloatArray:
    """Friedman's first function."""
    curved = 10.0 * np.sin(np.pi * table[:, 0] * table[:, 1]) + 20.0 * (table[:, 2] - 0.5) ** 2
    return curved + 10.0 * table[:, 3] + 5.0 * table[:, 4]


def impedance(table: FloatArray) -> FloatArray:
    """Friedman's second function."""
    return np.sqrt(table[:, 0] ** 2 + _reactance(table) ** 2)


def phase(table: FloatArray) -> FloatArray:
    """Friedman's third function, with a right angle where there is no resistance."""
    return np.arctan2(_reactance(table), table[:, 0])


def _reactance(table: FloatArray) -> FloatArray:
    _, frequency, inductance, capacity = table.T
    reactance: FloatArray = frequency * inductance - 1.0 / (frequency * capacity)
    return reactance


class _Recipe(NamedTuple):
    function: Callable[[FloatArray], FloatArray]
    low: list[float]
    high: list[float]
    noise: float


_LOW, _HIGH = [0.0, 40.0 * np.pi, 0.0, 1.0], [100.0, 560.0 * np.pi, 1.0, 11.0]
_RECIPES = {
    1: _Recipe(additive_with_product, [0.0] * 10, [1.0] * 10, 1.0),
    2: _Recipe(impedance, _LOW, _HIGH, 125.0),
    3: _Recipe(phase, _LOW, _HIGH, 0.1),
}
