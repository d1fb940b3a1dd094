"""A loss of boosting that the user wrote: an object with ``value`` and ``gradients``.

Formulas are asked about whole arrays of rows and answer row by row, for rows of weight 1; weights
are ours. An object that gives second derivatives steps by Newton's rule. One that gives none, or
none but 0, grows trees along the gradient, as if all second derivatives were 1, and every leaf goes
to the optimum of its rows, as absolute, quantile and Huber loss do; where a row has several raw
scores, leaves step by minus the mean gradient.
"""

from functools import cached_property
from typing import Any

import numpy as np

from spinney.data.fixed_point import exact_sum
from spinney.errors import InvalidParameter
from spinney.losses.derivative_check import check_derivatives
from spinney.losses.downhill import best_constant, leaf_steps
from spinney.losses.loss import Loss, RowDerivatives
from spinney.losses.node_rows import RowsOfNodes, all_rows
from spinney.losses.starts import link_start
from spinney.model.saved_loss import SavedLoss, without_code
from spinney.typing import AnyArray, FloatArray

NUMBER_LINKS = ("identity", "log")
CLASS_LINKS = ("logistic", "double_logistic", "softmax")
_FINEST = float(np.finfo(np.float64).eps)
_SCORES_ASKED = np.array(
    [0.0, 1.0, *(1.0 + sign * 10.0**k for k in range(-6, 4) for sign in (-1, 1))]
)


class CustomLoss(Loss):
    """A user's loss as boosting needs it.

    Parameters
    ----------
    given : object with ``value(y, raw)`` and ``gradients(y, raw)``
        ``raw`` is (n_rows,), or (n_rows, n_outputs) under the link "softmax".
    link : from raw scores to predictions
    n_outputs : raw scores of a row
    """

    def __init__(self, given: Any, *, link: str, n_outputs: int = 1) -> None:
        if isinstance(given, SavedLoss):
            raise InvalidParameter(
                f"loss={given!r}: a file holds no code, so the loss itself is not here. Give it "
                f"again, for example set_params(loss={given.name}()); predictions do not need it."
            )
        self.given = given
        self.name = without_code(given).name
        self.link = link
        self.n_outputs = n_outputs

    @cached_property
    def has_hessian(self) -> bool:
        """Whether second derivatives are given, and are not 0 everywhere.

        Asked of rows whose target is 1, at scores near and far. Where all second derivatives are 0,
        as those of absolute loss, there is no curvature to step by.
        """
        scores = np.zeros((len(_SCORES_ASKED), self.n_outputs), order="F")
        scores[:, 0] = _SCORES_ASKED
        y = np.ones(len(scores))
        answer = self._ask("gradients", y, scores)
        if isinstance(answer, tuple):
            given = answer[1:]
        elif callable(getattr(self.given, "hessian", None)):
            given = (self._ask("hessian", y, scores),)
        else:
            return False
        # What is no array of numbers is refused where it is used.
        return not all(isinstance(of_rows, np.ndarray) and not of_rows.any() for of_rows in given)

    @property
    def has_constant_hessian(self) -> bool:
        """Whether all second derivatives are taken to be 1."""
        return not self.has_hessian

    @property
    def has_order_statistic_leaves(self) -> bool:
        """Whether leaves are given their exact optimum in place of Newton's step."""
        return not self.has_hessian and self.n_outputs == 1

    def start(
        self, y: FloatArray, weights: FloatArray | None, offset: FloatArray | None = None
    ) -> FloatArray:
        """Scores of the best constant: what the object says, or what walking downhill finds."""
        if callable(getattr(self.given, "start", None)) and offset is None:
            return self._given_start(y, weights)
        if self.has_order_statistic_leaves:
            around = np.zeros((len(y), 1)) if offset is None else offset
            guess = float(link_start(self.link, y, weights)[0])
            return leaf_steps(self, (y, around, weights), all_rows(len(y)), guess)
        return best_constant(self, y, weights, offset, self.n_outputs)

    def _given_start(self, y: FloatArray, weights: FloatArray | None) -> FloatArray:
        """Read the scores that the object begins with: one number, or one per class."""
        answer = self._called("start", y.astype(np.float64, copy=False), weights)
        if self.n_outputs == 1 and np.ndim(answer) == 0:
            answer = [answer]
        start = self._numbers(answer, (self.n_outputs,), "start")
        if not np.isfinite(start).all():
            raise InvalidParameter(
                f"{self.name}.start gave {shown_score(start)}: expected a finite raw score to "
                "begin with. Leave start out, and the best constant is searched."
            )
        return start

    def values(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Loss of each row; (n_rows,)."""
        return self._numbers(self._ask("value", y, scores), y.shape, "value")

    def slopes(self, y: FloatArray, scores: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """First and second derivatives in full precision; (n_rows, n_outputs), and none or so."""
        answer = self._ask("gradients", y, scores)
        hessian = None
        if isinstance(answer, tuple):
            if len(answer) != 2:
                raise InvalidParameter(
                    f"{self.name}.gradients gave {len(answer)} arrays: expected the gradient, or "
                    "the gradient and the hessian."
                )
            answer, hessian = answer
        elif self.has_hessian:
            hessian = self._ask("hessian", y, scores)
        shape = y.shape if self.n_outputs == 1 else (len(y), self.n_outputs)
        first = self._numbers(answer, shape, "gradients").reshape(len(y), -1)
        if hessian is None or not self.has_hessian:
            return first, None
        second = self._numbers(hessian, shape, "hessian").reshape(len(y), -1)
        return first, second

    def step_of_answers(self, y: FloatArray, scores: FloatArray) -> float:
        """Distance from 1 to the next number, in the coarsest type that formulas answer in."""
        slopes = self._ask("gradients", y, scores)
        answers = [self._ask("value", y, scores)]
        answers.extend(slopes if isinstance(slopes, tuple) else (slopes,))
        types = [np.asarray(answer).dtype for answer in answers]
        return max([_FINEST, *(float(np.finfo(of).eps) for of in types if of.kind == "f")])

    def derivatives(
        self,
        y: FloatArray,
        scores: FloatArray,
        n_threads: int,  # noqa: ARG002 - the user's formulas run as they do
        into: RowDerivatives | None = None,  # noqa: ARG002 - the user's arrays are new ones anyway
    ) -> RowDerivatives:
        """Give the derivatives of every row; hessians that are all 1 are not written."""
        first, second = self.slopes(y, scores)
        self._refuse_numbers(~np.isfinite(first), first, "gradient", (y, scores))
        if second is not None:
            self._refuse_numbers(~np.isfinite(second), second, "hessian", (y, scores))
            self._refuse_numbers(second < 0, second, "hessian", (y, scores))
        n_hessians = 0 if second is None or bool((second == 1.0).all()) else len(y)
        shape = (self.n_outputs, len(y))
        at = RowDerivatives.empty(shape, (self.n_outputs, n_hessians))
        with np.errstate(over="ignore"):  # infinite ones are refused by whoever grows from them
            at.gradients[:] = first.T
            if n_hessians and second is not None:
                at.hessians[:] = second.T
        for output in range(self.n_outputs):
            most = float(np.abs(at.gradients[output]).max())
            at.limits.append((most, float(at.hessians[output].max()) if n_hessians else 1.0))
        return at

    def total(
        self,
        y: FloatArray,
        scores: FloatArray,
        weights: FloatArray | None,
        n_threads: int,  # noqa: ARG002
    ) -> float:
        """Weighted sum over the rows whose weight is not 0, the same for every order of rows."""
        given = np.ones(len(y)) if weights is None else weights
        if not given.all():
            kept = np.flatnonzero(given)
            y, scores, given = y[kept], scores[kept], given[kept]
        values = self.values(y, scores)
        self._refuse_numbers(~np.isfinite(values)[:, np.newaxis], values, "value", (y, scores))
        return exact_sum(given, values)

    def best_leaf_values(
        self,
        y: FloatArray,
        scores: FloatArray,
        weights: FloatArray | None,
        node_rows: RowsOfNodes,
        n_threads: int,  # noqa: ARG002
    ) -> FloatArray:
        """Of each leaf the step at which the gradients of its rows add up to nothing.

        Inner nodes get the weighted mean of the leaves below.
        """
        return leaf_steps(self, (y, scores, weights), node_rows)

    def check(self, y: FloatArray, numbers: AnyArray | None = None) -> None:
        """Compare the formulas with each other at scores drawn at random."""
        check_derivatives(self, y, numbers)

    def answer(self, method: str, shape: tuple[int, ...], *given: Any) -> FloatArray:
        """Call a method of the object, and read the array of numbers it gives."""
        return self._numbers(self._called(method, *given), shape, method)

    def _ask(self, method: str, y: FloatArray, scores: FloatArray) -> Any:
        # Codes of classes may be small unsigned integers, of which -y would be another number.
        numbers = y.astype(np.float64, copy=False)
        return self._called(method, numbers, scores[:, 0] if self.n_outputs == 1 else scores)

    def _called(self, method: str, *arrays: Any) -> Any:
        """Call a method of the object with views that it cannot write to."""
        given = [None if array is None else array.view() for array in arrays]
        for array in given:
            if array is not None:
                array.flags.writeable = False
        try:
            with np.errstate(all="ignore"):  # what is not finite is refused below, or avoided
                return getattr(self.given, method)(*given)
        except Exception as error:
            raise InvalidParameter(
                f"{self.name}.{method} raised {type(error).__name__}: {error}. It was asked about "
                f"{len(arrays[0])} rows, read-only; its line is further up in the traceback."
            ) from error

    def _numbers(self, answer: Any, shape: tuple[int, ...], method: str) -> FloatArray:
        try:
            if np.iscomplexobj(answer):  # NumPy would drop the imaginary parts
                raise TypeError("complex numbers have no order")  # noqa: TRY301 - as NumPy's own
            numbers = np.asarray(answer, np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidParameter(
                f"{self.name}.{method} gave a {type(answer).__name__} that holds no real numbers: "
                f"expected an array of numbers of the shape {shape}."
            ) from error
        if numbers.shape != shape:
            raise InvalidParameter(
                f"{self.name}.{method} gave an array of shape {numbers.shape}: expected {shape}, "
                + _told_shape(shape, method)
            )
        return numbers

    def _refuse_numbers(
        self, wrong: AnyArray, numbers: FloatArray, what: str, at: tuple[FloatArray, FloatArray]
    ) -> None:
        if not wrong.any():
            return
        row, output = (int(place) for place in np.argwhere(wrong)[0])
        y, scores = at
        number = numbers.reshape(len(y), -1)[row, output]
        of_output = f" of output {output}" if self.n_outputs > 1 else ""
        remedy = "Lower learning_rate, or keep the formula from overflowing."
        if np.isfinite(number):
            remedy = "Give max(hessian, 0), a bound from above, or no hessian at all."
        raise InvalidParameter(
            f"The {what}{of_output} of loss {self.name} is {number:g} for y={y[row]:g} at the "
            f"score {shown_score(scores[row])}: expected a finite number"
            f"{', not below 0' if what == 'hessian' else ''}. {remedy}"
        )


def _told_shape(shape: tuple[int, ...], method: str) -> str:
    """Say what an array has one number for."""
    if method == "start":
        return "the score to begin with." if shape == (1,) else "one score per class."
    return "one number per row." if len(shape) == 1 else "one per row and class."


def custom_loss(given: Any, allowed: tuple[str, ...], default: str, n_classes: int) -> CustomLoss:
    """Read the link of a user's loss, and make the loss of it.

    Parameters
    ----------
    given : the object
    allowed : links there are for this target
    default : the link if it names none
    n_classes : raw scores under the link "softmax"
    """
    link = getattr(given, "link", default)
    if not isinstance(link, str) or link not in allowed:
        names = " or ".join(map(repr, allowed))
        raise InvalidParameter(
            f"The link of loss {without_code(given).name} is {link!r}: expected {names}. For "
            "numbers any other function of the scores may be a method inverse_link(raw)."
        )
    return CustomLoss(given, link=link, n_outputs=n_classes if link == "softmax" else 1)


def through_inverse_link(given: Any, scores: FloatArray) -> FloatArray:
    """Make predictions of raw scores, (n_rows, 1), by the user's own function."""
    asker = CustomLoss(given, link="identity")
    raw = np.ascontiguousarray(scores[:, 0])
    return asker.answer("inverse_link", raw.shape, raw)[:, np.newaxis]


def shown_score(scores: FloatArray) -> str:
    """Write the raw scores of a row."""
    shown = ", ".join(f"{score:g}" for score in scores)
    return shown if len(scores) == 1 else f"({shown})"
