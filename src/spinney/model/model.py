"""What every frozen model offers, whatever learner made it."""

import abc
import hashlib
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from spinney.data.schema import FeatureSchema
from spinney.data.target import Target
from spinney.errors import InvalidModel
from spinney.model import sections
from spinney.model.overview import model_html
from spinney.model.versions import oldest_version
from spinney.typing import AnyArray, FloatArray, TableLike

State: TypeAlias = tuple[dict[str, Any], dict[str, AnyArray]]
"""Plain text and numbers, and plain arrays: all of a model that a file may contain."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What happens at predict to categories and columns that training did not know."""

    unseen: str = "missing"
    """``"missing"`` or ``"error"``, for categories."""
    extra: str = "error"
    """``"error"`` or ``"ignore"``, for columns."""

    def __post_init__(self) -> None:
        if self.unseen not in ("missing", "error") or self.extra not in ("error", "ignore"):
            raise InvalidModel(f"unknown policy: unseen={self.unseen!r}, extra={self.extra!r}")


class Model(abc.ABC):
    """A fitted model without its learner: immutable, comparable, savable.

    Two models with the same ``fingerprint`` give the same predictions, bit for bit.
    """

    kind: ClassVar[str]
    schema: FeatureSchema
    target: Target
    policy: Policy

    unseen_code: int = -1
    """The code of categories that training did not know, where they are let in: that of missing
    ones, or one of their own."""

    passes_tables_on: bool = False
    """Whether members see tables as the user gives them, and cannot read those of ours."""

    @abc.abstractmethod
    def predictions(
        self, X: TableLike, *, n_threads: int = 1, estimator_name: str = "this model"
    ) -> FloatArray:
        """Probabilities (n_rows, n_classes), or expected values (n_rows, n_outputs)."""

    def quick_predictions(self, X: TableLike) -> FloatArray | None:  # noqa: ARG002
        """Give ``predictions`` of a few plain rows quickly; None if there is no such way."""
        return None

    @abc.abstractmethod
    def to_state(self) -> State:
        """Take the model apart into what a file may contain."""

    @abc.abstractmethod
    def __len__(self) -> int:
        """Count the members."""

    @abc.abstractmethod
    def __getitem__(self, index: Any) -> Any:
        """``model[:k]`` is the model of the first k members."""

    def to_bytes(self) -> bytes:
        """Canonical bytes: equal models have equal bytes."""
        meta, arrays = self.to_state()
        return sections.pack(meta, arrays, version=oldest_version(arrays))

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical bytes, in hexadecimal."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def _repr_html_(self) -> str:
        """Show it in notebooks."""
        return model_html(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[Any, ...]:
        """Let pickle, copy and joblib carry the canonical bytes, checked when they come back."""
        from spinney.model.state import model_from_bytes  # noqa: PLC0415 - it knows all kinds

        return model_from_bytes, (self.to_bytes(),)
