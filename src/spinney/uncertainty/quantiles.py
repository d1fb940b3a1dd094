"""The conformal quantile: how large a score must be so that few new ones exceed it."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.data.sources.objects import has_value
from spinney.errors import InvalidInput
from spinney.typing import AnyArray, BoolArray, FloatArray
from spinney.uncertainty.checks import read_array, read_level, read_row_weights

_ROUNDING = 2.0**-40
"""Sums of weights that are no whole numbers: one that falls short by this share is enough."""


def conformal_rank(n_rows: int, level: Any) -> int:
    """Give ⌈level (n + 1)⌉: the place, from 1 on, of the score that covers a new row.

    Of n + 1 scores that may stand in any order, all orders being as likely, the last is among the
    k smallest with probability k / (n + 1), or more if some are equal. So with the k-th smallest
    of the first n it is covered with the probability ``level`` at least. A rank beyond n says that
    n rows are too few to promise this of anything finite.

    Parameters
    ----------
    n_rows : int
    level : float
        Above 0 and below 1; read as the decimal number it is written as.

    Examples
    --------
    >>> conformal_rank(19, 0.9), conformal_rank(8, 0.9)
    (18, 9)
    """
    return math.ceil(read_level(level) * (n_rows + 1))


def conformal_quantile(scores: Any, level: Any, *, sample_weight: Any = None) -> float:
    """Give the conformal quantile of calibration scores; infinite if there are too few of them.

    Parameters
    ----------
    scores : n numbers
        How badly each row that was not learnt from is predicted.
    level : float
        Share of new rows whose score is to be at most the quantile.
    sample_weight : n numbers, optional
        A weight of k counts as the row k times.

    Returns
    -------
    float
        The ⌈level (n + 1)⌉-th smallest score, or infinity. With weights of sum W: the least score
        up to which the weights add up to level (W + 1).

    Examples
    --------
    >>> conformal_quantile([4.0, 1.0, 3.0, 2.0], 0.6)
    3.0
    >>> conformal_quantile([4.0, 1.0, 3.0, 2.0], 0.9)
    inf
    >>> conformal_quantile([4.0, 1.0], 0.5, sample_weight=[1, 3])
    1.0
    """
    values = read_array("scores", scores)
    weights = read_row_weights(sample_weight, len(values))
    return float(quantile_of_rows(values[np.newaxis], read_level(level), weights)[0])


def quantile_of_rows(
    values: FloatArray, level: Fraction, weights: FloatArray | None = None
) -> FloatArray:
    """Give the conformal quantile of each row of values, (n_rows, n), as ``conformal_quantile``.

    Rows may hold infinite numbers.
    """
    n = values.shape[1]
    if weights is None:
        rank = math.ceil(level * (n + 1))
        if rank > n:
            return np.full(len(values), np.inf)
        smallest: FloatArray = np.partition(values, rank - 1, axis=1)[:, rank - 1]
        return smallest
    needed = needed_weight(level, weights)
    order = np.argsort(values, axis=1, kind="stable")
    reached = np.cumsum(weights[order], axis=1) >= needed
    found = reached.any(axis=1)
    place = order[np.arange(len(values)), reached.argmax(axis=1)]
    return np.where(found, values[np.arange(len(values)), place], np.inf)


def needed_weight(level: Fraction, weights: FloatArray) -> float:
    """Give the weight covered rows must have: level (W + 1), rounded up if weights are whole."""
    exact = level * (Fraction(float(weights.sum())) + 1)
    if bool((weights == np.rint(weights)).all()):
        return float(math.ceil(exact))
    return float(exact) * (1.0 - _ROUNDING)


def few_enough(below: AnyArray, level: Fraction, weights: FloatArray | None, n: int) -> BoolArray:
    """Tell whether a score is covered, given the weight of the calibration scores below it.

    Of n rows, or of those weights. The same as comparing with the conformal quantile.
    """
    needed = math.ceil(level * (n + 1)) if weights is None else needed_weight(level, weights)
    few: BoolArray = below < needed
    return few


class Groups:
    """Calibration rows by their group (Vovk's Mondrian taxonomy): a quantile for each.

    Examples
    --------
    >>> groups = Groups(["a", "b", "a"])
    >>> groups.codes_of(["b", "b"]).tolist()
    [1, 1]
    """

    def __init__(self, labels: Any) -> None:
        given = _read_labels(labels)
        self.labels, codes = np.unique(given, return_inverse=True)
        """The groups, sorted."""
        self.codes: AnyArray = codes.astype(np.int64)
        """The group of each calibration row, by its place in ``labels``."""

    def __len__(self) -> int:
        return len(self.labels)

    def codes_of(self, labels: Any) -> AnyArray:
        """Give the groups of other rows; a group without calibration rows is refused."""
        given = _read_labels(labels)
        known = self.labels
        if given.dtype.kind != known.dtype.kind and "U" in (given.dtype.kind, known.dtype.kind):
            given, known = given.astype(str), known.astype(str)
        places = np.searchsorted(known, given).clip(max=len(known) - 1)
        odd = known[places] != given
        if odd.any():
            raise InvalidInput(
                f"Row {int(odd.argmax())} is of the group {given[odd][:1].tolist()[0]!r}, of which "
                "there was no row to calibrate with: nothing can be promised of it. Calibrate with "
                "rows of that group, or join it with another."
            )
        return places


def group_quantiles(scores: Any, groups: Any, level: Any, *, sample_weight: Any = None) -> Any:
    """Give the conformal quantile of each group: coverage is then promised group by group.

    Parameters
    ----------
    scores : n numbers
    groups : n labels
        Classes, for class-conditional coverage, or any label that is known of new rows as well.
    level : float
    sample_weight : n numbers, optional

    Returns
    -------
    dict
        From the label of a group to its quantile; infinite where a group has too few rows.

    Examples
    --------
    >>> group_quantiles([1.0, 2.0, 5.0, 6.0], ["a", "a", "b", "b"], 0.5)
    {'a': 2.0, 'b': 6.0}
    """
    values = read_array("scores", scores)
    weights = read_row_weights(sample_weight, len(values))
    grouped = Groups(groups)
    if len(grouped.codes) != len(values):
        raise InvalidInput(
            f"groups has {len(grouped.codes)} labels: expected {len(values)}, one for each score."
        )
    found = quantile_of_groups(values, grouped.codes, len(grouped), read_level(level), weights)
    return dict(zip(grouped.labels.tolist(), found.tolist(), strict=True))


def quantile_of_groups(
    scores: FloatArray,
    codes: AnyArray,
    n_groups: int,
    level: Fraction,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Give the conformal quantile of each group of scores; (n_groups,)."""
    quantiles = np.full(n_groups, np.inf)
    for group in range(n_groups):
        own = codes == group
        if own.any():
            some = None if weights is None else weights[own]
            quantiles[group] = quantile_of_rows(scores[own][np.newaxis], level, some)[0]
    return quantiles


def _read_labels(labels: Any) -> AnyArray:
    given = np.asarray(labels)
    if given.ndim != 1:
        raise InvalidInput(f"groups has the shape {given.shape}: expected one label for each row.")
    if given.dtype.kind == "O":
        there = has_value(given)
        if not there.all():
            row = int(there.argmin())
            raise InvalidInput(
                f"groups[{row}] is {given[row]!r}: expected a label for each row. Fill it in, or "
                "leave the row out."
            )
        given = given.astype(str)
    if given.dtype.kind == "f" and np.isnan(given).any():
        raise InvalidInput(
            f"groups[{int(np.isnan(given).argmax())}] is nan: expected a label for each row."
        )
    return given
