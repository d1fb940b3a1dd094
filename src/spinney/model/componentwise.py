"""Sums of functions of one feature each: lines, put together feature by feature."""

import abc
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

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


class FeatureSum(Model):
    """``start + sum over members of a function of x[feature]``; missing: no term.

    ``model[:k]`` is the model of the first k members, which are the rounds of boosting.
    """

    _section: ClassVar[str]
    """What the names of its arrays begin with in a file."""

    def __init__(
        self,
        schema: FeatureSchema,
        target: Target,
        arrays: Mapping[str, AnyArray],
        *,
        policy: Policy,
    ) -> None:
        self.schema, self.target, self.policy = schema, target, policy
        self.arrays = {name: freeze(array) for name, array in arrays.items()}
        if self.arrays["feature"].ndim != 1 or self.arrays["start"].shape != (1,):
            raise InvalidModel("the parts of a sum over features have different lengths")
        n_features, features = len(schema.names), self.arrays["feature"]
        if len(features) and not 0 <= int(features.min()) <= int(features.max()) < n_features:
            raise InvalidModel("a sum over features names a feature that does not exist")
        if not all(np.isfinite(array).all() for array in self.arrays.values()):
            raise InvalidModel("the numbers of a sum over features must be finite")
        if any(levels is not None for levels in schema.levels) or target.n_outputs != 1:
            raise InvalidModel("a sum over features has numbers as features, and one target")

    def __len__(self) -> int:
        return len(self.arrays["feature"])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} rounds, {len(self.schema.names)} features)"

    @property
    @abc.abstractmethod
    def sums(self) -> Mapping[int, Any]:
        """What members of a feature add up to, in the order of features."""

    @abc.abstractmethod
    def part(self, table: Table, feature: int, coefficients: Any) -> FloatArray:
        """Give what one feature adds to each row of a table that conforms."""

    def total(self, table: Table) -> FloatArray:
        """Give the sum for each row of a table that conforms."""
        total = np.full(table.n_rows, self.arrays["start"][0])
        with np.errstate(over="ignore", invalid="ignore"):  # infinities may meet
            for feature, coefficients in self.sums.items():
                total += self.part(table, feature, coefficients)
        return total

    def stages(self, table: Table) -> Iterator[FloatArray]:
        """Give the total of the first member, of the first two, and so on, to the same bits.

        A member changes the part of one feature; parts are added in the order of features, as in
        ``total``, which costs an addition per feature and member.
        """
        sums: dict[int, Any] = {}
        parts: dict[int, FloatArray] = {}
        for place in range(len(self)):
            feature, coefficients = self[place]
            total = np.full(table.n_rows, self.arrays["start"][0])
            with np.errstate(over="ignore", invalid="ignore"):
                sums[feature] = sums.get(feature, 0.0) + coefficients
                parts[feature] = self.part(table, feature, sums[feature])
                for known in sorted(parts):
                    total += parts[known]
            yield total

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
        return self.total(self.conform(X, estimator_name))[:, np.newaxis]

    def to_state(self) -> State:
        """Take the model apart into plain text and arrays."""
        schema_meta, schema_arrays = self.schema.to_state()
        target_meta, target_arrays = self.target.to_state()
        policy = {"unseen": self.policy.unseen, "extra": self.policy.extra}
        meta = {"kind": self.kind, "schema": schema_meta, "target": target_meta, "policy": policy}
        arrays = {f"{self._section}/{name}": array for name, array in self.arrays.items()}
        arrays |= {f"schema/{name}": array for name, array in schema_arrays.items()}
        arrays |= {f"target/{name}": array for name, array in target_arrays.items()}
        return meta, arrays

    def _with(self, some: Mapping[str, AnyArray]) -> Self:
        """Give the model with some arrays exchanged."""
        return type(self)(self.schema, self.target, {**self.arrays, **some}, policy=self.policy)


class ComponentwiseSum(FeatureSum):
    """``start + sum over members of step * (x[feature] - centre[feature])``; missing: no term."""

    kind: ClassVar[str] = "componentwise"
    _section: ClassVar[str] = "linear"

    def __init__(
        self,
        schema: FeatureSchema,
        target: Target,
        arrays: Mapping[str, AnyArray],
        *,
        policy: Policy,
    ) -> None:
        super().__init__(schema, target, arrays, policy=policy)
        shapes = {"step": len(self), "centre": len(schema.names)}
        if any(self.arrays[name].shape != (size,) for name, size in shapes.items()):
            raise InvalidModel("the parts of a linear model have different lengths")

    def __getitem__(self, index: Any) -> Any:
        features: CodeArray = self.arrays["feature"]
        if not isinstance(index, slice):
            return int(features[index]), float(self.arrays["step"][index])
        return self._with({name: self.arrays[name][index] for name in ("feature", "step")})

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

    @property
    def sums(self) -> Mapping[int, float]:
        """The coefficient of each feature that members have."""
        coefficients = self.coefficients
        chosen = np.unique(self.arrays["feature"]).tolist()
        return {feature: float(coefficients[feature]) for feature in chosen}

    def part(self, table: Table, feature: int, coefficients: float) -> FloatArray:
        """Give what one feature adds to each row; nothing if its steps cancelled."""
        if coefficients == 0:
            return np.zeros(table.n_rows)  # also where the feature is infinite
        added: FloatArray = coefficients * self.centred(table, feature)
        return added

    def centred(self, table: Table, place: int) -> FloatArray:
        """Give a feature as its distance from the centre; 0 where it is missing."""
        values = numbers_of(table, place)
        centre = float(self.arrays["centre"][place])
        return np.where(np.isnan(values), 0.0, values - centre)


def numbers_of(table: Table, place: int) -> FloatArray:
    """Give a feature as doubles; NaN where it is missing."""
    return table.columns[place].dense(table.n_rows).astype(np.float64)
