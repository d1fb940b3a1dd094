"""The loop of gradient boosting, on one screen."""

from dataclasses import dataclass, replace

import numpy as np

from spinney.ensembles.gradient.rows import BoostingRows
from spinney.ensembles.gradient.stopping import Watch
from spinney.ensembles.gradient.sums import BoostedSum
from spinney.losses import Loss, PointLoss
from spinney.model.tree import Tree
from spinney.randomness import Stream, random_bits
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
    grower = GradientGrower(rows.binned, rows.weights, rows.factors, n_threads=settings.n_threads)
    draws, at = None, None
    by_formula = settings.exact_steps and loss.link == "log"
    changes_leaves = loss.has_order_statistic_leaves or by_formula
    rate = 1.0 if changes_leaves else settings.learning_rate
    if settings.subsample < 1.0:
        share, seed = settings.subsample, settings.seed
        draws = RowDraws(rows.n_rows, share=share, seed=seed, candidates=rows.train.rows)
    try:
        for number in range(grown.n_rounds, settings.max_rounds):
            chosen = rows.train.rows if draws is None else draws.draw(number)
            at = loss.derivatives(y, scores, settings.n_threads, at)
            for output, gradients in enumerate(at.gradients):
                tree = grower.grow(
                    gradients,
                    None if loss.has_constant_hessian else at.hessians[output],
                    settings.tree,
                    learning_rate=rate,
                    seed=random_bits(settings.seed, Stream.FEATURES, len(trees)),
                    rows=chosen,
                    largest=at.limits[output],
                )
                if isinstance(loss, PointLoss) and loss.has_order_statistic_leaves:
                    of_nodes, weights = grower.node_rows(), rows.train.weights
                    best = loss.best_leaf_values(y, scores, weights, of_nodes, settings.n_threads)
                    tree = _with_steps(tree, grower.keep_monotone(best), settings)
                elif by_formula:
                    tree = _with_steps(tree, loss.exact_steps(tree.values[:, 0]), settings)
                grower.add_leaf_values(tree, scores, output)
                trees.append(tree)
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


def _with_steps(tree: Tree, steps: FloatArray, settings: RoundSettings) -> Tree:
    """Give the tree other steps than its derivatives say."""
    return replace(tree, values=settings.learning_rate * steps[:, np.newaxis])
