"""Jackknife+-after-bootstrap: the models that lack a row are there already."""

from typing import Any

import numpy as np

from spinney.errors import InvalidInput
from spinney.typing import AnyArray, FloatArray, IntArray
from spinney.uncertainty.checks import read_array, read_level, read_row_weights, read_same_length
from spinney.uncertainty.intervals import PredictionIntervals, plus_bounds

CELLS_AT_ONCE = 1 << 22
"""Numbers, of new rows times training rows, that are held at a time."""


class LeftOut:
    """Means over the members that lack a training row, for each training row.

    Answers are put on a grid so fine that nothing is lost that matters and so coarse that their
    sums are exact: the means do not depend on who adds them up in what order. The grid is that of
    the largest answer there can be; without such a bound every new row has its own.

    Examples
    --------
    >>> import numpy as np
    >>> unseen = np.array([[True, False], [True, True]])
    >>> LeftOut(unseen, 4.0).joint(np.array([[1.0, 3.0]]))
    array([[1., 2.]])
    """

    def __init__(self, unseen: AnyArray, largest: float | None = None) -> None:
        self.unseen = unseen
        """(n_rows, n_members): whether a member lacks a row; every row has one that does."""
        self._counts = unseen.sum(axis=1)
        self._largest = largest
        is_small = unseen.size <= 2 * CELLS_AT_ONCE
        self._numbers = unseen.T.astype(np.float64) if is_small else None

    def _shifts(self, answers: FloatArray) -> IntArray:
        """Give the bits by which answers can be moved up so that sums stay exact; (m or 1, 1)."""
        largest = np.abs(answers).max(axis=1, initial=0.0, keepdims=True)
        if self._largest is not None:
            largest = np.full((1, 1), self._largest)
        room = 52 - np.frexp(largest)[1] - self.unseen.shape[1].bit_length()
        return np.where(largest > 0, room, 0)

    def joint(self, answers: FloatArray) -> FloatArray:
        """Average the answers (m, n_members) over those who lack a row; (m, n_rows)."""
        shifts = self._shifts(answers)
        whole = np.rint(np.ldexp(answers, shifts))
        if self._numbers is not None:
            means: FloatArray = (whole @ self._numbers) / self._counts
            return np.ldexp(means, -shifts)
        sums = np.empty((len(answers), len(self.unseen)))
        at_once = max(1, CELLS_AT_ONCE // self.unseen.shape[1])
        for first in range(0, len(self.unseen), at_once):
            some = slice(first, first + at_once)
            sums[:, some] = whole @ self.unseen[some].T.astype(np.float64)
        sums /= self._counts
        return np.ldexp(sums, -shifts)


class LeftOutMedians:
    """Lower medians over the members that lack a training row, for each training row.

    Examples
    --------
    >>> import numpy as np
    >>> unseen = np.array([[True, False, True], [True, True, True]])
    >>> LeftOutMedians(unseen).joint(np.array([[1.0, 3.0, 9.0]]))
    array([[1., 3.]])
    """

    def __init__(self, unseen: AnyArray) -> None:
        self.unseen = unseen
        """(n_rows, n_members): whether a member lacks a row; every row has one that does."""
        self._half = (unseen.sum(axis=1, keepdims=True) + 1) // 2

    def joint(self, answers: FloatArray) -> FloatArray:
        """Take the median of the answers (m, n_members) of those who lack a row; (m, n_rows)."""
        medians = np.empty((len(answers), len(self.unseen)))
        for row, said in enumerate(answers):
            order = np.argsort(said)
            below = self.unseen[:, order].cumsum(axis=1)
            medians[row] = said[order][(below >= self._half).argmax(axis=1)]
        return medians


def lower_medians(answers: FloatArray, unseen: AnyArray) -> FloatArray:
    """Take over the members that lack a row the lower median of what they say; NaN: none does.

    Examples
    --------
    >>> import numpy as np
    >>> lower_medians(np.array([[5.0, 2.0, 9.0]]), np.array([[True, False, True]]))
    array([5.])
    """
    ordered = np.sort(np.where(unseen, answers, np.inf), axis=1)
    counts = unseen.sum(axis=1)
    medians = ordered[np.arange(len(answers)), (counts - 1).clip(min=0) // 2]
    return np.where(counts > 0, medians, np.nan)


def out_of_bag_means(answers: Any, unseen: Any) -> FloatArray:
    """Average over the members that lack a row what they say of it; NaN where there is none.

    Parameters
    ----------
    answers : (n, n_members) numbers
        What each member says of each training row.
    unseen : (n, n_members) booleans
        Whether the member was fitted without the row.

    Examples
    --------
    >>> out_of_bag_means([[1.0, 3.0], [5.0, 6.0]], [[True, True], [False, False]])
    array([ 2., nan])
    """
    said = read_array("answers", answers, n_axes=2)
    lacks = _read_unseen(unseen, said.shape[1])
    if len(said) != len(lacks):
        raise InvalidInput(f"answers has {len(said)} rows, unseen has {len(lacks)}: expected one.")
    with np.errstate(invalid="ignore"):
        means: FloatArray = np.where(lacks, said, 0.0).sum(axis=1) / lacks.sum(axis=1)
    return means


def after_bootstrap_intervals(
    answers: Any, residuals: Any, unseen: Any, level: Any, *, sample_weight: Any = None
) -> PredictionIntervals:
    """Make intervals from the members of a bagged ensemble, without fitting anything again.

    Parameters
    ----------
    answers : (m, n_members) numbers
        What each member says of each new row.
    residuals : n numbers
        |y - out_of_bag_means| of the training rows. Rows that every member saw, NaN, do not count.
    unseen : (n, n_members) booleans
        Whether a member was fitted without a training row.
    level : float
        1 - a. Coverage is at least 1 - 2a (for a number of members that is drawn, as Kim, Xu and
        Barber prove it) and about 1 - a for ensembles that do not hang on a single row.
    sample_weight : n numbers, optional
        A weight of k counts as the row k times.

    Returns
    -------
    PredictionIntervals
        Around the mean of all members.

    References
    ----------
    Kim, Xu & Barber (2020), Predictive inference is free with the jackknife+-after-bootstrap,
    NeurIPS.

    Examples
    --------
    >>> after_bootstrap_intervals([[1.0, 3.0]], [0.5, 0.25], [[1, 0], [1, 1]], 0.5).columns()
    {'prediction': [2.0], 'lower': [0.5], 'upper': [2.25]}
    """
    said = read_array("answers", answers, n_axes=2)
    lacks = _read_unseen(unseen, said.shape[1])
    errors = np.asarray(residuals, np.float64)
    known = lacks.any(axis=1)
    if errors.shape != (len(lacks),):
        raise InvalidInput(f"residuals has the shape {errors.shape}: expected ({len(lacks)},).")
    errors = read_same_length("residuals", errors[known], int(known.sum()))
    weights = read_row_weights(sample_weight, len(lacks))
    left_out = LeftOut(lacks[known], float(np.abs(said).max(initial=0.0)))
    share = read_level(level)
    some = None if weights is None else weights[known]
    parts = [
        plus_bounds(left_out.joint(said[rows]), errors, share, some)
        for rows in blocks(len(said), len(errors))
    ]
    lower, upper = (np.concatenate(ends) for ends in zip(*parts, strict=True))
    return PredictionIntervals.of(said.mean(axis=1), lower, upper, level)


def blocks(n_rows: int, width: int) -> list[slice]:
    """Divide new rows so that no table of them times ``width`` is too large; one at least."""
    at_once = max(1, CELLS_AT_ONCE // max(1, width))
    return [slice(first, first + at_once) for first in range(0, max(n_rows, 1), at_once)]


def _read_unseen(unseen: Any, n_members: int) -> AnyArray:
    lacks = np.asarray(unseen)
    if lacks.ndim != 2 or lacks.shape[1] != n_members or lacks.dtype.kind not in "biu":
        raise InvalidInput(
            f"unseen has the shape {lacks.shape}: expected a boolean for each training row and "
            f"each of {n_members} members."
        )
    return lacks.astype(bool)
