"""How many rounds are best, by folds: as many sums as folds, in lock step over one table of bins.

Cut points come from all rows and no target is looked at for them, so all sums share one table of
bins and one grower. In everything else a sum depends on the training rows of its fold alone. Where
features are derived from targets, every fold has bins and a grower of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.data.table import Table
from spinney.ensembles.gradient.plan import Plan
from spinney.ensembles.gradient.rounds import Booster
from spinney.ensembles.gradient.rows import BoostingRows, Part
from spinney.ensembles.gradient.stopping import Measure, StoppingRule
from spinney.ensembles.gradient.sums import BoostedSum
from spinney.ensembles.sharing import TableRows
from spinney.errors import InvalidInput
from spinney.model import Model
from spinney.progress import follow
from spinney.resampling.folds import Fold
from spinney.typing import AnyArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class FoldCurve:
    """How good the rounds were on rows that their fold did not learn from."""

    scores: FloatArray
    """Before the first round and after each one; the mean over folds, by the weight they test."""
    errors: FloatArray
    """Standard errors of these means, from how folds differ; NaN for a single fold."""
    reason: str
    """Why there are no more rounds."""

    @property
    def best_round(self) -> int:
        """The round with the best mean, the first of equals; at least one."""
        return max(int(np.argmax(self.scores)), 1)


def rows_of_folds(rows: BoostingRows, folds: Sequence[Fold], table: Table) -> list[BoostingRows]:
    """Divide rows into what each fold learns from and what it tests."""
    if isinstance(table, TableRows) and not table.are_all:
        folds = [(table.numbers[train], table.numbers[test]) for train, test in folds]
    divided = []
    for train, test in folds:
        parts = [_part(rows, np.sort(numbers)) for numbers in (train, test)]
        divided.append(replace(rows, train=parts[0], validation=parts[1]))
    return divided


def _part(rows: BoostingRows, numbers: AnyArray) -> Part:
    weights = np.zeros(rows.n_rows)
    given = rows.train.weights
    weights[numbers] = 1.0 if given is None else given[numbers]
    return Part(numbers.astype(np.uint32), weights, rows.train.is_weighted)


def curve_of_folds(
    plan: Plan,
    booster: Booster,
    folds: Sequence[BoostingRows],
    twin_of: Callable[[Model], Any],
) -> FoldCurve:
    """Add rounds to the sums of all folds, in turn, until their mean score no longer rises.

    Of a time budget they leave so much as one more fit takes.
    """
    params, settings = plan.params, booster.settings
    rule = StoppingRule(params["n_iter_no_change"], params["tol"])
    sums = [BoostedSum.start(rows, plan.loss, settings.grid_rate) for rows in folds]
    boosters = [_booster_of(rows, plan, booster) for rows in folds]
    measures = [_measure(plan, of, grown, twin_of) for of, grown in zip(folds, sums, strict=True)]
    counts = np.array([_weight_tested(plan, rows) for rows in folds])
    table = [_measured(measures, sums)]
    means, reason = [_mean(table[0], counts)], "max_iter"
    most = settings.max_rounds
    for _ in follow(range(most), most, "round of all folds", verbose=params["verbose"]):
        for one, rows, grown in zip(boosters, folds, sums, strict=True):
            one.add_round(grown, rows)
            grown.end_round()
        table.append(_measured(measures, sums))
        means.append(_mean(table[-1], counts))
        if rule.says_stop(means):
            reason = "early_stopping"
            break
        if plan.clock.is_over(share=max(len(folds) - 1, 1) / max(len(folds), 2)):
            reason = "time_budget"
            break
    return FoldCurve(np.array(means), _errors(np.array(table), np.array(means)), reason)


def _booster_of(rows: BoostingRows, plan: Plan, booster: Booster) -> Booster:
    """Give the booster of all folds; one of its own to a fold that has its own bins."""
    if rows.binned is booster.rows.binned:
        return booster
    return Booster(rows, plan.loss, booster.settings)


def _measure(
    plan: Plan, rows: BoostingRows, grown: BoostedSum, twin_of: Callable[[Model], Any]
) -> Measure:
    of_fold = replace(plan, rows=rows)
    twin = None if plan.params["scoring"] == "loss" else twin_of(of_fold.freeze(grown))
    return of_fold.measure(_tested(rows), twin)


def _tested(rows: BoostingRows) -> Part:
    if rows.validation is None:
        raise InvalidInput("A fold tests no rows.")
    return rows.validation


def _weight_tested(plan: Plan, rows: BoostingRows) -> float:
    return plan.loss.weight_measured(_tested(rows).weights, rows.n_rows)


def _measured(measures: Sequence[Measure], sums: Sequence[BoostedSum]) -> list[float]:
    return [measure(grown) for measure, grown in zip(measures, sums, strict=True)]


def _mean(scores: list[float], counts: FloatArray) -> float:
    """Mean over folds, one after the other, so that it is the same everywhere."""
    total = 0.0
    for score, count in zip(scores, counts, strict=True):
        total += score * float(count)
    return total / float(sum(counts.tolist()))


def _errors(table: FloatArray, means: FloatArray) -> FloatArray:
    n_folds = table.shape[1]
    if n_folds < 2:
        return np.full(len(table), np.nan)
    squares = ((table - means[:, np.newaxis]) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(squares / (n_folds * (n_folds - 1))))
