"""Losses: the formulas are native (``native/losses/point_losses.hpp``), the rest is here.

A loss knows the constant that fits a target best, the derivatives of every row, and its mean. Rows
are weighted outside: derivatives are those of a single row of weight 1.
"""

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney._native import _ext
from spinney.data.fixed_point import exact_total, fixed_products
from spinney.errors import InvalidInput, InvalidParameter, nearest_names
from spinney.typing import AnyArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class RowDerivatives:
    """First and second derivatives of the loss by the score; (n_outputs, n_rows) float32."""

    gradients: AnyArray
    hessians: AnyArray


class Loss(abc.ABC):
    """What every loss offers; scores are (n_rows, n_outputs) float64, C order."""

    link: str

    @property
    def has_constant_hessian(self) -> bool:
        """Whether all second derivatives are 1."""
        return False

    @property
    def has_order_statistic_leaves(self) -> bool:
        """Whether leaves are given their exact optimum in place of Newton's step."""
        return False

    @abc.abstractmethod
    def start(self, y: FloatArray, weights: FloatArray | None) -> FloatArray:
        """Scores of the best constant prediction; (n_outputs,)."""

    @abc.abstractmethod
    def derivatives(self, y: FloatArray, scores: FloatArray, n_threads: int) -> RowDerivatives:
        """Give the derivatives of every row."""

    @abc.abstractmethod
    def total(
        self, y: FloatArray, scores: FloatArray, weights: FloatArray | None, n_threads: int
    ) -> float:
        """Weighted sum over rows."""

    def best_leaf_values(
        self,
        y: FloatArray,
        scores: FloatArray,
        weights: FloatArray | None,
        node_rows: Any,
        n_threads: int,
    ) -> FloatArray:
        """Best step of every node, where the loss has order-statistic leaves; (n_nodes,)."""
        raise NotImplementedError(f"{type(self).__name__}: leaves are Newton steps")

    def mean(
        self, y: FloatArray, scores: FloatArray, weights: FloatArray | None, n_threads: int = 1
    ) -> float:
        """Weighted mean over rows."""
        count = float(len(y)) if weights is None else exact_total(weights)
        return self.total(y, scores, weights, n_threads) / count

    def check(self, y: FloatArray) -> None:  # noqa: B027 - most losses take every target
        """Refuse targets the loss is not defined for."""


@dataclass(frozen=True, slots=True)
class PointLoss(Loss):
    """A loss of one score per row, given by its native name."""

    name: str
    link: str
    domain: str = "any"
    """``"any"``, ``"not negative"`` or ``"positive"``."""
    parameter: float = 0.0

    @property
    def has_constant_hessian(self) -> bool:
        """Whether all second derivatives are 1."""
        return self.name == "squared"

    def check(self, y: FloatArray) -> None:
        """Refuse targets the loss is not defined for."""
        wrong = {"not negative": y < 0, "positive": y <= 0}.get(self.domain)
        if wrong is not None and wrong.any():
            row = int(np.argmax(wrong))
            raise InvalidInput(
                f"Row {row} of y is {y[row]}: loss={self.name!r} needs targets that are "
                f"{self.domain}. Choose another loss, or drop such rows."
            )
        if self.domain == "not negative" and not y.any():
            raise InvalidInput(
                f"All of y is zero, and loss={self.name!r} has no finite start then. Choose "
                "another loss."
            )

    def start(self, y: FloatArray, weights: FloatArray | None) -> FloatArray:
        """Score whose prediction is the weighted mean, for all losses here the best constant."""
        mean = _weighted_mean(y, weights)
        if self.link == "identity":
            return np.array([mean])
        if self.link == "log":
            return np.array([np.log(mean)])
        # Both classes of a classifier are present, unless there is one only.
        share = min(max(mean, 1e-15), 1.0 - 1e-15)
        log_odds = np.log(share / (1.0 - share))
        return np.array([0.5 * log_odds if self.name == "exponential" else log_odds])

    def derivatives(self, y: FloatArray, scores: FloatArray, n_threads: int) -> RowDerivatives:
        """Give the derivatives of every row."""
        gradients, hessians = np.empty(len(y), np.float32), np.empty(len(y), np.float32)
        flat = scores.reshape(-1)
        _ext.fill_derivatives(self.name, self.parameter, y, flat, gradients, hessians, n_threads)
        return RowDerivatives(gradients[np.newaxis], hessians[np.newaxis])

    def total(
        self, y: FloatArray, scores: FloatArray, weights: FloatArray | None, n_threads: int
    ) -> float:
        """Weighted sum over rows."""
        given = np.empty(0) if weights is None else weights
        flat = scores.reshape(-1)
        return _ext.sum_loss(self.name, self.parameter, y, flat, given, n_threads)


@dataclass(frozen=True, slots=True)
class MultinomialLoss(Loss):
    """Cross-entropy of several classes; y holds their codes."""

    n_classes: int
    link: str = "softmax"

    def start(self, y: FloatArray, weights: FloatArray | None) -> FloatArray:
        """Logarithms of the shares of the classes."""
        shares = [_weighted_mean((y == k).astype(float), weights) for k in range(self.n_classes)]
        return np.log(np.maximum(shares, 1e-15))

    def derivatives(self, y: FloatArray, scores: FloatArray, n_threads: int) -> RowDerivatives:
        """Give the derivatives of every row and class."""
        gradients = np.empty((self.n_classes, len(y)), np.float32)
        hessians = np.empty_like(gradients)
        flat = (gradients.reshape(-1), hessians.reshape(-1))
        codes, given = y.astype(np.int32), scores.reshape(-1)
        _ext.fill_softmax_derivatives(codes, given, self.n_classes, *flat, n_threads)
        return RowDerivatives(gradients, hessians)

    def total(
        self, y: FloatArray, scores: FloatArray, weights: FloatArray | None, n_threads: int
    ) -> float:
        """Weighted sum over rows."""
        given = np.empty(0) if weights is None else weights
        codes = y.astype(np.int32)
        return _ext.sum_softmax_loss(codes, scores.reshape(-1), self.n_classes, given, n_threads)


REGRESSION_LOSSES: Mapping[str, PointLoss] = {
    "squared": PointLoss("squared", "identity"),
    "poisson": PointLoss("poisson", "log", "not negative"),
    "gamma": PointLoss("gamma", "log", "positive"),
    "tweedie": PointLoss("tweedie", "log", "not negative", 1.5),
}
BINARY_LOSSES: Mapping[str, PointLoss] = {
    "logistic": PointLoss("logistic", "logistic"),
    "exponential": PointLoss("exponential", "double_logistic"),
}


def loss_named(name: str, known: Mapping[str, PointLoss]) -> PointLoss:
    """Look a loss up; an unknown name is refused with a suggestion."""
    if name not in known:
        names = ", ".join(map(repr, known))
        raise InvalidParameter(
            f"loss={name!r}: expected one of {names}.{nearest_names(name, known)}"
        )
    return known[name]


def _weighted_mean(y: FloatArray, weights: FloatArray | None) -> float:
    """Mean from exact integer sums, so that neither row order nor repetition changes it."""
    ones = np.ones(len(y)) if weights is None else weights
    products, exponent = fixed_products(ones, y[:, np.newaxis])
    total = int(products.sum())
    return float(np.ldexp(float(total), exponent)) / exact_total(ones)
