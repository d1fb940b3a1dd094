"""Any fitted estimator as a model, for reports on committees that keep none of their own."""

from typing import Any, ClassVar

import numpy as np

from spinney.data.intake import read_table
from spinney.data.schema import FeatureSchema
from spinney.data.target import Target
from spinney.errors import CannotSave
from spinney.model import Model, Policy
from spinney.model.model import State
from spinney.typing import FloatArray, TableLike


class EstimatorModel(Model):
    """A fitted classifier or regressor that is asked about tables as the user gives them.

    What its features are is read from a table, which is the best that is known.
    """

    kind: ClassVar[str] = "estimator"
    passes_tables_on = True

    def __init__(self, fitted: Any, X: TableLike) -> None:
        self.fitted = fitted
        self.schema = FeatureSchema.learn(read_table(X))[0]
        classes = getattr(fitted, "classes_", None)
        n_outputs = 1
        if classes is None:
            some = np.asarray(fitted.predict(X))
            n_outputs = 1 if some.ndim == 1 else some.shape[1]
        target = Target.regression(n_outputs)
        self.target = target if classes is None else Target.classification(np.asarray(classes))
        self.policy = Policy(extra="ignore")

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
        raise CannotSave(f"A {type(self.fitted).__name__} has no canonical bytes.")

    def __len__(self) -> int:
        members = getattr(self.fitted, "estimators_", None)
        return len(members) if isinstance(members, list | tuple) else 1

    def __getitem__(self, index: Any) -> Any:
        return self.fitted.estimators_[index]

    def __repr__(self) -> str:
        return f"{type(self.fitted).__name__} of {len(self)} members"
