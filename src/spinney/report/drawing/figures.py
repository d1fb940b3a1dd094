"""The figures of the report."""

import math
from collections.abc import Sequence

import numpy as np

from spinney.report.drawing.canvas import Canvas, Span
from spinney.report.markup import Html, number, percent, shortened, tag
from spinney.report.scores.curves import Curve
from spinney.typing import FloatArray
from spinney.uncertainty.reliability import ReliabilityCurve

_UNIT = Span(0.0, 1.0)


def roc_figure(curve: Curve, area: float) -> Html:
    """Draw false against true positives."""
    canvas = Canvas(_UNIT, Span(0.0, 1.02))
    canvas.axes("False positive rate", "True positive rate")
    canvas.line([0, 1], [0, 1], "guide")
    canvas.line(curve.x, curve.y, "line one")
    _tips(canvas, curve, "false positives", "true positives")
    return canvas.figure("ROC", f"ROC curve, area {area:.3f}")


def precision_figure(curve: Curve, area: float, share: float) -> Html:
    """Draw recall against precision."""
    canvas = Canvas(_UNIT, Span(0.0, 1.02))
    canvas.axes("Recall", "Precision")
    canvas.line([0, 1], [share, share], "guide")
    canvas.line(curve.x, curve.y, "line one")
    _tips(canvas, curve, "recall", "precision")
    says = f"Precision against recall, average precision {area:.3f}"
    return canvas.figure("Precision and recall", says)


def reliability_figure(curve: ReliabilityCurve, title: str) -> Html:
    """Draw how often things happened against what was said, dots sized by rows."""
    canvas = Canvas(_UNIT, Span(0.0, 1.02))
    canvas.axes("Predicted probability", "Observed share")
    canvas.line([0, 1], [0, 1], "guide")
    predicted, observed = curve.predicted.tolist(), curve.observed.tolist()
    canvas.line(predicted, observed, "faint")
    total = float(curve.weight.sum())
    for said, seen, weight in zip(predicted, observed, curve.weight.tolist(), strict=True):
        error = 1.96 * math.sqrt(max(seen * (1 - seen), 1e-9) / max(weight, 1.0))
        canvas.line([said, said], [max(0.0, seen - error), min(1.0, seen + error)], "whiskers")
        tip = f"said {percent(said)}, happened {percent(seen)} of {number(weight)} rows"
        canvas.dot(said, seen, "dot one", 2.5 + 6 * math.sqrt(weight / total), tip)
    says = f"{title}: mean distance {curve.expected_error:.3f}, largest {curve.largest_error:.3f}"
    return canvas.figure(title, says)


def score_figure(target: FloatArray, score: FloatArray, labels: tuple[str, ...]) -> Html:
    """Draw the distribution of probabilities of each of two classes."""
    edges = np.linspace(0, 1, 26)
    shares = []
    for k in (0, 1):
        counts = np.histogram(score[target == k], edges)[0]
        shares.append(counts / max(1, counts.sum()))
    canvas = Canvas(_UNIT, Span(0.0, 1.08 * float(max(s.max() for s in shares))))
    canvas.axes(f"Probability of {shortened(labels[1], 24)}", "Share of rows")
    for k, class_ in enumerate(("area two", "area one")):
        for low, high, share in zip(edges[:-1], edges[1:], shares[k], strict=True):
            if share:
                tip = f"{labels[k]}: {percent(share)} between {low:.2f} and {high:.2f}"
                canvas.box((low, 0.0), (high, float(share)), class_, tip)
    legend = [("two", shortened(labels[0], 20)), ("one", shortened(labels[1], 20))]
    return canvas.figure("Probabilities by class", "Distribution of probabilities", legend)


def scatter_figure(x: FloatArray, y: FloatArray, names: tuple[str, str], title: str) -> Html:
    """Draw points around the diagonal."""
    span = Span.of(x.tolist(), y.tolist())
    canvas = Canvas(span, span)
    canvas.axes(*names)
    canvas.line([span.low, span.high], [span.low, span.high], "guide")
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        canvas.dot(a, b, "point one", 2.2, f"said {number(a)}, was {number(b)}")
    return canvas.figure(title, f"{title}: {len(x)} rows around the diagonal")


def histogram_figure(values: FloatArray, name: str, title: str) -> Html:
    """Draw how numbers are distributed, but for a hundredth at each end."""
    low, high = np.quantile(values, [0.005, 0.995])
    if not low < high:
        low, high = float(values.min()) - 0.5, float(values.max()) + 0.5
    edges = np.linspace(low, high, 32)
    counts = np.histogram(np.clip(values, low, high), edges)[0] / len(values)
    canvas = Canvas(Span(float(low), float(high)), Span(0.0, 1.08 * float(counts.max())))
    canvas.axes(name, "Share of rows")
    for start, end, share in zip(
        edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True
    ):
        canvas.box(
            (start, 0),
            (end, share),
            "area one",
            f"{percent(share)} from {number(start)} to {number(end)}",
        )
    if low < 0 < high:
        canvas.line([0, 0], [0, canvas.y.high], "guide")
    return canvas.figure(title, f"{title}: from {number(float(low))} to {number(float(high))}")


def means_figure(
    x: Sequence[float],
    y: Sequence[float],
    errors: Sequence[float],
    *,
    names: tuple[str, str],
    title: str,
    guide: str = "diagonal",
) -> Html:
    """Draw means with twice their standard errors."""
    ends = [[b + s * 2 * e for b, e in zip(y, errors, strict=True)] for s in (-1, 1)]
    is_diagonal = guide == "diagonal"
    span = Span.of(x, y, *ends) if is_diagonal else Span.of(x)
    canvas = Canvas(span, span if is_diagonal else Span.of([0.0], *ends))
    canvas.axes(*names)
    low, high = span.low, span.high
    canvas.line([low, high], [low, high] if is_diagonal else [0, 0], "guide")
    canvas.line(x, y, "line one")
    for a, b, e in zip(x, y, errors, strict=True):
        canvas.line([a, a], [b - 2 * e, b + 2 * e], "whiskers")
        canvas.dot(a, b, "dot one", 3.5, f"{names[0]} {number(a)}, {names[1]} {number(b)}")
    return canvas.figure(title, f"{title} in {len(x)} bins")


def small_histogram(shares: Sequence[float], others: Sequence[float] | None) -> Html:
    """Draw a histogram of the size of a word; those of training rows as an outline."""
    n = max(1, len(shares))
    top = max([*shares, *(others or ()), 1e-12])
    width = 96 / n
    bars = [
        tag(
            "rect",
            x=f"{k * width:.1f}",
            y=f"{24 - 23 * share / top:.1f}",
            width=f"{max(0.8, width - 0.8):.1f}",
            height=f"{23 * share / top:.1f}",
            class_="area one",
        )
        for k, share in enumerate(shares)
        if share > 0
    ]
    if others is not None:
        points = "".join(
            f"{'M' if k == 0 else 'L'}{k * width:.1f} {24 - 23 * share / top:.1f}"
            f"L{(k + 1) * width:.1f} {24 - 23 * share / top:.1f}"
            for k, share in enumerate(others)
        )
        bars.append(tag("path", d=points, class_="line two thin"))
    return tag("svg", *bars, viewBox="0 0 96 25", class_="spark", aria_hidden="true")


def _tips(canvas: Canvas, curve: Curve, x_name: str, y_name: str) -> None:
    for k in range(0, len(curve.x), 2):
        x, y, at = curve.x[k], curve.y[k], curve.at[k]
        tip = f"{x_name} {percent(x)}, {y_name} {percent(y)}"
        if math.isfinite(at):
            tip += f", from a probability of {number(at, 3)} on"
        canvas.dot(x, y, "hit", 6, tip)
