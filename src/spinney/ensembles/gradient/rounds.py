"""The loop of gradient boosting, on one screen."""

import math
from dataclasses import dataclass

import numpy as np

from spinney.ensembles.gradient.rows import BoostingRows
from spinney.ensembles.gradient.stopping import Watch
from spinney.ensembles.gradient.sums import BoostedSum
from spinney.errors import InvalidInput, InvalidParameter
from spinney.losses import Loss, PointLoss
from spinney.losses.loss import RowDerivatives
from spinney.resampling import RowDraws
from spinney.trees.gradient import GradientGrower, GradientTreeSettings
from spinney.typing import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundSettings:
    """How many rounds, how long their steps, and how their trees grow."""

    max_rounds: int
    learning_rate: float
    subsample: float
    tree: GradientTreeSettings
    exact_steps: bool
    """Whether leaves with a formula for their optimum take it, in place of Newton's step."""
    leaves_count_rows: bool
    """Whether leaves need so many rows, unless weights are whole; otherwise so much weight."""
    seed: int
    n_threads: int


def boost_rounds(
    rows: BoostingRows,
    loss: Loss,
    settings: RoundSettings,
    grown: BoostedSum,
    watch: Watch | None = None,
) -> bool:
    """Add one tree per output and round, each fitted to the derivatives at the scores so far.

    Rounds are added to ``grown`` until there are enough or the watch says stop. An interrupt ends
    them too: then ``grown`` has the whole rounds so far, and the answer is True.
    """
    y, scores, trees = rows.y, grown.scores, grown.trees
    draws, at = None, None
    weights, factors = _weights_and_factors(rows, settings)
    hessians_follow = loss.hessians_follow and weights is None and factors is None
    if hessians_follow:
        shape = (scores.shape[1], rows.n_rows)
        at = RowDerivatives.empty(shape, (shape[0], 0))
    by_formula = settings.exact_steps and loss.link == "log"
    changes_leaves = loss.has_order_statistic_leaves or by_formula
    rate = settings.learning_rate
    grower = GradientGrower(
        rows.binned,
        settings.tree,
        weights,
        factors,
        learning_rate=1.0 if changes_leaves else rate,
        hessians_follow=hessians_follow,
        seed=settings.seed,
        n_threads=settings.n_threads,
    )
    if settings.subsample < 1.0:
        share, seed = settings.subsample, settings.seed
        draws = RowDraws(rows.n_rows, share=share, seed=seed, candidates=rows.train.rows)
    try:
        for number in range(grown.n_rounds, settings.max_rounds):
            chosen = rows.train.rows if draws is None else draws.draw(number)
            at = loss.derivatives(y, scores, settings.n_threads, at)
            _refuse_divergence(at, rows, loss, settings, number)
            for output, gradients in enumerate(at.gradients):
                hessians = at.hessians[output] if at.hessians.size else None
                grower.grow(gradients, hessians, trees, rows=chosen, largest=at.limits[output])
                if isinstance(loss, PointLoss) and loss.has_order_statistic_leaves:
                    of_nodes, weights = grower.node_rows(), rows.train.weights
                    best = loss.best_leaf_values(y, scores, weights, of_nodes, settings.n_threads)
                    trees.set_last_values(grower.keep_monotone(best), rate)
                elif by_formula:
                    trees.set_last_values(loss.exact_steps(trees.last_values()), rate)
                grower.add_leaf_values(trees, scores[:, output])
            should_stop = watch is not None and watch.look(grown)
            grown.end_round(number + 1)
            if should_stop:
                break
    except KeyboardInterrupt:
        if not grown.n_rounds:
            raise
        grown.drop_unfinished_round()
        return True
    return False


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
    overshoots = loss.link == "log" and not settings.exact_steps
    raise InvalidParameter(
        f"learning_rate={settings.learning_rate!r}: after {number} rounds derivatives of the loss "
        "are beyond what 32 bits hold, because steps lead farther and farther away. Lower "
        "learning_rate; 1.0 takes the whole step, and less is usual."
        + (" Or let GradientBoostingRegressor go by leaf_steps='exact'." if overshoots else "")
    )


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
