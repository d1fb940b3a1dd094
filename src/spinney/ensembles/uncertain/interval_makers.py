"""Ways to intervals around regressors: fitted members, and how far off they were."""

import abc
import dataclasses
import inspect
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.base import clone

from spinney.ensembles.uncertain.around import groups_by
from spinney.ensembles.uncertain.members import fit_members, numbers_said
from spinney.ensembles.uncertain.rows import GivenRows, divide
from spinney.errors import InvalidInput, InvalidParameter
from spinney.randomness import Stream, random_bits
from spinney.resampling import draw_rows
from spinney.resampling.folds import Fold
from spinney.typing import AnyArray, FloatArray, TableLike
from spinney.uncertainty.intervals import minmax_bounds, plus_bounds, quantile_scores
from spinney.uncertainty.out_of_bag import LeftOut, blocks, out_of_bag_means
from spinney.uncertainty.quantiles import Groups, quantile_of_groups

Bounds = tuple[FloatArray, FloatArray]
_LEAST_SCALE = 1e-3
"""A scale is at least this share of the mean error: nobody may expect none at all."""
_SCALE_FOLDS = 5


class IntervalMaker(abc.ABC):
    """Members that are fitted, and scores of the rows they did not learn from."""

    centre: Any
    """The fitted estimator that predicts."""

    def predict(self, X: TableLike) -> FloatArray:
        """Predict without an interval."""
        return numbers_said(self.centre, X)

    @abc.abstractmethod
    def bounds(self, X: TableLike, level: Fraction) -> Bounds:
        """Give lower and upper bounds."""


class HeldOut(IntervalMaker):
    """Scores of rows that were held back, all together or group by group."""

    scores: FloatArray
    weights: FloatArray | None
    groups: Groups | None
    conditional_on: Any

    def _keep(self, scores: FloatArray, rows: GivenRows, judged: AnyArray, on: Any) -> None:
        self.scores, self.weights, self.conditional_on = scores, rows.weights_of(judged), on
        self.groups = None if on is None else Groups(groups_by(on, rows.table(judged)))

    def _reach(self, X: TableLike, level: Fraction) -> FloatArray:
        """Give the conformal quantile that counts for each row."""
        codes, n_groups = np.zeros(len(self.scores), np.int64), 1
        if self.groups is not None:
            codes, n_groups = self.groups.codes, len(self.groups)
        found = quantile_of_groups(self.scores, codes, n_groups, level, self.weights)
        if self.groups is None:
            return found
        reach: FloatArray = found[self.groups.codes_of(groups_by(self.conditional_on, X))]
        return reach


def _learnt(base: Any, rows: GivenRows, fold: Fold | None, seed: int) -> tuple[Any, Fold]:
    """Fit on the rows to learn from, or take an estimator that is fitted, and judge all rows."""
    if fold is None:
        return base, (np.arange(0), np.arange(len(rows)))
    return fit_members(base, rows, [fold[0]], seed, None)[0], fold


class Split(HeldOut):
    """Errors on rows that were held back, perhaps divided by those that were to be expected."""

    def __init__(
        self, base: Any, rows: GivenRows, fold: Fold | None, seed: int, *, scale: Any, on: Any
    ) -> None:
        self.centre, (learn, judge) = _learnt(base, rows, fold, seed)
        self.scale: Any = None
        self.least = 0.0
        if scale is not None:
            if fold is None:
                raise InvalidParameter(
                    "scale with cv='prefit': it is learnt from the rows to learn from, and there "
                    "are none. Give cv as a share of the rows."
                )
            self._learn_scale(base, rows, learn, scale, seed)
        X = rows.table(judge)
        errors = np.abs(rows.y[judge] - self.predict(X))
        if self.scale is not None:
            errors = errors / self._expected(X)
        self._keep(errors, rows, judge, on)

    def _learn_scale(
        self, base: Any, rows: GivenRows, learn: AnyArray, scale: Any, seed: int
    ) -> None:
        """Fit the scale to errors out of folds: those on rows that were learnt are too small."""
        part = _some_rows(rows, learn)
        errors = np.empty(len(part))
        for inner, judged in divide(min(_SCALE_FOLDS, len(part)), part, seed, "scale"):
            member = fit_members(base, part, [inner], seed, None)[0]
            errors[judged] = np.abs(part.y[judged] - numbers_said(member, part.table(judged)))
        self.least = _LEAST_SCALE * float(np.average(errors, weights=part.weights)) or 1.0
        own = dataclasses.replace(part, y=errors)
        self.scale = fit_members(scale, own, [np.arange(len(own))], seed, None)[0]

    def _expected(self, X: TableLike) -> FloatArray:
        return np.maximum(numbers_said(self.scale, X), self.least)

    def bounds(self, X: TableLike, level: Fraction) -> Bounds:
        """Give bounds at the same distance to either side."""
        centre, reach = self.predict(X), self._reach(X, level)
        if self.scale is not None:
            reach = reach * self._expected(X)
        return centre - reach, centre + reach


class Quantiles(HeldOut):
    """Quantiles, moved as far as rows that were held back ask for."""

    def __init__(
        self, base: Any, rows: GivenRows, fold: Fold | None, seed: int, *, quantiles: Any, on: Any
    ) -> None:
        self.quantiles = _read_pair(quantiles)
        self.at_predict = "quantiles" in inspect.signature(base.predict).parameters
        members: Any
        if self.at_predict:
            members, (_, judge) = _learnt(base, rows, fold, seed)
            self.lower = self.upper = self.centre = members
        else:
            if fold is None:
                raise InvalidParameter(
                    "cv='prefit' with method='cqr' needs an estimator whose predict takes "
                    "quantiles, as QuantileForestRegressor: others are fitted once per quantile."
                )
            shares = (self.quantiles[0], 0.5, self.quantiles[1])
            models = [_of_quantile(base, share) for share in shares]
            fitted = [fit_members(m, rows, [fold[0]], seed, None)[0] for m in models]
            self.lower, self.centre, self.upper = fitted
            judge = fold[1]
        low, high = self._pair(rows.table(judge))
        self._keep(quantile_scores(low, high, rows.y[judge]), rows, judge, on)

    def _pair(self, X: TableLike) -> Bounds:
        if self.at_predict:
            low, high = np.asarray(self.centre.predict(X, quantiles=list(self.quantiles))).T
            return low, high
        return numbers_said(self.lower, X), numbers_said(self.upper, X)

    def bounds(self, X: TableLike, level: Fraction) -> Bounds:
        """Give the moved quantiles."""
        (low, high), reach = self._pair(X), self._reach(X, level)
        return low - reach, high + reach


class LeaveOut(IntervalMaker):
    """Members that each lack some rows, and the errors on these: CV+, jackknife+ and minmax."""

    def __init__(
        self,
        base: Any,
        rows: GivenRows,
        folds: list[Fold],
        seed: int,
        n_jobs: int | None,
        *,
        minmax: bool = False,
    ) -> None:
        everything = np.arange(len(rows))
        parts = [everything, *(learn for learn, _ in folds)]
        self.centre, *self.members = fit_members(base, rows, parts, seed, n_jobs)
        judged = np.concatenate([judge for _, judge in folds])
        self.lacks = np.repeat(np.arange(len(folds)), [len(judge) for _, judge in folds])
        """The member that lacks each row that is judged."""
        said = [
            numbers_said(member, rows.table(judge))
            for member, (_, judge) in zip(self.members, folds, strict=True)
        ]
        self.errors = np.abs(rows.y[judged] - np.concatenate(said))
        self.weights = rows.weights_of(judged)
        self.minmax = minmax

    @classmethod
    def one(cls, base: Any, rows: GivenRows, seed: int, n_jobs: int | None) -> "LeaveOut":
        """Leave out one row at a time, or one group."""
        if len(rows) < 2:
            divide(2, rows, seed, "ConformalRegressor")
        own = rows.group_codes()
        groups = np.arange(len(rows)) if own is None else own
        folds = [
            (np.flatnonzero(groups != one), np.flatnonzero(groups == one))
            for one in range(int(groups.max()) + 1)
        ]
        return cls(base, rows, folds, seed, n_jobs)

    def bounds(self, X: TableLike, level: Fraction) -> Bounds:
        """Give the bounds of CV+, jackknife+ or minmax."""
        said = np.column_stack([numbers_said(member, X) for member in self.members])
        make = minmax_bounds if self.minmax else plus_bounds
        parts = [
            make(said[rows][:, self.lacks], self.errors, level, self.weights)
            for rows in blocks(len(said), len(self.lacks))
        ]
        lower, upper = zip(*parts, strict=True)
        return np.concatenate(lower), np.concatenate(upper)


class AfterBootstrap(IntervalMaker):
    """Members on bags of rows; a row is judged by those that lack it."""

    def __init__(
        self, base: Any, rows: GivenRows, n_resamples: int, seed: int, n_jobs: int | None
    ) -> None:
        bags = [_bag(rows, seed, number) for number in range(n_resamples)]
        # Rows are drawn by their weights, and count once per draw; groups are drawn alike.
        drawn = rows if rows.groups is not None else dataclasses.replace(rows, weights=None)
        self.members = fit_members(base, drawn, bags, seed, n_jobs)
        self.centre = self.members[0]
        unseen = np.ones((len(rows), n_resamples), bool)
        for number, bag in enumerate(bags):
            unseen[bag, number] = False
        said = self._answers(rows.X)
        known = unseen.any(axis=1)
        if not known.any():
            raise InvalidInput(
                "There is no row that some bag lacks. Give more rows or a larger n_resamples."
            )
        self.unseen = unseen[known]
        self.errors = np.abs(rows.y[known] - out_of_bag_means(said[known], self.unseen))
        self.weights = None if rows.weights is None else rows.weights[known]
        # With room for new rows that members answer with larger numbers.
        self.largest = 256.0 * (float(np.abs(said).max(initial=0.0)) or 1.0)

    def _answers(self, X: TableLike) -> FloatArray:
        return np.column_stack([numbers_said(member, X) for member in self.members])

    def predict(self, X: TableLike) -> FloatArray:
        """Give the mean of all members."""
        means: FloatArray = self._answers(X).mean(axis=1)
        return means

    def bounds(self, X: TableLike, level: Fraction) -> Bounds:
        """Give the bounds of the jackknife+-after-bootstrap."""
        said = self._answers(X)
        left_out = LeftOut(self.unseen, self.largest)
        parts = [
            plus_bounds(left_out.joint(said[rows]), self.errors, level, self.weights)
            for rows in blocks(len(said), len(self.errors))
        ]
        lower, upper = zip(*parts, strict=True)
        return np.concatenate(lower), np.concatenate(upper)


def _bag(rows: GivenRows, seed: int, number: int) -> AnyArray:
    """Draw rows with replacement, or whole groups."""
    codes = rows.group_codes()
    if codes is None:
        weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        return draw_rows(weights, seed=seed, number=number)
    n_groups = int(codes.max()) + 1
    generator = np.random.default_rng(random_bits(seed, Stream.ROWS, number))
    drawn = generator.integers(n_groups, size=n_groups)
    return np.concatenate([np.flatnonzero(codes == one) for one in drawn])


def _read_pair(quantiles: Any) -> tuple[float, float]:
    try:
        low, high = (float(share) for share in quantiles)
    except (TypeError, ValueError):
        low, high = 1.0, 0.0
    if not 0.0 < low < high < 1.0:
        raise InvalidParameter(
            f"quantiles={quantiles!r}: expected two numbers between 0 and 1, the lower one first."
        )
    return low, high


def _of_quantile(base: Any, share: float) -> Any:
    """Give a copy that estimates a quantile, or say why there is none."""
    known = base.get_params(deep=False)
    named = next((name for name in ("quantile", "alpha") if name in known), None)
    fits = named is not None and known.get("loss", "quantile") == "quantile"
    if not fits or (named == "alpha" and "loss" not in known):
        raise InvalidParameter(
            f"estimator={base!r} with method='cqr': expected one that estimates quantiles, a "
            "QuantileForestRegressor, or a GradientBoostingRegressor(loss='quantile'), or another "
            "with the parameter 'quantile' (or 'alpha' beside loss='quantile')."
        )
    return clone(base).set_params(**{str(named): share})


def _some_rows(rows: GivenRows, some: AnyArray) -> GivenRows:
    """Give some rows as if they were all there are."""
    return dataclasses.replace(
        rows,
        X=rows.table(some),
        y=rows.y[some],
        weights=rows.weights_of(some),
        groups=None if rows.groups is None else rows.groups[some],
        time=None,  # what is learnt from them is asked about later rows only
        kept=None,
        n_given=len(some),
    )
