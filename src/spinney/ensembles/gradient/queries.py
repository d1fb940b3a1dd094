"""What ``fit`` of a ranker was given: rows, and the queries they belong to."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spinney.data.queries import Queries, read_query_codes, repeated_rows
from spinney.ensembles.fitting import IntakeSettings, Reading, read_rows
from spinney.ensembles.gradient.given import Given
from spinney.ensembles.gradient.rows import BoostingRows, held_out_by_keys
from spinney.ensembles.sharing import TableRows
from spinney.errors import InvalidInput
from spinney.losses import Loss
from spinney.losses.ranking import QueryRows, RankingLoss
from spinney.randomness import RowBits, Stream
from spinney.resampling.folds import Fold
from spinney.resampling.keys import read_codes, read_ranks
from spinney.typing import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GivenQueries(Given):
    """The arguments of ``fit``, as they came. Without queries all rows are one."""

    qid: Any = None
    group: Any = None
    qid_val: Any = None
    group_val: Any = None
    known: dict[str, IntArray] = field(default_factory=dict)
    """Queries of rows, once they are read."""

    @property
    def has_queries(self) -> bool:
        """Whether the user said which query rows belong to."""
        return self.qid is not None or self.group is not None

    def check(self, params: Mapping[str, Any]) -> None:
        """Refuse arguments that contradict each other or the parameters."""
        Given.check(self, params)
        of_validation = self.qid_val is not None or self.group_val is not None
        if of_validation and self.X_val is None:
            name = "group_val" if self.qid_val is None else "qid_val"
            raise InvalidInput(f"{name} is provided, but X_val and y_val are not. Give them.")
        if self.X_val is not None and of_validation != self.has_queries:
            here = "qid or group" if self.has_queries else "qid_val or group_val"
            missing = "qid_val or group_val" if self.has_queries else "qid or group"
            raise InvalidInput(
                f"{here} is provided, but {missing} was not: rows of one table would belong to "
                "queries, and those of the other to none. Give both."
            )

    def read(self, settings: IntakeSettings) -> Reading:
        """Read the training rows; weights are of whole queries, or repeat the rows of the one."""
        reading = read_rows(self.X, self.y, self.sample_weight, settings)
        codes = read_query_codes(self.qid, self.group, reading.n_given)
        if codes is None:
            reading = _repeated(reading)
            codes = np.zeros(len(reading.y), np.int64)
        elif reading.kept is not None:
            codes = codes[reading.kept]
        self.known["train"] = np.unique(codes, return_inverse=True)[1].astype(np.int64)
        if self.has_queries and self.sample_weight is not None:
            _check_weights(self.known["train"], reading)
        return reading

    def drawn(self, reading: Reading, fraction: float, seed: int) -> AnyArray:
        """Choose the queries to validate on, and give their rows; no query is divided.

        By chance; with groups whole groups of them, with time the latest.
        """
        codes = self.known["train"]
        n_queries = int(codes.max()) + 1
        n_drawn = int(fraction) if not isinstance(fraction, float) else round(fraction * n_queries)
        n_drawn = max(n_drawn, 1)
        if n_drawn >= n_queries:
            raise InvalidInput(
                f"validation_fraction={fraction!r} splits {n_drawn} of {n_queries} queries off "
                f"{len(reading.y)} rows and leaves none to learn from. Give more queries, another "
                "fraction, X_val and y_val, or set early_stopping=False."
            )
        groups, time = self.fold_keys(reading)
        if self.groups is not None or time is not None:
            of_queries = np.zeros(len(codes))
            of_queries[np.unique(codes, return_index=True)[1]] = 1.0  # so that queries are counted
            counted, share = replace(reading, weights=of_queries), n_drawn / n_queries
            return held_out_by_keys(counted, share, seed, groups=groups, time=time)
        draws = RowBits(n_queries)(seed, Stream.ROWS, range(n_queries))
        held_out = np.argsort(draws, kind="stable")[:n_drawn]
        return np.flatnonzero(np.isin(codes, held_out)).astype(np.uint32)

    def folds(self, params: Mapping[str, Any], reading: Reading, seed: int) -> list[Fold]:
        """Divide the queries."""
        cv, n_queries = params["cv"], int(self.known["train"].max()) + 1
        if isinstance(cv, int | np.integer) and cv > n_queries:
            raise InvalidInput(
                f"cv={cv} with early_stopping='cv': there are {n_queries} queries, and no fold "
                "divides one. Give more queries (qid= or group=) or fewer folds."
            )
        return Given.folds(self, params, reading, seed)

    def fold_keys(self, reading: Reading) -> tuple[Any, Any]:
        """Give the queries, or groups of them, and their times: no fold divides a query."""
        codes, (groups, time) = self.known["train"], Given.fold_keys(self, reading)
        if time is not None:
            time = read_ranks(time, len(codes))
            _check_one_per_query(codes, time, "time", reading)
        if groups is None:
            return codes, time
        groups = read_codes(groups, len(codes), "groups")
        _check_one_per_query(codes, groups, "groups", reading)
        return groups, time

    def loss_over(self, loss: Loss, rows: BoostingRows, n_threads: int) -> RankingLoss:
        """Give the loss of the queries of all rows, also of those that are only measured on."""
        if not isinstance(loss, RankingLoss):
            raise InvalidInput(f"{loss!r} is no loss of queries.")
        codes = self.known["train"]
        if len(rows.tables) == 2:
            codes = np.append(codes, self._validation_codes(rows, len(codes)))
        bins = rows.binned.dense(n_threads)
        return loss.over_rows(QueryRows.of(codes, rows.y, loss.gains, bins, n_threads))

    def _validation_codes(self, rows: BoostingRows, n_train: int) -> IntArray:
        """Put the queries of ``X_val`` behind those of ``X``; rows of weight 0 have none."""
        n_rows = rows.n_rows - n_train
        names = ("qid_val", "group_val")
        codes = read_query_codes(self.qid_val, self.group_val, n_rows, names)
        codes = np.zeros(n_rows, np.int64) if codes is None else codes
        if self.sample_weight_val is not None and rows.validation is not None:
            weights: FloatArray = np.asarray(rows.validation.weights)[n_train:]
            codes = np.where(weights > 0, codes, -1)
            Queries.of_codes(codes).check_weights(weights, "sample_weight_val")
        behind = int(self.known["train"].max()) + 1
        return np.where(codes < 0, -1, codes + behind)


def _check_one_per_query(codes: IntArray, keys: IntArray, what: str, reading: Reading) -> None:
    """Refuse keys of folds that differ within a query; messages number the rows that were given."""
    first = np.unique(codes, return_index=True)[1][codes]
    wrong = keys != keys[first]
    if wrong.any():
        row = int(np.argmax(wrong))
        rows = np.array([first[row], row])
        rows = rows if reading.kept is None else reading.kept[rows]
        raise InvalidInput(
            f"Rows {rows[0]} and {rows[1]} belong to the same query and differ in {what}: folds "
            f"divide no query, so it goes by one entry of {what}. Give all rows of a query the "
            "same."
        )


def _check_weights(codes: IntArray, reading: Reading) -> None:
    """Refuse weights that differ within a query; messages number the rows that were given."""
    queries = Queries.of_codes(codes)
    if reading.kept is None or reading.weights is None:
        queries.check_weights(reading.weights)
        return
    weights = np.zeros(reading.n_given)
    weights[reading.kept] = reading.weights
    replace(queries, rows=reading.kept[queries.rows]).check_weights(weights)


def _repeated(reading: Reading) -> Reading:
    """Without queries there is only one, and a weight repeats a row in it."""
    weights = reading.weights
    if weights is None or (weights == 1.0).all():
        return replace(reading, weights=None)
    if isinstance(reading.table, TableRows):
        raise InvalidInput(
            "Without qid or group all rows are one query, in which a weight of k is the row k "
            "times, and a table that shares its bins repeats no rows. Give queries."
        )
    rows = repeated_rows(weights)
    return replace(
        reading,
        table=reading.table.take(rows),
        y=reading.y[rows],
        weights=None,
        kept=rows if reading.kept is None else reading.kept[rows],
    )
