"""What a boosting fit did, round by round."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spinney.results import Result, read_only
from spinney.typing import FloatArray

TRACE_ARRAYS = ("errors", "edges", "alphas", "normalisers", "objective", "min_margins")
"""Arrays of a trace with one number per round."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trace(Result):
    """The numbers the theory of boosting speaks of, one per round.

    With F_t the sum after round t and D_t the distribution over training rows that round t saw:
    """

    errors: FloatArray
    """Weight under D_t of the rows the learner gets wrong; of real-valued votes (1 - edge) / 2."""
    edges: FloatArray
    """Sum over rows of D_t(i) y_i h_t(x_i)."""
    alphas: FloatArray
    """Weight of the vote, in the natural scale: ½ ln((1 - error) / error) for AdaBoost."""
    normalisers: FloatArray
    """Z_t: how much the objective shrank in the round; their product bounds the training error."""
    objective: FloatArray
    """What the booster minimises, after the round; for AdaBoost the mean of exp(-y F_t).

    It bounds the training error of two classes, and of any number for AdaBoost.M1; for AdaBoost.MH
    the Hamming loss. SAMME's loss of more than two classes may be less than the training error."""
    min_margins: FloatArray
    """Least y F_t(x) / sum of |alphas|, after the round."""
    stop_reason: str
    """Why there was no further round, in words."""
    distributions: FloatArray | None = None
    """(n_rounds + 1, n_rows): D_1 up to the one the next round would have seen; None: not kept."""

    def __post_init__(self) -> None:
        for name in (*TRACE_ARRAYS, "distributions"):
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, read_only(array))

    def __len__(self) -> int:
        return len(self.alphas)

    def title(self) -> str:
        """Say in a line what the table shows."""
        return f"{len(self)} rounds of boosting; ended because {self.stop_reason}"

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the rounds as named columns."""
        rounds = {"round": range(1, len(self) + 1)}
        return rounds | {name: getattr(self, name).tolist() for name in TRACE_ARRAYS}
