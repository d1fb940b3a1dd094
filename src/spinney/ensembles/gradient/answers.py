"""What fitted gradient boosting answers: scores, stages, leaves, importances."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spinney.data.table import Kind
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.gradient.offsets import read_offset
from spinney.errors import InvalidInput, InvalidModel
from spinney.model import Model, TreeForest
from spinney.model.compiled import CompiledModel
from spinney.model.derived import DerivedForest
from spinney.model.links import apply_link
from spinney.typing import AnyArray, CodeArray, FloatArray, TableLike


class BoostedAnswers(Estimator):
    """An estimator whose model is a boosted sum of trees, once it has been learnt."""

    _model_class: ClassVar[tuple[type[Model], ...]] = (TreeForest, DerivedForest)
    model_: TreeForest | DerivedForest
    _has_offset: bool
    """Whether ``fit`` was given an offset, so that predictions need one."""

    def _adopt(self, model: Model) -> None:
        if isinstance(model, TreeForest | DerivedForest):
            n_outputs = len(model.arrays["baseline"])
            in_turn = np.arange(len(model)) % n_outputs
            to_all = np.full(len(model), -1)
            expected, n_trees = (to_all, 1) if _has_vectors(model) else (in_turn, n_outputs)
            if (
                len(model) % n_trees
                or model.output.aggregate != "sum"
                or not np.array_equal(model.arrays["tree_output"], expected)
            ):
                raise InvalidModel(
                    "boosting adds a tree to every output in turn, in whole rounds, or trees to all"
                )
        super()._adopt(model)

    def _raw_scores(self, X: TableLike, offset: Any = None) -> FloatArray:
        check_is_fitted(self)
        table = self.model_.conform(X, type(self).__name__)
        moved = self._offset_for(offset, table.n_rows)
        return self.model_.raw_scores(table, n_threads=self._n_threads()) + moved

    def _staged_scores(self, X: TableLike, offset: Any = None) -> Iterator[FloatArray]:
        check_is_fitted(self)
        table = self.model_.conform(X, type(self).__name__)
        moved = self._offset_for(offset, table.n_rows)
        stages = self.model_.staged_scores(
            table, trees_per_stage=self.n_trees_per_iteration_, n_threads=self._n_threads()
        )
        return (scores + moved for scores in stages)

    def _predictions(self, X: Any, offset: Any = None) -> Any:
        if offset is None and not getattr(self, "_has_offset", False):
            return super()._predictions(X)
        return self._through_link(self._raw_scores(X, offset))

    def _offset_for(self, offset: Any, n_rows: int) -> FloatArray | float:
        """Read the offset of rows to be predicted; one that ``fit`` had must not be forgotten."""
        if offset is not None:
            return read_offset(offset, n_rows, len(self.model_.arrays["baseline"]))
        if getattr(self, "_has_offset", False):
            raise InvalidInput(
                f"This {type(self).__name__} was fitted with offset=, and without it raw scores "
                "are not complete. Give offset= here too, zeros for rows that have none; "
                "model_.predictions(X) tells what the trees say without any."
            )
        return 0.0

    def compile(self) -> CompiledModel:
        """Give the fitted model as a small function of one row, for serving.

        As of other estimators; not after a fit with ``offset``, which the function does not know.
        """
        self._check_fitted()
        self._offset_for(None, 0)
        return super().compile()

    def apply(self, X: TableLike) -> CodeArray:
        """Find the leaf each row falls into, by its number within its tree.

        Returns
        -------
        leaves : (n_rows, n_iter_), or (n_rows, n_iter_, n_classes) for more than two classes
        """
        self._check_fitted()
        leaves = self.model_.leaf_ids(
            X, n_threads=self._n_threads(), estimator_name=type(self).__name__
        )
        n_outputs = self.n_trees_per_iteration_
        return leaves if n_outputs == 1 else leaves.reshape(len(leaves), -1, n_outputs)

    def _through_link(self, scores: FloatArray) -> FloatArray:
        return apply_link(self.model_.output.link, scores, n_threads=self._n_threads())

    @property
    def n_trees_per_iteration_(self) -> int:
        """Trees per round: one, or one per class if there are more than two."""
        check_is_fitted(self)
        return 1 if _has_vectors(self.model_) else len(self.model_.arrays["baseline"])

    @property
    def n_iter_(self) -> int:
        """Rounds of boosting: trees per output."""
        return len(self.model_) // self.n_trees_per_iteration_

    @property
    def is_categorical_(self) -> AnyArray | None:
        """Whether each feature is categorical; None if none is."""
        check_is_fitted(self)
        mask = np.array([kind is Kind.CATEGORICAL for kind in self.model_.schema.kinds])
        return mask if mask.any() else None

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the total gain; sums to 1 unless no tree has a split."""
        check_is_fitted(self)
        gains = self.model_.feature_gains()
        return gains / (gains.sum() or 1.0)


def _has_vectors(model: TreeForest | DerivedForest) -> bool:
    """Tell whether the leaves of each tree are vectors of several outputs."""
    return int(model.arrays["values"].shape[1]) > 1
