"""Queries: which rows are ranked against each other, however the user says so."""

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data.keys import read_codes
from spinney.data.sources.vector import read_vector
from spinney.errors import InvalidInput, InvalidInputType
from spinney.typing import AnyArray, FloatArray, IntArray

MOST_EXPONENTIAL_LABEL = 31
"""The largest relevance whose gain is 2**relevance - 1 unless gains are given."""

_MOST_REPEATED = 10_000_000
"""Rows that a query of repeated rows may have."""


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """The rows of each query."""

    rows: AnyArray
    """Numbers of rows, query after query, in each of them increasing."""
    first: IntArray
    """(n_queries + 1,): query q has ``rows[first[q]:first[q + 1]]``."""

    @classmethod
    def of_codes(cls, codes: IntArray) -> "Queries":
        """Bring rows of the same code together; a negative code is no query.

        Examples
        --------
        >>> queries = Queries.of_codes(np.array([1, 0, -1, 1]))
        >>> queries.rows.tolist(), queries.first.tolist()
        ([1, 0, 3], [0, 1, 3])
        """
        order = np.argsort(codes, kind="stable")
        order = order[np.searchsorted(codes[order], 0) :]
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        return cls(order.astype(np.uint32), np.append(starts, len(order)).astype(np.int64))

    @property
    def n_queries(self) -> int:
        """How many there are."""
        return len(self.first) - 1

    def weights(self, of_rows: FloatArray | None) -> FloatArray:
        """Give the weight of each query: that of its rows, which is the same for all."""
        if of_rows is None:
            return np.ones(self.n_queries)
        return np.asarray(of_rows[self.rows[self.first[:-1]]], np.float64)

    def check_weights(self, of_rows: FloatArray | None, what: str = "sample_weight") -> None:
        """Refuse weights that differ within a query."""
        if of_rows is None:
            return
        sorted_weights = of_rows[self.rows]
        expected = np.repeat(sorted_weights[self.first[:-1]], np.diff(self.first))
        wrong = sorted_weights != expected
        if wrong.any():
            place = int(np.argmax(wrong))
            query = int(np.searchsorted(self.first, place, side="right")) - 1
            rows = (int(self.rows[self.first[query]]), int(self.rows[place]))
            raise InvalidInput(
                f"{what} is {expected[place]:g} in row {rows[0]} and {sorted_weights[place]:g} in "
                f"row {rows[1]} of the same query: a weight of k counts as the whole query k "
                "times. Give the rows of a query the same weight; 0 leaves a row out."
            )


def read_query_codes(
    qid: Any, group: Any, n_rows: int, names: tuple[str, str] = ("qid", "group")
) -> IntArray | None:
    """Read which query each row belongs to, from labels or from sizes; None: neither is given.

    Parameters
    ----------
    qid : n_rows labels of any kind; rows of a query need not be neighbours
    group : sizes of the queries, whose rows are neighbours
    n_rows : rows there are
    names : what both are called

    Examples
    --------
    >>> read_query_codes(["b", "a", "b"], None, 3).tolist()
    [1, 0, 1]
    >>> read_query_codes(None, [2, 1], 3).tolist()
    [0, 0, 1]
    """
    if qid is not None and group is not None:
        raise InvalidInput(
            f"{names[0]} and {names[1]} are both given: expected one of them. {names[0]} names the "
            f"query of each row, {names[1]} has the sizes of queries whose rows are neighbours."
        )
    if qid is not None:
        return read_codes(qid, n_rows, names[0])
    return None if group is None else _codes_of_sizes(group, n_rows, names[1])


def _codes_of_sizes(group: Any, n_rows: int, name: str) -> IntArray:
    if isinstance(group, numbers.Number):
        group = [group]
    sizes = read_vector(group, name)
    if sizes.ndim != 1 or sizes.size == 0:
        raise InvalidInput(
            f"{name} has the shape {sizes.shape}: expected one size for each query, such as "
            f"[{n_rows}] if there is only one."
        )
    if sizes.dtype.kind not in "iuf":
        raise InvalidInputType(
            f"{name} has type {sizes.dtype}: expected whole numbers, the sizes of queries. Labels "
            "of queries, one per row, are qid."
        )
    wrong = ~(np.isfinite(sizes) & (sizes >= 1) & (sizes == np.floor(sizes)))
    if wrong.any():
        place = int(np.argmax(wrong))
        raise InvalidInput(
            f"{name}[{place}] is {sizes[place]}: expected the number of rows of a query, 1 or "
            "more. Leave out queries without rows."
        )
    total = sum(map(int, sizes.tolist()))  # of any size
    if total != n_rows:
        hint = " Labels of queries, one per row, are qid." if len(sizes) == n_rows else ""
        raise InvalidInput(
            f"{name} adds up to {total}, but there are {n_rows} rows: expected the sizes of all "
            f"queries, in the order of the rows.{hint}"
        )
    return np.repeat(np.arange(len(sizes)), sizes.astype(np.int64))


def repeated_rows(weights: FloatArray) -> IntArray:
    """Give every row as often as it counts in the one query there is without labels of queries.

    Examples
    --------
    >>> repeated_rows(np.array([2.0, 0.0, 1.0])).tolist()
    [0, 0, 2]
    """
    if not (weights % 1.0 == 0.0).all() or weights.sum() > _MOST_REPEATED:
        raise InvalidInput(
            "Without qid or group all rows are one query, in which a weight of k is the row k "
            f"times: expected whole weights that add up to {_MOST_REPEATED} at most. Give queries, "
            "all of whose rows weigh the same, or leave sample_weight out."
        )
    return np.repeat(np.arange(len(weights)), weights.astype(np.int64))


def read_gains(label_gain: Any) -> FloatArray:
    """Read the gain of each relevance: 2**relevance - 1, or what the user says.

    Examples
    --------
    >>> read_gains(None)[:4].tolist(), read_gains([0, 1, 5]).tolist()
    ([0.0, 1.0, 3.0, 7.0], [0.0, 1.0, 5.0])
    """
    if label_gain is None:
        return np.asarray(np.ldexp(1.0, np.arange(MOST_EXPONENTIAL_LABEL + 1)) - 1.0)
    try:
        gains = np.array(read_vector(label_gain, "label_gain"), np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(
            f"label_gain={label_gain!r} cannot be read as numbers: expected the gains of relevance "
            "0, 1, 2, ..., or None for 0, 1, 3, 7, ..."
        ) from error
    fits = gains.ndim == 1 and gains.size > 0 and bool(np.isfinite(gains).all())
    if not fits or gains.min() < 0.0 or gains.max() > 1e100 or (np.diff(gains) < 0.0).any():
        raise InvalidInput(
            f"label_gain={label_gain!r}: expected the gains of relevance 0, 1, 2, ..., none of "
            "them negative, above 1e100 or below the one before; or None for 0, 1, 3, 7, ..."
        )
    return gains


def check_relevance(
    y: FloatArray,
    n_gains: int | None,
    numbers_of_rows: AnyArray | None = None,
    *,
    binary: bool = False,
) -> None:
    """Refuse labels that say no relevance: 0, 1, 2, ..., as many as there are gains.

    Parameters
    ----------
    y : (n_rows,)
    n_gains : how many gains were given; None: none, they are 2**relevance - 1
    numbers_of_rows : those that rows are known by
    binary : whether only 0 and 1 are expected
    """
    most = 1 if binary else MOST_EXPONENTIAL_LABEL if n_gains is None else n_gains - 1
    wrong = ~((y >= 0) & (y <= most) & (y == np.floor(y)))
    if not wrong.any():
        return
    row = int(np.argmax(wrong))
    value, number = float(y[row]), row if numbers_of_rows is None else numbers_of_rows[row]
    start = f"Row {number} of y is {value:g}: "
    if value < 0 or value != np.floor(value):
        raise InvalidInput(
            f"{start}relevance is a whole number from 0 (not relevant) up. Put y into grades, for "
            "example by numpy.searchsorted, or shift it so that the least is 0."
        )
    if binary:
        raise InvalidInput(
            f"{start}average precision knows only relevant (1) and not relevant (0) rows. Give "
            "for example (y > 0).astype(int), or choose ndcg."
        )
    if n_gains is None:
        raise InvalidInput(
            f"{start}gains are 2**relevance - 1, and above {MOST_EXPONENTIAL_LABEL} a single row "
            "would outweigh all others. Put y into fewer grades, or give label_gain, one gain for "
            "each relevance."
        )
    raise InvalidInput(
        f"{start}label_gain has {n_gains} gains, for relevance 0 to {most}. Give more gains, or "
        "put y into fewer grades."
    )
