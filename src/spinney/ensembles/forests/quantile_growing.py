"""Growing quantile forests: trees, and the rows of their leaves."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.data.binning import Binner
from spinney.ensembles.fitting import Reading
from spinney.ensembles.forests.growing import join_grown, portions
from spinney.ensembles.trees.growing import Scales
from spinney.ensembles.trees.limits import n_drawn, weight_of
from spinney.errors import InvalidParameter
from spinney.model import Policy, TreeForest
from spinney.model.forest import Output, TreeSum
from spinney.model.leaf_rows import LeafRowForest
from spinney.progress import Progress
from spinney.resampling.bags import Bags, Bootstrap
from spinney.resampling.tickets import tickets_of_weights
from spinney.trees.ranked import ForestSettings, RankedTable, TreeTarget
from spinney.trees.settings import TreeSettings
from spinney.typing import AnyArray, FloatArray


@dataclass(frozen=True, slots=True)
class QuantileGrowth:
    """One fit: rows in order, and how trees are grown on them."""

    forest: Any
    """The estimator, for its parameters."""
    reading: Reading
    seed: int

    def model(self, place: AnyArray) -> LeafRowForest:
        """Grow the trees and find the rows of their leaves."""
        reading, forest = self.reading, self.forest
        n_threads = forest._n_threads()  # noqa: SLF001 - a part of its fit
        binner = Binner.of_categories(reading.table, reading.weights)
        ranked = RankedTable(reading.table, binner, weights=reading.weights, n_threads=n_threads)
        bags, n_draws, weights = self._bags()
        room = self._n_there() if weights is None else 0
        own = replace(reading, weights=weights)
        scales = Scales.of(own, "squared_error")
        near = scales.near_one(own)
        target = TreeTarget.of_numbers(near.y, near.weights, criterion="squared", n_drawn=room)
        limits = scales.limits(self._limits(n_draws))
        settings = ForestSettings(tree=limits, search=forest.search, shuffle=True)
        arrays = self._grown(lambda some: ranked.grow(target, settings, bags, some), n_threads)
        trees = TreeForest.from_trees(
            TreeSum(scales.restored(dict(arrays)), np.zeros(1)),
            reading.schema,
            reading.target,
            binner.features,
            output=Output(aggregate="mean"),
            policy=Policy(unseen=forest.unseen, extra=forest.extra_columns),
        )
        facts = {
            "weight": np.ones(ranked.n_rows) if weights is None else weights,
            "target": np.ascontiguousarray(reading.y[:, 0]),
            "place": place,
        }
        return LeafRowForest.of_training(
            trees, reading.table, self._counts(bags), facts, n_threads=n_threads
        )

    def _grown(
        self, grow: Callable[[range], dict[str, AnyArray]], n_threads: int
    ) -> Mapping[str, AnyArray]:
        """Grow all trees, a few at a time if somebody looks on; it changes no tree."""
        wanted = self.forest.n_estimators
        parts = []
        with Progress(wanted, "tree", verbose=self.forest.verbose) as progress:
            few = max(n_threads, -(-wanted // 50)) if progress.is_shown else wanted
            for some in portions(range(wanted), few):
                parts.append(grow(some))
                progress.show(some.stop)
        return join_grown(parts)

    def _counts(self, bags: Bags) -> Iterator[AnyArray]:
        return (bags.counts(range(t, t + 1))[0] for t in range(self.forest.n_estimators))

    def _bags(self) -> tuple[Bags, int, FloatArray | None]:
        """Give the draws, how many rows a tree counts, and weights unless these are drawn by."""
        n_rows, weights = len(self.reading.y), self.reading.weights
        if not self.forest.bootstrap:
            if self.forest.max_samples is not None:
                raise InvalidParameter(
                    f"max_samples={self.forest.max_samples!r} of QuantileForestRegressor needs "
                    "bootstrap=True: without it every tree takes all rows."
                )
            return Bags(n_rows), n_rows, weights
        n_draws = self._n_draws(self._n_there())
        return Bootstrap(n_rows, n_draws, seed=self.seed, weights=weights), n_draws, None

    def _n_there(self) -> int:
        """Count rows, with whole weights as repetitions."""
        return tickets_of_weights(self.reading.weights, len(self.reading.y))[2]

    def _n_draws(self, n_there: int) -> int:
        wanted = self.forest.max_samples
        if wanted is None:
            return n_there
        if isinstance(wanted, float | np.floating):
            return max(1, round(wanted * n_there))
        if wanted > n_there:
            raise InvalidParameter(
                f"max_samples={wanted} of QuantileForestRegressor: expected at most {n_there}, the "
                "number of rows; a float is a share of them."
            )
        return int(wanted)

    def _limits(self, n_draws: int) -> TreeSettings:
        forest = self.forest
        total = float(n_draws) if forest.bootstrap else self.reading.total_weight
        split = weight_of(forest.min_samples_split, total)
        leaf = weight_of(forest.min_samples_leaf, total)
        return TreeSettings(
            max_leaf_nodes=forest.max_leaf_nodes,
            max_depth=forest.max_depth,
            # Any child has a row, whatever it weighs: the least limits are none.
            min_samples_split=0.0 if forest.min_samples_split == 2 else split,
            min_samples_leaf=0.0 if forest.min_samples_leaf == 1 else leaf,
            min_gain=forest.min_impurity_decrease * total,
            max_features=n_drawn(forest.max_features, len(self.reading.schema.names)),
            seed=self.seed,
        )
