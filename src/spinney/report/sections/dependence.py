"""The part on dependence: what the model says as one feature changes and all others stay."""

import math
from dataclasses import replace

import numpy as np

from spinney.data.table import Column, Kind
from spinney.errors import SpinneyError
from spinney.explain import individual_curves, partial_dependence
from spinney.explain.grids import labels_of
from spinney.explain.reading import raw_output_names
from spinney.report.drawing.dependence import category_figure, numeric_figure
from spinney.report.effort import rows_to_ask
from spinney.report.markup import Html, of_rows, tag
from spinney.report.moments import moment_text
from spinney.report.sections.section import Section, figures
from spinney.report.subject import Subject
from spinney.typing import AnyArray, FloatArray

_MOST_FEATURES = 9
_MOST_ROWS = 1_000
_CURVES = 25
_POINTS = 40
_MOST_LEVELS = 10


def dependence_section(subject: Subject, ranking: AnyArray) -> Section:
    """Lay out the features that matter most."""
    try:
        names = raw_output_names(subject.fitted)
    except SpinneyError as problem:
        return Section("dependence", "Dependence", tag("p", f"Nothing is drawn. {problem}"))
    kinds = subject.model.schema.kinds
    ranked = [int(f) for f in ranking[:_MOST_FEATURES] if int(f) in subject.used]
    chosen = [f for f in ranked if kinds[f] is not Kind.TEXT]
    most = rows_to_ask(subject.trees, _POINTS * len(chosen), _MOST_ROWS)
    rows = subject.draw(most, stream=4)
    output, what = _output(subject, names)
    drawn = [_figure(subject, place, rows, (output, what)) for place in chosen]
    n_rows = of_rows(len(rows), subject.rows.n_rows)
    lead = (
        f"Mean of {what} over {n_rows} when one feature is set to a value and all others stay as "
        f"they are. Thin lines: {_CURVES} rows, moved to the same mean, so that lines which are "
        "not parallel show interactions; marks on the axis: tenths of the rows."
    )
    if len(chosen) < len(ranked):
        lead += " Texts are not drawn: there is no end of values to set them to."
    return Section("dependence", "Dependence", figures(*drawn), lead)


def _output(subject: Subject, names: tuple[str, ...]) -> tuple[int | None, str]:
    """Choose what is drawn: the second of two classes, the most frequent of more."""
    if len(names) == 1:
        what = "the mean of the forest" if names[0] == "mean" else f"the {names[0]}"
        return None, f"P({names[0]})" if subject.classes else what
    place = int(subject.predictions.mean(axis=0).argmax())
    if subject.task == "binary":
        place = 1
    return place, f"P({names[place]})" if subject.classes else names[place]


def _figure(
    subject: Subject, place: int, rows: AnyArray, asked: tuple[int | None, str]
) -> Html | None:
    """Draw one feature; None if no row has a finite number of it."""
    output, what = asked
    column = subject.rows.table.columns[place].take(rows)
    table = subject.rows.asked.take(rows)
    names = (subject.names[place], what)
    grid = _grid(column, len(rows)) if column.levels is None else _frequent(column)
    fitted, scale = subject.fitted, "prediction"
    found = partial_dependence(fitted, place, table, grid=grid, output=output, scale=scale)
    if column.levels is not None:
        return _of_categories(column, found.grids[0], found.values, names)
    values, x = found.values, _numbers(found.grids[0])
    is_there = ~np.isnan(x)
    if not is_there.any():
        return None
    missing = None if is_there.all() else float(values[~is_there][0])
    some = table.take(np.linspace(0, len(rows) - 1, min(_CURVES, len(rows))).astype(np.intp))
    curves = individual_curves(fitted, place, some, grid=grid, output=output, scale=scale)
    own = curves.values[:, : int(is_there.sum())]
    own = own - own.mean(axis=1, keepdims=True) + values[is_there].mean()
    return numeric_figure(
        x[is_there].tolist(),
        values[is_there].tolist(),
        own.tolist(),
        deciles=_deciles(column.dense(len(rows))),
        names=names,
        missing=missing,
        ticks=_ticks(column, x[is_there]),
        texts=_texts(found.grids[0][is_there]),
    )


def _grid(column: Column, n_rows: int) -> AnyArray | list[object]:
    """Ask at even steps of the rows and of the axis; about missing values if there are some."""
    values = column.dense(n_rows).astype(np.float64)
    there = np.sort(values[np.isfinite(values)])
    if not len(there):
        return [None]
    low, high = np.quantile(there, [0.01, 0.99])
    even = np.linspace(low, high, _POINTS // 2)
    by_rows = np.quantile(there, np.linspace(0.01, 0.99, _POINTS // 2), method="nearest")
    points = np.unique(np.concatenate([even, by_rows]))
    if column.kind is Kind.BOOLEAN:
        points = np.array([0.0, 1.0])
    if column.kind in (Kind.DATE, Kind.DATETIME, Kind.DURATION):
        unit = "timedelta64[s]" if column.kind is Kind.DURATION else "datetime64[s]"
        return np.asarray(np.rint(points).astype(np.int64).astype(unit))
    return np.append(points, np.nan) if np.isnan(values).any() else points


def _frequent(column: Column) -> list[object]:
    """Ask about the levels that most rows have; missing is one of them."""
    codes, counts = np.unique(column.values, return_counts=True)
    chosen = codes[np.argsort(-counts, kind="stable")[:_MOST_LEVELS]]
    labels: list[object] = labels_of(replace(column, values=chosen)).tolist()
    return labels


def _numbers(labels: AnyArray) -> FloatArray:
    if labels.dtype.kind in "mM":
        return labels.astype(f"{labels.dtype.kind}8[s]").astype(np.int64).astype(np.float64)
    return np.array([math.nan if one is None else float(one) for one in labels.tolist()])


def _ticks(column: Column, x: FloatArray) -> list[tuple[float, str]] | None:
    """Write dates on the axis; booleans by name."""
    if column.kind is Kind.BOOLEAN:
        return [(0.0, "false"), (1.0, "true")]
    if column.kind not in (Kind.DATE, Kind.DATETIME) or len(x) < 2:
        return None
    places = np.linspace(x[0], x[-1], 4)[[0, 1, 2]] + (x[-1] - x[0]) / 8
    days = places.astype(np.int64).astype("datetime64[s]").astype("datetime64[D]")
    return [(float(at), str(day)) for at, day in zip(places, days, strict=True)]


def _texts(labels: AnyArray) -> list[str] | None:
    """Write dates; plain numbers write themselves."""
    if labels.dtype.kind != "M":
        return None
    return [moment_text(label, daily=True) for label in labels.tolist()]


def _deciles(values: AnyArray) -> list[float]:
    there = values[np.isfinite(values)]
    return np.quantile(there, np.linspace(0.1, 0.9, 9)).tolist() if len(there) else []


def _of_categories(
    column: Column, labels: AnyArray, values: FloatArray, names: tuple[str, str]
) -> Html:
    codes = column.values
    levels = () if column.levels is None else column.levels.values
    known = {level: int((codes == code).sum()) for code, level in enumerate(levels)}
    n_missing = int((codes < 0).sum())
    counts = [n_missing if one is None else known.get(one, 0) for one in labels.tolist()]
    order = sorted(range(len(counts)), key=lambda k: -float(values[k]))
    texts = ["missing" if labels[k] is None else str(labels[k]) for k in order]
    shares = [counts[k] / max(1, len(codes)) for k in order]
    n_others = len(np.unique(codes)) - len(order)
    return category_figure(texts, [float(values[k]) for k in order], shares, names, n_others)
