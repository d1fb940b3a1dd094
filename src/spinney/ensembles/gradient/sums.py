"""A boosted sum while it grows."""

from dataclasses import dataclass, field

import numpy as np

from spinney.ensembles.gradient.rows import BoostingRows
from spinney.losses import Loss
from spinney.model import TreeForest
from spinney.model.derived import DerivedForest
from spinney.model.forest import TreeSum, flat_arrays
from spinney.trees.gradient import GrownTrees
from spinney.typing import FloatArray


@dataclass(slots=True, eq=False)
class BoostedSum:
    """Trees on top of a constant, the scores they give all rows, and how good each round was."""

    baseline: FloatArray
    scores: FloatArray
    """(n_rows, n_outputs), in Fortran order: a tree adds to one output, or to all."""
    trees: GrownTrees = field(default_factory=GrownTrees)
    n_rounds: int = 0
    """Whole rounds; during a round there are more trees."""
    train_scores: list[float] = field(default_factory=list)
    validation_scores: list[float] = field(default_factory=list)
    offset: FloatArray | None = None
    """(n_rows, n_outputs), what raw scores have besides; kept apart, so that scores are to the
    last bit those that the model gives."""
    _n_scores: tuple[int, int] = (0, 0)

    @classmethod
    def start(cls, rows: BoostingRows, loss: Loss) -> "BoostedSum":
        """Begin with the constant that fits the training rows best."""
        weights = rows.train.weights if rows.train.is_weighted else None
        of_train = None if weights is None else rows.train.take(weights)
        offset = None if rows.offset is None else rows.train.take(rows.offset)
        baseline = loss.start(rows.train.take(rows.y), of_train, offset)
        scores = np.repeat(baseline[:, np.newaxis], rows.n_rows, axis=1).T
        width = loss.n_outputs if loss.shares_trees else 1
        return cls(baseline, scores, GrownTrees(width), offset=rows.offset)

    @classmethod
    def resume(
        cls, rows: BoostingRows, model: TreeForest | DerivedForest, n_threads: int
    ) -> "BoostedSum":
        """Go on where a model ended: the same trees, and the same scores to the last bit."""
        scores = [model.raw_scores(table, n_threads=n_threads) for table in rows.tables]
        baseline = model.arrays["baseline"]
        together = np.asfortranarray(np.concatenate(scores))
        trees = GrownTrees(model.arrays["values"].shape[1])
        trees.append_all(flat_arrays(model.arrays))
        grown = cls(baseline, together, trees, offset=rows.offset)
        grown.n_rounds = grown.n_rounds_begun
        return grown

    @property
    def outputs_of_trees(self) -> list[slice]:
        """The outputs that each tree of a round adds to: one after the other, or all at once."""
        if self.trees.width > 1:
            return [slice(None)]
        return [slice(output, output + 1) for output in range(len(self.baseline))]

    @property
    def trees_per_round(self) -> int:
        """One per output, or one of vectors."""
        return 1 if self.trees.width > 1 else len(self.baseline)

    @property
    def n_rounds_begun(self) -> int:
        """Rounds whose trees are there, also those that are not counted as whole yet."""
        return len(self.trees) // self.trees_per_round

    @property
    def tree_sum(self) -> TreeSum:
        """The trees so far, ready to be frozen."""
        if self.trees.width > 1:
            return TreeSum(self.trees.arrays(), self.baseline)
        in_turn = np.arange(len(self.trees), dtype=np.int32) % len(self.baseline)
        return TreeSum(self.trees.arrays(), self.baseline, in_turn)

    @property
    def raw(self) -> FloatArray:
        """The raw scores of all rows, offset included; what the loss is asked about."""
        return self.scores if self.offset is None else self.scores + self.offset

    def end_round(self) -> None:
        """Count the trees and measurements that are there now as whole rounds."""
        self.n_rounds = self.n_rounds_begun
        self._n_scores = (len(self.train_scores), len(self.validation_scores))

    def drop_unfinished_round(self) -> None:
        """Forget trees and measurements of a round that did not come to its end."""
        self.trees.truncate(self.n_rounds * self.trees_per_round)
        del self.train_scores[self._n_scores[0] :]
        del self.validation_scores[self._n_scores[1] :]
