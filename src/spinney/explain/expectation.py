"""Expected raw scores when some features are known and the others are left to chance.

A leaf counts as much as what reaches it: splits on known features send their values one way, all
other splits divide. One walk down each tree answers for all values of the known features at once,
so many values cost hardly more than one. Where trees are deep, and values and rows few, asking the
model about every row with every value is quicker.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self, TypeGuard

import numpy as np

from spinney.explain.bins import ForestBins
from spinney.model import Tree, TreeForest
from spinney.typing import AnyArray, FloatArray

_ANSWERS_PER_NODE = 300
"""Walks of one row down one tree that take as long as one node of the walk below."""


class Chance(Protocol):
    """What the features that are not known do: how much of it is left at a node."""

    @property
    def share(self) -> float:
        """How much, of 1 at the root."""

    @property
    def is_left(self) -> bool:
        """Whether there is any, which is quicker to tell."""

    def divided(self, tree: Tree, node: int, goes_left: AnyArray) -> tuple[Self, Self]:
        """Divide it among the children; ``goes_left`` tells which bins go left."""


@dataclass(frozen=True, slots=True, eq=False)
class RowsOfTable:
    """Rows of a table: each goes where its own values send it."""

    bins: Mapping[int, AnyArray]
    weights: FloatArray
    """Of all rows of the table."""
    total: float
    """Weight of all rows."""
    rows: AnyArray

    @property
    def share(self) -> float:
        """Weight of the rows, relative to that of all."""
        return float(self.weights[self.rows].sum()) / self.total

    @property
    def is_left(self) -> bool:
        """Whether there are rows."""
        return len(self.rows) > 0

    def divided(self, tree: Tree, node: int, goes_left: AnyArray) -> tuple[Self, Self]:
        """Send every row to its child."""
        left = goes_left[self.bins[int(tree.feature[node])][self.rows]]
        return replace(self, rows=self.rows[left]), replace(self, rows=self.rows[~left])


@dataclass(frozen=True, slots=True)
class TrainingCover:
    """The training rows, of which a tree remembers how many went each way at each node."""

    share: float

    @property
    def is_left(self) -> bool:
        """Whether rows went here."""
        return self.share > 0

    def divided(self, tree: Tree, node: int, goes_left: AnyArray) -> tuple[Self, Self]:  # noqa: ARG002
        """Divide in the ratio of the training weights."""
        left, right = float(tree.weight[node + 1]), float(tree.weight[tree.right[node]])
        part = left / (left + right) if left + right > 0 else 0.5
        own = type(self)
        return own(self.share * part), own(self.share * (1.0 - part))


def walk_is_quicker(forest: object, bins: Sequence[AnyArray], n_rows: int) -> TypeGuard[TreeForest]:
    """Tell whether one walk down each tree beats asking about every row with every value.

    Only sums of trees can be walked; ``bins`` are those of the values of each known feature.

    Examples
    --------
    >>> from spinney import RandomForestRegressor
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> forest = RandomForestRegressor(n_estimators=5, random_state=0).fit(X, X[:, 0]).model_
    >>> [walk_is_quicker(forest, [np.arange(10)], n_rows) for n_rows in (20, 100_000)]
    [False, True]
    """
    if not isinstance(forest, TreeForest):
        return False
    n_points = math.prod(len(np.unique(one)) for one in bins)
    n_answers = n_points * n_rows * len(forest)
    return n_answers > _ANSWERS_PER_NODE * len(forest.arrays["feature"])


def expected_scores(
    forest: TreeForest,
    bins: ForestBins,
    known: Mapping[int, AnyArray],
    chance: Chance,
    output: int,
) -> FloatArray:
    """Give the expected raw score for all combinations of the known features' values.

    Parameters
    ----------
    forest : the model
    bins : its bins
    known : position of each known feature, and the bins of the values to answer for
    chance : what the other features do
    output : which raw score

    Returns
    -------
    array with an axis per known feature
    """
    total = np.zeros([len(values) for values in known.values()])
    for values, tree in trees_of_output(forest, output):
        total += _expected_values(values, tree, bins, known, chance)
    total += forest.arrays["baseline"][output] / forest.divisor
    return total


def trees_of_output(forest: TreeForest, output: int) -> Iterator[tuple[FloatArray, Tree]]:
    """Give each tree that adds to a raw score, and what each of its nodes would add."""
    factors = forest.arrays["tree_weight"] / forest.divisor
    for t, adds_to in enumerate(forest.arrays["tree_output"].tolist()):
        if adds_to in (-1, output):
            tree = forest[t]
            yield factors[t] * tree.values[:, output if adds_to < 0 else 0], tree


def _expected_values(
    values: FloatArray,
    tree: Tree,
    bins: ForestBins,
    known: Mapping[int, AnyArray],
    chance: Chance,
) -> FloatArray:
    total = np.zeros([len(points) for points in known.values()])
    everywhere = {feature: np.ones(len(points), bool) for feature, points in known.items()}
    waiting = [(0, chance, everywhere)]
    while waiting:
        node, left_over, arrives = waiting.pop()
        right, feature = int(tree.right[node]), int(tree.feature[node])
        if right < 0:
            places = (
                next(iter(arrives.values())) if len(arrives) == 1 else np.ix_(*arrives.values())
            )
            total[places] += values[node] * left_over.share
            continue
        goes_left = bins[feature].that_go_left(tree, node)
        if feature not in known:
            parts = left_over.divided(tree, node, goes_left)
            waiting += [
                (child, part, arrives)
                for child, part in zip((node + 1, right), parts, strict=True)
                if part.is_left
            ]
            continue
        at_left = goes_left[known[feature]]
        for child, there in ((node + 1, at_left), (right, ~at_left)):
            still = arrives[feature] & there
            if still.any():
                waiting.append((child, left_over, arrives | {feature: still}))
    return total
