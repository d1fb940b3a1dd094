"""By how much numbers are missed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import InvalidInput
from spinney.results import Result, read_only
from spinney.theory.checks import number_array, row_counts
from spinney.typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Residuals(Result):
    """Targets, predictions and their differences.

    Examples
    --------
    >>> print(residuals([1.0, 2.0, 4.0], [1.5, 2.0, 3.0]))
    Residuals of 3 rows: RMSE 0.6455, mean absolute error 0.5, R² 0.7321
    target  prediction  residual  weight
         1         1.5      -0.5       1
         2           2         0       1
         4           3         1       1
    """

    targets: FloatArray
    predictions: FloatArray
    weights: FloatArray
    """How often each row counts."""

    @property
    def residuals(self) -> FloatArray:
        """Target minus prediction: positive where the prediction is too low."""
        differences: FloatArray = self.targets - self.predictions
        return differences

    @property
    def mean(self) -> float:
        """Mean residual; 0 of predictions that are right on average."""
        return self._average(self.residuals)

    @property
    def root_mean_square(self) -> float:
        """Root of the mean squared residual."""
        return float(np.sqrt(self._average(self.residuals**2)))

    @property
    def mean_absolute(self) -> float:
        """Mean distance of target and prediction."""
        return self._average(np.abs(self.residuals))

    @property
    def r2(self) -> float:
        """Share of the variance of the targets that is predicted; NaN if they do not vary."""
        spread = self._average((self.targets - self._average(self.targets)) ** 2)
        return 1.0 - self._average(self.residuals**2) / spread if spread > 0.0 else float("nan")

    def _average(self, values: FloatArray) -> float:
        return float(np.average(values, weights=self.weights))

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the rows in their order."""
        return {
            "target": self.targets.tolist(),
            "prediction": self.predictions.tolist(),
            "residual": self.residuals.tolist(),
            "weight": self.weights.tolist(),
        }

    def title(self) -> str:
        """Say in a line what the table shows."""
        return (
            f"Residuals of {len(self.targets)} rows: RMSE {self.root_mean_square:.4g}, mean "
            f"absolute error {self.mean_absolute:.4g}, R² {self.r2:.4g}"
        )


def residuals(y: Any, predicted: Any, *, sample_weight: Any = None) -> Residuals:
    """Compare targets with predictions.

    Parameters
    ----------
    y : n numbers
    predicted : n numbers
        What ``predict`` says.
    sample_weight : n numbers, optional
        How often each row counts.

    Returns
    -------
    Residuals

    Examples
    --------
    >>> residuals([1.0, 2.0], [1.5, 1.5]).mean
    0.0
    """
    targets, said = number_array("y", y), number_array("predicted", predicted)
    if len(targets) != len(said):
        raise InvalidInput(
            f"y has {len(targets)} numbers and predicted {len(said)}: expected one in each of them "
            "for every row."
        )
    counts = row_counts(sample_weight, len(targets))
    return Residuals(read_only(targets), read_only(said), read_only(counts))
