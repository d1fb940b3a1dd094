"""What robust boosting by sums gives back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spinney.results import Result, read_only
from spinney.theory.trace import Trace
from spinney.typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RobustBoost(Result):
    """A weighted sum F of weak hypotheses; the sign of F is the predicted class.

    In ``trace`` errors are (1 - edge) / 2, alphas are the steps as they were taken (``weights``
    are what decay left of them), normalisers are the potential after the round divided by that
    before, and least margins are divided by the sum of the weights at that time.
    """

    members: tuple[Any, ...]
    weights: FloatArray
    """(n_rounds,): coefficient of each member in F, after all decay."""
    trace: Trace
    potentials: FloatArray
    """(n_rounds + 1,): mean potential of the rows, before the first round and after each."""
    times: FloatArray
    """(n_rounds + 1,): the clock of "brown" and "robust" from 0 to 1; NaN for the others."""

    def __post_init__(self) -> None:
        for name in ("weights", "potentials", "times"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.members)

    @property
    def time_left(self) -> float:
        """Share of the clock that was not used up; NaN for boosters without one.

        More than 0 means that the learners had no edge any more, or that there were too few
        rounds: the target error was not reached.
        """
        return float(1.0 - self.times[-1])

    @property
    def stop_reason(self) -> str:
        """Why there was no further round, in words."""
        return self.trace.stop_reason

    def title(self) -> str:
        """Say in a line what the table shows."""
        return f"{len(self)} members of a robust sum; ended because {self.stop_reason}"

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the rounds as named columns."""
        return {
            "round": range(1, len(self) + 1),
            "weight": self.weights.tolist(),
            "edge": self.trace.edges.tolist(),
            "potential": self.potentials[1:].tolist(),
            "time": self.times[1:].tolist(),
        }
