"""The loss of several classes."""

from dataclasses import dataclass

import numpy as np

from spinney._native import _ext
from spinney.losses.downhill import best_constant
from spinney.losses.loss import Loss, RowDerivatives
from spinney.losses.starts import link_start
from spinney.typing import FloatArray


@dataclass(frozen=True, slots=True)
class MultinomialLoss(Loss):
    """Cross-entropy of several classes; y holds their codes."""

    n_classes: int
    link: str = "softmax"

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        """Raw scores of a row: one per class."""
        return self.n_classes

    def start(
        self, y: FloatArray, weights: FloatArray | None, offset: FloatArray | None = None
    ) -> FloatArray:
        """Logarithms of the shares of the classes, or what is best on top of the offset."""
        if offset is None:
            return link_start(self.link, y, weights, self.n_classes)
        return best_constant(self, y, weights, offset, self.n_classes)

    def derivatives(
        self,
        y: FloatArray,
        scores: FloatArray,
        n_threads: int,
        into: RowDerivatives | None = None,
    ) -> RowDerivatives:
        """Give the derivatives of every row and class."""
        if into is None:
            shape = (self.n_classes, len(y))
            into = RowDerivatives.empty(shape, shape)
        flat = (into.gradients.reshape(-1), into.hessians.reshape(-1))
        codes, given = y.astype(np.int32, copy=False), scores.T.reshape(-1)
        into.limits[:] = _ext.fill_softmax_derivatives(
            codes, given, self.n_classes, *flat, n_threads
        )
        return into

    def total(
        self, y: FloatArray, scores: FloatArray, weights: FloatArray | None, n_threads: int
    ) -> float:
        """Weighted sum over rows."""
        given = np.empty(0) if weights is None else weights
        codes = y.astype(np.int32, copy=False)
        flat = scores.T.reshape(-1)
        return _ext.sum_softmax_loss(codes, flat, self.n_classes, given, n_threads)
