"""The arithmetic of second-order boosting: how good a node is, what it says, what a split gains.

With residuals r, the negative gradients of the loss, and h, its second derivatives, a node that
adds w to the scores of its rows changes the loss, to second order and with its penalties, by

    -w * sum(r) + w**2 * (sum(h) + l2) / 2 + l1 * |w|

The best w is the *output* of the node, and twice what it removes from the loss is the *similarity*
of its residuals. Under squared loss r is y minus the score, and every h is 1.
"""

import math
from typing import Any

import numpy as np

from spinney.errors import InvalidInput, InvalidParameter
from spinney.typing import FloatArray


def similarity(
    residuals: Any,
    hessians: Any = None,
    l2: float = 0.0,
    l1: float = 0.0,
    *,
    output: float | None = None,
) -> float:
    """Twice the loss that a node removes: (sum of r)² / (sum of h + l2).

    Residuals of one sign reinforce each other, others cancel: that is what makes it a measure of
    how similar they are.

    Parameters
    ----------
    residuals : number or numbers
        Negative gradients of the rows; only their sum counts.
    hessians : number or numbers, optional
        Second derivatives of the rows; None: 1 each, as for squared loss.
    l2, l1 : float
        Penalties of outputs; ``l1`` draws the sum of the residuals towards 0.
    output : float, optional
        What the node says; None: the best, :func:`leaf_output`.

    Returns
    -------
    float
        0 where there is nothing to divide by.

    Examples
    --------
    >>> similarity([-10.5, 6.5, 7.5, -7.5])
    4.0
    >>> similarity([6.5, 7.5], l2=1.0)
    65.33333333333333
    """
    pull, stiffness = _sums(residuals, hessians, l2, l1)
    if output is not None:
        return 2.0 * (pull * output - l1 * abs(output)) - stiffness * output * output
    return _shrunk(pull, l1) ** 2 / stiffness if stiffness > 0.0 else 0.0


def leaf_output(residuals: Any, hessians: Any = None, l2: float = 0.0, l1: float = 0.0) -> float:
    """Give the best output of a node, before the learning rate: sum of r / (sum of h + l2).

    Parameters
    ----------
    residuals, hessians, l2, l1
        As in :func:`similarity`.

    Examples
    --------
    >>> leaf_output([6.5, 7.5])
    7.0
    >>> leaf_output([6.5, 7.5], l2=1.0, l1=2.0)
    4.0
    """
    pull, stiffness = _sums(residuals, hessians, l2, l1)
    return _shrunk(pull, l1) / stiffness if stiffness > 0.0 else 0.0


def split_gain(
    left: Any,
    right: Any,
    left_hessians: Any = None,
    right_hessians: Any = None,
    *,
    l2: float = 0.0,
    l1: float = 0.0,
) -> float:
    """Give what a split gains: similarity of the left, plus of the right, minus of both together.

    It is twice the loss that the split removes. XGBoost reports this number and compares it with
    its ``gamma``; models of this library store half of it, and compare that with
    ``min_split_gain`` before a split is made (there ``tree_method="hist"`` and ``"approx"``), and
    with ``prune_gain`` once the tree is grown (there ``"exact"``).

    Parameters
    ----------
    left, right : number or numbers
        Residuals of the rows that go left, and right.
    left_hessians, right_hessians : number or numbers, optional
        Second derivatives; None: 1 each.
    l2, l1 : float
        Penalties of outputs.

    Examples
    --------
    >>> round(split_gain([-10.5], [6.5, 7.5, -7.5]), 2)
    120.33
    """
    of_left = similarity(left, left_hessians, l2, l1)
    of_right = similarity(right, right_hessians, l2, l1)
    residuals = np.append(np.ravel(left), np.ravel(right))
    hessians = np.append(
        _ones_unless(left, left_hessians).ravel(), _ones_unless(right, right_hessians).ravel()
    )
    return of_left + of_right - similarity(residuals, hessians, l2, l1)


def _shrunk(pull: float, l1: float) -> float:
    return math.copysign(max(abs(pull) - l1, 0.0), pull)


def _sums(residuals: Any, hessians: Any, l2: float, l1: float) -> tuple[float, float]:
    """Give the sum of the residuals, and that of the hessians and ``l2``; in no order of rows."""
    for name, penalty in (("l2", l2), ("l1", l1)):
        if not 0.0 <= penalty < math.inf:
            raise InvalidParameter(f"{name}={penalty!r}: a penalty is a number that is at least 0.")
    first = _numbers(residuals, "residuals")
    second = _ones_unless(residuals, hessians)
    if first.shape != second.shape:
        raise InvalidInput(
            f"There are {first.size} residuals but {second.size} hessians: give one for each row, "
            "or the sum of both."
        )
    if (second < 0.0).any():
        raise InvalidInput(
            f"hessians: {second.min()} is negative. The second derivative of a convex loss is not."
        )
    return math.fsum(first.flat), math.fsum((*second.flat, l2))


def _ones_unless(residuals: Any, hessians: Any) -> FloatArray:
    return np.ones(np.shape(residuals)) if hessians is None else _numbers(hessians, "hessians")


def _numbers(given: Any, name: str) -> FloatArray:
    numbers = np.asarray(given, np.float64)
    if not np.isfinite(numbers).all():
        raise InvalidInput(f"{name} hold a value that is not finite. Give finite numbers.")
    return numbers
