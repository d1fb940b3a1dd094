"""Rows that the reader may pick: their values, what is predicted, and why."""

import math
from typing import Any

import numpy as np

from spinney.data.table import Column, Kind
from spinney.explain import shap_values
from spinney.explain.grids import labels_of
from spinney.explain.reading import raw_output_names
from spinney.model import TreeForest
from spinney.model.derived import DerivedForest
from spinney.report.moments import is_daily
from spinney.report.subject import Subject
from spinney.typing import AnyArray, FloatArray

_MOST_NUMBERS = 60_000
"""Values and contributions of all rows together: half a megabyte."""
_MOST_LEVELS = 5_000
"""Levels of one feature that the page knows by name."""


def choose_rows(subject: Subject, first: AnyArray, most: int = 60) -> AnyArray:
    """Choose rows to embed: ``first`` before all, then others at even steps of the prediction."""
    n_outputs = subject.predictions.shape[1]
    room = max(8, _MOST_NUMBERS // (len(subject.names) * (1 + n_outputs)))
    most = min(most, room, subject.rows.n_rows)
    chosen = list(dict.fromkeys(first.tolist()))[: max(1, (2 * most) // 3)]
    order = np.argsort(subject.predictions[:, -1], kind="stable")
    steps = np.rint(np.linspace(0, len(order) - 1, most)).astype(np.intp)
    for row in order[steps].tolist():
        if len(chosen) < most and row not in chosen:
            chosen.append(row)
    return np.array(sorted(chosen), np.intp)


def embed_rows(
    subject: Subject, forest: TreeForest | DerivedForest, rows: AnyArray
) -> dict[str, Any]:
    """Give rows as JSON: values, predictions to the last bit, contributions to a few digits."""
    table = subject.rows.asked.take(rows)
    found = shap_values(forest, table)
    target = subject.rows.target
    labels = None
    if target is not None:
        own = target[rows]
        labels = [subject.classes[code] for code in own] if own.ndim == 1 else _plain(own[:, 0])
    return {
        "numbers": [subject.rows.number_of(row) for row in rows.tolist()],
        "values": [_values(column, len(rows)) for column in table.columns],
        "target": labels,
        "predictions": subject.ask(table).tolist(),
        "contributions": [_rounded(row) for row in found.values.transpose(0, 2, 1)],
        "base": found.base.tolist(),
        "outputs": list(raw_output_names(forest)),
    }


def embed_features(subject: Subject) -> list[dict[str, Any]]:
    """Describe the features: name, kind, whether moments are days, the levels of categories."""
    schema = subject.model.schema
    described = []
    for place, name in enumerate(schema.names):
        feature: dict[str, Any] = {
            "name": name,
            "kind": str(schema.kinds[place]),
            "used": place in subject.used,
        }
        if is_daily(subject.rows.table.columns[place]):
            feature["daily"] = True
        levels = schema.levels[place]
        if levels is not None:
            feature["levels"] = [str(level) for level in levels.values]
        described.append(feature)
    return described


def too_many_levels(subject: Subject) -> bool:
    """Tell whether a feature has more levels than a page should hold."""
    levels_of_features = subject.model.schema.levels
    counts = [0 if levels is None else len(levels) for levels in levels_of_features]
    return max(counts, default=0) > _MOST_LEVELS or sum(counts) > 4 * _MOST_LEVELS


def _values(column: Column, n_rows: int) -> list[Any]:
    """Give codes of levels, or numbers; null where missing, text where JSON has no number.

    The code of a level that training did not know is negative. Texts are themselves.
    """
    values = column.dense(n_rows)
    if column.kind is Kind.TEXT:
        return list(labels_of(column))
    if column.levels is not None:
        return [None if code == -1 else code for code in values.tolist()]
    return _plain(values.astype(np.float64))


def _plain(numbers: FloatArray) -> list[Any]:
    return [
        None if math.isnan(x) else x if math.isfinite(x) else ("Infinity" if x > 0 else "-Infinity")
        for x in numbers.tolist()
    ]


def _rounded(values: FloatArray) -> list[list[float]]:
    return [[float(f"{x:.4g}") for x in output] for output in values.tolist()]
