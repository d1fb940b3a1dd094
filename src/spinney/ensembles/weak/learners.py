"""Who is asked for a hypothesis in each round."""

import abc
import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from spinney.data.binning import Binner
from spinney.ensembles.fitting import Reading
from spinney.ensembles.trees.exact import check_criterion, class_shares, class_targets
from spinney.ensembles.weak.hypothesis import Hypothesis
from spinney.losses.row_weights import RowCounts, RowWeights
from spinney.model import Model, Policy, Tree, TreeForest
from spinney.model.answers import FORMS
from spinney.model.forest import Output, TreeSum, join_trees
from spinney.resampling import draw_rows
from spinney.trees.exact import GrownTree, SortedTable
from spinney.trees.settings import TreeSettings
from spinney.typing import AnyArray, CodeArray, FloatArray, IntArray

ROOT_ONLY = TreeSettings(max_depth=1, min_samples_split=0.0, min_samples_leaf=0.0)
"""Limits of a stump; a distribution over rows weighs 1 in all, so no weight is too small."""


class WeakLearner(abc.ABC):
    """Answers questions about the training rows, under weights that change from round to round."""

    n_rows: int
    n_classes: int

    @abc.abstractmethod
    def classify(self, weights: RowWeights, form: str, round_number: int) -> Hypothesis:
        """Learn the classes under weights of rows; answers (n_rows, n_scores) in the form."""

    @abc.abstractmethod
    def regress(self, targets: FloatArray, weights: RowWeights, round_number: int) -> Hypothesis:
        """Fit numbers by weighted least squares; answers (n_rows, 1)."""

    @abc.abstractmethod
    def answers(self, member: Any, X: Any, form: str) -> FloatArray:
        """Ask a member about other rows; (n, n_scores) in the form it was learnt in."""

    def check_heeds_weights(self) -> None:  # noqa: B027 - our trees do
        """Refuse a learner that answers the same whatever the weights are."""

    def check_learnt(self, n_members: int) -> None:  # noqa: B027 - our trees warn instead
        """Refuse an ensemble of so many members, if it is no answer."""

    @abc.abstractmethod
    def freeze(
        self, members: Sequence[Any], weights: FloatArray, form: str, output: "SumOutput"
    ) -> Model:
        """Make the model of a weighted sum of members."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class SumOutput:
    """What the sum of members becomes."""

    link: str
    baseline: FloatArray
    """(n_scores,)"""
    member_output: CodeArray | None = None
    """The score each member adds to; None: all members add to all."""


class TreeLearner(WeakLearner):
    """Exact trees of our own on rows that are sorted once."""

    def __init__(
        self,
        reading: Reading,
        settings: TreeSettings = ROOT_ONLY,
        *,
        criterion: str = "squared",
        policy: Policy | None = None,
        resample_seed: int | None = None,
        n_threads: int = 1,
    ) -> None:
        """Sort the rows; with ``resample_seed`` trees see rows drawn by their weights."""
        self.n_rows = reading.table.n_rows
        self.n_classes = reading.target.n_outputs
        check_criterion(criterion, self.n_classes)
        self._reading = reading
        self._settings = settings
        self._criterion = criterion
        self._resample_seed = resample_seed
        binner = Binner.of_categories(reading.table, reading.weights)
        given = reading.weights
        self._counts = RowCounts(np.ones(self.n_rows) if given is None else given)
        self._sorted = SortedTable(
            reading.table, binner, repetitions=self._counts.repetitions, n_threads=n_threads
        )
        self._n_threads = n_threads
        self._policy = policy or Policy()
        has_classes = reading.target.task == "classification"
        codes = reading.y.reshape(-1) if has_classes else np.zeros(self.n_rows)
        self._classes = codes.astype(np.int64)
        self._targets = class_targets(self._classes, self.n_classes)

    def _seen(self, weights: RowWeights, round_number: int) -> IntArray:
        """Give whole numbers in the ratio of the weights; or how often each row was drawn."""
        if self._resample_seed is None:
            return weights.whole
        drawn = draw_rows(weights.distribution, seed=self._resample_seed, number=round_number)
        counts: IntArray = np.bincount(drawn, minlength=self.n_rows).astype(np.int64)
        return counts

    def classify(self, weights: RowWeights, form: str, round_number: int) -> Hypothesis:
        """Grow a tree under weights of rows."""
        grown = self._grow_classes(weights, round_number)
        shares = class_shares(grown.tree.values, self.n_classes)
        scores = FORMS[form].scores(shares)
        if form == "signs":
            # A sign needs no more than a byte; rows are many, and answers are read several times.
            answers = grown.say(scores[:, 0].astype(np.int8))
        else:
            answers = np.take(scores, grown.leaf_of_row, axis=0)
        return Hypothesis(answers, _with_values(grown.tree, scores))

    def _grow_classes(self, weights: RowWeights, round_number: int) -> GrownTree:
        is_stump = self._settings.max_depth == 1 and self._resample_seed is None
        cells = weights.cells if is_stump else None
        if cells is not None:
            return self._sorted.grow_signs(
                cells.signed, self._settings, unit=1.0 / cells.total, criterion=self._criterion
            )
        seen = self._seen(weights, round_number)
        return self._sorted.grow(self._targets, seen, self._settings, criterion=self._criterion)

    def classify_pairs(self, weights: FloatArray, round_number: int) -> Hypothesis:
        """Grow a tree that says yes or no to every class, under weights (n_rows, n_classes)."""
        of_rows = weights.sum(axis=1)
        signs = 2 * np.eye(self.n_classes)[self._classes] - 1
        # Weights of a row that is voted right again and again end below all floats, as zeros.
        shares = weights / np.where(of_rows > 0, of_rows, 1.0)[:, np.newaxis]
        grown = self._sorted.grow(
            signs * shares,
            self._seen(RowWeights(of_rows, self._counts), round_number),
            self._settings,
            criterion="hamming",
            centred=False,
        )
        values = np.where(grown.tree.values > 0, 1.0, -1.0)
        return Hypothesis(values[grown.leaf_of_row], _with_values(grown.tree, values))

    def regress(self, targets: FloatArray, weights: RowWeights, round_number: int) -> Hypothesis:
        """Grow a regression tree."""
        seen = self._seen(weights, round_number)
        grown = self._sorted.grow(targets[:, np.newaxis], seen, self._settings)
        return Hypothesis(grown.answers, grown.tree)

    def answers(self, member: Any, X: Any, form: str) -> FloatArray:
        """Ask a tree about a table that conforms to the schema of the training rows."""
        width = member.values.shape[1]
        output = SumOutput("identity" if width > 1 else "double_logistic", np.zeros(width))
        forest = self.freeze([member], np.ones(1), form, output)
        return forest.raw_scores(X, n_threads=self._n_threads)

    def freeze(
        self,
        members: Sequence[Any],
        weights: FloatArray,
        form: str,  # noqa: ARG002 - the values of our trees are in it already
        output: SumOutput,
    ) -> TreeForest:
        """Make the forest of trees that were grown here."""
        n_scores = len(output.baseline)
        width = n_scores if output.member_output is None else 1
        return TreeForest.from_trees(
            TreeSum(join_trees(members, width=width), output.baseline, output.member_output),
            self._reading.schema,
            self._reading.target,
            self._sorted.features,
            output=Output(link=output.link, aggregate="sum"),
            policy=self._policy,
            weights=weights,
        )


def _with_values(tree: Tree, values: AnyArray) -> Tree:
    return dataclasses.replace(tree, values=values)
