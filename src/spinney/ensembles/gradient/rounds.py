"""The loop of gradient boosting, on one screen."""

from dataclasses import dataclass, replace

import numpy as np

from spinney.ensembles.fitting import Problem
from spinney.losses import Loss
from spinney.model.forest import TreeSum
from spinney.model.tree import Tree  # noqa: TC001 - an annotation like the others
from spinney.trees.gradient import GradientGrower, GradientTreeSettings
from spinney.typing import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundSettings:
    """How many rounds, how long their steps, and how their trees grow."""

    max_rounds: int
    learning_rate: float
    tree: GradientTreeSettings
    seed: int
    n_threads: int


def boost_rounds(
    problem: Problem, factors: FloatArray | None, loss: Loss, settings: RoundSettings
) -> TreeSum:
    """Add one tree per output and round, each fitted to the derivatives at the scores so far.

    ``factors`` multiply the loss of rows, beside the weights of the problem.
    """
    y = np.ascontiguousarray(problem.y.reshape(len(problem.y), -1)[:, 0])
    weights = _product(problem.weights, factors)
    start = loss.start(y, weights)
    scores = np.tile(start, (len(y), 1))
    grower = GradientGrower(problem.binned, problem.weights, factors, n_threads=settings.n_threads)
    trees: list[Tree] = []
    outputs: list[int] = []
    for _ in range(settings.max_rounds):
        at = loss.derivatives(y, scores, settings.n_threads)
        for output, gradients in enumerate(at.gradients):
            tree = grower.grow(
                gradients,
                None if loss.has_constant_hessian else at.hessians[output],
                settings.tree,
                learning_rate=settings.learning_rate,
                seed=settings.seed + len(trees),
            )
            if loss.has_order_statistic_leaves:
                nodes = grower.node_rows()
                best = loss.best_leaf_values(y, scores, weights, nodes, settings.n_threads)
                tree = replace(tree, values=settings.learning_rate * best[:, np.newaxis])
            grower.add_leaf_values(tree, scores, output)
            trees.append(tree)
            outputs.append(output)
    return TreeSum(trees, start, outputs)


def _product(weights: FloatArray | None, factors: FloatArray | None) -> FloatArray | None:
    if weights is None or factors is None:
        return factors if weights is None else weights
    return weights * factors
