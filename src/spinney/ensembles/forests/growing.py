"""Growing the trees of a forest, some at a time."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.ensembles.constraints import tree_directions
from spinney.ensembles.fitting import Reading
from spinney.ensembles.forests.rows import ForestRows
from spinney.ensembles.forests.rules import CLASS_CRITERIA, NUMBER_CRITERIA
from spinney.ensembles.sharing import ranks_of
from spinney.ensembles.trees.growing import (
    Scales,
    class_target,
    number_target,
)
from spinney.ensembles.trees.limits import n_drawn
from spinney.ensembles.trees.several_labels import has_classes, mean_impurity
from spinney.errors import SmallWeights
from spinney.model import Policy, TreeForest
from spinney.model.forest import NODE_ARRAYS, Output, TreeSum, cut_tree, join_trees
from spinney.model.tree import Tree
from spinney.resampling.bags import Bags
from spinney.resampling.feature_draws import FeatureDraws
from spinney.trees.impurity import class_decreases
from spinney.trees.pruning import weakest_links
from spinney.trees.ranked import (
    ForestSettings,
    OwnChoices,
    RankedTable,
    TreeTarget,
)
from spinney.trees.settings import TreeSettings
from spinney.trees.structure import cut_below
from spinney.typing import AnyArray, FloatArray

_SAME = 1.0 + 2.0**-40
"""Prices that differ by less are the same."""
CELLS_AT_ONCE = 1 << 24
"""Rows times trees for which counts, or leaves, are kept at a time: 64 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class Grower:
    """Everything the trees of a forest share."""

    rows: ForestRows
    table: RankedTable
    target: TreeTarget
    settings: ForestSettings
    bags: Bags
    policy: Policy
    criterion: str
    """The grower's name of it."""
    price: float
    """What a leaf costs, as a share of a tree's weight; above 0 trees are pruned."""
    votes_hard: bool
    n_threads: int
    features: FeatureDraws
    """Which features each tree may split on."""
    scales: Scales
    """What weights and targets were divided by to grow."""

    def grow(self, trees: range) -> dict[str, AnyArray]:
        """Grow some trees, by their numbers."""
        own = OwnChoices(allowed=self.features.allowed(trees))
        arrays = self.table.grow(self.target, self.settings, self.bags, trees, own)
        if self.bags.unit != 1:  # rows were counted in units: back to rows
            arrays["weight"] = arrays["weight"] / self.bags.unit
            arrays["gain"] = arrays["gain"] / self.bags.unit
        arrays = self.scales.restored(arrays)
        if self.price > 0:
            arrays = pruned(arrays, self.price, self._decreases)
        return arrays

    def _decreases(self, tree: Tree) -> FloatArray:
        """Give the impurity that each split removes, as single trees count it, of all outputs."""
        target = self.rows.reading.target
        if not has_classes(target):
            return tree.gain
        summed = mean_impurity(target, tree.values, self.criterion) * target.n_targets
        return class_decreases(tree, summed, self.criterion)

    def freeze(self, arrays: Mapping[str, AnyArray]) -> TreeForest:
        """Make a model of trees; they vote from here on, if votes are hard."""
        reading = self.rows.reading
        if self.votes_hard:
            votes = hard_votes(arrays["values"], reading.target.spans())
            arrays = {**arrays, "values": votes}
        return TreeForest.from_trees(
            TreeSum(arrays, np.zeros(self.target.width), n_threads=self.n_threads),
            reading.schema,
            reading.target,
            self.table.features,
            output=Output(link="identity", aggregate="mean"),
            policy=self.policy,
        )

    @property
    def knows_counts(self) -> bool:
        """Whether trees are told how often they count rows, rather than draw for themselves."""
        recipe = self.rows.recipe
        draws_itself = recipe.sampler in (None, "bootstrap") and recipe.classes is None
        return not draws_itself

    def at_once(self) -> int:
        """Count the trees whose counts of rows fit into the room for them."""
        return max(self.n_threads, CELLS_AT_ONCE // max(1, self.rows.recipe.n_rows))


def make_grower(rows: ForestRows, params: Mapping[str, Any], n_threads: int) -> Grower:
    """Rank the table and put the targets on their grids."""
    reading, bags = rows.reading, rows.recipe.bags()
    table = ranks_of(reading.table, reading.weights, params.get("max_bins", 255), n_threads)
    own = replace(reading, weights=rows.tree_weights)
    scales = Scales.of(own, params["criterion"])
    return Grower(
        rows,
        table,
        _target(own, scales, params["criterion"], bags),
        _settings(rows, params, bags, scales),
        bags,
        Policy(unseen=params["unseen"], extra=params["extra_columns"]),
        criterion={**CLASS_CRITERIA, **NUMBER_CRITERIA}[params["criterion"]],
        # Gains of several outputs are sums, and the price is one of their mean.
        price=float(params["ccp_alpha"]) * reading.target.n_targets,
        votes_hard=params.get("voting") == "hard",
        n_threads=n_threads,
        features=feature_draws(rows, params),
        scales=scales,
    )


def feature_draws(rows: ForestRows, params: Mapping[str, Any]) -> FeatureDraws:
    """Say how trees draw their features, before their nodes choose from those."""
    n_features = len(rows.reading.schema.names)
    drawn = n_drawn(params.get("max_features_per_tree"), n_features)
    return FeatureDraws(n_features, drawn or n_features, rows.recipe.seed)


def _target(reading: Reading, scales: Scales, criterion: str, bags: Bags) -> TreeTarget:
    near = scales.near_one(reading)
    if has_classes(reading.target):
        return class_target(near, CLASS_CRITERIA[criterion])
    number = NUMBER_CRITERIA[criterion]
    return number_target(near.y, near.weights, number, n_drawn=bags.most)


def _settings(
    rows: ForestRows, params: Mapping[str, Any], bags: Bags, scales: Scales
) -> ForestSettings:
    """Give the limits of trees; their weights are in the units of the bags."""
    total, unit = rows.total, bags.unit
    split = _limit(params["min_samples_split"], total, least=2)
    leaf = max(
        _limit(params["min_samples_leaf"], total, least=1),
        params["min_weight_fraction_leaf"] * total,
    )
    n_rows = len(rows.reading.y)
    if rows.tree_weights is not None and total < max(split, 2 * leaf) <= n_rows / 10:
        warnings.warn(
            f"The sample weights add up to {total:g}, less than a node must weigh to be split, so "
            "every tree is a single leaf. A weight counts as that many rows: give "
            "min_samples_split and min_samples_leaf as shares, or scale the weights up.",
            SmallWeights,
            stacklevel=4,
        )
    # scikit-learn's impurity of several outputs is their mean, and the gain is their sum.
    n_outputs = rows.reading.target.n_targets
    tree = TreeSettings(
        max_leaf_nodes=params["max_leaf_nodes"],
        max_depth=params["max_depth"],
        min_samples_split=split * unit,
        min_samples_leaf=leaf * unit,
        min_gain=params["min_impurity_decrease"] * total * unit * n_outputs,
        max_features=n_drawn(params["max_features"], feature_draws(rows, params).n_drawn),
        seed=rows.recipe.seed,
    )
    reading = rows.reading
    signs = tree_directions(params["monotonic_cst"], reading.schema, reading.target)
    return ForestSettings(
        tree=scales.limits(tree),
        search=params.get("search", "random"),
        shuffle=True,
        directions=signs,
    )


def pruned(
    arrays: Mapping[str, AnyArray], price: float, decreases: Callable[[Tree], FloatArray]
) -> dict[str, AnyArray]:
    """Cut trees back to the smallest ones that are best if a leaf costs so much."""
    trees = []
    for number in range(len(arrays["tree_start"]) - 1):
        tree = cut_tree(arrays, number)
        links = weakest_links(tree, decreases(tree))
        trees.append(cut_below(tree, links <= price * tree.weight[0] * _SAME)[0])
    return join_trees(trees, width=arrays["values"].shape[1])


def _limit(limit: float, total: float, *, least: int) -> float:
    """Give a limit as a weight; 0 where it is none, as any child has a row."""
    if isinstance(limit, float | np.floating):
        return float(limit) * total
    return 0.0 if limit <= least else float(limit)


def hard_votes(values: AnyArray, spans: Sequence[slice] = ()) -> AnyArray:
    """Give a 1 to the first of the largest shares of each node, 0 to the others.

    ``spans`` are the outputs of each label, where rows have several.

    Examples
    --------
    >>> hard_votes(np.array([[0.2, 0.8], [0.5, 0.5]]))
    array([[0., 1.],
           [1., 0.]])
    """
    votes = np.zeros_like(values)
    for span in spans or [slice(None)]:
        of_label = votes[:, span]
        of_label[np.arange(len(values)), values[:, span].argmax(axis=1)] = 1.0
    return votes


def join_grown(parts: Sequence[dict[str, AnyArray]]) -> Mapping[str, AnyArray]:
    """Put trees behind trees; what is joined is taken out of the parts, or there were two of it."""
    if len(parts) == 1:
        return parts[0]
    n_sets = np.cumsum([0, *(len(part["category_sets"]) for part in parts)])
    n_nodes = np.cumsum([0, *(len(part["feature"]) for part in parts)])
    joined = {
        name: np.concatenate([part.pop(name) for part in parts])
        for name in list(parts[0])
        if name not in ("category_set", "tree_start")
    }
    joined["category_set"] = np.concatenate(
        [
            np.where(part["category_set"] >= 0, part["category_set"] + first, -1).astype(np.int32)
            for part, first in zip(parts, n_sets, strict=False)
        ]
    )
    starts = [part["tree_start"][1:] + first for part, first in zip(parts, n_nodes, strict=False)]
    joined["tree_start"] = np.concatenate([np.zeros(1, np.int64), *starts])
    return joined


def parts_of(forest: TreeForest, shares: FloatArray | None = None) -> dict[str, AnyArray]:
    """Take a model apart into what ``join_grown`` joins; shares: of classes, if it has votes."""
    names = (*NODE_ARRAYS, "category_sets", "tree_start")
    arrays = {name: forest.arrays[name] for name in names}
    if shares is not None:
        arrays["values"] = shares
    return arrays | {"threshold": forest.arrays["threshold"].astype(np.float64)}


def portions(trees: range, at_once: int) -> Iterator[range]:
    """Divide trees into portions.

    Examples
    --------
    >>> list(portions(range(2, 7), 2))
    [range(2, 4), range(4, 6), range(6, 7)]
    """
    for first in range(trees.start, trees.stop, at_once):
        yield range(first, min(first + at_once, trees.stop))
