"""The seam between boosters and weak learners."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from spinney.typing import AnyArray, CodeArray, FloatArray

LEAST_EDGE = 1e-12
"""A learner closer to guessing than this knows nothing: its edge is rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """What a weak learner answered."""

    answers: AnyArray
    """What it says of each training row. Of two classes: numbers in [-1, 1], positive for the
    second class."""
    member: Any
    """What says it of any row: a tree, or a fitted estimator. Boosters only carry it."""
    leaves: CodeArray | None = None
    """Of a regression tree of ours: the node each training row ended in."""


Ask: TypeAlias = Callable[[FloatArray], Hypothesis]
"""Give a distribution over the training rows (non-negative, sum 1), get a hypothesis."""
