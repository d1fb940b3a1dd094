"""Normalised margins: by how much of the vote a row is right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import InvalidInput, shorten
from spinney.results import Result, read_only
from spinney.theory.checks import (
    inside,
    label_array,
    margin_array,
    number_array,
    weight_array,
)
from spinney.typing import AnyArray, FloatArray, IntArray

_SHARES = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Quantiles a distribution is printed at."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MarginDistribution(Result):
    """The margins of some rows, in order."""

    margins: FloatArray
    """From the least to the largest."""
    shares: FloatArray
    """Share of the weight of rows up to each; the last is 1."""

    def __post_init__(self) -> None:
        for name in ("margins", "shares"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def minimum(self) -> float:
        """The least margin: what margin maximisers make large."""
        return float(self.margins[0])

    def cdf(self, theta: Any) -> Any:
        """Give the share of rows whose margin is ``theta`` or less; of 0: the error, ties wrong."""
        places = np.searchsorted(self.margins, np.asarray(theta, np.float64), side="right")
        shares = np.concatenate([[0.0], self.shares])[places]
        return float(shares) if np.ndim(theta) == 0 else shares

    def quantile(self, share: float) -> float:
        """Give the least margin that at least this share of the rows do not exceed."""
        wanted = inside("share", share, 0.0, 1.0, closed="low high")
        # Shares are sums; the slack keeps rounding from passing over the row that reaches one.
        place = int(np.searchsorted(self.shares, wanted - 1e-12))
        return float(self.margins[min(place, len(self.margins) - 1)])

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give some quantiles."""
        return {"share": list(_SHARES), "margin": [self.quantile(share) for share in _SHARES]}

    def title(self) -> str:
        """Say in a line what the table shows."""
        return (
            f"Margins of {len(self.margins)} rows: least {self.minimum:.4g}, "
            f"{self.cdf(0.0):.2%} not above 0"
        )


def margin_distribution(margins: Any, *, sample_weight: Any = None) -> MarginDistribution:
    """Put margins in order.

    Parameters
    ----------
    margins : numbers in [-1, 1], one for each row
    sample_weight : numbers, optional
        How often each row counts.

    Returns
    -------
    MarginDistribution

    Examples
    --------
    >>> found = margin_distribution([0.5, -0.25, 0.75, 0.25])
    >>> found.minimum, found.cdf(0.25), found.quantile(0.5)
    (-0.25, 0.5, 0.25)
    """
    array = margin_array(margins)
    weights = weight_array(sample_weight, len(array))
    order = np.argsort(array, kind="stable")
    order = order[weights[order] > 0.0]
    shares = np.cumsum(weights[order])
    return MarginDistribution(array[order], np.minimum(shares / shares[-1], 1.0))


def binary_margins(y: Any, scores: Any, alphas: Any, *, classes: Any = None) -> FloatArray:
    """Give y F(x) / sum of |alphas| of two classes; 0 or less is an error.

    Parameters
    ----------
    y : labels
    scores : numbers
        F(x): the weighted sum of answers in [-1, 1], positive for the second class.
    alphas : numbers
        The weights of the sum.
    classes : two labels, optional
        The first and the second class; as a default the labels in order, and -1 and 1 as such.

    Returns
    -------
    margins : numbers in [-1, 1]

    Examples
    --------
    >>> binary_margins(["no", "yes"], [-0.5, -1.0], [0.5, 1.5]).tolist()
    [0.25, -0.5]
    """
    values = number_array("scores", scores)
    total = float(np.abs(number_array("alphas", alphas)).sum())
    if total <= 0.0:
        raise InvalidInput("The alphas are all 0: no vote was cast, so there are no margins.")
    signs = label_signs(label_array(y, len(values)), classes)
    return margin_array(signs * values / total)


def vote_margins(y: Any, votes: Any, *, classes: Any = None) -> FloatArray:
    """Give the share of votes for the true class, minus the largest share for another.

    Parameters
    ----------
    y : labels
    votes : numbers of shape (n_rows, n_classes), not negative
    classes : labels, optional
        The classes that the columns of ``votes`` stand for; as a default the labels in order.

    Returns
    -------
    margins : numbers in [-1, 1]

    Examples
    --------
    >>> vote_margins(["a", "c"], [[2.0, 1.0, 1.0], [1.0, 2.0, 1.0]], classes="abc").tolist()
    [0.25, -0.25]
    """
    table = number_array("votes", votes, n_axes=2, low=0.0, remedy="Give sums of |alphas|.")
    totals = table.sum(axis=1)
    if not (totals > 0.0).all():
        raise InvalidInput(
            f"votes[{int((totals <= 0).argmax())}] is all 0: expected at least one vote for a row."
        )
    if table.shape[1] < 2:
        raise InvalidInput("votes has one column: a margin needs at least two classes.")
    truth = _codes(label_array(y, len(table)), classes, table.shape[1])
    rows = np.arange(len(table))
    own = table[rows, truth]
    table[rows, truth] = -np.inf
    return margin_array((own - table.max(axis=1)) / totals)


def label_signs(labels: AnyArray, classes: Any = None) -> FloatArray:
    """Give -1 for the first class and 1 for the second."""
    if classes is None and set(np.unique(labels).tolist()) <= {-1, 1}:
        return labels.astype(np.float64)
    return np.where(_codes(labels, classes, 2) == 1, 1.0, -1.0)


def _codes(labels: AnyArray, classes: Any, n_classes: int) -> IntArray:
    """Give the number of each label's class."""
    known = np.unique(labels) if classes is None else np.asarray(list(classes))
    if len(known) != n_classes:
        raise InvalidInput(
            f"There are {len(known)} classes ({shorten(known.tolist())}): expected {n_classes}. "
            "Give classes=, in the order of the columns, where y does not have them all."
        )
    place = {label: code for code, label in enumerate(known.tolist())}
    strange = [label for label in labels.tolist() if label not in place]
    if strange:
        raise InvalidInput(
            f"y has the label {strange[0]!r}, which is not among the classes "
            f"({shorten(known.tolist())}). Give the labels the model was trained on."
        )
    return np.array([place[label] for label in labels.tolist()], np.int64)
