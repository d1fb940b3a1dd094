"""Which features matter to a model: one number per feature."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.explain.results import Result
from spinney.typing import FloatArray


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Importances(Result):
    """A number per feature, the larger the more it matters."""

    kind: str
    feature_names: tuple[str, ...]
    values: FloatArray
    standard_errors: FloatArray | None

    def title(self) -> str:
        """Say what was measured."""
        return f"Importance of {len(self.feature_names)} features: {self.kind}"

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the features, the most important first."""
        order = np.argsort(-self.values, kind="stable").tolist()
        columns: dict[str, Sequence[Any]] = {
            "feature": [self.feature_names[place] for place in order],
            "importance": self.values[order].tolist(),
        }
        if self.standard_errors is not None:
            columns["standard error"] = self.standard_errors[order].tolist()
        return columns
