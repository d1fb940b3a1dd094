"""Figures of what a model says as one feature changes."""

import math
from collections.abc import Sequence

from spinney.report.drawing.canvas import Canvas, Span
from spinney.report.markup import Html, number, shortened

_MOST_TIPS = 40


def numeric_figure(
    x: Sequence[float],
    means: Sequence[float],
    curves: Sequence[Sequence[float]],
    *,
    deciles: Sequence[float],
    names: tuple[str, str],
    missing: float | None,
    ticks: Sequence[tuple[float, str]] | None = None,
    texts: Sequence[str] | None = None,
) -> Html:
    """Draw the mean over rows, the curves of some rows, and where the rows lie.

    Parameters
    ----------
    x, means, curves : values of the feature, the mean over rows, and some rows' own curves
    deciles : of the feature, drawn as marks on the axis
    names : of the feature and of what is predicted
    missing : the mean for rows without a value, or None
    ticks, texts : of the axis and of x, for values that are no plain numbers
    """
    ends = [missing] if missing is not None else []
    canvas = Canvas(Span.of(x, margin=0.02), Span.of(means, ends, *curves))
    canvas.axes(names[0], names[1], ticks)
    for curve in curves:
        canvas.line(x, curve, "faint")
    canvas.line(x, means, "line one")
    for value in deciles:
        if canvas.x.low <= value <= canvas.x.high:
            canvas.line(
                [value, value], [canvas.y.low, canvas.y.low + 0.03 * _height(canvas)], "rug"
            )
    if missing is not None:
        canvas.line([canvas.x.low, canvas.x.high], [missing, missing], "guide")
        canvas.text(canvas.width - 14, canvas.up(missing) - 4, "missing", anchor="end")
    every = max(1, math.ceil(len(x) / _MOST_TIPS))
    for k in range(0, len(x), every):
        at = number(x[k]) if texts is None else texts[k]
        canvas.dot(x[k], means[k], "hit", 6, f"at {at}: {number(means[k])}")
    lowest, highest = min(means), max(means)
    says = (
        f"Mean {names[1]} by {names[0]}: from {number(lowest)} to {number(highest)}, "
        f"{number(means[0])} at the left end and {number(means[-1])} at the right"
    )
    return canvas.figure(shortened(names[0], 44), says)


def category_figure(
    labels: Sequence[str],
    means: Sequence[float],
    shares: Sequence[float],
    names: tuple[str, str],
    n_others: int = 0,
) -> Html:
    """Draw the mean for each category, one line each; dots are as large as they are frequent.

    ``n_others`` is how many less frequent ones are not drawn.
    """
    n = len(labels)
    span = Span.of(means, margin=0.1)
    canvas = Canvas(span, Span(0.0, float(n)), left=96.0)
    canvas.axes(names[1], "", y_ticks=[])
    for k, (label, mean, share) in enumerate(zip(labels, means, shares, strict=True)):
        height = n - k - 0.5
        canvas.text(90, canvas.up(height) + 3.5, shortened(label, 15), anchor="end")
        canvas.line([span.low, mean], [height, height], "stem")
        tip = f"{label}: {number(mean)}, {100 * share:.1f} % of rows"
        canvas.dot(mean, height, "dot one", 3 + 6 * math.sqrt(share), tip)
    says = f"Mean {names[1]} by {names[0]}: from {number(min(means))} to {number(max(means))}"
    title = shortened(names[0], 44)
    if n_others:
        title += f", the {n} most frequent of {n + n_others:,}"
    return canvas.figure(title, says)


def _height(canvas: Canvas) -> float:
    return canvas.y.high - canvas.y.low
