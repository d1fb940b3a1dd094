"""The part on performance: metrics with intervals, and the curves behind them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spinney.report.drawing.figures import (
    histogram_figure,
    means_figure,
    precision_figure,
    roc_figure,
    scatter_figure,
    score_figure,
)
from spinney.report.markup import Html, count_of, join, name_of, number, percent, tag
from spinney.report.scores.curves import (
    binned_means,
    class_scores,
    confusion,
    drawn_precision,
    drawn_roc,
)
from spinney.report.scores.metrics import Metric, score_rows
from spinney.report.sections.section import Section, figures
from spinney.report.subject import Subject
from spinney.report.tables import Cell, Heading, table
from spinney.theory import precision_recall_curve, roc_curve
from spinney.typing import AnyArray, FloatArray

_MOST_ROWS = 50_000
_RESAMPLES = 400
_MOST_CLASSES = 15
"""Of a confusion matrix; more are told by their most frequent mistakes."""


def measure(subject: Subject) -> dict[str, list[Metric]]:
    """Measure each output; none without a target."""
    target = subject.rows.target
    if target is None:
        return {}
    rows = subject.draw(_MOST_ROWS)
    weights = None if subject.rows.weights is None else subject.rows.weights[rows]
    found = {}
    for name, truth, said in _outputs(subject, target[rows], subject.predictions[rows]):
        found[name] = score_rows(
            subject.task, truth, said, weights, n_resamples=_RESAMPLES, seed=subject.seed
        )
    return _with_train(subject, found)


def performance_section(subject: Subject, metrics: dict[str, list[Metric]]) -> Section:
    """Lay out metrics and figures."""
    target = subject.rows.target
    if target is None:
        text = "Nothing is known of performance: the rows have no target."
        return Section("performance", "Performance", tag("p", text))
    n_rows = min(subject.rows.n_rows, _MOST_ROWS)
    drawn = "" if n_rows == subject.rows.n_rows else f" drawn from {subject.rows.n_rows:,}"
    lead = (
        f"On {count_of(n_rows, 'row')}{drawn}. Intervals of 95 % by drawing rows again (bootstrap, "
        f"{_RESAMPLES} resamples). The baseline is the best constant prediction."
    )
    parts: list[object] = [_metric_table(name, metrics) for name in metrics]
    weights = np.ones(subject.rows.n_rows) if subject.rows.weights is None else subject.rows.weights
    if subject.task == "binary":
        parts.append(_binary_figures(subject, target, weights))
    if subject.classes:
        parts.append(_confusion(subject, target, weights))
    else:
        for name, truth, said in _outputs(subject, target, subject.predictions):
            parts.append(_number_figures(subject, name, truth, said, weights))
    return Section("performance", "Performance", join(*parts), lead)


def _outputs(
    subject: Subject, target: AnyArray, predictions: FloatArray
) -> list[tuple[str, AnyArray, FloatArray]]:
    if subject.classes:
        return [("", target, predictions)]
    names = subject.output_names
    return [
        (names[k] if len(names) > 1 else "", target[:, k], predictions[:, k])
        for k in range(len(names))
    ]


def _with_train(subject: Subject, found: dict[str, list[Metric]]) -> dict[str, list[Metric]]:
    """Add what the same metrics are on training rows, if their target is known."""
    train = subject.train
    if train is None or train.target is None:
        return found
    said = subject.ask_given(train.given)
    for name, truth, one in _outputs(subject, train.target, said):
        known = score_rows(subject.task, truth, one, None, n_resamples=0, seed=0)
        pairs = zip(found[name], known, strict=True)
        found[name] = [replace(new, train=old.estimate) for new, old in pairs]
    return found


def _metric_table(name: str, metrics: dict[str, list[Metric]]) -> Html:
    chosen = metrics[name]
    has_train = any(metric.train is not None for metric in chosen)
    headings = [
        Heading("Metric", is_number=False),
        Heading("Estimate"),
        Heading("95 % interval"),
        Heading("Baseline"),
    ]
    headings += [Heading("Training rows")] if has_train else []
    headings += [Heading("What it is", is_number=False)]
    lines = [_metric_line(metric, has_train) for metric in chosen]
    title = tag("h3", name_of(name)) if name else None
    made = table(headings, lines, caption=f"Metrics {name}".strip(), can_sort=False)
    return join(title, made)


def _metric_line(metric: Metric, has_train: bool) -> list[object]:
    known = not np.isnan(metric.low)
    interval = f"{number(metric.low)} to {number(metric.high)}" if known else "not defined"
    line: list[object] = [
        Cell(metric.name),
        Cell(tag("b", number(metric.estimate))),
        Cell(interval),
        Cell(number(_near(metric.baseline))),
    ]
    return [*line, *([Cell(number(metric.train))] if has_train else []), metric.meaning]


def _near(value: float | None) -> float | None:
    """Take what rounding leaves of zero for zero."""
    return value if value is None or abs(value) > 1e-12 else 0.0


def _binary_figures(subject: Subject, target: AnyArray, weights: FloatArray) -> Html:
    y, score = target.astype(float), subject.predictions[:, 1]
    if len(np.unique(y[weights > 0.0])) < 2:
        return tag("p", "All rows are of one class, so there are no curves.")
    metrics = score_rows("binary", target, subject.predictions, weights, n_resamples=0, seed=0)
    share = float((weights * y).sum() / weights.sum())
    roc = roc_curve(y, score, sample_weight=weights)
    precision = precision_recall_curve(y, score, sample_weight=weights)
    return figures(
        roc_figure(drawn_roc(roc), metrics[0].estimate),
        precision_figure(drawn_precision(precision), metrics[1].estimate, share),
        score_figure(y, score, subject.classes),
    )


def _number_figures(
    subject: Subject, name: str, truth: FloatArray, said: FloatArray, weights: FloatArray
) -> Html:
    some = subject.draw(400, stream=1)
    residuals = truth - said
    x, y, errors = binned_means(said, residuals, weights)
    drawn = figures(
        scatter_figure(said[some], truth[some], ("Prediction", "Target"), "Target by prediction"),
        histogram_figure(residuals, "Target minus prediction", "Residuals"),
        means_figure(
            x.tolist(),
            y.tolist(),
            errors.tolist(),
            names=("Prediction", "Mean residual"),
            title="Mean residual by prediction",
            guide="zero",
        ),
    )
    return join(tag("h3", name_of(name)) if name else None, drawn)


def _confusion(subject: Subject, target: AnyArray, weights: FloatArray) -> Html:
    labels = subject.classes
    predicted = subject.predictions.argmax(axis=1)
    counts = confusion(target, predicted, len(labels), weights)
    title = tag("h3", "Confusion")
    note = tag("p", "Rows by what they are (down) and what they are said to be (across).")
    is_shown = len(labels) <= _MOST_CLASSES
    matrix = _matrix(counts, labels) if is_shown else _mistakes(counts, labels)
    headings = [Heading("Class", is_number=False), Heading("Rows")]
    headings += [Heading(text) for text in ("Precision", "Recall", "F1")]
    lines = [
        [Cell(name_of(one.label), one.label), one.n_rows, one.precision, one.recall, one.f1]
        for one in class_scores(counts, labels)
    ]
    scores = table(headings, lines, caption="Scores of the classes")
    beside = tag("div", tag("div", matrix), tag("div", scores), class_="beside")
    return join(title, note if is_shown else None, beside)


def _matrix(counts: FloatArray, labels: Sequence[str]) -> Html:
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    head = tag("tr", tag("td", ""), *(tag("th", name_of(label), scope="col") for label in labels))
    body = []
    for k, label in enumerate(labels):
        cells = [
            tag(
                "td",
                tag("b", number(counts[k, j])),
                tag("small", percent(shares[k, j])),
                class_="right" if j == k else "wrong",
                style=f"--share:{shares[k, j]:.3f}",
            )
            for j in range(len(labels))
        ]
        body.append(tag("tr", tag("th", name_of(label), scope="row"), *cells))
    caption = tag("caption", "Confusion matrix", class_="unseen")
    made = tag("table", caption, tag("thead", head), tag("tbody", *body), class_="matrix")
    return tag("div", made, class_="scroll", tabindex="0", role="region", aria_label="Confusion")


def _mistakes(counts: FloatArray, labels: Sequence[str]) -> Html:
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong.ravel(), kind="stable")[:20]
    lines = []
    for flat in order:
        k, j = divmod(int(flat), len(labels))
        if wrong[k, j] > 0:
            share = wrong[k, j] / counts[k].sum()
            cells = [Cell(name_of(labels[k]), labels[k]), Cell(name_of(labels[j]), labels[j])]
            lines.append([*cells, float(wrong[k, j]), Cell(percent(share), float(share))])
    headings = [Heading("Is", is_number=False), Heading("Is said to be", is_number=False)]
    headings += [Heading("Rows"), Heading("Share of the class")]
    return table(headings, lines, caption="The most frequent mistakes")
