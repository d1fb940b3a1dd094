"""The part on calibration: whether probabilities, or means, are what they say."""

import numpy as np

from spinney.report.drawing.figures import means_figure, reliability_figure
from spinney.report.markup import Html, join, number, tag
from spinney.report.scores.curves import binned_means
from spinney.report.sections.section import Section, figures
from spinney.report.subject import Subject
from spinney.report.tables import facts
from spinney.typing import AnyArray
from spinney.uncertainty import brier_decomposition, reliability_curve

_MOST_CLASSES = 6


def calibration_section(subject: Subject) -> Section | None:
    """Lay out reliability; None without a target."""
    target = subject.rows.target
    if target is None:
        return None
    if subject.classes:
        lead = (
            "Of rows that are said to have a probability of 30 %, 30 % should be of the class. "
            "Dots are as large as bins have rows; whiskers are 95 % intervals."
        )
        return Section("calibration", "Calibration", _of_classes(subject, target), lead)
    lead = (
        "Rows in twelve bins by prediction: the mean target should be the mean prediction. "
        "Whiskers are two standard errors."
    )
    return Section("calibration", "Calibration", _of_numbers(subject, target), lead)


def _of_classes(subject: Subject, target: AnyArray) -> Html:
    labels, weights = subject.classes, subject.rows.weights
    if subject.task == "binary":
        said, hits = subject.predictions[:, 1], (target == 1).astype(float)
        curves = [
            (f"Probability of {labels[1]}", hits, said, "width"),
            ("The same, bins of equal weight", hits, said, "mass"),
        ]
    else:
        counts = np.bincount(target, minlength=len(labels))
        likeliest = subject.predictions.argmax(axis=1)
        hits = (likeliest == target).astype(float)
        curves = [("The likeliest class", hits, subject.predictions.max(axis=1), "width")]
        curves += [
            (f"Probability of {labels[k]}", (target == k) * 1.0, subject.predictions[:, k], "width")
            for k in np.argsort(-counts, kind="stable")[:_MOST_CLASSES].tolist()
        ]
    drawn = [
        reliability_figure(
            reliability_curve(happened, said, strategy=how, sample_weight=weights), title
        )
        for title, happened, said, how in curves
    ]
    told = None
    if subject.task == "binary":
        parts = brier_decomposition(hits, said, n_bins=10, sample_weight=weights)
        told = facts(
            [
                ("Brier score", number(parts.score)),
                ("Reliability (0 is best)", number(parts.reliability)),
                ("Resolution (more is better)", number(parts.resolution)),
                ("Uncertainty of the target", number(parts.uncertainty)),
            ]
        )
    left = len(labels) - _MOST_CLASSES
    more = tag("p", f"The {left} rarest classes are left out.") if left > 0 else None
    return join(figures(*drawn), more, told)


def _of_numbers(subject: Subject, target: AnyArray) -> Html:
    weights = np.ones(len(target)) if subject.rows.weights is None else subject.rows.weights
    drawn = []
    for k, name in enumerate(subject.output_names):
        x, y, errors = binned_means(subject.predictions[:, k], target[:, k], weights)
        names = ("Mean prediction", "Mean target")
        title = "Mean target by prediction" + (f": {name}" if len(subject.output_names) > 1 else "")
        drawn.append(
            means_figure(x.tolist(), y.tolist(), errors.tolist(), names=names, title=title)
        )
    return figures(*drawn)
