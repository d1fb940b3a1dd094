"""One prediction, taken apart: a table a person can read."""

import datetime as dt
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data.intake import read_table
from spinney.data.matching import match_by_name
from spinney.data.row import column_of_value
from spinney.data.schema import FeatureSchema
from spinney.data.table import Column, Kind, Table
from spinney.errors import InvalidInput, shorten
from spinney.explain.choosing import find_place
from spinney.explain.reading import is_quantile_forest, raw_output_names, shared_forest_of
from spinney.explain.shapley import explain_table
from spinney.model import TreeForest
from spinney.model.links import apply_link, classes_of_labels, prediction_of_score
from spinney.results import Result
from spinney.typing import FloatArray, TableLike

_SCALES: Mapping[str, str] = {
    "identity": "the prediction itself",
    "logistic": "log-odds",
    "double_logistic": "half the log-odds",
    "softmax": "the logarithm of the probability, up to a constant",
    "log": "the logarithm of the prediction",
    "increasing": "the quantile, before those of a row are put in order",
    "by_label": "log-odds, or of more than two classes the logarithm of the probability, up to a "
    "constant",
}
"""What a raw score is, by link."""
_DAY = 86_400
_WHOLE = 2.0**53
"""From here on a float64 does not tell neighbouring integers apart."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RowExplanation(Result):
    """How one raw score comes about, feature by feature."""

    prediction_name: str
    prediction: float
    raw_score: float
    scale: str
    """What the raw score is."""
    base: float
    """The raw score when no feature is known."""
    feature_names: tuple[str, ...]
    feature_values: tuple[str, ...]
    """As they were given; "missing" where there is none."""
    contributions: FloatArray
    """(n_features,), to the raw score."""

    def title(self) -> str:
        """Say the prediction, and what the contributions add up to."""
        return (
            f"{self.prediction_name} = {self.prediction:.4g}, from a raw score of "
            f"{self.raw_score:.4g} ({self.scale}); contributions are to the raw score"
        )

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the base and then the features, the largest contributions first."""
        order = np.argsort(-np.abs(self.contributions), kind="stable").tolist()
        parts = np.concatenate([[self.base], self.contributions[order]])
        return {
            "feature": ["base", *(self.feature_names[place] for place in order)],
            "value": ["", *(self.feature_values[place] for place in order)],
            "contribution": parts.tolist(),
            "sum": np.cumsum(parts).tolist(),
        }


def explain_row(
    fitted: Any,
    row: Any,
    *,
    output: Any = None,
    background: TableLike | None = None,
    background_weight: Any = None,
) -> RowExplanation:
    """Take one prediction apart into what each feature contributed, by Shapley values.

    Of a quantile forest it is the mean that is taken apart: its quantiles are no sums of trees.

    Parameters
    ----------
    fitted : estimator or model
        A fitted estimator made of trees, or its ``model_``.
    row : mapping, 1-D sequence, or table of one row
        A mapping goes from the names of the features to values; a row of a pandas frame
        (``frame.iloc[0]``) is one. A sequence has the features in the order of training.
    output : label, name or position, default=None
        Of several raw scores, the class or the output to explain; a number that is no label is a
        position. None: the class with the largest raw score, or the first output. Two classes have
        one raw score, for the second.
    background, background_weight
        As in :func:`~spinney.explain.shap_values`.

    Returns
    -------
    RowExplanation
        Printed, a table: the base, then the features with their values, the largest contribution
        first, and the sum so far.

    Examples
    --------
    >>> from spinney import GradientBoostingClassifier
    >>> X = [[w, h] for w in ("oak", "fir", None) for h in range(20)]
    >>> y = ["tall" if h > 9 or w == "fir" else "small" for w, h in X]
    >>> fitted = GradientBoostingClassifier(max_iter=20, min_samples_leaf=5).fit(X, y)
    >>> explain_row(fitted, {"x0": "oak", "x1": 15})
    P(tall) = 0.9..., from a raw score of ... (log-odds); contributions are to the raw score
    feature  value  contribution    sum
    base                     ...    ...
    x1       15              ...    ...
    x0       oak             ...    ...
    """
    shared = shared_forest_of(fitted)
    forest, schema = shared.forest, shared.model.schema
    given = _one_row(row, schema)
    name = type(fitted).__name__
    conformed = shared.conform(given, name)
    known = None if background is None else shared.conform(background, name)
    found = explain_table(shared, conformed, known, background_weight, n_threads=1)
    raw = forest.raw_scores(conformed)
    names = raw_output_names(fitted)
    place = _chosen_output(forest, names, raw[0], output)
    prediction_name, prediction = _prediction(forest, names, raw, place)
    return RowExplanation(
        prediction_name,
        prediction,
        float(raw[0, place]),
        _scale(forest, is_mean=is_quantile_forest(fitted)),
        float(found.base[place]),
        shared.names,
        _shown_values(given, shared.read(given, name), schema),
        found.values[0, :, place],
    )


def _one_row(row: Any, schema: FeatureSchema) -> Table:
    """Read whatever a row may be as a table of one row."""
    if isinstance(row, Mapping) or (hasattr(row, "items") and getattr(row, "ndim", 0) == 1):
        return _from_names(dict(row.items()), schema)
    if isinstance(row, np.ndarray) and row.ndim == 1:
        row = row[np.newaxis, :]
    elif isinstance(row, list | tuple) and not any(np.ndim(value) for value in row):
        row = [list(row)]
    table = read_table(row)
    if table.n_rows != 1:
        raise InvalidInput(
            f"row has {table.n_rows} rows; expected one. Choose it, for instance with "
            "frame.iloc[0] or array[0], or use shap_values for many."
        )
    return table


def _from_names(values: Mapping[Any, Any], schema: FeatureSchema) -> Table:
    if not values:
        raise InvalidInput(
            "row is an empty mapping. Give a value for each feature, None where it is missing: "
            f"{shorten(schema.names)}."
        )
    columns = [column_of_value(str(name), value) for name, value in values.items()]
    table = Table(1, columns, names_given=True)
    if schema.names_given:
        return table
    # The model knows its features by number; x0, x1, … is what they are called everywhere.
    return Table(1, match_by_name(table, schema.names, ignore_extra=False), names_given=False)


def _chosen_output(forest: TreeForest, names: tuple[str, ...], raw: FloatArray, output: Any) -> int:
    if output is None:
        return int(np.argmax(raw)) if forest.target.classes is not None else 0
    is_position = isinstance(output, numbers.Integral) and str(output) not in names
    return find_place(output if is_position else str(output), names, "output", "raw score")


def _prediction(
    forest: TreeForest, names: tuple[str, ...], raw: FloatArray, place: int
) -> tuple[str, float]:
    """Name what is predicted, and give it; ``place`` is that of the raw score."""
    predictions = apply_link(forest.output.link, raw)[0]
    prediction = float(predictions[prediction_of_score(forest.output.link, place)])
    return f"P({names[place]})" if forest.target.has_classes else names[place], prediction


def _scale(forest: TreeForest, *, is_mean: bool) -> str:
    if is_mean:
        return "the mean itself, not the median that predict gives"
    link = forest.output.link
    if forest.target.has_classes and link == "identity":
        return "the probability itself"
    return _SCALES["by_label" if classes_of_labels(link) is not None else link]


def _shown_values(given: Table, conformed: Table, schema: FeatureSchema) -> tuple[str, ...]:
    by_name = given.names_given and schema.names_given
    found = dict(zip(given.names, given.columns, strict=True))
    shown = []
    for place, (name, used) in enumerate(zip(schema.names, conformed.columns, strict=True)):
        text = shown_value(found[name] if by_name else given.columns[place])
        is_unseen = used.kind is Kind.CATEGORICAL and used.values[0] < 0 and text != "missing"
        shown.append(f"{text} (unseen)" if is_unseen else text)
    return tuple(shown)


def shown_value(column: Column) -> str:
    """Write the only value of a column as a person would."""
    value = column.dense(1)[0]
    if column.levels is not None:
        return "missing" if value < 0 else str(column.levels.values[value])
    if np.isnan(value):
        return "missing"
    if column.kind is Kind.BOOLEAN:
        return str(bool(value))
    seconds = float(value)
    if column.kind is Kind.DURATION:
        return str(dt.timedelta(seconds=seconds))
    if column.kind is Kind.DATE:
        return str(np.datetime64(int(seconds // _DAY), "D"))
    if column.kind is Kind.DATETIME:
        instant = np.datetime64(round(seconds * 1e6), "us")
        unit = "seconds" if seconds.is_integer() else "microseconds"
        text = instant.item().isoformat(sep=" ", timespec=unit)
        return f"{text} UTC" if column.timezone_aware else text
    return str(int(value)) if seconds.is_integer() and abs(seconds) < _WHOLE else str(value)
