"""``write_report``: everything about a model and some rows, in one HTML file."""

import datetime as dt
import os
from typing import Any

import numpy as np

from spinney.io.atomic import write_atomically
from spinney.progress import Progress
from spinney.report.checks.columns import summarise
from spinney.report.checks.drift import column_drifts, tell_apart
from spinney.report.checks.findings import find_all
from spinney.report.embedded.rows import choose_rows
from spinney.report.markup import count_of
from spinney.report.page import page_html
from spinney.report.sections.calibration import calibration_section
from spinney.report.sections.card import card_section
from spinney.report.sections.certificates import certificates_section
from spinney.report.sections.data import data_section
from spinney.report.sections.dependence import dependence_section
from spinney.report.sections.importance import importance_section, weigh_features
from spinney.report.sections.overview import overview_section
from spinney.report.sections.performance import measure, performance_section
from spinney.report.sections.rows import find_hard_rows, rows_section
from spinney.report.sections.section import Section
from spinney.report.sections.what_if import reason_against, what_if_section
from spinney.report.subject import Subject, read_subject
from spinney.typing import RandomState, TableLike


def write_report(
    fitted: Any,
    X: TableLike,
    y: Any = None,
    path: str | os.PathLike[str] = "report.html",
    *,
    train: Any = None,
    sample_weight: Any = None,
    title: str | None = None,
    random_state: RandomState = 0,
) -> None:
    """Write a report on a model to one HTML file, which needs no network and no other file.

    It holds a summary of the data with warnings (leaks, duplicates, drift), performance with
    bootstrap intervals, calibration, importances, dependence, the hardest rows and suspected label
    errors, certificates and a model card. The reader can sort tables, pick a row, and change its
    values: the model is inside and answers to the last bit as ``predict`` does. Where rows were
    drawn because there are many, the report says so. The file appears whole or not at all.

    Parameters
    ----------
    fitted : fitted estimator of Spinney, or its ``model_``
    X : table
        The rows to report on, best some that were held out.
    y : target of X, optional
        Without it there is nothing on performance.
    path : where to write; an existing file is replaced
    train : table, or pair (table, target), optional
        What the model was trained on: drift, shared rows and training scores are then reported.
    sample_weight : numbers, optional
        Weights of the rows of X.
    title : text, optional
    random_state : int, Generator, RandomState or None
        Decides draws and shuffles; the same number gives the same report.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from spinney import GradientBoostingClassifier
    >>> from spinney.datasets import load_tumours
    >>> data = load_tumours()
    >>> fitted = GradientBoostingClassifier(max_iter=20).fit(data.X[:300], data.y[:300])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(fitted, data.X[300:], data.y[300:], path, train=data.X[:300])
    >>> path.stat().st_size < 1_000_000
    True
    """
    subject = read_subject(
        fitted, X, y, train=train, sample_weight=sample_weight, random_state=random_state
    )
    write_page(subject, path, title)


def write_page(subject: Subject, path: str | os.PathLike[str], title: str | None = None) -> None:
    """Write the report on what has been read, with the time of making."""
    made_at = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
    write_atomically(path, _page(subject, title, made_at).encode("utf-8"))


def report_html(
    fitted: Any,
    X: TableLike,
    y: Any = None,
    *,
    train: Any = None,
    sample_weight: Any = None,
    title: str | None = None,
    random_state: RandomState = 0,
    made_at: str | None = None,
) -> str:
    """Give the text of the report that ``write_report`` writes.

    The same arguments give the same text; ``made_at`` is shown as the time of making, if given.
    All other parameters are those of :func:`write_report`.
    """
    subject = read_subject(
        fitted, X, y, train=train, sample_weight=sample_weight, random_state=random_state
    )
    return _page(subject, title, made_at)


def _page(subject: Subject, title: str | None, made_at: str | None) -> str:
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        sections = _sections(subject, made_at)
    name = title or f"{type(subject.fitted).__name__} report"
    subtitle = f"{count_of(subject.rows.n_rows, 'row')}, {count_of(len(subject.names), 'feature')}"
    if made_at:
        subtitle += f", {made_at}"
    return page_html(name, subtitle, sections)


def _sections(subject: Subject, made_at: str | None) -> list[Section]:
    """Work out all parts, in the order of the page."""
    with Progress(7, "part") as progress:
        return _worked_out(subject, made_at, progress)


def _worked_out(subject: Subject, made_at: str | None, progress: Progress) -> list[Section]:
    table = subject.rows.table
    train = None if subject.train is None else subject.train.table
    summaries = summarise(table, train)
    drifts = () if train is None else column_drifts(table, train)
    apart = None if train is None else tell_apart(table, train, subject.seed)
    findings = find_all(subject, summaries, drifts, apart)
    progress.step("data")
    metrics = measure(subject)
    progress.step("performance")
    influence = weigh_features(subject)
    ranking = influence.ranking(len(subject.names))
    progress.step("importances")
    hard = find_hard_rows(subject)
    reason = reason_against(subject)
    wanted = np.concatenate([hard.hardest, hard.suspects.rows[:15]])
    embedded = np.empty(0, np.intp) if reason else choose_rows(subject, wanted)
    rows = rows_section(subject, hard, embedded)
    what_if = what_if_section(subject, embedded, ranking, reason)
    progress.step("rows")
    dependence = dependence_section(subject, ranking)
    progress.step("dependence")
    certificates = certificates_section(subject, ranking)
    progress.step("certificates")
    parts = [
        overview_section(subject, metrics, influence, findings),
        performance_section(subject, metrics),
        calibration_section(subject),
        importance_section(subject, influence),
        dependence,
        rows,
        what_if,
        data_section(subject, summaries, drifts, apart),
        certificates,
        card_section(subject, made_at),
    ]
    progress.step("page")
    return [part for part in parts if part is not None]
