"""A linear function, put together feature by feature."""

from typing import Any, ClassVar

import numpy as np

from spinney.data.schema import FeatureSchema
from spinney.data.table import Table
from spinney.data.target import Target
from spinney.errors import InvalidModel
from spinney.model.model import Model, Policy, State
from spinney.model.tree import freeze
from spinney.typing import AnyArray, CodeArray, FloatArray, TableLike

COMPONENTWISE_ARRAYS = {"feature": "<i4", "step": "<f8", "centre": "<f8", "start": "<f8"}
"""Arrays of the model, and their types in a file."""


class ComponentwiseSum(Model):
    """``start + sum over members of step * (x[feature] - centre[feature])``; missing: no term.

    ``model[:k]`` is the model of the first k members, which are the rounds of boosting.
    """

    kind: ClassVar[str] = "componentwise"

    def __init__(
        self,
        schema: FeatureSchema,
        target: Target,
        arrays: dict[str, AnyArray],
        *,
        policy: Policy,
    ) -> None:
        self.schema, self.target, self.policy = schema, target, policy
        self.arrays = {name: freeze(array) for name, array in arrays.items()}
        n_features = len(schema.names)
        shapes = {"feature": len(self), "step": len(self), "centre": n_features, "start": 1}
        if any(self.arrays[name].shape != (size,) for name, size in shapes.items()):
            raise InvalidModel("the parts of a linear model have different lengths")
        features = self.arrays["feature"]
        if len(features) and not 0 <= int(features.min()) <= int(features.max()) < n_features:
            raise InvalidModel("a linear model names a feature that does not exist")
        if not all(np.isfinite(array).all() for array in self.arrays.values()):
            raise InvalidModel("the numbers of a linear model must be finite")
        if any(levels is not None for levels in schema.levels) or target.n_outputs != 1:
            raise InvalidModel("a linear model has numbers as features, and one target")

    def __len__(self) -> int:
        return len(self.arrays["feature"])

    def __getitem__(self, index: Any) -> Any:
        features: CodeArray = self.arrays["feature"]
        if not isinstance(index, slice):
            return int(features[index]), float(self.arrays["step"][index])
        some = {name: self.arrays[name][index] for name in ("feature", "step")}
        return ComponentwiseSum(
            self.schema, self.target, {**self.arrays, **some}, policy=self.policy
        )

    def __repr__(self) -> str:
        return f"ComponentwiseSum({len(self)} rounds, {len(self.schema.names)} features)"

    @property
    def coefficients(self) -> FloatArray:
        """Sum of the steps along each feature; (n_features,)."""
        n_features = len(self.schema.names)
        sums = np.bincount(self.arrays["feature"], self.arrays["step"], n_features)
        return np.asarray(sums, np.float64)

    @property
    def intercept(self) -> float:
        """What is predicted where all features are 0."""
        products = self.coefficients * self.arrays["centre"]
        return float(self.arrays["start"][0] - products.sum())

    def conform(self, X: TableLike, estimator_name: str) -> Table:
        """Read a table as the features this model was trained on."""
        return self.schema.conform(
            X, unseen=self.policy.unseen, extra=self.policy.extra, estimator_name=estimator_name
        )

    def predictions(
        self, X: TableLike, *, n_threads: int = 1, estimator_name: str = "this model"
    ) -> FloatArray:
        """Give expected values; (n_rows, 1)."""
        del n_threads  # a sum of few columns
        table = self.conform(X, estimator_name)
        total = np.full(table.n_rows, self.arrays["start"][0])
        coefficients = self.coefficients
        with np.errstate(over="ignore", invalid="ignore"):  # infinities may meet
            for place in np.flatnonzero(coefficients):
                total += coefficients[place] * self.centred(table, int(place))
        return total[:, np.newaxis]

    def centred(self, table: Table, place: int) -> FloatArray:
        """Give a feature as its distance from the centre; 0 where it is missing."""
        return centred_column(table, place, float(self.arrays["centre"][place]))

    def to_state(self) -> State:
        """Take the model apart into plain text and arrays."""
        schema_meta, schema_arrays = self.schema.to_state()
        target_meta, target_arrays = self.target.to_state()
        policy = {"unseen": self.policy.unseen, "extra": self.policy.extra}
        meta = {"kind": self.kind, "schema": schema_meta, "target": target_meta, "policy": policy}
        arrays = {f"linear/{name}": array for name, array in self.arrays.items()}
        arrays |= {f"schema/{name}": array for name, array in schema_arrays.items()}
        arrays |= {f"target/{name}": array for name, array in target_arrays.items()}
        return meta, arrays


def centred_column(table: Table, place: int, centre: float) -> FloatArray:
    """Give a feature as its distance from a centre; 0 where it is missing."""
    values = table.columns[place].dense(table.n_rows).astype(np.float64)
    return np.where(np.isnan(values), 0.0, values - centre)
