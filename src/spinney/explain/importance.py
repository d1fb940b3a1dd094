"""How much features matter to a model: by its splits, or by what is lost without them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.explain.reading import Shared, model_of, shared_forest_of
from spinney.model.forest import trees_of
from spinney.model.tree import freeze
from spinney.results import Result
from spinney.typing import FloatArray


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Importances(Result):
    """A number per feature; printed with the largest first."""

    kind: str
    """What the numbers are, in a few words."""
    feature_names: tuple[str, ...]
    values: FloatArray
    """In the order of the features."""
    standard_errors: FloatArray | None
    """None when the numbers are no estimates."""

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the whole answer as named columns, the largest importance first."""
        order = np.argsort(-self.values, kind="stable")
        columns: dict[str, Sequence[Any]] = {
            "feature": [self.feature_names[place] for place in order],
            "importance": self.values[order].tolist(),
        }
        if self.standard_errors is not None:
            columns["standard_error"] = self.standard_errors[order].tolist()
        return columns

    def title(self) -> str:
        """Say in a line what the table shows."""
        return f"Importance of features: {self.kind}"


def gain_importance(fitted: Any, *, normalise: bool = True) -> Importances:
    """Add up what the splits on each feature gained: training loss removed, weighted by tree.

    It is what ``feature_importances_`` holds; that of ``AdaBoostRegressor``, a weighted median of
    trees, is the mean of the shares of each tree instead. Features with many distinct values, even
    of noise, are offered more splits and gain more; :func:`permutation_importance` on held-out rows
    does not have that bias.

    Parameters
    ----------
    fitted : estimator or model
    normalise : bool
        Whether to give shares, which add up to 1 unless there is no split, or totals.

    Returns
    -------
    Importances

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> tree = DecisionTreeRegressor().fit(X, [0.0, 1.0, 10.0, 11.0])
    >>> print(gain_importance(tree))
    Importance of features: share of the total gain
    feature  importance
    x0           0.9901
    x1         0.009901
    """
    shared = _splits_of(fitted)
    return _of_splits(shared, shared.forest.feature_gains(), "gain", normalise=normalise)


def split_importance(fitted: Any, *, normalise: bool = True) -> Importances:
    """Count the splits on each feature.

    Parameters
    ----------
    fitted : estimator or model
    normalise : bool
        Whether to give shares, which add up to 1 unless there is no split, or counts.

    Returns
    -------
    Importances

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> tree = DecisionTreeRegressor().fit(X, [0.0, 1.0, 10.0, 11.0])
    >>> split_importance(tree, normalise=False).values
    array([1., 2.])
    """
    shared = _splits_of(fitted)
    features = shared.forest.arrays["feature"]
    n_features = shared.forest.schema.n_features
    counts = np.bincount(features[features >= 0], minlength=n_features).astype(float)
    return _of_splits(shared, counts, "number of splits", normalise=normalise)


def _splits_of(fitted: Any) -> Shared:
    """Give the trees, also where a model does not add them up: their splits gained all the same."""
    model = model_of(fitted)
    trees = None if model is None else trees_of(model)
    return shared_forest_of(fitted) if trees is None else Shared(trees, trees)


def _of_splits(shared: Shared, totals: FloatArray, what: str, *, normalise: bool) -> Importances:
    totals = shared.by_feature(totals)
    values = totals / (totals.sum() or 1.0) if normalise else totals
    kind = f"share of the total {what}" if normalise else f"total {what}"
    return Importances(kind, shared.names, freeze(values), None)
