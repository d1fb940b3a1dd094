"""What is left in a file of a loss that a user wrote: a file holds no code."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SavedLoss:
    """The name of a loss, and whether it had a function from raw scores to predictions.

    Where a link has a name, a model needs no more to predict. To fit again, or to predict through
    ``inverse_link``, the estimator has to be given the loss again.
    """

    name: str
    has_inverse_link: bool = False

    def __repr__(self) -> str:
        return f"<the loss {self.name} of a saved model>"


def is_custom(given: Any) -> bool:
    """Tell whether something is a loss that a user wrote, or what is left of one in a file."""
    methods = (getattr(given, name, None) for name in ("value", "gradients"))
    is_loss = not isinstance(given, type) and all(callable(method) for method in methods)
    return is_loss or isinstance(given, SavedLoss)


def without_code(given: Any) -> SavedLoss:
    """Give what a file keeps of a user's loss."""
    if isinstance(given, SavedLoss):
        return given
    return SavedLoss(type(given).__name__, callable(getattr(given, "inverse_link", None)))
