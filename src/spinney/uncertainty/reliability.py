"""Whether probabilities mean what they say: reliability, Brier score, calibration error."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import InvalidParameter
from spinney.results import Result, read_only
from spinney.typing import AnyArray, FloatArray
from spinney.uncertainty.checks import (
    read_binary,
    read_codes,
    read_probabilities,
    read_probability,
    read_row_weights,
)

_LEAST_SHARE = 1e-15


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReliabilityCurve(Result):
    """In bins of predicted probabilities: what was said, and how often it happened.

    Examples
    --------
    >>> print(reliability_curve([0, 1, 1, 1], [0.2, 0.2, 0.9, 0.9], n_bins=2))
    Reliability in 2 bins: expected calibration error 0.2, largest 0.3
     low  high  weight  predicted  observed
       0   0.5       2        0.2       0.5
     0.5     1       2        0.9         1
    """

    low: FloatArray
    high: FloatArray
    weight: FloatArray
    """Rows of each bin, by their weights; bins without rows are left out."""
    predicted: FloatArray
    """Mean probability."""
    observed: FloatArray
    """Share of rows in which it happened."""

    @property
    def expected_error(self) -> float:
        """Mean distance of said and happened, over rows: the expected calibration error."""
        gaps = np.abs(self.predicted - self.observed)
        return float((self.weight * gaps).sum() / self.weight.sum())

    @property
    def largest_error(self) -> float:
        """Largest distance of said and happened in a bin."""
        return float(np.abs(self.predicted - self.observed).max())

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the bins from low to high."""
        names = ("low", "high", "weight", "predicted", "observed")
        return {name: getattr(self, name).tolist() for name in names}

    def title(self) -> str:
        """Say in a line what the table shows."""
        return (
            f"Reliability in {len(self.weight)} bins: expected calibration error "
            f"{self.expected_error:.4g}, largest {self.largest_error:.4g}"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BrierDecomposition(Result):
    """score = reliability - resolution + uncertainty (+ within), to the last digit but rounding.

    ``within`` is what bins hide: 0 if rows of a bin have the same probability.
    """

    score: float
    reliability: float
    """Mean squared distance of what was said and how often it happened; 0 is best."""
    resolution: float
    """Variance of how often it happened between bins; more is better."""
    uncertainty: float
    """Variance of what happened: the score of one who knows nothing but the overall share."""
    within: float

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the parts."""
        names = ("score", "reliability", "resolution", "uncertainty", "within")
        return {"part": list(names), "value": [getattr(self, name) for name in names]}

    def title(self) -> str:
        """Say in a line what the table shows."""
        return "Brier score: reliability - resolution + uncertainty + within"


def brier_score(y: Any, probability: Any, *, sample_weight: Any = None) -> float:
    """Give the mean squared distance of probabilities and what happened.

    Parameters
    ----------
    y : n numbers, 0 or 1; or n numbers of classes for several
    probability : n numbers from 0 to 1, or (n, n_classes)
        With a column per class the squares of all classes are added up, as Brier did: for two
        classes twice the score of one column.
    sample_weight : n numbers, optional

    Examples
    --------
    >>> brier_score([1, 0], [0.5, 0.5]), brier_score([1, 0], [[0.5, 0.5], [0.5, 0.5]])
    (0.25, 0.5)
    """
    if np.ndim(probability) == 2:
        given = read_probabilities(probability)
        codes = read_codes(y, len(given), given.shape[1])
        losses = ((given - np.eye(given.shape[1])[codes]) ** 2).sum(axis=1)
    else:
        given = read_probability(probability)
        losses = (given - read_binary(y, len(given))) ** 2
    return float(np.average(losses, weights=read_row_weights(sample_weight, len(losses))))


def log_loss(y: Any, probability: Any, *, sample_weight: Any = None) -> float:
    """Give the mean of -ln of the probability of what happened; probabilities of 0 count as 1e-15.

    The parameters are those of ``brier_score``.

    Examples
    --------
    >>> round(log_loss([1, 0], [0.5, 0.5]), 6)
    0.693147
    """
    if np.ndim(probability) == 2:
        given = read_probabilities(probability)
        codes = read_codes(y, len(given), given.shape[1])
        own = given[np.arange(len(given)), codes]
    else:
        given = read_probability(probability)
        own = np.where(read_binary(y, len(given)) == 1, given, 1.0 - given)
    losses = -np.log(np.maximum(own, _LEAST_SHARE))
    return float(np.average(losses, weights=read_row_weights(sample_weight, len(losses))))


def reliability_curve(
    y: Any,
    probability: Any,
    *,
    n_bins: int = 10,
    strategy: str = "width",
    sample_weight: Any = None,
) -> ReliabilityCurve:
    """Compare what was said with how often it happened, in bins.

    Parameters
    ----------
    y : n numbers, 0 or 1
    probability : n numbers from 0 to 1
    n_bins : int
    strategy : {"width", "mass"}
        Bins of equal width, or of about equal weight; equal probabilities share a bin.
    sample_weight : n numbers, optional
        A weight of k counts as the row k times.

    Returns
    -------
    ReliabilityCurve
    """
    given, hits, weights = _read_rows(y, probability, sample_weight)
    bins, edges = _bins(given, weights, n_bins, strategy)
    total, said, happened = (
        np.bincount(bins, part) for part in (weights, weights * given, weights * hits)
    )
    parts = (*edges, total, said / total, happened / total)
    return ReliabilityCurve(*(read_only(part) for part in parts))


def expected_calibration_error(
    y: Any,
    probability: Any,
    *,
    n_bins: int = 10,
    strategy: str = "width",
    sample_weight: Any = None,
) -> float:
    """Give the mean distance of what was said and how often it happened, over bins.

    Parameters
    ----------
    y : n numbers, 0 or 1; or n numbers of classes for several
    probability : n numbers from 0 to 1, or (n, n_classes)
        With a column per class: of the likeliest class, and how often it was right.
    n_bins, strategy, sample_weight
        As in ``reliability_curve``.

    Examples
    --------
    >>> round(expected_calibration_error([0, 1, 1, 1], [0.2, 0.2, 0.9, 0.9], n_bins=2), 6)
    0.2
    """
    hits, said = np.asarray(y), probability
    if np.ndim(probability) == 2:
        given = read_probabilities(probability)
        codes = read_codes(y, len(given), given.shape[1])
        hits, said = (given.argmax(axis=1) == codes).astype(float), given.max(axis=1)
    curve = reliability_curve(
        hits, said, n_bins=n_bins, strategy=strategy, sample_weight=sample_weight
    )
    return curve.expected_error


def brier_decomposition(
    y: Any,
    probability: Any,
    *,
    n_bins: int | None = None,
    strategy: str = "width",
    sample_weight: Any = None,
) -> BrierDecomposition:
    """Take the Brier score apart (Murphy 1973).

    Parameters
    ----------
    y : n numbers, 0 or 1
    probability : n numbers from 0 to 1
    n_bins : int or None
        None puts rows of the same probability together, so that nothing is left over. With bins
        ``within`` is what they hide: the variance of the probabilities within bins minus twice
        their covariance with what happened (Stephenson, Coelho & Jolliffe 2008).
    strategy : {"width", "mass"}
    sample_weight : n numbers, optional
        A weight of k counts as the row k times.

    Returns
    -------
    BrierDecomposition

    Examples
    --------
    >>> print(brier_decomposition([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75]))
    Brier score: reliability - resolution + uncertainty + within
    part          value
    score        0.1875
    reliability  0.0625
    resolution   0.0625
    uncertainty  0.1875
    within            0
    """
    given, hits, weights = _read_rows(y, probability, sample_weight)
    if n_bins is None:
        bins = np.unique(given, return_inverse=True)[1]
    else:
        bins = _bins(given, weights, n_bins, strategy)[0]
    n_rows = float(weights.sum())
    total = np.bincount(bins, weights)
    said, happened = (np.bincount(bins, weights * part) / total for part in (given, hits))
    overall = float((weights * hits).sum() / n_rows)
    off, miss = given - said[bins], hits - happened[bins]
    return BrierDecomposition(
        score=float((weights * (given - hits) ** 2).sum() / n_rows),
        reliability=float((total * (said - happened) ** 2).sum() / n_rows),
        resolution=float((total * (happened - overall) ** 2).sum() / n_rows),
        uncertainty=overall * (1.0 - overall),
        within=float((weights * (off**2 - 2 * off * miss)).sum() / n_rows),
    )


def _read_rows(
    y: Any, probability: Any, sample_weight: Any
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Read what was said, what happened, and weights; rows of weight 0 are gone."""
    given = read_probability(probability)
    hits = read_binary(y, len(given))
    weights = read_row_weights(sample_weight, len(given))
    if weights is None:
        return given, hits, np.ones(len(given))
    there = weights > 0
    return given[there], hits[there], weights[there]


def _bins(
    given: FloatArray, weights: FloatArray, n_bins: int, strategy: str
) -> tuple[AnyArray, tuple[FloatArray, FloatArray]]:
    """Give the bin of each row, and where bins begin and end; those without rows are left out."""
    if isinstance(n_bins, bool) or not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise InvalidParameter(f"n_bins={n_bins!r}: expected a whole number of at least 1.")
    if strategy not in ("width", "mass"):
        raise InvalidParameter(
            f"strategy={strategy!r}: expected 'width' for bins of equal width, or 'mass' for bins "
            "of about equal weight."
        )
    if strategy == "width":
        all_bins = np.minimum((given * n_bins).astype(np.int64), n_bins - 1)
        used, bins = np.unique(all_bins, return_inverse=True)
        return bins, (used / n_bins, (used + 1) / n_bins)
    values, places = np.unique(given, return_inverse=True)
    own = np.bincount(places, weights)
    middles = (np.cumsum(own) - own / 2) / own.sum()
    used, bins_of_values = np.unique((middles * n_bins).astype(np.int64), return_inverse=True)
    low = np.full(len(used), np.inf)
    high = np.full(len(used), -np.inf)
    np.minimum.at(low, bins_of_values, values)
    np.maximum.at(high, bins_of_values, values)
    return bins_of_values[places], (low, high)
