"""Quantile forests move their quantiles until they cover: conformalised quantile regression."""

import dataclasses
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from spinney.ensembles.uncertain.calibrating import Calibratable, read_counts
from spinney.ensembles.uncertain.kept import Calibration
from spinney.ensembles.uncertain.rows_of_fit import refuse_other_targets
from spinney.errors import InvalidInput, InvalidModel, InvalidParameter
from spinney.typing import AnyArray, TableLike
from spinney.uncertainty.intervals import PredictionIntervals, quantile_scores

DEFAULT_QUANTILES = (0.05, 0.95)


class QuantileCalibration(Calibratable):
    """Intervals between two predicted quantiles, moved as far as calibration rows ask for."""

    _has_quantiles: ClassVar[bool] = True
    model_: Any
    oob_quantiles: Any

    def calibrate_out_of_bag(
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        *,
        quantiles: tuple[float, float] | None = None,
    ) -> Self:
        """Learn how far quantiles are to be moved from the rows of ``fit`` themselves.

        Each row is judged by the trees that did not draw it, so no rows need be held back. The
        coverage is that of ``calibrate`` as far as these trees do as well as all of them.

        Parameters
        ----------
        X, y, sample_weight
            What was given to ``fit``, in the same order; anything else is refused.
        quantiles : two floats or None
            As in ``calibrate``.

        Returns
        -------
        self

        Examples
        --------
        >>> from spinney import QuantileForestRegressor
        >>> from spinney.datasets import make_friedman
        >>> train, test = (make_friedman(1, 500, random_state=seed) for seed in (0, 1))
        >>> forest = QuantileForestRegressor(random_state=0).fit(train.X, train.y)
        >>> forest = forest.calibrate_out_of_bag(train.X, train.y)
        >>> 0.85 < forest.predict_interval(test.X, 0.9).coverage(test.y) < 0.95
        True
        """
        self._check_fitted()
        pair = _read_quantiles(quantiles)
        found = self.oob_quantiles(X, quantiles=list(pair))
        targets = self._numbers(y, len(found))
        weights = read_counts(sample_weight, len(found))
        refuse_other_targets(self.model_, targets, weights, type(self).__name__)
        known = ~np.isnan(found[:, 0])
        if not known.any():
            raise InvalidInput(
                "There is no row that some tree did not see, so nothing is known out of bag. Grow "
                "trees with bootstrap=True, or calibrate(X, y) with rows that fit has not seen."
            )
        scores = quantile_scores(found[known, 0], found[known, 1], targets[known])
        weights = None if weights is None else weights[known]
        kept = Calibration.held_out("quantiles", scores, weights, None, pair)
        self.calibration_ = dataclasses.replace(kept, source="out_of_bag")
        return self

    def _calibrated_numbers(
        self, X: TableLike, y: Any, sample_weight: Any, quantiles: Any
    ) -> Calibration:
        pair = _read_quantiles(quantiles)
        low, high = self._pair(X, pair)
        scores = quantile_scores(low, high, self._numbers(y, len(low)))
        weights = read_counts(sample_weight, len(low))
        return Calibration.held_out("quantiles", scores, weights, None, pair)

    def _intervals(self, X: TableLike, level: Fraction, kept: Calibration) -> PredictionIntervals:
        low, high = self._pair(X, kept.numbers)
        reach = kept.quantiles(level, None)[0]
        return PredictionIntervals.of(self._centres(X), low - reach, high + reach, level)

    def _pair(self, X: TableLike, quantiles: tuple[float, float]) -> AnyArray:
        return np.asarray(self.predict(X, quantiles=list(quantiles)).T)

    def _check_calibration(self, kept: Calibration) -> None:
        low, high = kept.numbers
        is_whole = kept.codes is None and not np.isnan(kept.scores).any()
        if kept.method != "quantiles" or not is_whole or not 0.0 <= low < high <= 1.0:
            raise InvalidModel("the calibration is not one of a quantile forest")

    def _how_to_calibrate(self) -> str:
        return (
            "Call calibrate_out_of_bag(X, y) with the rows of fit, or calibrate(X, y) with rows "
            "that fit has not seen."
        )


def _read_quantiles(quantiles: Any) -> tuple[float, float]:
    """Read two shares, the lower one first."""
    given = DEFAULT_QUANTILES if quantiles is None else quantiles
    try:
        low, high = (float(share) for share in given)
    except (TypeError, ValueError):
        low, high = 1.0, 0.0
    if not 0.0 <= low < high <= 1.0:
        raise InvalidParameter(
            f"quantiles={quantiles!r}: expected two numbers from 0 to 1, the lower one first; "
            "None for 0.05 and 0.95."
        )
    return low, high
