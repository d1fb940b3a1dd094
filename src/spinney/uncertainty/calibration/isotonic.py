"""Steps that only rise: the likeliest probabilities among all rising functions of the score."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.isotonic import IsotonicRegression

from spinney.results import read_only
from spinney.typing import FloatArray
from spinney.uncertainty.checks import read_array, read_binary, read_row_weights


@dataclass(frozen=True, slots=True, eq=False)
class IsotonicCurve:
    """A rising function through points, straight between them and constant beyond.

    Examples
    --------
    >>> import numpy as np
    >>> IsotonicCurve(np.array([0.0, 1.0]), np.array([0.25, 0.75]))([0.5, 7.0]).tolist()
    [0.5, 0.75]
    """

    scores: FloatArray
    probabilities: FloatArray

    def __call__(self, scores: Any) -> FloatArray:
        """Give the probability of each score."""
        return np.interp(read_array("scores", scores), self.scores, self.probabilities)


def isotonic_curve(scores: Any, y: Any, *, sample_weight: Any = None) -> IsotonicCurve:
    """Fit the rising function that comes closest to what happened (scikit-learn's).

    Parameters
    ----------
    scores : n numbers
        Of rows that were not learnt from; larger for class 1. Only their order counts.
    y : n numbers, 0 or 1
    sample_weight : n numbers, optional
        A weight of k counts as the row k times.

    Returns
    -------
    IsotonicCurve

    References
    ----------
    Zadrozny & Elkan (2002), Transforming classifier scores into accurate multiclass probability
    estimates, KDD.

    Examples
    --------
    >>> isotonic_curve([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 1])([1.0, 2.0, 3.0, 4.0]).tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    values = read_array("scores", scores)
    hits = read_binary(y, len(values))
    weights = read_row_weights(sample_weight, len(values))
    fitted = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    fitted.fit(values, hits, sample_weight=weights)
    points = (fitted.X_thresholds_, fitted.y_thresholds_)
    return IsotonicCurve(*(read_only(np.asarray(part, np.float64)) for part in points))
