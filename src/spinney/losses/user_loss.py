"""A loss that the user wrote."""

from collections.abc import Callable
from typing import Any

import numpy as np

from spinney.errors import InvalidParameter
from spinney.losses.row_loss import RowLoss, ScoredRows
from spinney.typing import AnyArray, FloatArray

LINKS_OF_USERS = ("identity", "log", "logistic", "double_logistic")
_MOST_ROWS = 200
"""Rows on which gradients are compared with differences."""


class UserLoss(RowLoss):
    """A loss given as an object with ``value`` and ``gradient``, or as a function of both.

    The object's methods take targets and scores, (n_rows,) each, and give a number per row; a
    function gives both at once: ``values, gradients = loss(y, scores)``. An attribute ``link``
    says what becomes of scores: "identity", "log", "logistic" or "double_logistic".
    """

    def __init__(self, given: Any, *, link: str) -> None:
        self._given = given
        self._name = getattr(given, "__name__", type(given).__name__)
        self.link = getattr(given, "link", link)
        allowed = [one for one in LINKS_OF_USERS if one.endswith("logistic") == ("log" in link)]
        if self.link not in allowed:
            raise InvalidParameter(
                f"The link of loss {self._name} is {self.link!r}: expected one of {allowed}."
            )

    def values(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Loss of each row; (n_rows,)."""
        if hasattr(self._given, "value"):
            return self._numbers(self._given.value, y, scores, None)
        return self._numbers(self._given, y, scores, 0)

    def gradients(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Give the derivatives by the score; (n_rows, 1)."""
        if hasattr(self._given, "value"):
            return self._numbers(self._given.gradient, y, scores, None)[:, np.newaxis]
        return self._numbers(self._given, y, scores, 1)[:, np.newaxis]

    def start(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Score of the best constant, as far as walking downhill from 0 finds it."""
        rows = ScoredRows(y, np.zeros((len(y), 1)), weights)
        return self.steps(rows, np.ones((len(y), 1)), np.zeros(1, np.int64))

    def check(self, y: FloatArray, numbers: AnyArray | None = None) -> None:  # noqa: ARG002
        """Compare the gradient with differences of the loss, once, at scores drawn at random."""
        chosen = np.linspace(0, len(y) - 1, min(len(y), _MOST_ROWS)).astype(np.int64)
        some = y[chosen]
        scores = np.random.default_rng(0).normal(size=(len(some), 1))
        if self.link == "identity":
            scores = some.mean() + (some.std() or 1.0) * scores
        reach = 1e-5 * np.maximum(1.0, np.abs(scores))
        rise = self.values(some, scores + reach) - self.values(some, scores - reach)
        expected, given = rise / (2 * reach[:, 0]), self.gradients(some, scores)[:, 0]
        near = 1e-3 * (1e-3 + np.abs(expected) + np.abs(given))
        wrong = ~(np.abs(expected - given) <= near)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InvalidParameter(
                f"The gradient of loss {self._name} is {given[row]:g} for y={some[row]:g} at the "
                f"score {scores[row, 0]:g}, but its values rise by {expected[row]:g} per unit "
                "there. Check the formulas; both must be finite."
            )

    def _numbers(
        self, function: Callable[..., Any], y: FloatArray, scores: FloatArray, part: int | None
    ) -> FloatArray:
        given = function(y, scores[:, 0])
        if part is not None:
            if not isinstance(given, tuple) or len(given) != 2:
                raise InvalidParameter(
                    f"loss {self._name} gave a {type(given).__name__}: expected two arrays, the "
                    "values and the gradients of all rows."
                )
            given = given[part]
        numbers = np.asarray(given, np.float64)
        if numbers.shape != y.shape:
            raise InvalidParameter(
                f"loss {self._name} gave an array of shape {numbers.shape} for {len(y)} rows: "
                "expected one number per row."
            )
        return numbers
