"""How many rounds are best, by folds: as many sums as folds, in lock step over one table of bins.

Cut points come from all rows and no target is looked at for them, so all sums share one table of
bins and one grower. In everything else a sum depends on the training rows of its fold alone. Where
features are derived from targets, every fold has bins and a grower of its own.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.ensembles.gradient.plan import Plan
from spinney.ensembles.gradient.rounds import Booster, Diverged, RoundSettings
from spinney.ensembles.gradient.rows import BoostingRows, Part
from spinney.ensembles.gradient.stopping import Measure, StoppingRule
from spinney.ensembles.gradient.sums import BoostedSum
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
    of_folds: FloatArray
    """What each fold scored in the best round."""

    @property
    def best_round(self) -> int:
        """The round with the best mean, the first of equals; at least one."""
        return max(int(np.argmax(self.scores)), 1)

    def beats(self, other: "FoldCurve") -> bool:
        """Tell whether it is better by more than a standard error of the difference."""
        gains = self.of_folds - other.of_folds
        gain = float(np.max(self.scores) - np.max(other.scores))
        if len(gains) < 2:
            return gain > 0.0
        return gain > float(_errors(gains[np.newaxis], np.array([gain]))[0])


@dataclass(frozen=True, slots=True)
class Pace:
    """How much longer the steps of folds are than those of the model that they choose rounds for.

    The best sum of steps depends little on their length once they are short, so folds may hurry:
    they take fewer rounds, and the model more.
    """

    longer: float = 1.0
    """Steps of folds are so many times as long."""
    further: float = 1.0
    """The model goes so many times as far: it learns from more rows than any fold."""

    def rate(self, settings: RoundSettings) -> float:
        """Give the learning rate of folds."""
        return settings.learning_rate * self.longer

    def rounds(self, n_rounds: int) -> int:
        """Turn rounds of folds into rounds of the model.

        Examples
        --------
        >>> Pace().rounds(30), Pace(longer=4.0, further=1.25).rounds(30)
        (30, 150)
        """
        return math.ceil(n_rounds * self.longer * self.further)

    def share_of_folds(self, n_folds: int) -> float:
        """Say what share of the time folds may take, so that the model has enough."""
        most = max(n_folds - 1, 1)  # their rows together, in tables
        return most / (most + self.longer * self.further)


def rows_of_folds(rows: BoostingRows, folds: Sequence[Fold]) -> list[BoostingRows]:
    """Divide rows into what each fold learns from and what it tests."""
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


def race_of_folds(
    plan: Plan,
    folds: Sequence[BoostingRows],
    rivals: Sequence[RoundSettings],
    pace: Pace,
    twin_of: Callable[[Model], Any],
) -> tuple[int, FoldCurve]:
    """Go from rival to rival while the next is better, and give the number and curve of the last.

    It has to be better by more than chance: by a standard error of how folds differ. Every rival
    may take an equal share of the time that folds have. An interrupt ends the race, and keeps what
    it has shown.
    """
    shares = np.linspace(0.0, pace.share_of_folds(len(folds)), len(rivals) + 1)[1:].tolist()

    def curve_of(number: int) -> FoldCurve:
        settings = replace(rivals[number], learning_rate=pace.rate(rivals[number]))
        return curve_of_folds(replace(plan, settings=settings), folds, twin_of, shares[number])

    best, held = 0, curve_of(0)
    for number in range(1, len(rivals)):
        if held.reason == "interrupt" or plan.clock.is_over(shares[number - 1]):
            break  # the time that is left would not do the next one justice
        try:
            curve = curve_of(number)
        except KeyboardInterrupt:  # before its first round: the one before is what there is
            return best, replace(held, reason="interrupt")
        if not curve.beats(held):
            is_cut = curve.reason == "interrupt"
            return best, replace(held, reason="interrupt") if is_cut else held
        best, held = number, curve
    return best, held


def curve_of_folds(
    plan: Plan,
    folds: Sequence[BoostingRows],
    twin_of: Callable[[Model], Any],
    share: float,
) -> FoldCurve:
    """Add rounds to the sums of all folds, in turn, until their mean score no longer rises.

    They end after this share of a time budget, and at an interrupt, if there is a round by then.
    """
    params, settings = plan.params, plan.settings
    booster = Booster(plan.rows, plan.loss, settings)
    rule = StoppingRule.of(params)
    sums = [BoostedSum.start(rows, plan.loss, settings.grid_rate) for rows in folds]
    boosters = [_booster_of(rows, plan, booster) for rows in folds]
    measures = [_measure(plan, of, grown, twin_of) for of, grown in zip(folds, sums, strict=True)]
    counts = np.array([_weight_tested(plan, rows) for rows in folds])
    table = [_measured(measures, sums)]
    means, reason = [_mean(table[0], counts)], "max_iter"
    most = settings.max_rounds
    for _ in follow(range(most), most, "round of all folds", verbose=params["verbose"]):
        try:
            for one, rows, grown in zip(boosters, folds, sums, strict=True):
                one.add_round(grown, rows)
                grown.end_round()
        except (Diverged, KeyboardInterrupt) as problem:
            if len(means) == 1:
                raise
            # After a divergence rounds are worse than all before.
            is_over = isinstance(problem, Diverged)
            reason = "early_stopping" if is_over else "interrupt"
            break
        table.append(_measured(measures, sums))
        means.append(_mean(table[-1], counts))
        if rule.says_stop(means):
            reason = "early_stopping"
            break
        if plan.clock.is_over(share):
            reason = "time_budget"
            break
    scores = np.array(means)
    of_best = np.array(table[int(np.argmax(scores))])
    return FoldCurve(scores, _errors(np.array(table), scores), reason, of_best)


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
