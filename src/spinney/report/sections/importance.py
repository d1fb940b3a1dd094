"""The part on importances: what features did for training, for predictions, for scores."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from spinney.data.intake import read_table
from spinney.explain import gain_importance, shap_importance
from spinney.explain.importance import Importances
from spinney.explain.permutation import score_falls
from spinney.explain.shuffling import columns_of_features, shuffle_column, take_column
from spinney.model.answers import as_members_take
from spinney.report.effort import rows_to_ask, rows_to_explain
from spinney.report.markup import (
    Html,
    count_of,
    join,
    name_of,
    of_rows,
    percent,
    tag,
    with_error,
)
from spinney.report.scores.metrics import row_losses
from spinney.report.sections.section import Section
from spinney.report.subject import Subject
from spinney.report.tables import Cell, Heading, bar, table
from spinney.typing import AnyArray, FloatArray

_REPEATS = 5
_MOST_ANSWERS = 2_000_000
"""Predictions that shuffling may ask for."""
_MOST_CONTRIBUTIONS = 400_000


@dataclass(frozen=True, slots=True)
class Influence:
    """What is known of the importance of features; parts are None where they have no meaning."""

    gain: Importances | None
    permutation: Importances | None
    shap: Importances | None
    n_shuffled: int
    n_explained: int

    def ranking(self, n_features: int) -> AnyArray:
        """Put features in order, the most important first."""
        known = self.shap or self.permutation or self.gain
        values = np.zeros(n_features) if known is None else known.values
        return np.argsort(-values, kind="stable")


def weigh_features(subject: Subject) -> Influence:
    """Measure features in three ways."""
    forest, trees = subject.forest, subject.trees
    gain = shap = None
    n_explained = 0
    if forest is not None and trees is not None and len(forest):
        gain = gain_importance(forest)
        n_numbers = len(subject.names) * len(forest.arrays["baseline"])
        most = max(200, min(2_000, _MOST_CONTRIBUTIONS // n_numbers))
        chosen = subject.draw(rows_to_explain(trees, most), stream=2)
        shap, n_explained = shap_importance(forest, subject.rows.asked.take(chosen)), len(chosen)
    permutation, n_shuffled = _shuffled(subject)
    return Influence(gain, permutation, shap, n_shuffled, n_explained)


def importance_section(subject: Subject, influence: Influence) -> Section:
    """Lay out a line per feature."""
    headings = [Heading("Feature", is_number=False)]
    lead = (
        "Three answers to three questions; features that stand for each other share each of them."
    )
    columns: list[list[Cell]] = []
    if influence.shap is not None:
        note = "How far it moves the raw score: mean absolute Shapley value, with standard error"
        headings.append(Heading("Moves scores", note=note))
        columns.append(_cells(influence.shap))
        n_rows = of_rows(influence.n_explained, subject.rows.n_rows)
        lead += f" Scores: {n_rows}, exact Shapley values."
    if influence.permutation is not None:
        what = "R²" if subject.task == "numbers" else "log loss"
        note = f"How much worse {what} gets when its values are shuffled, with standard error"
        headings.append(Heading("Needed for predictions", note=note))
        columns.append(_cells(influence.permutation))
        lead += (
            f" Predictions: {what} of {of_rows(influence.n_shuffled, subject.rows.n_rows)}, "
            f"{_REPEATS} shuffles each."
        )
    if influence.gain is not None:
        headings.append(Heading("Used in training", note="Share of the gain of all splits"))
        columns.append(_cells(influence.gain, is_share=True))
    if not columns:
        return Section(
            "importance",
            "Importances",
            tag("p", "Nothing is known: this model has no trees of ours, and there is no target."),
            None,
        )
    lines = []
    used = subject.used
    for place in influence.ranking(len(subject.names)):
        if place not in used:
            continue
        name = subject.names[place]
        lines.append([Cell(name_of(name), name), *(column[place] for column in columns)])
    made = table(headings, lines, caption="Importances", can_filter=len(lines) > 12)
    unused = [name for place, name in enumerate(subject.names) if place not in used]
    return Section("importance", "Importances", join(made, _told_unused(unused)), lead)


def _told_unused(names: list[str]) -> Html | None:
    if not names:
        return None
    parts: list[object] = [f"{count_of(len(names), 'feature')} that no tree looks at: "]
    for place, name in enumerate(names[:40]):
        parts += [", " if place else "", name_of(name)]
    rest = f" and {len(names) - 40} more" if len(names) > 40 else ""
    return tag("p", join(*parts, rest, "."), class_="note")


def _cells(found: Importances, *, is_share: bool = False) -> list[Cell]:
    values, errors = found.values.tolist(), found.standard_errors
    spread = [None] * len(values) if errors is None else errors.tolist()
    largest = max(value + (error or 0.0) for value, error in zip(values, spread, strict=True))
    cells = []
    for value, error in zip(values, spread, strict=True):
        text = percent(value) if is_share else with_error(value, error or 0.0)
        cells.append(bar(value, largest, text, error))
    return cells


def _shuffled(subject: Subject) -> tuple[Importances | None, int]:
    target = subject.rows.target
    if target is None:
        return None, 0
    n_questions = _REPEATS * len(subject.used)
    most = max(200, min(5_000, _MOST_ANSWERS // max(1, n_questions)))
    rows = subject.draw(rows_to_ask(subject.trees, n_questions, most), stream=3)
    truth = target[rows]
    features: Iterable[int]
    ask: Callable[[int | None, AnyArray], FloatArray]
    if subject.trees is None:
        features, ask = range(len(subject.names)), _asking_the_estimator(subject, rows)
    else:
        table = subject.rows.asked.take(rows)
        features = sorted(subject.used)
        ask = lambda feature, order: subject.ask(take_column(table, feature, order))  # noqa: E731
    falls = score_falls(
        lambda feature, order: _score(subject, ask(feature, order), truth),
        features,
        len(rows),
        _REPEATS,
        subject.seed,
    )
    means, errors = np.zeros(len(subject.names)), np.zeros(len(subject.names))
    for feature, values in falls.items():
        means[feature], errors[feature] = values.mean(), values.std(ddof=1) / np.sqrt(_REPEATS)
    kind = "fall of the score when shuffled"
    return Importances(kind, subject.names, means, errors), len(rows)


def _score(subject: Subject, said: FloatArray, truth: AnyArray) -> float:
    if subject.task != "numbers":
        return -float(row_losses(subject.task, truth, said).mean())
    spread = float(((truth - truth.mean(axis=0)) ** 2).sum())
    return 1.0 - float(((truth - said) ** 2).sum()) / spread if spread > 0 else 0.0


def _asking_the_estimator(
    subject: Subject, rows: AnyArray
) -> Callable[[int | None, AnyArray], FloatArray]:
    """Shuffle columns of the user's own table: members that are not ours read nothing else."""
    from sklearn.utils import _safe_indexing  # noqa: PLC0415 - 0.1 s, and not for our trees

    X = _safe_indexing(as_members_take(subject.rows.given), rows)
    places = columns_of_features(subject.model.schema, read_table(X))

    def ask(feature: int | None, order: AnyArray) -> FloatArray:
        asked = X if feature is None else shuffle_column(X, places[feature], order)
        return subject.ask_given(asked)

    return ask
