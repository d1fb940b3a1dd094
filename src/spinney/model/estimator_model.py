"""Any fitted estimator as a model, for committees that keep none of their own."""

from typing import Any, ClassVar

import numpy as np

from spinney.data.intake import read_table
from spinney.data.schema import FeatureSchema
from spinney.data.target import Target
from spinney.errors import CannotSave
from spinney.model.model import Model, Policy, State
from spinney.typing import FloatArray, TableLike


class EstimatorModel(Model):
    """A fitted classifier or regressor that is asked about tables as the user gives them.

    It lives in memory and in pickles only. Of the schema only the names count: what else features
    are is the estimator's affair.
    """

    kind: ClassVar[str] = "estimator"
    passes_tables_on = True

    def __init__(
        self, fitted: Any, schema: FeatureSchema, target: Target, *, policy: Policy
    ) -> None:
        self.fitted = fitted
        self.schema, self.target, self.policy = schema, target, policy

    @classmethod
    def of_table(cls, fitted: Any, X: TableLike) -> "EstimatorModel":
        """Read from a table what the features are, which is the best that is known."""
        classes = getattr(fitted, "classes_", None)
        n_outputs = 1
        if classes is None:
            some = np.asarray(fitted.predict(X))
            n_outputs = 1 if some.ndim == 1 else some.shape[1]
        target = Target.regression(n_outputs)
        target = target if classes is None else Target.classification(np.asarray(classes))
        schema = FeatureSchema.learn(read_table(X))[0]
        return cls(fitted, schema, target, policy=Policy(extra="ignore"))

    def predictions(
        self,
        X: TableLike,
        *,
        n_threads: int = 1,  # noqa: ARG002 - the estimator has its own
        estimator_name: str = "this model",  # noqa: ARG002
    ) -> FloatArray:
        """Ask for probabilities, or votes where there are none, or numbers."""
        classes = self.target.classes
        if classes is not None and hasattr(self.fitted, "predict_proba"):
            return np.asarray(self.fitted.predict_proba(X), np.float64)
        predicted = np.asarray(self.fitted.predict(X))
        if classes is not None:
            return np.asarray(predicted[:, np.newaxis] == classes, np.float64)
        return predicted.astype(np.float64).reshape(len(predicted), -1)

    def to_state(self) -> State:
        """Refuse: members may be anything."""
        raise CannotSave(
            f"A {type(self.fitted).__name__} has no canonical bytes. Save the estimator itself, or "
            "keep this one with pickle or joblib."
        )

    def __len__(self) -> int:
        members = getattr(self.fitted, "estimators_", None)
        return len(members) if isinstance(members, list | tuple) else 1

    def __getitem__(self, index: Any) -> Any:
        return self.fitted.estimators_[index]

    def __repr__(self) -> str:
        return f"{type(self.fitted).__name__} of {len(self)} members"

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.fitted, self.schema, self.target, self.policy)


def _restored(fitted: Any, schema: FeatureSchema, target: Target, policy: Policy) -> EstimatorModel:
    return EstimatorModel(fitted, schema, target, policy=policy)
