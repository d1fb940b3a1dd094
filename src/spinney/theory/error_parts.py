"""An error taken apart into bias, variance and noise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.errors import InvalidInput
from spinney.results import Result, read_only
from spinney.typing import AnyArray, FloatArray, IntArray

_PER_POINT = (
    "points",
    "main",
    "biases",
    "variances",
    "noises",
    "errors",
    "variance_factors",
    "noise_factors",
    "shares",
    "answers",
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BiasVariance(Result):
    """An error taken apart: error = bias + net variance + net noise, at each point and on average.

    Each array has a number for each point that was predicted at least once. Of squared loss and of
    Kohavi and Wolpert all factors are 1. Of Domingos, variance *lowers* the error where the main
    prediction is wrong, and so do some of the wrong labels.
    """

    decomposition: str
    """"squared", "domingos" or "kohavi_wolpert"."""
    points: IntArray
    """Which of the points that were given."""
    main: AnyArray
    """The main prediction: the mean, or the label that is predicted most often."""
    biases: FloatArray
    """What the main prediction costs; of squared loss the squared bias."""
    variances: FloatArray
    """How predictions scatter around the main one."""
    noises: FloatArray
    """How targets scatter around the best prediction; 0 where only one target is known."""
    errors: FloatArray
    """Expected loss, over training sets and targets."""
    variance_factors: FloatArray
    noise_factors: FloatArray
    shares: FloatArray
    """How much each point counts; they add up to 1."""
    answers: IntArray
    """How many training sets the predictions at a point come from."""

    def __post_init__(self) -> None:
        for name in _PER_POINT:
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def bias(self) -> float:
        """Mean bias; of squared loss that of the squares."""
        return self._mean(self.biases)

    @property
    def variance(self) -> float:
        """Mean variance."""
        return self._mean(self.variances)

    @property
    def noise(self) -> float:
        """Mean noise."""
        return self._mean(self.noises)

    @property
    def error(self) -> float:
        """Mean expected loss."""
        return self._mean(self.errors)

    @property
    def net_variance(self) -> float:
        """What variance adds to the error; of Domingos less than the variance."""
        return self._mean(self.variance_factors * self.variances)

    @property
    def net_noise(self) -> float:
        """What noise adds to the error."""
        return self._mean(self.noise_factors * self.noises)

    @property
    def unbiased_variance(self) -> float:
        """Part of the net variance from points with bias 0, where it does harm."""
        return self._mean(np.where(self.biases == 0.0, self.variance_factors * self.variances, 0.0))

    @property
    def biased_variance(self) -> float:
        """By how much variance lowers the error at points whose main prediction is wrong."""
        return self.unbiased_variance - self.net_variance

    def corrected(self) -> "BiasVariance":
        """Take from the biases what finitely many training sets add, and give it to the variances.

        The mean of R predictions varies itself, by 1/R of the variance of one, and is taken for
        bias. Now both are right on average, and a bias may come out below 0. The error stays.
        """
        if self.decomposition == "domingos":
            raise InvalidInput(
                "The main label is no mean, so that there is no correction for few training sets: "
                "expected squared loss or 'kohavi_wolpert'. Take more sets."
            )
        if (self.answers < 2).any():
            place = int(self.points[(self.answers < 2).argmax()])
            raise InvalidInput(
                f"Point {place} was predicted once: expected two or more predictions of each point "
                "to know how they vary. Take more sets."
            )
        moved = self.variances / (self.answers - 1)
        return replace(self, biases=self.biases - moved, variances=self.variances + moved)

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the means as named columns."""
        if self.decomposition == "domingos":
            shown = {
                "bias": self.bias,
                "variance where right": self.unbiased_variance,
                "variance where wrong": self.net_variance - self.unbiased_variance,
                "noise": self.net_noise,
                "error": self.error,
            }
        else:
            squared = "squared bias" if self.decomposition == "squared" else "bias"
            shown = {
                squared: self.bias,
                "variance": self.variance,
                "noise": self.noise,
                "error": self.error,
            }
        return {"quantity": list(shown), "value": list(shown.values())}

    def title(self) -> str:
        """Say in a line what the table shows."""
        loss = {
            "squared": "Squared error",
            "domingos": "Share of wrong labels, after Domingos",
            "kohavi_wolpert": "Share of wrong labels, after Kohavi and Wolpert",
        }[self.decomposition]
        low, high = int(self.answers.min()), int(self.answers.max())
        sets = f"{low}" if low == high else f"{low} to {high}"
        return f"{loss}; {len(self.points)} points, each predicted by {sets} models"

    def _mean(self, numbers: FloatArray) -> float:
        return float((numbers * self.shares).sum())
