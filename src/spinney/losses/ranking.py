"""Losses of ranking: rows of a query are compared with each other.

There is no loss of a single row. What a query asks for, NDCG or average precision, has no slope: it
changes where two rows change places. LambdaMART (Burges 2010) gives every pair of rows the slope of
the logistic loss of their scores, times what changing their places would change; a row is pushed by
all pairs it is part of. The loop is ``native/losses/ranking_pairs.inl``.
"""

from dataclasses import dataclass, replace

import numpy as np

from spinney._native import _ext
from spinney.data.fixed_point import exact_sum, exact_total
from spinney.data.queries import Queries, check_relevance
from spinney.errors import InvalidInput
from spinney.losses.loss import Loss, RowDerivatives
from spinney.typing import AnyArray, ByteArray, FloatArray

RANKING_LOSSES = ("ndcg", "map", "pairwise")
RANKING_METRICS = ("ndcg", "map")


@dataclass(frozen=True, slots=True, eq=False)
class QueryRows:
    """Rows of a fit, and the queries they belong to."""

    queries: Queries
    native: _ext.RankedQueries

    @classmethod
    def of(
        cls, codes: AnyArray, y: FloatArray, gains: FloatArray, bins: ByteArray, n_threads: int
    ) -> "QueryRows":
        """Bring the rows of queries together.

        Parameters
        ----------
        codes : (n_rows,), the query of each row; a negative one: none
        y : (n_rows,), their relevance
        gains : what each relevance is worth
        bins : (n_rows, n_features); they put rows of equal scores into an order
        n_threads : threads; they do not change anything
        """
        queries = Queries.of_codes(codes)
        # Rows of no query may have any relevance; nobody looks at it.
        of_rows = gains[np.clip(y, 0, len(gains) - 1).astype(np.int64)]
        keys = _ext.tie_keys(np.ascontiguousarray(bins), n_threads)
        native = _ext.RankedQueries((y, of_rows), keys, queries.rows, queries.first)
        return cls(queries, native)


@dataclass(frozen=True, slots=True, eq=False)
class RankingLoss(Loss):
    """What pairs of rows of a query are worth, and by what metric rounds are measured."""

    compares_rows = True
    name: str
    """One of ``RANKING_LOSSES``."""
    gains: FloatArray
    """What each relevance is worth."""
    n_gains: int | None
    """How many gains the user gave; None: none."""
    truncation: int
    """A pair counts if one of its rows is among so many first ones."""
    normalize: bool
    """Whether pairs far apart count less, and queries of many pairs do not outweigh the others."""
    metric: str
    """One of ``RANKING_METRICS``."""
    eval_at: int | None
    """How many places of a query the metric looks at; None: all."""
    link: str = "identity"
    over: QueryRows | None = None
    """The rows of a fit; None: not known yet."""

    def over_rows(self, rows: QueryRows) -> "RankingLoss":
        """Give the same loss of the rows of a fit."""
        return replace(self, over=rows)

    @property
    def measured_as(self) -> tuple[str, float]:
        """Name of the metric, of which more is better."""
        return (self.metric if self.eval_at is None else f"{self.metric}@{self.eval_at}"), 1.0

    @property
    def every_hessian_counts(self) -> bool:
        """Whether rows of small second derivatives matter: pairs in order have small gradients."""
        return False

    def start(
        self,
        y: FloatArray,  # noqa: ARG002 - a constant changes no order
        weights: FloatArray | None,  # noqa: ARG002
        offset: FloatArray | None = None,  # noqa: ARG002
    ) -> FloatArray:
        """Begin with 0: a constant changes no order."""
        return np.zeros(1)

    def derivatives(
        self,
        y: FloatArray,
        scores: FloatArray,
        n_threads: int,
        into: RowDerivatives | None = None,
    ) -> RowDerivatives:
        """Give what pushes each row up or down; ``into`` is an earlier answer to write over."""
        if into is None:
            into = RowDerivatives.empty((1, len(y)), (1, len(y)))
        into.limits[:] = [
            self._rows.native.fill_derivatives(
                (self.name, self.truncation, self.normalize),
                scores.reshape(-1),
                into.gradients.reshape(-1),
                into.hessians.reshape(-1),
                n_threads,
            )
        ]
        return into

    def total(
        self,
        y: FloatArray,  # noqa: ARG002 - the rows of the fit are known
        scores: FloatArray,
        weights: FloatArray | None,
        n_threads: int,
    ) -> float:
        """Minus the weighted sum of the metric over queries."""
        rows = self._rows
        values = rows.native.measure(self.metric, self.eval_at or 0, scores.reshape(-1), n_threads)
        return -exact_sum(rows.queries.weights(weights), values)

    def weight_measured(self, weights: FloatArray | None, n_rows: int) -> float:  # noqa: ARG002
        """Sum of the weights of queries."""
        of_queries = self._rows.queries.weights(weights)
        return exact_total(of_queries[of_queries > 0])

    def check(self, y: FloatArray, numbers: AnyArray | None = None) -> None:
        """Refuse labels that say no relevance; ``numbers`` are those rows are known by."""
        binary = "map" in (self.name, self.metric)
        check_relevance(y, self.n_gains, numbers, binary=binary)

    @property
    def _rows(self) -> QueryRows:
        if self.over is None:
            raise InvalidInput(
                "What pushes a row up or down depends on the other rows of its query, and queries "
                "are known only while a ranker is fitted. Ask without X and y."
            )
        return self.over
