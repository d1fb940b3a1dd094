"""What a reader should know before believing the rest, the worst first."""

from collections.abc import Iterator, Sequence

from spinney.errors import shorten
from spinney.report.checks.columns import ColumnSummary, same_columns, unseen_levels
from spinney.report.checks.drift import ColumnDrift
from spinney.report.checks.leaks import Leak, find_leaks
from spinney.report.checks.repeats import Repeats, find_repeats
from spinney.report.checks.training_rows import may_hold_training_rows
from spinney.report.markup import Html, count_of, join, name_of, percent
from spinney.report.sections.section import Finding
from spinney.report.subject import Rows, Subject

_ORDER = ("danger", "warning", "note")
DRIFTED = 0.1
"""From this distance on a column is told of, if chance does not explain it."""


def find_all(
    subject: Subject,
    summaries: Sequence[ColumnSummary],
    drifts: Sequence[ColumnDrift],
    apart: float | None,
) -> list[Finding]:
    """Look for everything, and put the worst first."""
    rows = subject.rows
    train = None if subject.train is None else subject.train.table
    repeats = find_repeats(rows.table, rows.target, train)
    leaks: tuple[Leak, ...] = ()
    if rows.target is not None:
        leaks = find_leaks(rows.table, rows.target, len(subject.classes), subject.seed)
    found = [
        *_of_leaks(leaks),
        *_of_training_rows(subject),
        *_of_repeats(repeats, rows),
        *_of_drift(drifts, apart),
        *_of_columns(subject, summaries),
    ]
    return sorted(found, key=lambda finding: _ORDER.index(finding.level))


def is_drift(drift: ColumnDrift, n_columns: int) -> bool:
    """Tell whether a column differs, by more than a little and by more than chance."""
    return drift.distance >= DRIFTED and drift.p_value * n_columns < 0.01


def _of_leaks(leaks: Sequence[Leak]) -> Iterator[Finding]:
    for leak in leaks:
        if leak.is_copy:
            title, text = "A feature is the target itself", " stands for the target one to one."
        else:
            title = "A feature alone predicts the target nearly perfectly"
            text = f" alone says {percent(leak.power)} of what there is to know about the target."
        advice = (
            " If it is not known when predictions are made, leave it out: the performance below"
            " would not be seen in use."
        )
        yield Finding("danger", title, join(name_of(leak.name), text, advice))


def _of_training_rows(subject: Subject) -> Iterator[Finding]:
    forest, rows = subject.forest, subject.rows
    if forest is None or subject.train is not None or rows.target is None:
        return
    if may_hold_training_rows(forest, rows.asked, subject.n_threads):
        n_known = int(forest.arrays["count"][0])
        yield Finding(
            "danger",
            "The rows the model was trained on may be among these",
            f"The first tree was grown on {count_of(n_known, 'row')}, and every leaf of it gets at"
            " least as many rows here as it had then. If the model has seen these rows, the"
            " performance below is too good: ask for a report on rows that were held out.",
        )


def _of_repeats(repeats: Repeats, rows: Rows) -> Iterator[Finding]:
    n_rows = rows.n_rows
    if repeats.n_shared:
        share = repeats.n_shared / n_rows
        yield Finding(
            "danger" if share > 0.01 else "warning",
            "Rows are in the training table, too",
            f"{count_of(repeats.n_shared, 'row')} ({percent(share)}) have the same values as rows"
            " of the training table. On these the model has seen the answer.",
        )
    if repeats.n_repeated:
        pairs = [[rows.number_of(row) for row in pair] for pair in repeats.examples[:3]]
        examples = ", ".join(f"{first} and {later}" for first, later in pairs)
        yield Finding(
            "warning" if repeats.n_repeated > 0.01 * n_rows else "note",
            "Duplicate rows",
            f"{count_of(repeats.n_repeated, 'row')} ({percent(repeats.n_repeated / n_rows)})"
            f" repeat an earlier one, for example rows {examples}.",
        )
    if repeats.n_contradictory:
        yield Finding(
            "note",
            "Equal rows with different targets",
            f"{count_of(repeats.n_contradictory, 'row')} have the same features as a row with"
            " another target. No model can get all of them right.",
        )


def _of_drift(drifts: Sequence[ColumnDrift], apart: float | None) -> Iterator[Finding]:
    if apart is not None and apart > 0.6:
        yield Finding(
            "danger" if apart > 0.8 else "warning",
            "These rows differ from the training rows",
            f"A booster tells the two apart with an area under the ROC curve of {apart:.3f}"
            " (0.5 is a guess).",
        )
    moved = sorted((d for d in drifts if is_drift(d, len(drifts))), key=lambda d: -d.distance)
    if moved:
        some = _names([f"{d.name}" for d in moved], [f" ({d.distance:.2f})" for d in moved])
        verb = "has" if len(moved) == 1 else "have"
        text = join(some, f" {verb} moved since training (distance from 0 to 1 in brackets).")
        title = f"{count_of(len(moved), 'column')} {verb} drifted"
        yield Finding("warning", title, text)


def _of_columns(subject: Subject, summaries: Sequence[ColumnSummary]) -> Iterator[Finding]:
    unseen = unseen_levels(subject.model.schema, subject.rows.given)
    if unseen:
        most = max(n_rows for n_rows, _ in unseen.values()) / subject.rows.n_rows
        told = [
            f": {shorten([str(level) for level in levels], most=3)} in {count_of(n_rows, 'row')}"
            for n_rows, levels in unseen.values()
        ]
        yield Finding(
            "warning" if most > 0.01 else "note",
            "Categories the model has never seen",
            join(_names(list(unseen), told), ". They are read as missing."),
        )
    groups = {
        "Columns that look like row numbers or names": [s.name for s in summaries if s.is_id],
        "Columns with one value only": [s.name for s in summaries if s.is_constant],
        "Columns that are mostly missing": [
            s.name for s in summaries if s.missing_share > 0.5 and not s.is_constant
        ],
    }
    advice = (
        " A model learns them by heart and nothing for new rows.",
        " They tell rows apart in nothing.",
        " More than half of the rows have no value.",
    )
    for (title, names), text in zip(groups.items(), advice, strict=True):
        if names:
            level = "warning" if title.startswith("Columns that look") else "note"
            yield Finding(level, title, join(_names(names), ".", text))
    pairs = list(enumerate(same_columns(subject.rows.table)))
    if pairs:
        told = [join("; " if k else "", name_of(a), " and ", name_of(b)) for k, (a, b) in pairs]
        rest = f" and {len(pairs) - 3} more pairs" if len(pairs) > 3 else ""
        text = join(*told[:3], rest, " agree in every row.")
        yield Finding("note", "Columns that hold the same", text)


def _names(names: Sequence[str], behind: Sequence[str] | None = None, most: int = 6) -> Html:
    parts: list[object] = []
    for place, name in enumerate(names[:most]):
        parts += [", " if place else "", name_of(name), "" if behind is None else behind[place]]
    if len(names) > most:
        parts.append(f" and {len(names) - most} more")
    return join(*parts)
