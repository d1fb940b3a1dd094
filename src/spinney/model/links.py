"""From raw scores to what the user asked for; the formulas are ``native/model/links.inl``."""

import functools
import re
from collections.abc import Sequence

import numpy as np

from spinney._native import _ext
from spinney.typing import FloatArray

LINKS = ("identity", "logistic", "double_logistic", "softmax", "log", "increasing")
"""Inverse links: numbers, or class shares that already are probabilities; one raw score, the
log-odds of the second class; half of them, what exponential loss estimates; one raw score per
class; positive numbers; numbers put in increasing order, which are quantiles that do not cross."""

BINARY_LINKS = frozenset({"logistic", "double_logistic"})
"""Links from one raw score to the probabilities of two classes."""

_BY_LABEL = re.compile(r"by_label:[1-9][0-9]{0,8}(,[1-9][0-9]{0,8})+")


def link_of_labels(n_classes: Sequence[int]) -> str:
    """Name the link of several labels per row, each with so many classes.

    A label of two classes has one raw score, through ``"logistic"``; any other label has one per
    class, through ``"softmax"``. Predictions are the probabilities of all classes, label by label.

    Examples
    --------
    >>> link_of_labels([2, 3])
    'by_label:2,3'
    """
    return "by_label:" + ",".join(map(str, n_classes))


@functools.lru_cache(maxsize=64)
def classes_of_labels(link: str) -> tuple[int, ...] | None:
    """Give the number of classes of each label; None if the link is of one target.

    Examples
    --------
    >>> classes_of_labels("by_label:2,3"), classes_of_labels("softmax")
    ((2, 3), None)
    """
    if _BY_LABEL.fullmatch(link) is None:
        return None
    return tuple(map(int, link.removeprefix("by_label:").split(",")))


def is_link(name: str) -> bool:
    """Tell whether there is a link of this name."""
    return name in LINKS or classes_of_labels(name) is not None


def n_raw_scores(n_classes: int) -> int:
    """Count the raw scores of a label with so many classes."""
    return 1 if n_classes == 2 else n_classes


def n_predicted(link: str, n_raw: int) -> int | None:
    """Count what a link makes of so many raw scores; None if it does not take so many.

    Examples
    --------
    >>> n_predicted("logistic", 1), n_predicted("by_label:2,3", 4), n_predicted("logistic", 3)
    (2, 5, None)
    """
    labels = classes_of_labels(link)
    if labels is not None:
        return sum(labels) if sum(map(n_raw_scores, labels)) == n_raw else None
    if link in BINARY_LINKS:
        return 2 if n_raw == 1 else None
    return n_raw


def prediction_of_score(link: str, place: int) -> int:
    """Find the prediction that a raw score is about: of two classes the second.

    Examples
    --------
    >>> [prediction_of_score("by_label:2,3", place) for place in range(4)]
    [1, 2, 3, 4]
    """
    if link in BINARY_LINKS:
        return 1
    first_score = first_prediction = 0
    for n_classes in classes_of_labels(link) or ():
        n_raw = n_raw_scores(n_classes)
        if place < first_score + n_raw:
            return first_prediction + (1 if n_classes == 2 else place - first_score)
        first_score, first_prediction = first_score + n_raw, first_prediction + n_classes
    return place


def apply_link(link: str, scores: FloatArray, *, n_threads: int = 1) -> FloatArray:
    """Turn (n_rows, n_raw) raw scores into (n_rows, n_predictions).

    Examples
    --------
    >>> import numpy as np
    >>> apply_link("logistic", np.array([[0.0], [800.0]])).tolist()
    [[0.5, 0.5], [3.3075530036384083e-308, 1.0]]
    """
    labels = classes_of_labels(link)
    if labels is not None:
        return _by_label(labels, scores, n_threads)
    flat = np.ascontiguousarray(scores, np.float64).reshape(-1)
    return np.asarray(_ext.apply_link(link, flat, scores.shape[1], n_threads))


def _by_label(labels: tuple[int, ...], scores: FloatArray, n_threads: int) -> FloatArray:
    if all(n_classes == 2 for n_classes in labels):  # the usual case: in one go
        both = apply_link("logistic", scores.reshape(-1, 1), n_threads=n_threads)
        return both.reshape(len(scores), -1)
    found, first = [], 0
    for n_classes in labels:
        own = scores[:, first : first + n_raw_scores(n_classes)]
        link = "logistic" if n_classes == 2 else "softmax"
        found.append(apply_link(link, own, n_threads=n_threads))
        first += own.shape[1]
    return np.hstack(found)
