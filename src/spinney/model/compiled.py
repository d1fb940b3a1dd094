"""A fitted model as a function of one row."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from spinney.data.row import RowReader, plain_table_of_row, table_of_row
from spinney.errors import InvalidInput, shorten
from spinney.model.derived import DerivedForest
from spinney.model.forest import TreeForest
from spinney.model.model import Model
from spinney.typing import AnyArray, FloatArray


class CompiledModel:
    """A frozen model without ceremony: called with a row, it says what it predicts.

    The answer is a vector of probabilities in the order of ``classes``, or a number, or a vector of
    numbers for several outputs; the same bits as from the estimator. A row is a NumPy vector or a
    sequence in the order of ``feature_names``, or a mapping of these names to values, or a row of a
    pandas frame. A table gives the answers of all its rows, on the thread that asks.

    Safe to call from many threads, and small to pickle: nothing but the model is inside.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import GradientBoostingRegressor
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> model = GradientBoostingRegressor(max_iter=100).fit(X, 2 * X[:, 0])
    >>> compiled = model.compile()
    >>> compiled([30.0]) == float(model.predict([[30.0]])[0])
    True
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.feature_names = model.schema.names
        self.classes: AnyArray | None = model.target.classes
        """None unless the model is of a classification."""
        self._is_number = model.target.classes is None and model.target.n_outputs == 1
        unseen_code = float(model.unseen_code)
        self._reader = RowReader(model.schema, unseen=model.policy.unseen, unseen_code=unseen_code)
        self._quick: Callable[[Any], FloatArray] | None = None
        if isinstance(model, TreeForest | DerivedForest) and self._reader.is_plain:
            self._quick = model.row_predictions
        self._of_numbers = self._quick if self._reader.is_numeric else None
        names = self.feature_names
        self._shape = (len(names),)
        self._pick = itemgetter(*names) if len(names) > 1 else lambda row: (row[names[0]],)

    def __call__(self, row: Any) -> Any:
        """Predict one row, or each row of a table."""
        of_numbers = self._of_numbers
        if of_numbers is not None and type(row) is np.ndarray and row.shape == self._shape:
            try:
                predictions = of_numbers(row)
            except TypeError:  # other numbers than floats, or not next to each other: read as any
                pass
            else:
                return float(predictions[0]) if self._is_number else predictions
        if isinstance(row, Mapping):
            return self._answer(self._of_values(self._values(row)))
        is_listed = isinstance(row, list | tuple) and not _has_rows(row)
        if is_listed or getattr(row, "ndim", None) == 1:
            if hasattr(row, "to_dict") and all(isinstance(name, str) for name in row.index):
                return self(row.to_dict())  # a row of a pandas frame
            values = row.tolist() if hasattr(row, "tolist") else list(row)
            return self._answer(self._of_values(values))
        predictions = self.model.predictions(row, estimator_name="the compiled model")
        return predictions[:, 0] if self._is_number else predictions

    def __reduce__(self) -> tuple[Any, ...]:
        return CompiledModel, (self.model,)

    def __repr__(self) -> str:
        return f"CompiledModel({self.model!r})"

    def _answer(self, predictions: FloatArray) -> Any:
        return float(predictions[0]) if self._is_number else predictions

    def _of_values(self, values: Sequence[Any]) -> FloatArray:
        self._check_length(len(values))
        numbers = None if self._quick is None else self._reader.read(values)
        if self._quick is not None and numbers is not None:
            return self._quick(numbers)
        of_row = plain_table_of_row if self.model.passes_tables_on else table_of_row
        table = of_row(self.model.schema, values)
        predicted: FloatArray = self.model.predictions(table, estimator_name="the compiled model")[
            0
        ]
        return predicted

    def _values(self, row: Mapping[str, Any]) -> Sequence[Any]:
        try:
            values: Sequence[Any] = self._pick(row)
        except KeyError:
            missing = [name for name in self.feature_names if name not in row]
            raise InvalidInput(
                f"The row has no value for {shorten(missing)}. Give one for each of the model's "
                f"{len(self.feature_names)} features; None for missing."
            ) from None
        if len(row) > len(values) and self.model.policy.extra == "error":
            extra = sorted(set(row) - set(self.feature_names), key=str)
            or_else = "" if self.model.passes_tables_on else ", or fit with extra_columns='ignore'"
            raise InvalidInput(
                f"The row has values the model does not know: {shorten(extra)}. Leave them "
                f"out{or_else}."
            )
        return values

    def _check_length(self, n_values: int) -> None:
        if n_values != len(self.feature_names):
            raise InvalidInput(
                f"The row has {n_values} values, but the model has {len(self.feature_names)} "
                f"features: {shorten(self.feature_names)}. Give one value for each."
            )


def _has_rows(row: Sequence[Any]) -> bool:
    """Tell whether a list is a table: its first entry is a row."""
    return len(row) > 0 and isinstance(row[0], list | tuple | np.ndarray)
