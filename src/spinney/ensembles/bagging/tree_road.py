"""The fast road: our trees, bagged as one forest on one ranked table.

The trees are those that would grow alone on their features, with the counts of their bag as
weights; the table is read and ranked once, and nothing is copied for a bag.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from spinney.data.binning import Binner
from spinney.ensembles.bagging.job import Job, member_seed
from spinney.ensembles.bagging.samplers import (
    IN_PLACE,
    VARYING,
    OwnRecipe,
    RowsToDraw,
    recipe_of,
    sampler_of,
)
from spinney.ensembles.constraints import tree_directions
from spinney.ensembles.fitting import IntakeSettings, Reading, read_rows
from spinney.ensembles.forests.growing import (
    CELLS_AT_ONCE,
    hard_votes,
    join_grown,
    parts_of,
    portions,
)
from spinney.ensembles.forests.knowledge import Knowledge
from spinney.ensembles.forests.out_of_bag import Tally, hear_trees
from spinney.ensembles.forests.row_order import (
    groups_by_content,
    order_of_keys,
    row_keys,
    taken,
)
from spinney.ensembles.forests.rows import ForestRows, digest_of
from spinney.ensembles.forests.warm_start import leaves_hold
from spinney.ensembles.trees.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from spinney.ensembles.trees.growing import (
    CLASS_CRITERIA,
    NUMBER_CRITERIA,
    Scales,
    check_criterion,
    number_target,
)
from spinney.ensembles.trees.limits import least_weight, n_drawn
from spinney.ensembles.weak.checks import check_means
from spinney.errors import InvalidParameter
from spinney.model import Model, Policy, TreeForest
from spinney.model.forest import Output, TreeSum, cut_tree, join_trees
from spinney.model.median import MedianForest
from spinney.progress import Progress
from spinney.trees.impurity import IMPURITIES, class_decreases
from spinney.trees.pruning import weakest_links
from spinney.trees.ranked import ForestSettings, OwnChoices, RankedTable, TreeTarget
from spinney.trees.settings import TreeSettings
from spinney.trees.structure import cut_below
from spinney.typing import AnyArray, TableLike

_SHARES = ("min_samples_split", "min_samples_leaf")
_OF_TOTAL = ("min_weight_fraction_leaf", "min_impurity_decrease")
_SAME = 1.0 + 2.0**-40
"""Prices that differ by less are the same."""


def is_forest(base: Any, task: str, params: Mapping[str, Any], *, by_time: bool = False) -> bool:
    """Tell whether members can grow as one forest.

    They are trees of ours, of the right kind. What a forest does not know is left to each tree:
    weights of classes by the rows of a bag, and limits that are shares of a bag where bags differ
    in size, as those of blocks ``by_time`` may.
    """
    kind = DecisionTreeClassifier if task == "classification" else DecisionTreeRegressor
    if type(base) is not kind:
        return False
    tree = base.get_params(deep=False)
    sampler = params["sampler"]
    named = sampler is None or (isinstance(sampler, str) and sampler not in VARYING)
    same_size = named and not by_time
    has_shares = any(isinstance(tree[name], float | np.floating) for name in _SHARES) or any(
        tree[name] for name in _OF_TOTAL
    )
    return tree.get("class_weight") is None and (same_size or not has_shares)


class TreeRoad:
    """A forest that grows in bags."""

    def __init__(self, job: Job, given: tuple[TableLike, Any, Any, Any, Any]) -> None:
        """Read the rows, rank the table, and put targets on their grids."""
        job.base._check_parameters()  # noqa: SLF001 - fit, which would do it, is never called
        self._job = job
        self._tree = job.base.get_params(deep=False)
        self.rows = _read(job, self._tree, given)
        reading = self.rows.reading
        check_criterion(reading, self._tree["criterion"])
        check_means(reading.y, job.name)
        self._check_median(reading)
        self.schema, self.target = reading.schema, reading.target
        self.y, self.row_weights = reading.y, reading.weights
        self.known = Knowledge.of(self.rows)
        self.features = job.features(len(reading.schema.names))
        self.bags = self.rows.recipe.bags()
        # What trees are told of weights: None where the bags know them.
        self._told = replace(reading, weights=self.rows.tree_weights)
        self._scales = Scales.of(self._told, self._tree["criterion"])
        self._table = RankedTable(
            reading.table,
            Binner.of_categories(reading.table, reading.weights),
            weights=reading.weights,
            max_bins=self._tree["max_bins"],
            n_threads=job.n_threads,
        )
        self._grown_for = self._target()
        self._settings = self._limits()

    def fits(self, model: Any, aggregation: str | None) -> bool:
        """Tell whether the first tree of a model was grown on its bag of these rows.

        ``aggregation`` is how it put answers together; None: an old file does not tell.
        """
        forest = _forest_of(model)
        voted = _has_votes(forest) if aggregation is None else aggregation == "hard"
        if self._job.params["aggregation"] == "soft" and voted:
            raise InvalidParameter(
                "warm_start=True with aggregation='soft' goes on with trees of an earlier fit that "
                "vote, and whose shares of classes are not known any more. Set aggregation='hard' "
                "as it was, or set warm_start=False to begin anew."
            )
        seen = self.bags.counts(range(1))[0] > 0
        return leaves_hold(forest[:1], self.rows.reading.table, seen)

    def fit(self, members: range, before: Any, tally: Tally | None) -> Model:
        """Grow trees behind those there are; let them speak of the rows they did not see."""
        parts = [] if before is None else [self._votes(parts_of(_forest_of(before)))]
        at_once = max(self._job.n_threads, CELLS_AT_ONCE // max(1, self.rows.recipe.n_rows))
        verbose = self._job.params["verbose"]
        with Progress(members.stop, "tree", first=members.start, verbose=verbose) as progress:
            if progress.is_shown:
                at_once = min(at_once, max(self._job.n_threads, -(-members.stop // 50)))
            for some in portions(members, at_once):
                parts.append(self._grow(some))
                progress.show(some.stop)
        forest = self._freeze(join_grown(parts))
        if tally is not None:
            asked = (forest, self.bags, members.start)
            hear_trees(tally, self.rows.reading.table, asked, self._job.n_threads)
        return MedianForest(forest) if self._is_median() else forest

    def _grow(self, trees: range) -> dict[str, AnyArray]:
        seeds = np.array([member_seed(self._job.seed, tree) for tree in trees], np.uint64)
        own = OwnChoices(allowed=self.features.allowed(trees), seeds=seeds)
        arrays = self._table.grow(self._grown_for, self._settings, self.bags, trees, own)
        if self.bags.unit != 1:  # rows were counted in units: back to rows
            arrays["weight"] = arrays["weight"] / self.bags.unit
            arrays["gain"] = arrays["gain"] / self.bags.unit
        arrays = self._scales.restored(arrays)
        if self._tree["ccp_alpha"] > 0:
            arrays = self._pruned(arrays)
        return self._votes(arrays)

    def _votes(self, arrays: dict[str, AnyArray]) -> dict[str, AnyArray]:
        """Make votes of the shares of classes, where members vote; votes stay what they are."""
        if self._job.params["aggregation"] == "hard":
            arrays["values"] = hard_votes(arrays["values"])
        return arrays

    def _target(self) -> TreeTarget:
        reading = self._scales.near_one(self._told)
        weights, criterion = reading.weights, self._tree["criterion"]
        if reading.target.classes is not None:
            own = CLASS_CRITERIA[criterion]
            n_classes = reading.target.n_outputs
            return TreeTarget.of_classes(reading.y, n_classes, weights, criterion=own)
        own = NUMBER_CRITERIA[criterion]
        return number_target(reading.y, weights, own, n_drawn=self.bags.most)

    def _limits(self) -> ForestSettings:
        """Give the limits of one tree; weights are in the units of the bags."""
        tree, reading, unit = self._tree, self.rows.reading, self.bags.unit
        total = self.rows.total
        leaf = max(
            least_weight(tree["min_samples_leaf"], total, always=1),
            tree["min_weight_fraction_leaf"] * total,
        )
        n_added = 1 if reading.target.classes is not None else reading.target.n_outputs
        limits = TreeSettings(
            max_leaf_nodes=tree["max_leaf_nodes"],
            max_depth=tree["max_depth"],
            min_samples_split=least_weight(tree["min_samples_split"], total, always=2) * unit,
            min_samples_leaf=leaf * unit,
            min_gain=tree["min_impurity_decrease"] * total * n_added * unit,
            max_features=n_drawn(tree["max_features"], self.features.n_drawn),
            seed=self._job.seed,
        )
        signs = tree_directions(tree["monotonic_cst"], reading.schema, reading.target)
        search = "random" if tree["splitter"] == "random" else tree["search"]
        return ForestSettings(tree=self._scales.limits(limits), search=search, directions=signs)

    def _pruned(self, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
        """Prune each tree by cost complexity, as it would be pruned alone."""
        trees, width = [], arrays["values"].shape[1]
        is_class = self.target.classes is not None
        for number in range(len(arrays["tree_start"]) - 1):
            tree = cut_tree(arrays, number)
            falls = tree.gain / width
            if is_class:
                criterion = CLASS_CRITERIA[self._tree["criterion"]]
                falls = class_decreases(tree, IMPURITIES[criterion](tree.values), criterion)
            price = self._tree["ccp_alpha"] * tree.weight[0] * _SAME
            trees.append(cut_below(tree, weakest_links(tree, falls) <= price)[0])
        return join_trees(trees, width=width)

    def _freeze(self, arrays: Mapping[str, AnyArray]) -> TreeForest:
        return TreeForest.from_trees(
            TreeSum(arrays, np.zeros(self.target.n_outputs)),
            self.schema,
            self.target,
            self._table.features,
            output=Output(link="identity", aggregate="sum" if self._is_median() else "mean"),
            policy=Policy(unseen=self._tree["unseen"], extra=self._tree["extra_columns"]),
        )

    def _is_median(self) -> bool:
        return bool(self._job.params["aggregation"] == "median")

    def _check_median(self, reading: Reading) -> None:
        if self._is_median() and reading.target.n_outputs > 1:
            raise InvalidParameter(
                f"aggregation='median' takes one number per row, but y has "
                f"{reading.target.n_outputs}. Fit one ensemble each, or use 'mean'."
            )


def _has_votes(forest: TreeForest) -> bool:
    """Tell whether nodes hold votes: those that were split have rows of more than one class."""
    split = forest.arrays["values"][forest.arrays["right"] >= 0]
    return len(split) > 0 and bool((split.max(axis=1) == 1.0).all())


def _forest_of(model: Any) -> TreeForest:
    return model.trees if isinstance(model, MedianForest) else model


def _read(
    job: Job, tree: Mapping[str, Any], given: tuple[TableLike, Any, Any, Any, Any]
) -> ForestRows:
    """Read what ``fit`` was given, and bring rows into the order in which they are drawn."""
    X, y, sample_weight, groups, time = given
    settings = IntakeSettings(
        estimator_name=job.name,
        task=job.task,
        categorical_features=tree["categorical_features"],
        max_bins=tree["max_bins"],
        n_threads=job.n_threads,
    )
    reading = read_rows(X, y, sample_weight, settings)
    places, n_given = reading.kept, reading.n_given
    sampler = sampler_of(job.params)
    classes = None if reading.target.classes is None else reading.y
    labels = job.labels(sampler, groups, time, classes).codes(n_given, reading.kept)

    def recipe(labels: AnyArray | None) -> Any:
        drawn = RowsToDraw(len(reading.y), reading.weights, labels)
        return recipe_of(job.params, drawn, job.seed)

    made, told = recipe(labels)
    in_place = made.sampler in IN_PLACE or isinstance(made, OwnRecipe)
    keys = None if in_place else row_keys(reading.table, reading.y)
    in_order = made.sampler == "block" or isinstance(made, OwnRecipe)
    digest = digest_of(reading, keys, in_order=in_order)
    if keys is not None:
        order = order_of_keys(keys, reading.weights)
        reading = taken(reading, order)
        places = order if places is None else places[order]
        if labels is not None:
            labels = (groups_by_content(labels, keys) if sampler == "group" else labels)[order]
        made, told = recipe(labels)
    tree_weights = reading.weights if told else None
    return ForestRows(reading, made, tree_weights, reading.weights, places, n_given, digest)
