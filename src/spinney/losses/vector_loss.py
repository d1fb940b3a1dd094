"""Several targets at once, each with a loss of its own, in trees whose leaves are vectors."""

import itertools
from dataclasses import dataclass

import numpy as np

from spinney.errors import InvalidInput
from spinney.losses.loss import Loss, PointLoss, RowDerivatives
from spinney.losses.multinomial import MultinomialLoss
from spinney.losses.node_rows import RowsOfNodes
from spinney.typing import AnyArray, FloatArray


@dataclass(frozen=True, slots=True)
class VectorLoss(Loss):
    """The mean of losses, one for each target.

    Targets are (n_rows, n_targets), best in Fortran order; or (n_rows,), the same for all parts:
    several quantiles of one number. A part has one output, or one for each of its classes.
    """

    parts: tuple[PointLoss | MultinomialLoss, ...]
    """One for each target; all have hessians or none has, and only such losses are mixed."""
    link: str
    factors: tuple[float, ...] = ()
    """What gradients are multiplied with where splits are chosen, so that outputs count alike;
    none: 1 each. Only for losses whose leaves are exact optima, which factors do not change."""
    shares_trees = True

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        """Raw scores of a row, those of all parts side by side."""
        return sum(loss.n_outputs for loss in self.parts)

    @property
    def spans(self) -> list[slice]:
        """The outputs of each part."""
        ends = list(itertools.accumulate((loss.n_outputs for loss in self.parts), initial=0))
        return [slice(first, last) for first, last in itertools.pairwise(ends)]

    @property
    def longest_step(self) -> float:
        """Largest magnitude of a Newton step that is believed; 0: of every size."""
        return self.parts[0].longest_step

    @property
    def every_hessian_counts(self) -> bool:
        """Whether rows of small second derivatives have gradients that matter."""
        return self.parts[0].every_hessian_counts

    @property
    def has_constant_hessian(self) -> bool:
        """Whether all second derivatives are 1."""
        return self.parts[0].has_constant_hessian

    @property
    def has_order_statistic_leaves(self) -> bool:
        """Whether leaves are given their exact optimum in place of Newton's step."""
        return self.parts[0].has_order_statistic_leaves

    @property
    def has_exact_steps(self) -> bool:
        """Whether a formula knows the optima of leaves from Newton's steps."""
        return self.parts[0].has_exact_steps

    def exact_steps(self, newton: FloatArray) -> FloatArray:
        """Give the optima of leaves from Newton's steps: all outputs have the same formula."""
        return self.parts[0].exact_steps(newton)

    def newton_steps(self, exact: FloatArray) -> FloatArray:
        """Take ``exact_steps`` back."""
        return self.parts[0].newton_steps(exact)

    def check(self, y: FloatArray, numbers: AnyArray | None = None) -> None:
        """Refuse targets that the loss of an output is not defined for."""
        for k, loss in enumerate(self.parts if y.ndim == 2 else self.parts[:1]):
            try:
                loss.check(_column(y, k), numbers)
            except InvalidInput as error:
                where = f"In output {k} (column {k} of y): " if y.ndim == 2 else ""
                raise InvalidInput(f"{where}{error}") from error

    def start(
        self, y: FloatArray, weights: FloatArray | None, offset: FloatArray | None = None
    ) -> FloatArray:
        """Scores of the best constant of each part, on top of its offset."""
        starts = [
            loss.start(_column(y, k), weights, None if offset is None else offset[:, span])
            for k, (loss, span) in enumerate(zip(self.parts, self.spans, strict=True))
        ]
        return np.concatenate(starts)

    def derivatives(
        self,
        y: FloatArray,
        scores: FloatArray,
        n_threads: int,
        into: RowDerivatives | None = None,
    ) -> RowDerivatives:
        """Give the derivatives of every row and output; ``into`` is an earlier answer."""
        if into is None:
            n_rows, n_outputs = len(y), self.n_outputs
            n_hessians = 0 if self.has_constant_hessian else n_rows
            into = RowDerivatives.empty((n_outputs, n_rows), (n_outputs, n_hessians))
        limits = []
        for k, (loss, span) in enumerate(zip(self.parts, self.spans, strict=True)):
            of_part = RowDerivatives(into.gradients[span], into.hessians[span], [])
            loss.derivatives(_column(y, k), scores[:, span], n_threads, of_part)
            limits += of_part.limits
        for k, factor in enumerate(np.array(self.factors, np.float32)):
            into.gradients[k] *= factor
            limits[k] = (float(np.float32(limits[k][0]) * factor), limits[k][1])
        into.limits[:] = limits
        return into

    def best_leaf_values(
        self,
        y: FloatArray,
        scores: FloatArray,
        weights: FloatArray | None,
        node_rows: RowsOfNodes,
        n_threads: int,
    ) -> FloatArray:
        """Give the vectors of the nodes, one behind the other: the optimum of every output.

        As of a single output; only for losses with ``has_order_statistic_leaves``.
        """
        values = [
            loss.best_leaf_values(_column(y, k), _column(scores, k), weights, node_rows, n_threads)
            for k, loss in enumerate(self.parts)
            if isinstance(loss, PointLoss)
        ]
        return np.column_stack(values).reshape(-1)

    def total(
        self, y: FloatArray, scores: FloatArray, weights: FloatArray | None, n_threads: int
    ) -> float:
        """Weighted sum over rows of the mean over parts."""
        total = 0.0
        for k, (loss, span) in enumerate(zip(self.parts, self.spans, strict=True)):
            total += loss.total(_column(y, k), scores[:, span], weights, n_threads)
        return total / len(self.parts)


def _column(values: FloatArray, k: int) -> FloatArray:
    """Give one column of numbers; those that all parts share as they are."""
    return values if values.ndim == 1 else np.ascontiguousarray(values[:, k])
