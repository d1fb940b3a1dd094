"""Trees that split on derived features: the user's table in, a derivation, then the trees."""

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from spinney.data.derivation import UNSEEN, Derivation
from spinney.data.row import RowReader
from spinney.data.table import Table
from spinney.errors import InvalidModel
from spinney.model.forest import Output, TreeForest
from spinney.model.model import Model, State
from spinney.model.tree import Tree
from spinney.typing import AnyArray, CodeArray, FloatArray, TableLike


class DerivedForest(Model):
    """A forest behind a derivation.

    ``schema`` describes the features of the user, ``forest.schema`` those that the trees split on.
    Tables that methods call conforming are derived ones, as ``conform`` gives them.
    """

    kind: ClassVar[str] = "derived_forest"
    unseen_code = UNSEEN

    def __init__(self, derivation: Derivation, forest: TreeForest) -> None:
        if forest.schema != derivation.schema:
            raise InvalidModel("the trees were not grown on the features that are derived")
        self.derivation = derivation
        self.forest = forest
        """The trees; their features are the derived ones."""
        self.schema = derivation.inputs
        self.target = forest.target
        self.policy = forest.policy

    def __len__(self) -> int:
        return len(self.forest)

    def __getitem__(self, index: Any) -> Any:
        """``model[:k]`` is the model of the first k trees; ``model[i]`` is a tree."""
        chosen: Any = self.forest[index]
        is_forest = isinstance(chosen, TreeForest)
        return DerivedForest(self.derivation, chosen) if is_forest else chosen

    def __iter__(self) -> Iterator[Tree]:
        return iter(self.forest)

    def __repr__(self) -> str:
        n_inputs, n_derived = self.schema.n_features, len(self.derivation.features)
        return f"DerivedForest({n_inputs} features, {n_derived} derived, {self.forest!r})"

    @property
    def arrays(self) -> Mapping[str, AnyArray]:
        """The arrays of the forest."""
        return self.forest.arrays

    @property
    def output(self) -> Output:
        """How the sums of trees become predictions."""
        return self.forest.output

    def conform(self, X: TableLike, estimator_name: str) -> Table:
        """Read a table as the user's features, and derive those of the trees."""
        return self.derivation.of_table(self.read(X, estimator_name))

    def read(self, X: TableLike, estimator_name: str) -> Table:
        """Read a table as the user's features, unseen categories apart from missing ones."""
        return self.schema.conform(
            X,
            unseen=self.policy.unseen,
            extra=self.policy.extra,
            estimator_name=estimator_name,
            unseen_code=self.unseen_code,
        )

    def predictions(
        self, X: TableLike, *, n_threads: int = 1, estimator_name: str = "this model"
    ) -> FloatArray:
        """Probabilities (n_rows, n_classes), or expected values (n_rows, n_outputs)."""
        table = self.conform(X, estimator_name)
        return self.forest.table_predictions(table, n_threads=n_threads)

    def raw_scores(self, table: Table, *, n_threads: int = 1) -> FloatArray:
        """Sum the trees; (n_rows, n_outputs). The table must conform."""
        return self.forest.raw_scores(table, n_threads=n_threads)

    def staged_scores(
        self, table: Table, *, trees_per_stage: int, n_threads: int = 1
    ) -> Iterator[FloatArray]:
        """Sum the trees stage by stage; (n_rows, n_outputs) each. The table must conform."""
        return self.forest.staged_scores(
            table, trees_per_stage=trees_per_stage, n_threads=n_threads
        )

    def leaf_ids(
        self, X: TableLike, *, n_threads: int = 1, estimator_name: str = "this model"
    ) -> CodeArray:
        """Find the leaf, numbered within its tree, that each row falls into; (n_rows, n_trees)."""
        table = self.conform(X, estimator_name)
        return self.forest.table_leaf_ids(table, n_threads=n_threads)

    @functools.cached_property
    def _rows(self) -> RowReader:
        return RowReader(
            self.schema, unseen=self.policy.unseen, unseen_code=float(self.unseen_code)
        )

    def quick_predictions(self, X: TableLike) -> FloatArray | None:
        """Give ``predictions`` of a few plain rows, on this thread; None for any other table."""
        numbers = self._rows.read_table(X)
        if numbers is None:
            return None
        return self.row_predictions(numbers).reshape(len(X), -1)

    @functools.cached_property
    def row_predictions(self) -> Callable[[Any], FloatArray]:
        """``predictions`` of numbers as ``RowReader`` reads them, one behind the other; flat."""
        of_derived, width = self.forest.row_predictions, self.schema.n_features

        def predict(numbers: Any) -> FloatArray:
            rows = np.asarray(numbers)
            if rows.dtype.kind != "f":
                raise TypeError("rows are floats")  # as native code says
            return of_derived(self.derivation.of_rows(rows.reshape(-1, width)).reshape(-1))

        return predict

    def feature_gains(self) -> FloatArray:
        """Total gain of the splits on what was derived from each feature of the user."""
        return self.derivation.shared_out(self.forest.feature_gains(), axis=0)

    def to_state(self) -> State:
        """Take the model apart into plain text and arrays."""
        meta, arrays = self.forest.to_state()
        schema_meta, schema_arrays = self.schema.to_state()
        kept = {name: array for name, array in arrays.items() if not name.startswith("schema/")}
        kept |= {f"schema/{name}": array for name, array in schema_arrays.items()}
        derived = self.derivation.to_arrays()
        kept |= {f"derivation/{name}": array for name, array in derived.items()}
        return {**meta, "kind": self.kind, "schema": schema_meta}, kept
