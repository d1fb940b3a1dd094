"""What a boosting fit did, round by round."""

import abc
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


class RoundNumbers(Result, abc.ABC):
    """Numbers of rounds that are no votes: arrays with one entry per round, and why it ended."""

    ARRAYS: tuple[str, ...] = ()
    stop_reason: str

    def __post_init__(self) -> None:
        for name in self.ARRAYS:
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(getattr(self, self.ARRAYS[0]))

    def title(self) -> str:
        """Say in a line what the table shows."""
        return f"{len(self)} rounds of boosting; ended because {self.stop_reason}"

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the rounds as named columns."""
        rounds = {"round": range(1, len(self) + 1)}
        return rounds | {name: getattr(self, name).tolist() for name in self.ARRAYS}


@dataclass(frozen=True, eq=False, repr=False)
class MedianTrace(RoundNumbers):
    """AdaBoost.R2, round by round; D_t is the distribution over rows that round t saw."""

    ARRAYS = ("errors", "alphas", "normalisers", "largest_errors")
    errors: FloatArray
    """Mean loss of the member under D_t, from 0 to 1."""
    alphas: FloatArray
    """Weight of the member in the median: ln((1 - error) / error), times the learning rate."""
    normalisers: FloatArray
    """Weight that all rows kept, before weights were scaled to sum 1 again; 1 if they stayed."""
    largest_errors: FloatArray
    """Largest absolute error on the training rows, which counts as a loss of 1."""
    stop_reason: str
    """Why there was no further round, in words."""


@dataclass(frozen=True, eq=False, repr=False)
class DescentTrace(RoundNumbers):
    """Descent along functions, round by round."""

    ARRAYS = ("losses", "edges", "steps")
    losses: FloatArray
    """Mean loss of the training rows, after the round."""
    edges: FloatArray
    """How well the function follows the negative gradient on the rows the round saw, from -1 to 1:
    the sum of their products over the largest it could be for a function of that height. Of votes
    the edge, so that their weighted error is (1 - edge) / 2."""
    steps: FloatArray
    """How far the round went along the function, before the learning rate."""
    start_loss: float
    """Mean loss before the first round."""
    stop_reason: str
    """Why there was no further round, in words."""
