"""A boosted sum while it grows."""

from dataclasses import dataclass, field

import numpy as np

from spinney.ensembles.gradient.dropout import ScoreGrid
from spinney.ensembles.gradient.rows import BoostingRows
from spinney.losses import Loss
from spinney.model import TreeForest
from spinney.model.derived import DerivedForest
from spinney.model.forest import TreeSum, flat_arrays
from spinney.trees.gradient import GradientGrower, GrownTrees
from spinney.typing import AnyArray, FloatArray


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
    weights: FloatArray | None = None
    """(n_rounds,), what the values of rounds are multiplied by; None: 1 each."""
    grid: ScoreGrid | None = None
    """What values are rounded to, so that rounds can be left out; None: nothing."""
    _n_scores: tuple[int, int] = (0, 0)
    _whole_weights: FloatArray | None = None

    @classmethod
    def start(cls, rows: BoostingRows, loss: Loss, grid_rate: float | None = None) -> "BoostedSum":
        """Begin with the constant that fits the training rows best.

        ``grid_rate`` is the learning rate if rounds will be left out, None if not.
        """
        weights = rows.train.weights if rows.train.is_weighted else None
        of_train = None if weights is None else rows.train.take(weights)
        offset = None if rows.offset is None else rows.train.take(rows.offset)
        baseline = loss.start(rows.train.take(rows.y), of_train, offset)
        grid = None if grid_rate is None else _grid(rows, loss, grid_rate)
        baseline = baseline if grid is None else grid.rounded_baseline(baseline)
        scores = np.repeat(baseline[:, np.newaxis], rows.n_rows, axis=1).T
        width = loss.n_outputs if loss.shares_trees else 1
        return cls(baseline, scores, GrownTrees(width), offset=rows.offset, grid=grid)

    @classmethod
    def resume(
        cls,
        rows: BoostingRows,
        model: TreeForest | DerivedForest,
        loss: Loss,
        n_threads: int,
        grid_rate: float | None = None,
    ) -> "BoostedSum":
        """Go on where a model ended: the same trees, and the same scores to the last bit."""
        scores = [model.raw_scores(table, n_threads=n_threads) for table in rows.tables]
        baseline = model.arrays["baseline"]
        together = np.asfortranarray(np.concatenate(scores))
        trees = GrownTrees(model.arrays["values"].shape[1])
        trees.append_all(flat_arrays(model.arrays))
        grown = cls(baseline, together, trees, offset=rows.offset)
        grown.n_rounds = grown.n_rounds_begun
        weights = model.arrays["tree_weight"][:: grown.trees_per_round]
        if (weights != 1.0).any():
            grown.weights = weights.copy()
        if grid_rate is not None:
            grown.grid = _grid(rows, loss, grid_rate)
            grown.grid.adopt(model.arrays)
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

    @property
    def round_weights(self) -> FloatArray:
        """The weights of whole rounds."""
        return np.ones(self.n_rounds) if self.weights is None else self.weights

    @property
    def tree_weights(self) -> FloatArray | None:
        """What the values of trees are multiplied by; None: 1 each."""
        if self.weights is None:
            return None
        known = np.repeat(self.weights, self.trees_per_round)
        return np.append(known, np.ones(len(self.trees) - len(known)))

    def round_values(self) -> None:
        """Put the values of the tree grown last on the grid, if there is one."""
        if self.grid is not None:
            self.trees.set_last_values(self.grid.rounded(self.trees.last_values()), 1.0)
            self.grid.count_tree(self.trees.last_values())

    def leave_out(self, rounds: AnyArray, grower: GradientGrower) -> bool:
        """Take some rounds out of the scores; tell whether nothing was rounded by that."""
        if not len(rounds):
            return True
        weights = self._weights_of_trees()
        is_exact = self.grid is not None and self.grid.holds(self.baseline, weights)
        self._add(rounds, -weights if is_exact else weights, grower, anew=not is_exact)
        return is_exact

    def put_back(
        self,
        rounds: AnyArray,
        weights: FloatArray | None,
        grower: GradientGrower,
        *,
        is_exact: bool,
    ) -> None:
        """Give rounds their new weights, and those that were left out their place in the scores.

        ``is_exact`` is what ``leave_out`` said.
        """
        self.weights = weights
        if not len(rounds):
            return
        of_trees = self._weights_of_trees()
        is_exact = is_exact and self.grid is not None and self.grid.holds(self.baseline, of_trees)
        self._add(rounds if is_exact else rounds[:0], of_trees, grower, anew=not is_exact)

    def _add(
        self, rounds: AnyArray, weights: FloatArray, grower: GradientGrower, *, anew: bool
    ) -> None:
        """Add rounds to the scores; or make scores anew, of all trees but these rounds."""
        if anew:
            rounds = np.setdiff1d(np.arange(self.n_rounds_begun), rounds)
        for output, scores in enumerate(self.scores.T):
            if anew:
                scores[:] = self.baseline[output]
            tree, component = (0, output) if self.trees.width > 1 else (output, 0)
            numbers = (rounds * self.trees_per_round + tree).astype(np.int32)
            grower.add_trees(self.trees, numbers, weights[numbers], component, scores)

    def _weights_of_trees(self) -> FloatArray:
        weights = self.tree_weights
        return np.ones(len(self.trees)) if weights is None else weights

    def end_round(self) -> None:
        """Count the trees and measurements that are there now as whole rounds."""
        self._whole_weights = self.weights
        self.n_rounds = self.n_rounds_begun
        self._n_scores = (len(self.train_scores), len(self.validation_scores))

    def drop_unfinished_round(self) -> None:
        """Forget trees and measurements of a round that did not come to its end."""
        self.trees.truncate(self.n_rounds * self.trees_per_round)
        self.weights = self._whole_weights
        if self.grid is not None:
            self.grid.forget_trees(len(self.trees))
        del self.train_scores[self._n_scores[0] :]
        del self.validation_scores[self._n_scores[1] :]


def _grid(rows: BoostingRows, loss: Loss, learning_rate: float) -> ScoreGrid:
    """Choose a grid by what steps may be: of scores that are targets, their range."""
    scale = 8.0
    if loss.link in ("identity", "increasing"):
        y = rows.train.take(rows.y).reshape(len(rows.train.take(rows.y)), -1)
        y = y if rows.offset is None else y - rows.train.take(rows.offset)
        scale = float((y.max(axis=0) - y.min(axis=0)).max())
    return ScoreGrid.of_scale(scale * min(learning_rate, 1.0))
