"""The part on rows: those the model is furthest off on, and targets that are probably wrong."""

from dataclasses import dataclass, replace

import numpy as np

from spinney.explain import shap_values
from spinney.report.effort import can_explain
from spinney.report.markup import Html, count_of, join, name_of, number, shortened, tag
from spinney.report.moments import is_daily
from spinney.report.scores.suspects import (
    Suspects,
    booster_suspects,
    hardest_rows,
    suspect_labels,
    suspect_numbers,
)
from spinney.report.sections.data import value_text
from spinney.report.sections.section import Section
from spinney.report.subject import Rows, Subject
from spinney.report.tables import Cell, Heading, table
from spinney.typing import AnyArray, FloatArray

_MOST = 15
_REASONS = 3


@dataclass(frozen=True, slots=True)
class HardRows:
    """Rows worth looking at."""

    hardest: AnyArray
    suspects: Suspects
    trained: Suspects | None
    """What a booster that kept its weights says of its own training rows."""


def find_hard_rows(subject: Subject) -> HardRows:
    """Look for them; none without a target."""
    target = subject.rows.target
    nothing = np.empty(0, np.int64)
    if target is None:
        return HardRows(nothing, Suspects(nothing, np.empty(0), ""), None)
    if subject.classes:
        truth, said = target, subject.predictions
        suspects = suspect_labels(target, said)
    else:
        truth, said = target[:, 0], subject.predictions[:, 0]
        suspects = suspect_numbers(truth, said)
    return HardRows(hardest_rows(subject.task, truth, said, _MOST), suspects, _trained(subject))


def rows_section(subject: Subject, hard: HardRows, embedded: AnyArray) -> Section | None:
    """Lay out hard rows; those that are embedded lead to the panel below."""
    target = subject.rows.target
    if target is None:
        return None
    n_suspects = len(hard.suspects.rows)
    parts: list[object] = [
        tag("h3", "Hardest rows"),
        tag("p", _lead(subject)),
        _table(subject, hard.hardest, embedded, "Hardest rows"),
        tag("h3", "Suspected label errors" if subject.classes else "Suspicious targets"),
    ]
    if n_suspects:
        shown = "" if n_suspects <= _MOST else f" The {_MOST} most suspect are shown."
        text = f"{count_of(n_suspects, 'row')}: {hard.suspects.method}.{shown}"
        some = hard.suspects.rows[:_MOST]
        parts += [tag("p", text), _table(subject, some, embedded, "Suspects")]
    else:
        parts.append(tag("p", "None."))
    parts.append(_of_training(hard.trained))
    where = "table" if subject.rows.numbers is None else "file"
    lead = f"Row numbers count from 0, in the order of the {where}."
    return Section("rows", "Rows to look at", join(*parts), lead)


def _lead(subject: Subject) -> str:
    if not _can_tell_why(subject):
        return "The largest losses."
    return "The largest losses, and the features that moved the score most."


def _can_tell_why(subject: Subject) -> bool:
    return bool(subject.forest) and subject.trees is not None and can_explain(subject.trees, _MOST)


def _trained(subject: Subject) -> Suspects | None:
    classes = subject.model.target.classes
    for rows in (subject.train, subject.rows):
        if isinstance(rows, Rows) and rows.target is not None and classes is not None:
            found = booster_suspects(subject.fitted, rows.given, classes[rows.target])
            if found is not None:
                named = [rows.number_of(row) for row in found.rows.tolist()]
                return replace(found, rows=np.array(named, np.int64))
    return None


def _of_training(found: Suspects | None) -> Html | None:
    if found is None:
        return None
    rows = ", ".join(str(row) for row in found.rows[:20].tolist())
    text = f"Of the training rows, boosting struggled most ({found.method}) with rows {rows}."
    return tag("p", text)


def _table(subject: Subject, rows: AnyArray, embedded: AnyArray, caption: str) -> Html:
    target = subject.rows.target
    if target is None or not len(rows):
        return join()
    places = {int(row): place for place, row in enumerate(embedded.tolist())}
    reasons = _reasons(subject, rows)
    headings = [Heading("Row")]
    if subject.classes:
        headings += [Heading("Label", is_number=False), Heading("Said to be", is_number=False)]
        headings += [Heading("P(label)"), Heading("P(said)")]
        lines = [_class_line(subject, int(row), target) for row in rows]
    else:
        headings += [Heading(text) for text in ("Target", "Prediction", "Residual")]
        lines = [_number_line(subject, int(row), target) for row in rows]
    if reasons:
        headings.append(Heading("Mostly because of", is_number=False))
        lines = [[*line, Cell(why)] for line, why in zip(lines, reasons, strict=True)]
    known = [places.get(int(row), -1) for row in rows]
    return table(headings, lines, caption=caption, row_ids=known)


def _class_line(subject: Subject, row: int, target: AnyArray) -> list[object]:
    said = int(subject.predictions[row].argmax())
    label, other = subject.classes[target[row]], subject.classes[said]
    own, best = subject.predictions[row, target[row]], subject.predictions[row, said]
    names = [Cell(name_of(text), text) for text in (label, other)]
    shares = [Cell(number(float(p), 3), float(p)) for p in (own, best)]
    return [_number(subject, row), *names, *shares]


def _number_line(subject: Subject, row: int, target: FloatArray) -> list[object]:
    truth, said = float(target[row, 0]), float(subject.predictions[row, 0])
    return [_number(subject, row), truth, said, truth - said]


def _number(subject: Subject, row: int) -> Cell:
    number_of_row = subject.rows.number_of(row)
    return Cell(str(number_of_row), float(number_of_row))


def _reasons(subject: Subject, rows: AnyArray) -> list[Html]:
    """Name the features that moved the score of each row most: of the class it is said to be."""
    if not _can_tell_why(subject):
        return []
    some = subject.rows.asked.take(rows)
    values = shap_values(subject.model, some).values
    n_rows = len(rows)
    dense = [replace(one, values=one.dense(n_rows), rows=None) for one in some.columns]
    whole = subject.rows.table.columns
    pairs = zip(dense, whole, strict=True)
    texts = [value_text(column, daily=is_daily(one)) for column, one in pairs]
    found = []
    for place, row in enumerate(rows.tolist()):
        output = int(subject.predictions[row].argmax()) if values.shape[2] > 1 else 0
        own = values[place, :, output]
        parts: list[object] = []
        for k, feature in enumerate(np.argsort(-np.abs(own), kind="stable")[:_REASONS].tolist()):
            if own[feature] == 0:
                break
            text = f" = {shortened(texts[feature][place], 24)} ({number(float(own[feature]), 2)})"
            parts += [", " if k else "", name_of(subject.names[feature]), text]
        found.append(join(*parts))
    return found
