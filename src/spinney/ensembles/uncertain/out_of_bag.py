"""Bags tell how far off they are without further rows: by the members that did not see a row."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Self

import numpy as np

from spinney.data.label_columns import refuse_several
from spinney.ensembles.uncertain.calibrating import Calibratable, read_counts
from spinney.ensembles.uncertain.kept import Calibration
from spinney.ensembles.uncertain.rows_of_fit import refuse_other_rows
from spinney.errors import InvalidInput, InvalidModel, InvalidParameter
from spinney.results import read_only
from spinney.typing import AnyArray, FloatArray, TableLike
from spinney.uncertainty.intervals import PredictionIntervals, plus_bounds
from spinney.uncertainty.out_of_bag import LeftOut, LeftOutMedians, blocks, lower_medians
from spinney.uncertainty.sets import SetScore, plus_members


class OutOfBagCalibration(Calibratable):
    """Jackknife+-after-bootstrap for forests and bagging (Kim, Xu & Barber 2020)."""

    out_of_bag: Any
    model_: Any
    _forest: Any
    _known: Any
    _n_threads: Any

    def calibrate_out_of_bag(
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        *,
        method: str | SetScore | None = None,
        by_class: bool = False,
    ) -> Self:
        """Learn how far off predictions are from the rows of ``fit`` themselves.

        Each row is predicted by the members that did not see it, so no rows need be held back.
        With ``oob_score=True`` the fit has done this already. Intervals and sets are then those of
        the jackknife+-after-bootstrap: of level 1 - a they hold at least a share of about 1 - 2a
        of the targets whatever the data, and in practice about 1 - a.

        Parameters
        ----------
        X, y, sample_weight
            What was given to ``fit``, in the same order; anything else is refused.
        method, by_class
            As in ``calibrate``.

        Returns
        -------
        self
        """
        self._check_fitted()
        refuse_several(self.model_.target, "A calibration")
        how = self._score_of_sets(method, by_class, None)
        unseen = self._unseen(X)
        if self.model_.target.task == "regression" and self.model_.target.n_outputs > 1:
            raise InvalidInput(
                f"{type(self).__name__} predicts {self.model_.target.n_outputs} numbers per row, "
                "and intervals are for one. Fit an estimator for each."
            )
        refuse_other_rows(self, X, y, sample_weight)
        targets = (
            self._numbers(y, len(unseen)) if how is None else self._class_codes(y, len(unseen))
        )
        answers = self._out_of_bag_answers(X, unseen)
        weights = read_counts(sample_weight, len(unseen))
        self._keep_calibration(answers, targets, weights, how, by_class=by_class)
        return self

    def _calibrate_with(
        self, answers: FloatArray, y: FloatArray, weights: FloatArray | None
    ) -> None:
        """Keep how far off answers out of bag are, from what a fit has at hand.

        Answers are in the order of what was given; targets and weights in that of the draws.
        """
        known, how = self._known, None
        if self.model_.target.label_classes is not None:
            return  # sets are of the classes of one label
        if self._task == "classification":
            how = SetScore()
        elif y.shape[1] > 1:
            return  # intervals are for one number
        if np.isnan(answers).all():
            return
        targets = np.nan_to_num(known.spread(y.reshape(-1, 1))[:, 0])  # answers have the NaN
        if weights is not None:
            weights = np.nan_to_num(known.spread(weights.reshape(-1, 1))[:, 0])
        elif known.n_given > len(y):
            weights = np.zeros(known.n_given)
            weights[known.places] = 1.0
        codes = targets if how is None else targets.astype(np.int64)
        self._keep_calibration(answers, codes, weights, how)

    def _keep_calibration(
        self,
        answers: FloatArray,
        targets: AnyArray,
        weights: FloatArray | None,
        how: SetScore | None,
        *,
        by_class: bool = False,
    ) -> None:
        """Keep the scores of rows from what the members that did not see them say; NaN: none."""
        if np.isnan(answers[:, 0]).all():
            raise InvalidInput(
                "There is no row that some member did not see, so nothing is known out of bag. Fit "
                "more members, or calibrate(X, y) with rows that fit has not seen."
            )
        with np.errstate(invalid="ignore"):
            if how is None:
                scores = np.abs(targets - answers[:, 0])
            else:
                scores = how.of_labels(answers, targets)
        self.calibration_ = Calibration(
            "out_of_bag",
            "residual" if how is None else how.method,
            read_only(scores),
            None if weights is None else read_only(weights),
            read_only(targets.astype(np.int32)) if by_class else None,
            (0.0, 0.0) if how is None else (float(how.penalty), float(how.free)),
            including=how is not None and bool(how.including),
        )

    def _unseen(self, X: TableLike) -> AnyArray:
        unseen = self.out_of_bag(X)
        if not self._leaves_rows_out():
            raise InvalidParameter(
                f"Every member of this {type(self).__name__} saw all rows: nothing is known out of "
                "bag. Fit with bootstrap=True, or calibrate(X, y) with rows that fit has not seen."
            )
        return np.asarray(unseen)

    def _leaves_rows_out(self) -> bool:
        return bool(self._known.recipe.bags().leaves_rows_out)

    # what ensembles whose members are no trees, or are not averaged, do otherwise

    def _member_answers(self, X: TableLike) -> Iterator[tuple[slice, FloatArray]]:
        """Give what each member says of some rows at a time; (n_rows, n_members, n_outputs)."""
        forest, name = self._forest(), type(self).__name__
        leaves = forest.leaf_ids(X, n_threads=self._n_threads(), estimator_name=name)
        nodes = leaves + forest.arrays["tree_start"][:-1]
        values = forest.arrays["values"]
        for rows in blocks(len(nodes), nodes.shape[1] * values.shape[1]):
            yield rows, values[nodes[rows]]

    def _largest_answer(self) -> float | None:
        """Bound what members can say; None: there is no bound."""
        return float(np.abs(self._forest().arrays["values"]).max(initial=0.0))

    def _takes_medians(self) -> bool:
        return False

    # parts

    def _out_of_bag_answers(self, X: TableLike, unseen: AnyArray) -> FloatArray:
        """Join what the members that did not see a row say of it; NaN: there is none."""
        joint = np.empty((len(unseen), self.model_.target.n_outputs))
        with np.errstate(invalid="ignore"):
            for rows, said in self._member_answers(X):
                if self._takes_medians():
                    joint[rows, 0] = lower_medians(said[:, :, 0], unseen[rows])
                    continue
                lacks = unseen[rows, :, np.newaxis]
                joint[rows] = np.where(lacks, said, 0.0).sum(axis=1) / lacks.sum(axis=1)
        return joint

    def _left_out(self, kept: Calibration) -> tuple[AnyArray, LeftOut | LeftOutMedians]:
        """Give the rows that count, and who joins the answers of the members that lack them."""
        unseen = self._known.unseen(len(self.model_))
        there = kept.known()
        there = there[unseen[there].any(axis=1)]
        if self._takes_medians():
            return there, LeftOutMedians(unseen[there])
        return there, LeftOut(unseen[there], self._largest_answer())

    def _intervals(self, X: TableLike, level: Fraction, kept: Calibration) -> PredictionIntervals:
        if kept.source == "held_out":
            return super()._intervals(X, level, kept)
        centre = self._centres(X)
        there, left_out = self._left_out(kept)
        scores, weights = kept.scores[there], None
        if kept.weights is not None:
            weights = kept.weights[there]
        lower, upper = np.empty(len(centre)), np.empty(len(centre))
        for rows, said in self._member_answers(X):
            for part in blocks(len(said), len(there)):
                some = slice(rows.start + part.start, rows.start + min(part.stop, len(said)))
                joint = left_out.joint(said[part, :, 0])
                lower[some], upper[some] = plus_bounds(joint, scores, level, weights)
        return PredictionIntervals.of(centre, lower, upper, level)

    def _set_members(self, X: TableLike, level: Fraction, kept: Calibration) -> AnyArray:
        if kept.source == "held_out":
            return super()._set_members(X, level, kept)
        there, left_out = self._left_out(kept)
        weights, codes = (
            None if part is None else part[there] for part in (kept.weights, kept.codes)
        )
        members = []
        for _, said in self._member_answers(X):
            n_classes = said.shape[2]
            for part in blocks(len(said), n_classes * len(there)):
                shares = [left_out.joint(said[part, :, k]) for k in range(n_classes)]
                scores = kept.set_score(np.moveaxis(np.stack(shares), 0, 2))
                members.append(plus_members(kept.scores[there], scores, level, weights, codes))
        return np.concatenate(members)

    def _check_calibration(self, kept: Calibration) -> None:
        if kept.source == "held_out":
            super()._check_calibration(kept)
            return
        methods = ("aps", "raps", "lac") if self._task == "classification" else ("residual",)
        known = kept.known()
        fits = (
            kept.method in methods
            and len(kept.scores) == self._known.n_given
            and (kept.codes is None or self._task == "classification")
            and self._forest().value_width == self.model_.target.n_outputs
            and len(known) > 0
        )
        if fits and kept.codes is not None:
            fits = bool(kept.codes.max() < len(self.classes_))
        if not fits or not self._leaves_rows_out():
            raise InvalidModel("the calibration out of bag is not one of this estimator")

    def _how_to_calibrate(self) -> str:
        if not hasattr(self, "_known"):  # members learnt from rows that arrived
            return super()._how_to_calibrate()
        return (
            "Call calibrate_out_of_bag(X, y) with the rows of fit, or fit with oob_score=True, or "
            "call calibrate(X, y) with rows that fit has not seen."
        )
