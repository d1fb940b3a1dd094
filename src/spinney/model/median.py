"""The weighted median of members that predict numbers, which is no sum."""

import abc
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from spinney.data.binning import native_columns
from spinney.data.schema import FeatureSchema
from spinney.data.table import Table
from spinney.data.target import Target
from spinney.errors import CannotSave, InvalidModel
from spinney.model.answers import check_width, member_answers
from spinney.model.forest import TreeForest
from spinney.model.model import Model, Policy, State
from spinney.model.tree import freeze
from spinney.typing import FloatArray, TableLike

_AT_ONCE = 1 << 22
"""Answers that are sorted at a time."""


def weighted_medians(answers: FloatArray, weights: FloatArray) -> FloatArray:
    """Give for each row the least answer that, with all smaller ones, has half of the weight.

    Parameters
    ----------
    answers : (n_rows, n_members)
    weights : (n_members,), not negative

    Examples
    --------
    >>> weighted_medians(np.array([[3.0, 1.0, 2.0]]), np.array([1.0, 1.0, 5.0]))
    array([2.])
    >>> weighted_medians(np.array([[3.0, 1.0]]), np.ones(2))  # half is enough
    array([1.])
    """
    order = np.argsort(answers, axis=1)
    below = np.cumsum(weights[order], axis=1)
    place = (below >= 0.5 * below[:, -1:]).argmax(axis=1)
    rows = np.arange(len(answers))
    medians: FloatArray = answers[rows, order[rows, place]]
    return medians


class Median(Model):
    """Members with weights, of which the weighted median counts; a number per row."""

    weights: FloatArray

    @abc.abstractmethod
    def staged(self, X: TableLike, *, n_threads: int, estimator_name: str) -> Iterator[FloatArray]:
        """Give the median of the first member, of the first two, and so on; (n_rows,) each."""


class MedianForest(Median):
    """The weighted median of trees.

    ``trees`` is a forest of one output whose sum means nothing; the weights of its trees are those
    of the median.
    """

    kind: ClassVar[str] = "median_forest"

    def __init__(self, trees: TreeForest) -> None:
        self.trees = trees
        self.schema, self.target, self.policy = trees.schema, trees.target, trees.policy
        self.weights = trees.arrays["tree_weight"]
        is_plain = (
            self.target.task == "regression"
            and self.target.n_outputs == 1
            and trees.output.link == "identity"
            and trees.output.aggregate == "sum"
            and not trees.arrays["baseline"].any()
        )
        if not is_plain or not len(trees):
            raise InvalidModel("a median needs trees that predict one number each")
        if not np.isfinite(self.weights).all() or self.weights.min() < 0:
            raise InvalidModel("the weights of a median must be finite and not negative")

    def __len__(self) -> int:
        return len(self.trees)

    def __getitem__(self, index: Any) -> Any:
        chosen = self.trees[index]
        return MedianForest(chosen) if isinstance(chosen, TreeForest) else chosen

    def __repr__(self) -> str:
        return f"MedianForest({len(self)} trees)"

    def _answers(self, table: Table, n_threads: int) -> Iterator[FloatArray]:
        """Give what the trees say, some rows at a time; (n_some, n_trees) each."""
        at_once = max(1, _AT_ONCE // len(self))
        values, starts = self.trees.arrays["values"][:, 0], self.trees.arrays["tree_start"][:-1]
        for first in range(0, max(table.n_rows, 1), at_once):
            some = table
            if table.n_rows > at_once:
                some = table.take(slice(first, first + at_once))
            leaves = np.asarray(self.trees.native.leaf_ids(native_columns(some), n_threads))
            yield values[leaves + starts]

    def predictions(
        self, X: TableLike, *, n_threads: int = 1, estimator_name: str = "this model"
    ) -> FloatArray:
        """Weighted medians; (n_rows, 1)."""
        table = self.trees.conform(X, estimator_name)
        parts = [weighted_medians(part, self.weights) for part in self._answers(table, n_threads)]
        return np.concatenate(parts)[:, np.newaxis]

    def staged(self, X: TableLike, *, n_threads: int, estimator_name: str) -> Iterator[FloatArray]:
        """Give the median of the first member, of the first two, and so on; (n_rows,) each."""
        table = self.trees.conform(X, estimator_name)
        answers = np.concatenate(list(self._answers(table, n_threads)))
        for last in range(1, len(self) + 1):
            yield weighted_medians(answers[:, :last], self.weights[:last])

    def to_state(self) -> State:
        """Take the trees apart."""
        meta, arrays = self.trees.to_state()
        return {"kind": self.kind, "trees": meta}, arrays


class MemberMedian(Median):
    """The weighted median of fitted estimators; it lives in memory and in pickles only."""

    kind: ClassVar[str] = "member_median"
    passes_tables_on = True

    def __init__(
        self, members: Sequence[Any], weights: FloatArray, *, schema: FeatureSchema, target: Target
    ) -> None:
        self.members = tuple(members)
        self.weights = freeze(np.asarray(weights, np.float64))
        self.schema, self.target, self.policy = schema, target, Policy()

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return _restored(self.members[index], self.weights[index], self.schema, self.target)
        return self.members[index]

    def __repr__(self) -> str:
        return f"MemberMedian({len(self)} members)"

    def _answers(self, X: TableLike, estimator_name: str) -> FloatArray:
        check_width(X, len(self.schema.names), estimator_name)
        return np.hstack([member_answers(one, X, np.empty(0), "values") for one in self.members])

    def predictions(
        self, X: TableLike, *, n_threads: int = 1, estimator_name: str = "this model"
    ) -> FloatArray:
        """Weighted medians; (n_rows, 1)."""
        del n_threads  # members have their own
        return weighted_medians(self._answers(X, estimator_name), self.weights)[:, np.newaxis]

    def staged(self, X: TableLike, *, n_threads: int, estimator_name: str) -> Iterator[FloatArray]:
        """Give the median of the first member, of the first two, and so on; (n_rows,) each."""
        del n_threads
        answers = self._answers(X, estimator_name)
        for last in range(1, len(self) + 1):
            yield weighted_medians(answers[:, :last], self.weights[:last])

    def to_state(self) -> State:
        """Refuse: foreign members have no safe form in a file."""
        raise CannotSave(
            f"The members are {type(self.members[0]).__name__} objects, which have no safe form in "
            "a file. Boost Spinney's own trees to save the model, or keep this one with pickle or "
            "joblib."
        )

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.members, np.array(self.weights), self.schema, self.target)


def _restored(*parts: Any) -> MemberMedian:
    members, weights, schema, target = parts
    return MemberMedian(members, weights, schema=schema, target=target)
