"""Growing trees along axes of their own."""

from dataclasses import dataclass, replace

import numpy as np

from spinney.data.binning import Binner
from spinney.data.table import Table
from spinney.ensembles.fitting import Reading
from spinney.ensembles.forests.rotation_axes import (
    ScaledRows,
    Scales,
    random_axes,
    rotated_axes,
)
from spinney.ensembles.trees.growing import Scales as TargetScales
from spinney.model import Policy
from spinney.model.projection import PlaneForest, dense_numbers, join_planes
from spinney.progress import follow
from spinney.randomness import Stream, random_bits
from spinney.resampling.bags import Bags, Bootstrap
from spinney.resampling.tickets import tickets_of_weights
from spinney.trees.planes import Axes
from spinney.trees.ranked import ForestSettings, RankedTable, TreeTarget
from spinney.trees.settings import TreeSettings
from spinney.typing import AnyArray, FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class RotationPlan:
    """What is to be grown."""

    n_trees: int
    rotation: str
    subset_size: int
    bootstrap: bool
    limits: TreeSettings
    """Its seed is the forest's."""
    n_threads: int
    policy: Policy


class RotationGrowth:
    """Grows the trees of one forest, each on the table seen along its own axes."""

    def __init__(self, reading: Reading, plan: RotationPlan) -> None:
        self._reading, self._plan = reading, plan
        self._matrix = dense_numbers(reading.table)
        self._classes = None
        if reading.target.classes is not None:
            self._classes = reading.y.astype(np.uint32)
        self._scales = Scales.of_matrix(self._matrix, reading.weights)
        self._scaled = ScaledRows(self._scales.scaled(self._matrix), self._classes, reading.weights)
        self._bags, weights, n_drawn = self._rows()
        own = replace(reading, weights=weights)
        self._far = TargetScales.of(own, "squared_error")
        """What weights and targets are divided by to grow."""
        self._target = self._learnt(self._far.near_one(own), n_drawn)
        self._settings = ForestSettings(tree=self._far.limits(plan.limits), shuffle=True)

    def forest(self) -> PlaneForest:
        """Grow all trees."""
        n_trees = self._plan.n_trees
        trees = [self._tree(number) for number in follow(range(n_trees), n_trees, "tree")]
        reading = self._reading
        return PlaneForest(
            reading.schema, reading.target, join_planes(trees), policy=self._plan.policy
        )

    def _rows(self) -> tuple[Bags, FloatArray | None, int]:
        """Give the rows of each tree, their weights in it, and how many are drawn; 0: none are."""
        weights, n_rows = self._reading.weights, len(self._reading.y)
        if not self._plan.bootstrap:
            return Bags(n_rows), weights, 0
        n_drawn = tickets_of_weights(weights, n_rows)[2]
        bags = Bootstrap(n_rows, n_drawn, seed=self._plan.limits.seed, weights=weights)
        return bags, None, n_drawn  # the weights were drawn by

    def _learnt(self, near: Reading, n_drawn: int) -> TreeTarget:
        if self._classes is not None:
            n_classes = near.target.n_outputs
            return TreeTarget.of_classes(self._classes, n_classes, near.weights, criterion="gini")
        return TreeTarget.of_numbers(near.y, near.weights, criterion="squared", n_drawn=n_drawn)

    def _axes(self, number: int) -> Axes:
        seed = random_bits(self._plan.limits.seed, Stream.FEATURES, number)
        size = self._plan.subset_size
        if self._plan.rotation == "pca":
            return rotated_axes(self._scaled, self._scales, size=size, seed=seed)
        return random_axes(self._matrix.shape[1], self._scales, size=size, seed=seed)

    def _tree(self, number: int) -> dict[str, AnyArray]:
        axes = self._axes(number)
        turned = Table.from_matrix(axes.project(self._matrix, n_threads=self._plan.n_threads))
        binner = Binner.of_categories(turned, None)
        ranked = RankedTable(turned, binner, n_threads=self._plan.n_threads)
        trees = range(number, number + 1)
        grown = self._far.restored(ranked.grow(self._target, self._settings, self._bags, trees))
        inner = grown["right"] >= 0
        axis = grown["feature"][inner]
        return {
            "right": grown["right"],
            "value": grown["values"],
            "tree_start": grown["tree_start"],
            "threshold": grown["threshold"][inner],
            "feature": axes.feature[axis],
            "normal": axes.normal[axis],
            "point": axes.point[axis],
        }
