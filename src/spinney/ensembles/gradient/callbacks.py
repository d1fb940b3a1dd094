"""What callbacks see after every round, and how they are called."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from spinney.ensembles.gradient.sums import BoostedSum
from spinney.errors import InvalidParameter
from spinney.model import Model
from spinney.typing import FloatArray

Freeze: TypeAlias = Callable[[BoostedSum], Model]


@dataclass(frozen=True, slots=True, eq=False)
class RoundView:
    """A fit as it is after a round; it stays what it is when the fit goes on."""

    round: int
    """How many rounds there are."""
    train_score: float
    """How good the sum is on training rows, as ``train_score_`` tells it; more is better."""
    validation_score: float | None
    """The same on the rows that decide when to stop; None: there are none."""
    seconds: float
    """Since ``fit`` began."""
    _grown: BoostedSum = field(repr=False)
    _freeze: Freeze = field(repr=False)
    _weights: FloatArray | None = field(default=None, repr=False)
    """Of the rounds at that time: dropout changes them later."""

    @property
    def model(self) -> Model:
        """The model so far, made when it is asked for."""
        whole = self._freeze(replace(self._grown, weights=self._weights))
        so_far: Model = whole[: self.round * self._grown.trees_per_round]
        return so_far


Callback: TypeAlias = Callable[[RoundView], Any]


def read_callbacks(given: Any) -> tuple[Callback, ...]:
    """Read a callable, several, or None."""
    several = () if given is None else (given,) if callable(given) else given
    if not isinstance(several, Sequence) or not all(callable(one) for one in several):
        raise InvalidParameter(
            f"callbacks={given!r}: expected a callable that takes one argument, the view of a "
            "round, a list of such, or None."
        )
    return tuple(several)


def ask_callbacks(callbacks: Sequence[Callback], view: RoundView) -> bool:
    """Call all of them, and tell whether any says stop."""
    answers = [callback(view) for callback in callbacks]
    for callback, answer in zip(callbacks, answers, strict=True):
        if answer is not None and not isinstance(answer, bool | np.bool_):
            name = getattr(callback, "__name__", type(callback).__name__)
            raise InvalidParameter(
                f"The callback {name} gave {answer!r} after round {view.round}: expected "
                "True to stop, False or None to go on."
            )
    return any(answer is not None and bool(answer) for answer in answers)
