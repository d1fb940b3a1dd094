"""How well scores put what happened before what did not: ROC, precision and recall."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import InvalidInput
from spinney.results import Result, read_only
from spinney.theory.checks import event_array, number_array, row_counts
from spinney.typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RocCurve(Result):
    """What is found and what is falsely alarmed, from the strictest threshold on.

    Examples
    --------
    >>> print(roc_curve([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9]))
    ROC curve: area 0.75, 2 of 4 rows happened
    threshold  false_alarms  found
          inf             0      0
          0.9             0    0.5
          0.6           0.5    0.5
          0.4           0.5      1
          0.1             1      1
    """

    thresholds: FloatArray
    """From infinity down: rows with this score or more are called."""
    false_alarms: FloatArray
    """False positive rate: the share called of rows where nothing happened."""
    found: FloatArray
    """True positive rate: the share called of rows where it happened."""
    n_events: float
    """Weight of the rows where it happened."""
    n_rows: float
    """Weight of all rows."""

    @property
    def area(self) -> float:
        """Chance that a row where it happened is scored above one where not; ties count half."""
        heights = (self.found[1:] + self.found[:-1]) / 2.0
        return float((np.diff(self.false_alarms) * heights).sum())

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the thresholds from the strictest on."""
        return {
            "threshold": self.thresholds.tolist(),
            "false_alarms": self.false_alarms.tolist(),
            "found": self.found.tolist(),
        }

    def title(self) -> str:
        """Say in a line what the table shows."""
        return (
            f"ROC curve: area {self.area:.4g}, {self.n_events:g} of {self.n_rows:g} rows happened"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrecisionRecallCurve(Result):
    """What is found and how much of what is called happened, from the strictest threshold on.

    Examples
    --------
    >>> print(precision_recall_curve([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9]))
    Precision and recall: average precision 0.8333, 2 of 4 rows happened
    threshold  precision  recall
          0.9          1     0.5
          0.6        0.5     0.5
          0.4     0.6667       1
          0.1        0.5       1
    """

    thresholds: FloatArray
    """From the largest score down: rows with this score or more are called."""
    precision: FloatArray
    """The share of called rows where it happened."""
    recall: FloatArray
    """The share called of rows where it happened."""
    n_events: float
    """Weight of the rows where it happened."""
    n_rows: float
    """Weight of all rows."""

    @property
    def average_precision(self) -> float:
        """Mean precision over what is found, each threshold by what it adds to recall."""
        return float((np.diff(self.recall, prepend=0.0) * self.precision).sum())

    @property
    def base_rate(self) -> float:
        """Share of rows where it happened: the precision of one who guesses."""
        return self.n_events / self.n_rows

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the thresholds from the strictest on."""
        return {
            "threshold": self.thresholds.tolist(),
            "precision": self.precision.tolist(),
            "recall": self.recall.tolist(),
        }

    def title(self) -> str:
        """Say in a line what the table shows."""
        return (
            f"Precision and recall: average precision {self.average_precision:.4g}, "
            f"{self.n_events:g} of {self.n_rows:g} rows happened"
        )


def roc_curve(y: Any, score: Any, *, sample_weight: Any = None) -> RocCurve:
    """Trade what is found against false alarms, for every threshold of a score.

    Parameters
    ----------
    y : n truth values, or numbers 0 and 1
        Whether it happened; of labels ``y == label``.
    score : n numbers
        The larger the likelier: a column of ``predict_proba``, or ``decision_function``.
    sample_weight : n numbers, optional
        How often each row counts.

    Returns
    -------
    RocCurve

    Examples
    --------
    >>> roc_curve([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9]).area
    0.75
    """
    thresholds, hits, called = _called(y, score, sample_weight)
    alarms = called - hits
    return RocCurve(
        read_only(np.append(np.inf, thresholds)),
        read_only(np.append(0.0, alarms / alarms[-1])),
        read_only(np.append(0.0, hits / hits[-1])),
        float(hits[-1]),
        float(called[-1]),
    )


def precision_recall_curve(
    y: Any, score: Any, *, sample_weight: Any = None
) -> PrecisionRecallCurve:
    """Trade precision against recall, for every threshold of a score.

    Parameters
    ----------
    y, score, sample_weight
        As in :func:`roc_curve`.

    Returns
    -------
    PrecisionRecallCurve

    Examples
    --------
    >>> precision_recall_curve([0, 1, 1], [0.1, 0.4, 0.9]).average_precision
    1.0
    """
    thresholds, hits, called = _called(y, score, sample_weight)
    return PrecisionRecallCurve(
        read_only(thresholds),
        read_only(hits / called),
        read_only(hits / hits[-1]),
        float(hits[-1]),
        float(called[-1]),
    )


def _called(y: Any, score: Any, sample_weight: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give thresholds from the largest on, and the weight of events and rows at each or above."""
    scores = number_array("score", score)
    events, counts = event_array(y, len(scores)), row_counts(sample_weight, len(scores))
    there = counts > 0.0
    scores, events, counts = scores[there], events[there], counts[there]
    if events.all() or not events.any():
        raise InvalidInput(
            f"y is {int(events[0])} in all {len(events)} rows of positive weight: expected rows "
            "where it happened and rows where it did not, as there is nothing to tell apart."
        )
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.diff(scores[order]) != 0.0, True)  # of rows with the same score
    hits, called = np.cumsum((counts * events)[order]), np.cumsum(counts[order])
    return scores[order][last], hits[last], called[last]
