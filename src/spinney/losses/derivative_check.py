"""Whether formulas of a loss agree: the gradient with the loss, the hessian with the gradient."""

from typing import Any, Protocol

import numpy as np

from spinney.errors import InvalidParameter
from spinney.typing import AnyArray, FloatArray

_MOST_ROWS = 200
"""Rows on which formulas are compared."""
_NEAR = 1e-3
"""How far formula and difference may be apart, as a part of both."""
_FEWEST_STEPS = 64
"""Least distance that differences are taken over, in steps of the last bit of a score."""


class CheckedLoss(Protocol):
    """What is compared."""

    name: str
    link: str
    n_outputs: int
    given: Any

    def values(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Loss of each row; (n_rows,)."""

    def slopes(self, y: FloatArray, scores: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """First and second derivatives; (n_rows, n_outputs), and none or so."""

    def step_of_answers(self, y: FloatArray, scores: FloatArray) -> float:
        """Distance from 1 to the next number, in the type of number that formulas answer in."""


def check_derivatives(loss: CheckedLoss, y: FloatArray, numbers: AnyArray | None) -> None:
    """Compare gradients with differences of the loss, and hessians with those of gradients.

    Both are compared at scores drawn around the target, or around 0 under a link, of up to 200
    rows. Where a formula has a kink, anything between the differences on its two sides is right.
    Formulas that answer in 32 bits are compared farther apart: closer by, their loss rises by
    whole steps of its last bit.
    Hessians are not compared if the object says ``surrogate_hessian = True``.
    """
    chosen = np.unique(np.linspace(0, len(y) - 1, min(len(y), _MOST_ROWS)).astype(np.int64))
    rows = chosen if numbers is None else np.asarray(numbers)[chosen]
    some = np.ascontiguousarray(y[chosen])
    scores, centre = np.random.default_rng(0).normal(size=(len(some), loss.n_outputs)), 0.0
    if loss.link == "identity":
        centre = float(some.mean())
        scores = centre + (some.std() or 1.0) * scores
    step = loss.step_of_answers(some, scores)
    farthest, largest = float(np.abs(scores - centre).max()), float(np.abs(scores).max())
    # Where what differences of a rounded function and those of a curve are wrong by is alike.
    reach = max(float(np.cbrt(step)) * max(1.0, farthest), _FEWEST_STEPS * np.spacing(largest))
    first, second = loss.slopes(some, scores)
    compares_second = second is not None and not getattr(loss.given, "surrogate_hessian", False)
    here = loss.values(some, scores)
    for output in range(loss.n_outputs):
        move = np.zeros(loss.n_outputs)
        move[output] = reach
        above, below = (np.asfortranarray(scores + sign * move) for sign in (1, -1))
        at = (loss, rows, some, scores, output)
        away = (scores - below)[:, output], (above - scores)[:, output]  # as far as it is rounded
        rises = (here - loss.values(some, below), loss.values(some, above) - here)
        sides = (rises[0] / away[0], rises[1] / away[1])
        # What roundings of the function, and of scores in its own type, may do to differences.
        blur = step * (np.abs(here) + np.abs(scores[:, output] * first[:, output])) / reach
        _compare(first[:, output], sides, blur, at, ("gradient", "value"))
        if compares_second and second is not None:
            slopes = first[:, output]
            left = (slopes - loss.slopes(some, below)[0][:, output]) / away[0]
            right = (loss.slopes(some, above)[0][:, output] - slopes) / away[1]
            blur = step * (np.abs(slopes) + np.abs(scores[:, output] * second[:, output])) / reach
            _compare(second[:, output], (left, right), blur, at, ("hessian", "gradient"))


def _compare(
    given: FloatArray,
    sides: tuple[FloatArray, FloatArray],
    blur: FloatArray,
    at: tuple[CheckedLoss, AnyArray, FloatArray, FloatArray, int],
    words: tuple[str, str],
) -> None:
    loss, rows, y, scores, output = at
    left, right = sides
    middle = (left + right) / 2
    near = _NEAR * (_NEAR + np.abs(middle) + np.abs(given)) + blur
    low, high = np.minimum(left, right), np.maximum(left, right)
    # Away from kinks both sides differ by the curvature only, and the middle is exact.
    has_kink = high - low > 0.1 * np.maximum(np.abs(low), np.abs(high))
    is_between = has_kink & (given >= low - near) & (given <= high + near)
    wrong = ~((np.abs(middle - given) <= near) | is_between)
    if not wrong.any():
        return
    row = int(np.argmax(wrong))
    score = ", ".join(f"{one:.6g}" for one in scores[row])
    which = f" of output {output}" if loss.n_outputs > 1 else ""
    what, of = words
    remedy = "Check the two formulas"
    if what == "hessian":
        remedy += ", or set surrogate_hessian = True in the class if it is meant to be another one"
    raise InvalidParameter(
        f"The {what}{which} of loss {loss.name} disagrees with its {of} in {int(wrong.sum())} of "
        f"{len(y)} rows. First in row {rows[row]}: y={y[row]:.6g}, score {score}: the formula "
        f"gives {given[row]:.6g}, differences of the {of} give {middle[row]:.6g}. {remedy}."
    )
