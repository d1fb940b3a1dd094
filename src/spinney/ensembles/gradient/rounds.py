"""The loop of gradient boosting, on one screen."""

import math
from dataclasses import dataclass

import numpy as np

from spinney.ensembles.gradient.deriving import tree_settings_for
from spinney.ensembles.gradient.dropout import Dropout
from spinney.ensembles.gradient.rows import BoostingRows
from spinney.ensembles.gradient.stopping import Watch
from spinney.ensembles.gradient.sums import BoostedSum
from spinney.errors import InvalidInput, InvalidParameter
from spinney.losses import Loss, PointLoss
from spinney.losses.custom_loss import CustomLoss
from spinney.losses.loss import RowDerivatives
from spinney.losses.vector_loss import VectorLoss
from spinney.resampling.row_sampling import RowSample, RowSampling, SampledRows
from spinney.trees.gradient import GradientGrower, GradientTreeSettings
from spinney.typing import AnyArray, FloatArray

_WITH_OPTIMA = PointLoss | CustomLoss | VectorLoss
"""Losses that may know the optimum of the rows of a leaf."""

_MOSTLY_GROWN_ON = 0.8
"""Share of rows from which on it is faster to take leaves from the grower."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundSettings:
    """How many rounds, how long their steps, and how their trees grow."""

    max_rounds: int
    learning_rate: float
    sampling: RowSampling
    dropout: Dropout
    tree: GradientTreeSettings
    """In terms of the features of the user; a booster lays constraints out over derived ones."""
    exact_steps: bool
    """Whether leaves with a formula for their optimum take it, in place of Newton's step."""
    leaves_count_rows: bool
    """Whether leaves need so many rows, unless weights are whole; otherwise so much weight."""
    seed: int
    n_threads: int

    @property
    def grid_rate(self) -> float | None:
        """The learning rate, if rounds are left out and values need a grid."""
        return self.learning_rate if self.dropout.share > 0.0 else None


def boost_rounds(booster: "Booster", grown: BoostedSum, watch: Watch | None = None) -> str:
    """Add rounds until there are enough or the watch says stop, and say why they ended.

    The reasons are "max_iter", those of the watch, and "interrupt": then ``grown`` has the whole
    rounds so far.
    """
    try:
        while grown.n_rounds < booster.settings.max_rounds:
            booster.add_round(grown, booster.rows)
            reason = None if watch is None else watch.look(grown)
            grown.end_round()
            if reason is not None:
                return reason
    except KeyboardInterrupt:
        if not grown.n_rounds:
            raise
        grown.drop_unfinished_round()
        return "interrupt"
    return "max_iter"


class Diverged(InvalidParameter):
    """Rounds made derivatives infinite: with this learning rate there are no more."""


class Booster:
    """Adds rounds to sums, which train on the same rows or on others of one table of bins."""

    def __init__(self, rows: BoostingRows, loss: Loss, settings: RoundSettings) -> None:
        self.rows, self.settings, self._loss = rows, settings, loss
        self._by_formula = settings.exact_steps and loss.has_exact_steps
        changes_leaves = loss.has_order_statistic_leaves or self._by_formula
        self._grower = GradientGrower(
            rows.binned,
            tree_settings_for(settings.tree, rows.derivation),
            *_weights_and_factors(rows, settings),
            learning_rate=1.0 if changes_leaves else settings.learning_rate,
            seed=settings.seed,
            n_threads=settings.n_threads,
        )
        self._at: RowDerivatives | None = None
        self._sampled: list[tuple[AnyArray | None, SampledRows]] = []

    def add_round(self, grown: BoostedSum, rows: BoostingRows) -> None:
        """Add one tree per output, each fitted to the derivatives at the scores so far.

        Outputs that share their trees have one tree of vectors. ``rows`` are those of the booster,
        or divided into other parts.
        """
        loss, settings, trees = self._loss, self.settings, grown.trees
        number = grown.n_rounds
        dropped = settings.dropout.draw(number, settings.seed)
        weights = None
        if settings.dropout.share > 0.0 or grown.weights is not None:
            weights = settings.dropout.weights_after(grown.round_weights, dropped)
        is_exact = grown.leave_out(dropped, self._grower)
        at = self._at = loss.derivatives(rows.y, grown.raw, settings.n_threads, self._at)
        _refuse_divergence(at, rows, loss, settings, number)
        sample = settings.sampling.draw(
            number,
            settings.seed,
            self._sampled_rows(rows, number),
            (at.gradients, at.hessians),
            settings.n_threads,
        )
        for of_tree in grown.outputs_of_trees:
            hessians = at.hessians[of_tree] if at.hessians.size else None
            limits = at.limits[of_tree]
            self._grower.grow(at.gradients[of_tree], hessians, trees, sample=sample, largest=limits)
            self._change_leaves(grown, rows, sample)
            grown.round_values()
            self._add_to_scores(grown, of_tree, 1.0 if weights is None else weights[-1], sample)
        grown.put_back(dropped, weights, self._grower, is_exact=is_exact)

    def _add_to_scores(
        self, grown: BoostedSum, of_tree: slice, weight: float, sample: RowSample
    ) -> None:
        """Add the tree grown last, times its weight, to the scores of all rows.

        Both roads give the same bits. The grower knows the leaves of rows it was grown on, and goes
        down with each of the others alone; the other road goes down with all of them together, once
        for each component of values that are vectors.
        """
        trees, scores = grown.trees, grown.scores[:, of_tree]
        n_grown = len(scores) if sample.rows is None else len(sample.rows)
        is_faster = trees.width == 1 and n_grown < _MOSTLY_GROWN_ON * len(scores)
        if weight == 1.0 and not is_faster:
            self._grower.add_leaf_values(trees, scores)
            return
        last = np.array([len(trees) - 1], np.int32)
        for component, of_output in enumerate(scores.T):
            self._grower.add_trees(trees, last, np.array([weight]), component, of_output)

    def _sampled_rows(self, rows: BoostingRows, number: int) -> SampledRows:
        """Give what samplers know of the rows whose turn it is, worked out once."""
        candidates = rows.in_turn(number)
        if self.settings.sampling.sampler == "uniform":
            return SampledRows(rows.n_rows, candidates)
        known = next((known for of, known in self._sampled if of is candidates), None)
        if known is None:
            known = SampledRows.of(rows.n_rows, candidates, rows.weights, rows.factors)
            self._sampled.append((candidates, known))
        return known

    def _change_leaves(self, grown: BoostedSum, rows: BoostingRows, sample: RowSample) -> None:
        """Give the tree grown last the values that its loss wants in place of Newton's steps."""
        loss, rate = self._loss, self.settings.learning_rate
        if isinstance(loss, _WITH_OPTIMA) and loss.has_order_statistic_leaves:
            best = loss.best_leaf_values(
                rows.y,
                grown.raw,
                _weights_of_leaves(rows, sample),
                self._grower.node_rows(),
                self.settings.n_threads,
            )
            grown.trees.set_last_values(self._grower.settle_values(best), rate)
        elif self._by_formula:
            steps = loss.exact_steps(grown.trees.last_values())
            most = self.settings.tree.max_step or np.inf
            grown.trees.set_last_values(np.clip(steps, -most, most), rate)


def _refuse_divergence(
    at: RowDerivatives, rows: BoostingRows, loss: Loss, settings: RoundSettings, number: int
) -> None:
    """Refuse rounds that made derivatives infinite: every further tree would be noise.

    Rows that only validate may have such derivatives: nothing is grown from them.
    """
    if all(math.isfinite(most) for limits in at.limits for most in limits):
        return
    trained_on = [rows.train.take(part.T) for part in (at.gradients, at.hessians) if part.size]
    if all(np.isfinite(part).all() for part in trained_on):
        return
    if not number:
        raise InvalidInput(
            "The derivatives of the loss are infinite before the first round: targets are too far "
            "apart for 32 bits. Multiply y by a constant."
        )
    overshoots = loss.has_exact_steps and not settings.exact_steps
    raise Diverged(
        f"learning_rate={settings.learning_rate!r}: after {number} rounds derivatives of the loss "
        "are beyond what 32 bits hold, because steps lead farther and farther away. Lower "
        "learning_rate; 1.0 takes the whole step, and less is usual."
        + (" Or let GradientBoostingRegressor go by leaf_steps='exact'." if overshoots else "")
    )


def _weights_of_leaves(rows: BoostingRows, sample: RowSample) -> FloatArray | None:
    """Give the weights in the loss of all rows, those that were drawn as they count this round."""
    weights = rows.train.weights
    if sample.repeats is not None:
        repeats = sample.repeats.astype(np.float64)
        return repeats if rows.factors is None else repeats * rows.factors
    if sample.factors is None:
        return weights
    factors = sample.factors.astype(np.float64)
    return factors if weights is None else weights * factors


def _weights_and_factors(
    rows: BoostingRows, settings: RoundSettings
) -> tuple[FloatArray | None, FloatArray | None]:
    """Give the weights that count for the size of leaves, and those that only multiply losses.

    Whole weights are repetitions for everybody, so they always count.
    """
    weights, factors = rows.weights, rows.factors
    if not settings.leaves_count_rows or weights is None or np.all(weights % 1.0 == 0.0):
        return weights, factors
    return None, weights if factors is None else weights * factors
