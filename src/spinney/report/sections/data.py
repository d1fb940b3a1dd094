"""The part on data: what each column holds, and how far it moved since training."""

from collections.abc import Sequence

import numpy as np

from spinney.data.table import Column, Kind
from spinney.explain.grids import labels_of
from spinney.report.checks.columns import ColumnSummary
from spinney.report.checks.drift import ColumnDrift
from spinney.report.checks.findings import is_drift
from spinney.report.drawing.figures import small_histogram
from spinney.report.markup import Html, count_of, join, name_of, number, percent, tag
from spinney.report.moments import moment_text
from spinney.report.sections.section import Section
from spinney.report.subject import Subject
from spinney.report.tables import Cell, Heading, bar, table


def data_section(
    subject: Subject,
    summaries: Sequence[ColumnSummary],
    drifts: Sequence[ColumnDrift],
    apart: float | None,
) -> Section:
    """Lay out a line per column."""
    headings = [
        Heading("Column", is_number=False),
        Heading("Kind", is_number=False),
        Heading("Missing"),
        Heading("Different", note="How many different values there are"),
        Heading("Values", is_number=False, note="Least, median and largest; most frequent"),
        Heading("", is_number=False),
    ]
    if drifts:
        note = "Distance from the training rows, 0 to 1: Kolmogorov-Smirnov, or total variation"
        headings += [
            Heading("Drift", note=note),
            Heading("p", note="Chance of that by draws alone"),
        ]
    largest = max([0.2, *(drift.distance for drift in drifts)])
    lines = []
    for place, summary in enumerate(summaries):
        line = _line(summary)
        if drifts:
            drift = drifts[place]
            text = f"{drift.distance:.3f}" + (" !" if is_drift(drift, len(drifts)) else "")
            line += [
                bar(drift.distance, largest, text),
                Cell(_chance(drift.p_value), drift.p_value),
            ]
        lines.append(line)
    made = table(headings, lines, caption="Columns of the table", can_filter=len(lines) > 12)
    return Section("data", "Data", join(_about(subject, apart), made))


def value_text(column: Column, *, daily: bool = False) -> list[str]:
    """Write the values of a dense column as a person reads them; dates alone if days are meant."""
    texts = []
    for label in labels_of(column).tolist():
        is_missing = label is None or label != label  # noqa: PLR0124 - NaN and NaT
        if is_missing:
            texts.append("missing")
        else:
            is_number = isinstance(label, float)
            texts.append(number(label, 6) if is_number else moment_text(label, daily=daily))
    return texts


def _about(subject: Subject, apart: float | None) -> Html:
    rows, train = subject.rows, subject.train
    text = f"{count_of(rows.n_rows, 'row')} and {count_of(len(subject.names), 'feature')}."
    if train is None:
        text += " Give the training table (train=…) to see what has moved since."
    else:
        text += f" Outlined in orange: the {count_of(train.n_rows, 'training row')}."
    if apart is not None:
        text += (
            f" A booster tells the two tables apart with an AUC of {apart:.3f} (0.5 is a guess)."
        )
    return tag("p", text, class_="lead")


def _line(summary: ColumnSummary) -> list[object]:
    missing = summary.missing_share
    return [
        Cell(name_of(summary.name), summary.name),
        str(summary.kind),
        Cell(percent(missing) if missing else "0 %", missing),
        summary.n_distinct,
        Cell(_values(summary)),
        Cell(small_histogram(summary.histogram, summary.train_histogram)),
    ]


def _values(summary: ColumnSummary) -> Html:
    if summary.top:
        parts: list[object] = []
        for k, (name, share) in enumerate(summary.top):
            parts += [", " if k else "", name_of(name), f" {percent(share, 0)}"]
        return join(*parts)
    if not summary.quartiles:
        return join("none")
    ends = np.array([summary.quartiles[k] for k in (0, 2, 4)])
    described = Column(summary.name, summary.kind, ends)
    if summary.kind in (Kind.NUMERIC, Kind.BOOLEAN, Kind.DURATION):
        shown = [number(value) for value in ends.tolist()]
    else:
        shown = [str(label)[:10] for label in labels_of(described).tolist()]
    return join(f"{shown[0]} … ", tag("b", shown[1]), f" … {shown[2]}")


def _chance(p_value: float) -> str:
    return "< 0.0001" if p_value < 1e-4 else f"{p_value:.4f}"
