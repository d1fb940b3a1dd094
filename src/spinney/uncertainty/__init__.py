"""What can be promised of predictions: intervals, sets, and probabilities that mean what they say.

Mathematics on arrays; estimators are in ``spinney.ensembles``.
"""

from spinney.uncertainty.calibration.isotonic import IsotonicCurve as IsotonicCurve
from spinney.uncertainty.calibration.isotonic import isotonic_curve as isotonic_curve
from spinney.uncertainty.calibration.logistic import BetaCurve as BetaCurve
from spinney.uncertainty.calibration.logistic import PlattCurve as PlattCurve
from spinney.uncertainty.calibration.logistic import beta_curve as beta_curve
from spinney.uncertainty.calibration.logistic import platt_curve as platt_curve
from spinney.uncertainty.calibration.temperature import TemperatureCurve as TemperatureCurve
from spinney.uncertainty.calibration.temperature import temperature_curve as temperature_curve
from spinney.uncertainty.calibration.venn_abers import VennAbers as VennAbers
from spinney.uncertainty.calibration.venn_abers import merge_folds as merge_folds
from spinney.uncertainty.intervals import PredictionIntervals as PredictionIntervals
from spinney.uncertainty.intervals import jackknife_plus_intervals as jackknife_plus_intervals
from spinney.uncertainty.intervals import quantile_intervals as quantile_intervals
from spinney.uncertainty.intervals import quantile_scores as quantile_scores
from spinney.uncertainty.intervals import split_intervals as split_intervals
from spinney.uncertainty.out_of_bag import after_bootstrap_intervals as after_bootstrap_intervals
from spinney.uncertainty.out_of_bag import out_of_bag_means as out_of_bag_means
from spinney.uncertainty.quantiles import conformal_quantile as conformal_quantile
from spinney.uncertainty.quantiles import conformal_rank as conformal_rank
from spinney.uncertainty.quantiles import group_quantiles as group_quantiles
from spinney.uncertainty.reliability import BrierDecomposition as BrierDecomposition
from spinney.uncertainty.reliability import ReliabilityCurve as ReliabilityCurve
from spinney.uncertainty.reliability import brier_decomposition as brier_decomposition
from spinney.uncertainty.reliability import brier_score as brier_score
from spinney.uncertainty.reliability import (
    expected_calibration_error as expected_calibration_error,
)
from spinney.uncertainty.reliability import log_loss as log_loss
from spinney.uncertainty.reliability import reliability_curve as reliability_curve
from spinney.uncertainty.sets import PredictionSets as PredictionSets
from spinney.uncertainty.sets import SetScore as SetScore
from spinney.uncertainty.sets import conformal_sets as conformal_sets
from spinney.uncertainty.sets import set_scores as set_scores

__all__: list[str] = [
    "BetaCurve",
    "BrierDecomposition",
    "IsotonicCurve",
    "PlattCurve",
    "PredictionIntervals",
    "PredictionSets",
    "ReliabilityCurve",
    "SetScore",
    "TemperatureCurve",
    "VennAbers",
    "after_bootstrap_intervals",
    "beta_curve",
    "brier_decomposition",
    "brier_score",
    "conformal_quantile",
    "conformal_rank",
    "conformal_sets",
    "expected_calibration_error",
    "group_quantiles",
    "isotonic_curve",
    "jackknife_plus_intervals",
    "log_loss",
    "merge_folds",
    "out_of_bag_means",
    "platt_curve",
    "quantile_intervals",
    "quantile_scores",
    "reliability_curve",
    "set_scores",
    "split_intervals",
    "temperature_curve",
]
