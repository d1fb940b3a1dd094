"""Losses: the formulas are native (``native/losses/point_losses.hpp``), the rest is here.

A loss knows the constant that fits a target best, the derivatives of every row, and its mean. Rows
are weighted outside: derivatives are those of a single row of weight 1.

Most losses step by Newton's rule. Absolute, quantile and Huber loss have no curvature to speak of:
their trees grow along the gradient, as if all second derivatives were 1, and every leaf is then
given its exact optimum, a quantile of its residuals or the root of their clipped sum.
"""

import abc
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from spinney._native import _ext
from spinney.data.fixed_point import exact_total, fixed_weights
from spinney.errors import InvalidInput, InvalidParameter, nearest_names
from spinney.losses.downhill import best_constant
from spinney.losses.node_rows import RowsOfNodes, all_rows
from spinney.losses.starts import link_start
from spinney.typing import AnyArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class RowDerivatives:
    """First and second derivatives of the loss by the score; (n_outputs, n_rows) float32."""

    gradients: AnyArray
    hessians: AnyArray
    """(n_outputs, 0) where all are 1: nobody writes or reads them."""
    limits: list[tuple[float, float]]
    """Of each output the largest magnitudes of gradients and hessians; NaN if one is."""

    @classmethod
    def empty(cls, gradients: tuple[int, int], hessians: tuple[int, int]) -> "RowDerivatives":
        """Make room for derivatives of the given shapes."""
        first, second = np.empty(gradients, np.float32), np.empty(hessians, np.float32)
        return cls(first, second, [])


class Loss(abc.ABC):
    """What every loss offers; scores are (n_rows, n_outputs) float64, best in Fortran order."""

    link: str
    n_outputs = 1
    """Raw scores of a row."""
    shares_trees = False
    """Whether a round has one tree, with a vector of all outputs in each leaf."""
    compares_rows = False
    """Whether the loss of a row depends on other rows, so that no row may be there twice."""

    @property
    def measured_as(self) -> tuple[str, float]:
        """Name of what rounds are measured by, and what measurements are multiplied by to be it."""
        return "loss", -1.0

    @property
    def has_constant_hessian(self) -> bool:
        """Whether all second derivatives are 1."""
        return False

    @property
    def has_order_statistic_leaves(self) -> bool:
        """Whether leaves are given their exact optimum in place of Newton's step."""
        return False

    @property
    def longest_step(self) -> float:
        """Largest magnitude of a Newton step that is believed; 0: of every size.

        Where a class is improbable p (1 - p) is tiny, and one row of the class makes a step of 1/p
        where its logarithm is right: from there on steps only grow. In log-odds 10 is a factor of
        22 000, which no tree has reason to exceed.
        """
        return 10.0 if self.link in {"logistic", "softmax"} else 0.0

    @property
    def every_hessian_counts(self) -> bool:
        """Whether rows of small second derivatives have gradients that matter.

        Of log-odds they have not: both are about p where p is small. Of counts the second
        derivative is what is expected, and rows that expect little are rows as the others are.
        """
        return self.link not in {"logistic", "double_logistic", "softmax"}

    @property
    def has_exact_steps(self) -> bool:
        """Whether a formula knows the optima of leaves from Newton's steps."""
        return False

    def exact_steps(self, newton: FloatArray) -> FloatArray:
        """Give the optima of leaves from Newton's steps, where a formula knows them."""
        return newton

    def newton_steps(self, exact: FloatArray) -> FloatArray:
        """Take ``exact_steps`` back."""
        return exact

    @abc.abstractmethod
    def start(
        self, y: FloatArray, weights: FloatArray | None, offset: FloatArray | None = None
    ) -> FloatArray:
        """Scores of the best constant on top of the offset, (n_rows, n_outputs); (n_outputs,)."""

    @abc.abstractmethod
    def derivatives(
        self,
        y: FloatArray,
        scores: FloatArray,
        n_threads: int,
        into: RowDerivatives | None = None,
    ) -> RowDerivatives:
        """Give the derivatives of every row."""

    @abc.abstractmethod
    def total(
        self, y: FloatArray, scores: FloatArray, weights: FloatArray | None, n_threads: int
    ) -> float:
        """Weighted sum over rows."""

    def weight_measured(self, weights: FloatArray | None, n_rows: int) -> float:
        """Weight that ``total`` is a sum over; rows of weight 0 take no part."""
        return float(n_rows) if weights is None else exact_total(weights[weights > 0])

    def mean(
        self, y: FloatArray, scores: FloatArray, weights: FloatArray | None, n_threads: int = 1
    ) -> float:
        """Weighted mean over rows."""
        count = float(len(y)) if weights is None else exact_total(weights)
        return self.total(y, scores, weights, n_threads) / count

    def check(  # noqa: B027 - most losses take every target
        self, y: FloatArray, numbers: AnyArray | None = None
    ) -> None:
        """Refuse targets the loss is not defined for; ``numbers`` are those rows are known by."""


@dataclass(frozen=True, slots=True)
class PointLoss(Loss):
    """A loss of one score per row, given by its native name."""

    name: str
    link: str
    domain: str = "any"
    """``"any"``, ``"not negative"`` or ``"positive"``."""
    parameter: float = 0.0
    """Delta of Huber, level of quantile, power of Tweedie."""

    @property
    def has_constant_hessian(self) -> bool:
        """Whether all second derivatives are 1."""
        return self.name == "squared" or self.has_order_statistic_leaves

    @property
    def has_order_statistic_leaves(self) -> bool:
        """Whether leaves are given their exact optimum in place of Newton's step."""
        return self.name in {"absolute", "huber", "quantile"}

    @property
    def every_hessian_counts(self) -> bool:
        """Whether rows of small second derivatives have gradients that matter.

        Of log-odds they have not: both are about p where p is small. Of counts the second
        derivative is what is expected, and rows that expect little are rows as the others are.
        """
        return self.link not in {"logistic", "double_logistic", "softmax"}

    @property
    def has_exact_steps(self) -> bool:
        """Whether a formula knows the optima of leaves from Newton's steps."""
        return self.link == "log"

    def exact_steps(self, newton: FloatArray) -> FloatArray:
        """Give the optima of leaves: those of the losses with log link follow from Newton's steps.

        Examples
        --------
        >>> REGRESSION_LOSSES["poisson"].exact_steps(np.array([0.0, 1.0, 99.0]))  # log(1 + step)
        array([0.        , 0.69314718, 4.60517019])
        """
        if not self.has_exact_steps:
            return newton
        steps: FloatArray = _ext.log_link_steps(newton, self._power)
        return steps

    def newton_steps(self, exact: FloatArray) -> FloatArray:
        """Take ``exact_steps`` back; where a step was cut off at -3, what was there is NaN."""
        if not self.has_exact_steps:
            return exact
        power = self._power
        ratio = np.exp(np.where(exact > -3.0, exact, np.nan))
        return np.asarray((ratio - 1.0) / ((2.0 - power) + (power - 1.0) * ratio))

    @property
    def _power(self) -> float:
        """Of the mean, that the variance is, under a loss with log link."""
        return {"poisson": 1.0, "gamma": 2.0}.get(self.name, self.parameter)

    def with_parameter(self, value: float) -> Self:
        """Make the same loss with another delta, level or power.

        Examples
        --------
        >>> REGRESSION_LOSSES["quantile"].with_parameter(0.9).parameter
        0.9
        """
        if self.name not in _PARAMETERS:
            raise InvalidParameter(f"loss={self.name!r} has no parameter, but {value!r} was given.")
        word, low, high = _PARAMETERS[self.name]
        if not low < value < high:
            raise InvalidParameter(
                f"{word} of loss={self.name!r} is {value!r}: expected a number strictly between "
                f"{low} and {high}."
            )
        return replace(self, parameter=float(value))

    def check(self, y: FloatArray, numbers: AnyArray | None = None) -> None:
        """Refuse targets the loss is not defined for; ``numbers`` are those rows are known by."""
        wrong = {"not negative": y < 0, "positive": y <= 0}.get(self.domain)
        if wrong is not None and wrong.any():
            row = int(np.argmax(wrong))
            number = row if numbers is None else numbers[row]
            raise InvalidInput(
                f"Row {number} of y is {y[row]}: loss={self.name!r} needs targets that are "
                f"{self.domain}. Choose another loss, or drop such rows."
            )
        if self.domain == "not negative" and not y.any():
            raise InvalidInput(
                f"All of y is zero, and loss={self.name!r} has no finite start then. Choose "
                "another loss."
            )
        scale = self._gradient_scale(y)
        if not scale <= _MOST_GRADIENT or 0.0 < scale < _LEAST_GRADIENT:
            raise InvalidInput(
                f"Gradients of loss={self.name!r} would be about {scale:.0e} for this y, beyond "
                f"what 32 bits hold. Multiply y by a constant, and predictions by its inverse."
            )

    def _gradient_scale(self, y: FloatArray) -> float:
        """Give the largest gradient at the start, within a few orders of magnitude."""
        low, high = float(y.min()), float(y.max())
        if self.name in {"squared", "huber"}:
            return high - low if self.name == "squared" else min(high - low, self.parameter)
        powers = {"poisson": 1.0, "tweedie": 2.0 - self.parameter}
        return float(high ** powers.get(self.name, 0.0))

    def start(
        self, y: FloatArray, weights: FloatArray | None, offset: FloatArray | None = None
    ) -> FloatArray:
        """Score of the best constant: the optimum of all rows, or what predicts the mean."""
        if self.has_order_statistic_leaves:
            around = np.zeros_like(y) if offset is None else offset
            return self.best_leaf_values(y, around, weights, all_rows(len(y)), 1)
        if offset is None:
            return link_start(self.link, y, weights)
        if self.name == "squared":
            return link_start(self.link, y - offset[:, 0], weights)
        return best_constant(self, y, weights, offset)

    def derivatives(
        self,
        y: FloatArray,
        scores: FloatArray,
        n_threads: int,
        into: RowDerivatives | None = None,
    ) -> RowDerivatives:
        """Give the derivatives of every row; ``into`` is an earlier answer to write over."""
        if into is None:
            n_hessians = 0 if self.has_constant_hessian else len(y)
            into = RowDerivatives.empty((1, len(y)), (1, n_hessians))
        flat = (into.gradients.reshape(-1), into.hessians.reshape(-1))
        into.limits[:] = [
            _ext.fill_derivatives(
                self.name, self.parameter, y, scores.reshape(-1), *flat, n_threads
            )
        ]
        return into

    def best_leaf_values(
        self,
        y: FloatArray,
        scores: FloatArray,
        weights: FloatArray | None,
        node_rows: RowsOfNodes,
        n_threads: int,
    ) -> FloatArray:
        """Of each leaf the quantile of its residuals, or the best constant of Huber's loss.

        Weights are put on a grid of 2**-61 of their sum, so that sums are exact: whole weights are
        repetitions to the last bit, and the order of rows does not matter. Where the minimum is an
        interval its middle is taken: without weights the values are those of ``numpy.median`` and
        of ``numpy.quantile`` with ``method="averaged_inverted_cdf"``. No penalty counts. Inner
        nodes get the weighted mean of the leaves below.

        Only for losses with ``has_order_statistic_leaves``.

        Parameters
        ----------
        y : (n_rows,)
        scores : (n_rows, 1)
        weights : (n_rows,), positive; None: all 1
        node_rows : the rows of each node
        n_threads : threads; they do not change the result

        Returns
        -------
        (n_nodes,) numbers
        """
        integers = np.empty(0, np.int64)
        if weights is not None:
            integers, _ = fixed_weights(weights, bits=62)
        best: FloatArray = _ext.leaf_optima(
            (self.name, self.parameter),
            (y, scores.reshape(-1)),
            integers,
            node_rows.rows,
            node_rows.first,
            node_rows.last,
            n_threads,
        )
        return best

    def total(
        self, y: FloatArray, scores: FloatArray, weights: FloatArray | None, n_threads: int
    ) -> float:
        """Weighted sum over rows."""
        given = np.empty(0) if weights is None else weights
        flat = scores.reshape(-1)
        return _ext.sum_loss(self.name, self.parameter, y, flat, given, n_threads)


REGRESSION_LOSSES: Mapping[str, PointLoss] = {
    "squared": PointLoss("squared", "identity"),
    "absolute": PointLoss("absolute", "identity"),
    "huber": PointLoss("huber", "identity", parameter=1.0),
    "quantile": PointLoss("quantile", "identity", parameter=0.5),
    "poisson": PointLoss("poisson", "log", "not negative"),
    "gamma": PointLoss("gamma", "log", "positive"),
    "tweedie": PointLoss("tweedie", "log", "not negative", 1.5),
}
BINARY_LOSSES: Mapping[str, PointLoss] = {
    "logistic": PointLoss("logistic", "logistic"),
    "exponential": PointLoss("exponential", "double_logistic"),
}

_PARAMETERS: Mapping[str, tuple[str, float, float]] = {
    "huber": ("The delta", 0.0, np.inf),
    "quantile": ("The level", 0.0, 1.0),
    "tweedie": ("The power", 1.0, 2.0),
}

# Gradients are float32; sums and squares of what is inside stay inside.
_LEAST_GRADIENT, _MOST_GRADIENT = 1e-30, 1e37


def loss_named(name: str, known: Mapping[str, PointLoss]) -> PointLoss:
    """Look a loss up; an unknown name is refused with a suggestion."""
    if name not in known:
        names = ", ".join(map(repr, known))
        raise InvalidParameter(
            f"loss={name!r}: expected one of {names}.{nearest_names(name, known)}"
        )
    return known[name]
