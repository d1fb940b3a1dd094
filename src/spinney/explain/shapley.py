"""Shapley values: what each feature adds to the raw score of each row, exactly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney._native import _ext
from spinney.data.binning import native_columns
from spinney.data.table import Table
from spinney.data.weights import read_weights
from spinney.errors import InvalidInput, InvalidInputType
from spinney.explain.importance import Importances
from spinney.explain.reading import Shared, raw_output_names, shared_forest_of
from spinney.parallelism import resolve_n_jobs
from spinney.results import Result, read_only
from spinney.typing import FloatArray, TableLike


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ShapValues(Result):
    """What each feature adds to the raw scores of each row; with ``base`` it is all of them."""

    values: FloatArray
    """(n_rows, n_features, n_outputs)"""
    base: FloatArray
    """(n_outputs,): the raw scores when no feature is known."""
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...]

    def raw_scores(self) -> FloatArray:
        """Add everything up to the raw scores of the rows; (n_rows, n_outputs)."""
        scores: FloatArray = self.base + self.values.sum(axis=1)
        return scores

    def title(self) -> str:
        """Say what the numbers are, and what they start from."""
        n_rows, n_features, _ = self.values.shape
        bases = ", ".join(f"{value:.4g}" for value in self.base.tolist())
        return (
            f"Shapley values of the raw score, {n_rows} rows, {n_features} features; base {bases}"
        )

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give one line per row, feature and output."""
        axes = {"feature": self.feature_names}
        return _long_form(self.values, axes, self.output_names)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ShapInteractions(Result):
    """What each pair of features adds together to the raw scores of each row.

    ``values[row, i, j] == values[row, j, i]`` is half of what features i and j add as a pair;
    ``values[row, i, i]`` is what is left of the Shapley value of feature i.
    """

    values: FloatArray
    """(n_rows, n_features, n_features, n_outputs)"""
    base: FloatArray
    """(n_outputs,): the raw scores when no feature is known."""
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...]

    def raw_scores(self) -> FloatArray:
        """Add everything up to the raw scores of the rows; (n_rows, n_outputs)."""
        scores: FloatArray = self.base + self.values.sum(axis=(1, 2))
        return scores

    def title(self) -> str:
        """Say what the numbers are, and what they start from."""
        n_rows, n_features = self.values.shape[:2]
        bases = ", ".join(f"{value:.4g}" for value in self.base.tolist())
        return (
            f"Shapley interactions of the raw score, {n_rows} rows, {n_features} features; "
            f"base {bases}"
        )

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give one line per row, pair of features (both orders) and output."""
        axes = {"feature": self.feature_names, "other feature": self.feature_names}
        return _long_form(self.values, axes, self.output_names)


def shap_values(
    fitted: Any,
    X: TableLike,
    *,
    background: TableLike | None = None,
    background_weight: Any = None,
    n_jobs: int | None = None,
) -> ShapValues:
    """Share the raw score of each row out among the features, by Shapley's rule.

    A feature gets the average, over all orders in which features may become known, of how much
    the expected raw score changes when it does. The answer is exact, not sampled, and the same
    for every number of threads. Contributions are to the raw score: log-odds for two classes,
    one score per class for several, the logarithm of the prediction for Poisson, gamma and
    Tweedie loss, the mean of a quantile forest, the prediction itself otherwise. Where trees split
    on derived features, all that are derived from a feature of X become known with it; what is
    derived from a pair of features becomes known as if it were a feature of its own, and is divided
    evenly between the two.

    Base and contributions are the raw score to 1e-12 of the sum of their magnitudes, and so to
    1e-12 of the score itself unless they cancel to a small part of what they were. What rounding
    leaves is not put onto a feature: features that do the same get the same, and one that is never
    asked for exactly 0.

    Parameters
    ----------
    fitted : estimator or model
        A fitted estimator made of trees, or its ``model_``.
    X : table
        The rows to explain; anything ``predict`` takes.
    background : table, default=None
        None: what is not known is averaged over by the weights of the training rows in each node
        ("path-dependent"). A table: it is taken from the rows of this table, all features of a
        row at once ("interventional"); a feature the model does not use then gets exactly 0 even
        if it is correlated with one that it does use. One to a few hundred rows are enough.
    background_weight : array of shape (n_background_rows,), default=None
        How much each row of the background counts; None: all the same.
    n_jobs : int or None, default=None
        Threads; None means all available ones.

    Returns
    -------
    ShapValues
        ``base + values.sum(axis=1)`` are the raw scores.

    Examples
    --------
    >>> from spinney import GradientBoostingRegressor
    >>> X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [3.0, 5.0]] * 20)
    >>> fitted = GradientBoostingRegressor(max_iter=1, learning_rate=1.0).fit(X, X[:, 0])
    >>> shap_values(fitted, X[:2])
    Shapley values of the raw score, 2 rows, 2 features; base 1.5
    row  feature  contribution
      0  x0               -1.5
      0  x1                  0
      1  x0               -0.5
      1  x1                  0

    Against a row of your own choice:

    >>> shap_values(fitted, X[:1], background=X[3:4]).values[0, :, 0]
    array([-3.,  0.])
    """
    shared = shared_forest_of(fitted)
    n_threads = resolve_n_jobs(n_jobs)
    name = type(fitted).__name__
    table = shared.conform(X, name)
    known = None if background is None else shared.conform(background, name)
    found = explain_table(shared, table, known, background_weight, n_threads=n_threads)
    return replace(found, output_names=raw_output_names(fitted))


def explain_table(
    shared: Shared,
    table: Table,
    background: Table | None,
    background_weight: Any,
    *,
    n_threads: int,
) -> ShapValues:
    """Do what :func:`shap_values` does, for tables that conform."""
    if background is not None:
        base, values = _interventional(shared, table, background, background_weight, n_threads)
    elif background_weight is None:
        base, values = _path_dependent(shared, table, n_threads)
    else:
        raise InvalidInput(
            "background_weight was given without a background. Pass the table whose rows it "
            "weighs as background, or leave background_weight out."
        )
    values = read_only(shared.from_players(values, 1))
    return ShapValues(values, read_only(base), shared.names, raw_output_names(shared.forest))


def shap_interactions(fitted: Any, X: TableLike, *, n_jobs: int | None = None) -> ShapInteractions:
    """Share Shapley values out further, among the pairs of features.

    What features i and j add together beyond what they add alone (Shapley's interaction index,
    path-dependent) is split between ``values[:, i, j]`` and ``values[:, j, i]``; the diagonal
    keeps the rest, so that row i of the matrix adds up to the Shapley value of feature i. The
    result has n_features x n_features numbers per row: explain some rows of a wide table.

    Parameters
    ----------
    fitted : estimator or model
        A fitted estimator made of trees, or its ``model_``.
    X : table
        The rows to explain; anything ``predict`` takes.
    n_jobs : int or None, default=None
        Threads; None means all available ones.

    Returns
    -------
    ShapInteractions
        Symmetric; ``base + values.sum(axis=(1, 2))`` are the raw scores, as exactly as those of
        :func:`shap_values` are.

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
    >>> both = DecisionTreeRegressor().fit(X, X[:, 0] * X[:, 1])
    >>> shap_interactions(both, X[3:]).values[0, :, :, 0]
    array([[0.25 , 0.125],
           [0.125, 0.25 ]])
    """
    shared = shared_forest_of(fitted)
    forest = shared.forest
    columns = native_columns(shared.conform(X, type(fitted).__name__))
    n_threads = resolve_n_jobs(n_jobs)
    sums = _ext.shapley_interactions(forest.native, columns, shared.players, n_threads)
    values = read_only(shared.from_players(forest.aggregated(sums), 1, 2))
    base = read_only(forest.expected_scores)
    return ShapInteractions(values, base, shared.names, raw_output_names(fitted))


def shap_importance(
    fitted: Any,
    X: TableLike,
    *,
    background: TableLike | None = None,
    background_weight: Any = None,
    n_jobs: int | None = None,
) -> Importances:
    """Measure features by how far they move raw scores: the mean absolute Shapley value.

    Of several outputs the absolute values are added up before the mean over the rows is taken:
    a feature counts once, however many classes it moves. Standard errors are those of a mean
    over rows drawn at random; one row has none.

    Parameters
    ----------
    fitted, X, background, background_weight, n_jobs
        As in :func:`shap_values`.

    Returns
    -------
    Importances

    Examples
    --------
    >>> from spinney import GradientBoostingRegressor
    >>> X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [3.0, 5.0]] * 20)
    >>> fitted = GradientBoostingRegressor(max_iter=1, learning_rate=1.0).fit(X, X[:, 0])
    >>> shap_importance(fitted, X).values
    array([1., 0.])
    """
    found = shap_values(
        fitted, X, background=background, background_weight=background_weight, n_jobs=n_jobs
    )
    moved = np.abs(found.values).sum(axis=2)
    n_rows = len(moved)
    errors = moved.std(axis=0, ddof=1) / np.sqrt(n_rows) if n_rows > 1 else None
    kind = "mean absolute Shapley value of the raw score"
    errors = None if errors is None else read_only(errors)
    return Importances(kind, found.feature_names, read_only(moved.mean(axis=0)), errors)


def _path_dependent(shared: Shared, table: Table, n_threads: int) -> tuple[FloatArray, FloatArray]:
    forest, columns = shared.forest, native_columns(table)
    sums = _ext.shapley_values(forest.native, columns, shared.players, n_threads)
    return forest.expected_scores, forest.aggregated(sums)


def _interventional(
    shared: Shared, table: Table, background: Table, weight: Any, n_threads: int
) -> tuple[FloatArray, FloatArray]:
    forest = shared.forest
    weights = _background_weights(weight, background.n_rows)
    counted = np.flatnonzero(weights)
    background, shares = background.take(counted), weights[counted] / weights.sum()
    columns = native_columns(table), native_columns(background)
    sums = _ext.interventional_values(forest.native, *columns, shares, shared.players, n_threads)
    scores = forest.raw_scores(background, n_threads=n_threads)
    base = (shares[:, np.newaxis] * scores).sum(axis=0)  # a product of matrices has no fixed order
    return base, forest.aggregated(sums)


def _background_weights(weight: Any, n_rows: int) -> FloatArray:
    try:
        weights = read_weights(weight, n_rows)
    except (InvalidInput, InvalidInputType) as problem:
        named = str(problem).replace("sample_weight", "background_weight")
        raise type(problem)(named) from None
    return np.ones(n_rows) if weights is None else weights


def _long_form(
    values: FloatArray, axes: Mapping[str, Sequence[str]], output_names: Sequence[str]
) -> dict[str, Sequence[Any]]:
    """Give the entries of an array as lines that name their row, features and output."""
    named = {"row": range(len(values)), **axes, "output": output_names}
    columns: dict[str, Sequence[Any]] = {}
    for axis, (name, entries) in enumerate(named.items()):
        if name == "output" and len(output_names) == 1:
            continue
        places = np.arange(values.shape[axis]).reshape([-1] + [1] * (values.ndim - 1 - axis))
        spread = np.broadcast_to(places, values.shape).ravel().tolist()
        columns[name] = [entries[place] for place in spread]
    columns["contribution"] = values.ravel().tolist()
    return columns
