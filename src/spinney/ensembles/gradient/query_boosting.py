"""Boosting of queries: what a ranker does, whatever its parameters are."""

from collections.abc import Iterator
from time import monotonic
from typing import Any, Self

from spinney.data.queries import read_gains
from spinney.data.target import Target
from spinney.ensembles.gradient.boosting import GradientBoosting
from spinney.ensembles.gradient.callbacks import read_callbacks
from spinney.ensembles.gradient.queries import GivenQueries
from spinney.losses.ranking import RankingLoss
from spinney.theory.ranking_quality import average_precision, ndcg
from spinney.typing import FloatArray, TableLike

_MOST = 2**31 - 1
"""A larger truncation is none."""


class QueryBoosting(GradientBoosting):
    """Base of the ranker: it learns from queries, and its answers are scores."""

    _task = "ranking"
    loss: str
    truncation: int
    normalize: bool
    label_gain: Any
    scoring: str
    eval_at: int | None

    def fit(
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        offset: Any = None,
        X_val: TableLike = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        qid_val: Any = None,
        group_val: Any = None,
        offset_val: Any = None,
        groups: Any = None,
        time: Any = None,
        callbacks: Any = None,
    ) -> Self:
        """Add trees that pull relevant rows of a query before the others.

        An interrupt (Ctrl-C) keeps the rounds learnt so far, and warns.

        Parameters
        ----------
        X : table of n rows
            pandas, polars or Arrow table, NumPy array, SciPy sparse matrix.
        y : n whole numbers
            How relevant rows are: 0 is not relevant, and every further grade is more so.
        sample_weight : n numbers, optional
            The same for all rows of a query: a weight of k counts as the query k times. Rows of
            weight 0 are as if absent. Without queries, whole weights repeat rows in the one query.
        qid : n labels, optional
            The query of each row. Rows of a query need not be neighbours.
        group : sizes, optional
            In place of ``qid``: how many neighbouring rows are a query, one query after the other.
            Without both, all rows are one query.
        offset : n numbers, optional
            Scores that are known before; trees are added to them. ``predict`` has to be given
            them too.
        X_val, y_val, sample_weight_val, qid_val, group_val, offset_val : optional
            Rows to measure rounds on, for early stopping, in place of queries split off X. Their
            weights count in the score only.
        groups, time : n labels, n sortable keys, optional
            How early stopping divides queries, which it always keeps whole: no group of queries is
            divided, and nothing is learnt from the future. The same for all rows of a query.
            ``early_stopping=True`` holds out whole groups or the latest queries, not both.
        callbacks : callable or list of callables, optional
            Called after every round with a view of it: ``round``, ``train_score``,
            ``validation_score``, ``seconds``, and ``model``, which is made when it is asked for.
            One that gives True ends the fit after this round.

        Returns
        -------
        self
        """
        began = monotonic()
        self._check_parameters()
        given = GivenQueries(
            X=X,
            y=y,
            sample_weight=sample_weight,
            qid=qid,
            group=group,
            offset=offset,
            X_val=X_val,
            y_val=y_val,
            sample_weight_val=sample_weight_val,
            qid_val=qid_val,
            group_val=group_val,
            offset_val=offset_val,
            groups=groups,
            time=time,
        )
        return self._fit(given, began, read_callbacks(callbacks))

    def predict(self, X: TableLike, offset: Any = None) -> FloatArray:
        """Give the score of each row; (n_rows,). More is earlier in the order of its query.

        ``offset`` are n numbers that are added; after a fit with ``offset`` they have to be given.
        """
        scores: FloatArray = self._predictions(X, offset)[:, 0]
        return scores

    def staged_predict(self, X: TableLike, offset: Any = None) -> Iterator[FloatArray]:
        """Give what ``predict`` would say after each round."""
        for scores in self._staged_scores(X, offset):
            yield scores[:, 0]

    def score(
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        offset: Any = None,
    ) -> float:
        """Give the mean over queries of NDCG, or of what ``scoring`` says, at ``eval_at``.

        Of rows with equal scores the mean over all their orders is taken; a query without any
        relevant row counts as 1.

        Parameters
        ----------
        X : table of n rows
        y : n whole numbers
        sample_weight : n numbers, optional
            The same for all rows of a query; without queries whole numbers, which repeat rows.
        qid, group : n labels, or sizes
            The query of each row; without both, all rows are one query.
        offset : n numbers, optional
        """
        scores, k = self.predict(X, offset), self.eval_at
        given: dict[str, Any] = {"qid": qid, "group": group, "sample_weight": sample_weight}
        if self._metric() == "map":
            return average_precision(y, scores, k=k, **given).mean
        return ndcg(y, scores, k=k, label_gain=self.label_gain, **given).mean

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _metric(self) -> str:
        if self.scoring != "loss":
            return self.scoring
        return "map" if self.loss == "map" else "ndcg"

    def _parameters(self) -> dict[str, Any]:
        return {**super()._parameters(), "scoring": "loss"}  # the metric is part of the loss

    def _loss(self, target: Target) -> RankingLoss:  # noqa: ARG002 - classifiers look at it
        gains = read_gains(self.label_gain)
        return RankingLoss(
            name=self.loss,
            gains=gains,
            n_gains=None if self.label_gain is None else len(gains),
            truncation=min(int(self.truncation), _MOST),
            normalize=bool(self.normalize),
            metric=self._metric(),
            eval_at=None if self.eval_at is None else int(self.eval_at),
        )
