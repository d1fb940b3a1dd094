"""How well scores put the rows of queries into order: NDCG and average precision.

Where rows have equal scores, the mean over all their orders is taken: no order of the table
matters. A query for which every order is a best one counts as 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data.queries import (
    Queries,
    check_relevance,
    read_gains,
    read_query_codes,
    repeated_rows,
)
from spinney.errors import InvalidInput
from spinney.results import Result, read_only
from spinney.theory.checks import count, number_array, row_counts
from spinney.typing import AnyArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RankingQuality(Result):
    """A metric of each query.

    Examples
    --------
    >>> print(ndcg([2, 0, 1, 0, 1], [0.9, 0.1, 0.5, 0.7, 0.6], qid=["a", "a", "a", "b", "b"]))
    NDCG: mean 0.8155 over 2 queries
    query  rows  weight    ndcg
        0     3       1       1
        1     2       1  0.6309
    """

    name: str
    """What is measured, such as "ndcg@10"."""
    values: FloatArray
    """Of each query, in the order of their sorted labels, or of the table."""
    n_rows: AnyArray
    """Rows of each query."""
    weights: FloatArray
    """How often each query counts."""

    @property
    def mean(self) -> float:
        """Weighted mean over queries."""
        return float((self.values * self.weights).sum() / self.weights.sum())

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the queries."""
        return {
            "query": list(range(len(self.values))),
            "rows": self.n_rows.tolist(),
            "weight": self.weights.tolist(),
            self.name: self.values.tolist(),
        }

    def title(self) -> str:
        """Say in a line what the table shows."""
        many = f"{len(self.values)} queries"
        return f"{self.name.upper()}: mean {self.mean:.4g} over {many}"


def ndcg(
    y: Any,
    score: Any,
    *,
    qid: Any = None,
    group: Any = None,
    k: int | None = None,
    label_gain: Any = None,
    sample_weight: Any = None,
) -> RankingQuality:
    """Tell how much of the possible gain stands in the first places of each query.

    The gain of a row at place i counts 1 / log2(i + 1); the sum is divided by that of the best
    order.

    Parameters
    ----------
    y : n whole numbers
        Relevance, from 0 up.
    score : n numbers
        The larger the earlier.
    qid, group : n labels, or sizes of queries whose rows are neighbours
        The query of each row; without both, all rows are one query.
    k : int or None
        Places that count; None: all.
    label_gain : sequence of numbers or None
        Gains of relevance 0, 1, 2, ...; None: 2**relevance - 1.
    sample_weight : n numbers, optional
        How often each query counts, the same in all of its rows; rows of weight 0 are as if
        absent. Without queries, whole weights repeat rows in the one query.

    Returns
    -------
    RankingQuality

    Examples
    --------
    >>> round(ndcg([0, 1, 2], [0.1, 0.4, 0.9]).mean, 3)
    1.0
    """
    gains = read_gains(label_gain)
    rows = _Places.read(y, score, (qid, group), sample_weight)
    check_relevance(rows.y, None if label_gain is None else len(gains), rows.numbers)
    discounts = 1.0 / np.log2(rows.place + 2.0)
    if k is not None:
        discounts[rows.place >= count("k", k)] = 0.0
    gain = gains[rows.y.astype(np.int64)]
    best = gain[np.lexsort((-gain, rows.query))]
    found = rows.sums(rows.tie_means(gain) * discounts)
    possible = rows.sums(best * discounts)
    values = np.where(possible > 0.0, found / np.where(possible > 0.0, possible, 1.0), 1.0)
    return rows.quality("ndcg", k, values)


def average_precision(
    y: Any,
    score: Any,
    *,
    qid: Any = None,
    group: Any = None,
    k: int | None = None,
    sample_weight: Any = None,
) -> RankingQuality:
    """Tell how many of the rows down to each relevant one are relevant, on the mean.

    Parameters
    ----------
    y : n numbers 0 and 1
        Whether rows are relevant.
    score, qid, group, sample_weight
        As in :func:`ndcg`.
    k : int or None
        Places that count; None: all. The mean is then over at most k relevant rows.

    Returns
    -------
    RankingQuality

    Examples
    --------
    >>> round(average_precision([0, 1, 1], [0.5, 0.4, 0.9]).mean, 3)
    0.833
    """
    rows = _Places.read(y, score, (qid, group), sample_weight)
    check_relevance(rows.y, None, rows.numbers, binary=True)
    size, here = rows.tie_sums(np.ones(len(rows.y))), rows.tie_sums(rows.y)
    before = rows.hits_before_tie()
    # A place of a tie holds a hit with probability here / size; of the other hits of the tie as
    # many are before it as its share of the places.
    rise = np.where(size > 1, (here - 1.0) / np.maximum(size - 1.0, 1.0), 0.0)
    expected = here / size * (before + 1.0 + rows.place_in_tie * rise) / (rows.place + 1.0)
    relevant = rows.sums(rows.y)
    most = relevant
    if k is not None:
        expected[rows.place >= count("k", k)] = 0.0
        most = np.minimum(relevant, k)
    found = rows.sums(expected)
    values = np.where(relevant > 0, found / np.maximum(most, 1.0), 1.0)
    return rows.quality("map", k, values)


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Rows of queries, query after query, from the largest score of each on."""

    numbers: AnyArray
    """Of the rows, as they were given."""
    y: FloatArray
    query: AnyArray
    first: AnyArray
    """Where each query begins."""
    place: AnyArray
    """Of each row in its query, from 0."""
    tie: AnyArray
    """Where each run of equal scores begins."""
    weights: FloatArray

    @classmethod
    def read(cls, y: Any, score: Any, queries: tuple[Any, Any], sample_weight: Any) -> "_Places":
        scores, labels = number_array("score", score), number_array("y", y)
        n_rows = len(scores)
        if len(labels) != n_rows:
            raise InvalidInput(f"y has {len(labels)} labels for {n_rows} scores. Give one per row.")
        codes = read_query_codes(*queries, n_rows)
        counts = row_counts(sample_weight, n_rows)
        if codes is None:  # one query, in which weights repeat rows
            kept, first, weights = repeated_rows(counts), np.zeros(1, np.int64), np.ones(1)
            query = np.zeros(len(kept), np.int64)
        else:
            found = Queries.of_codes(np.where(counts > 0.0, codes, -1))
            found.check_weights(counts)
            kept, first, weights = found.rows, found.first[:-1], found.weights(counts)
            query = np.repeat(np.arange(found.n_queries), np.diff(found.first))
        order = np.lexsort((-scores[kept], query))  # queries stay where they are
        numbers = kept[order]
        place = np.arange(len(numbers)) - first[query]
        is_new = np.append(True, np.diff(scores[numbers]) != 0.0) | (place == 0)
        tie = np.flatnonzero(is_new)
        return cls(numbers, labels[numbers], query, first, place, tie, weights)

    def sums(self, values: FloatArray) -> FloatArray:
        """Add up each query."""
        return np.add.reduceat(values, self.first)

    def tie_sums(self, values: FloatArray) -> FloatArray:
        """Add up each run of equal scores, and give every row of it the sum."""
        return np.repeat(np.add.reduceat(values, self.tie), self._lengths)

    def tie_means(self, values: FloatArray) -> FloatArray:
        """Give every row of a run of equal scores its mean."""
        return np.asarray(self.tie_sums(values) / np.repeat(self._lengths, self._lengths))

    @property
    def place_in_tie(self) -> AnyArray:
        """Place of each row in its run of equal scores, from 0."""
        return np.asarray(np.arange(len(self.y)) - np.repeat(self.tie, self._lengths))

    def hits_before_tie(self) -> FloatArray:
        """Count the relevant rows of the query before the run of equal scores."""
        before = np.cumsum(self.y) - self.y
        at_tie: FloatArray = np.repeat(before[self.tie], self._lengths)
        return at_tie - np.asarray(before[self.first][self.query])

    @property
    def _lengths(self) -> AnyArray:
        lengths: AnyArray = np.diff(self.tie, append=len(self.y))
        return lengths

    def quality(self, name: str, k: int | None, values: FloatArray) -> RankingQuality:
        lengths = np.diff(self.first, append=len(self.y))
        shown = name if k is None else f"{name}@{k}"
        return RankingQuality(shown, read_only(values), read_only(lengths), self.weights)
