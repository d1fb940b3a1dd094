"""The game on which AdaBoost falls into a cycle and misses the largest margin."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.datasets.dataset import number_features
from spinney.results import Result, read_only
from spinney.typing import FloatArray

_SIGNS = """
-++++--+
-++--+++
+-+++-++
+-++-+++
+-+-+++-
++-++++-
++-+++-+
++++--+-
"""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RudinMatrix(Result):
    """Eight rows, eight hypotheses, and what is known about boosting them."""

    matrix: FloatArray
    """(8, 8): 1 where hypothesis (column) is right on row, -1 where it is wrong."""
    start: FloatArray
    """(8,): the distribution over rows from which AdaBoost is in its cycle at once."""
    optimal_weights: FloatArray
    """(8,): weights of hypotheses, adding up to 1, with the largest margin on all rows."""
    largest_margin: float = 3.0 / 8.0
    """The value of the game."""
    adaboost_margin: float = 1.0 / 3.0
    """The margin AdaBoost has after every third round of its cycle."""
    cycle: tuple[int, ...] = (0, 2, 1)
    """Columns that AdaBoost takes from ``start``, over and over."""
    edge: float = (math.sqrt(5.0) - 1.0) / 2.0
    """The edge of every round of the cycle: each has the error (3 - √5) / 4."""

    def __post_init__(self) -> None:
        for name in ("matrix", "start", "optimal_weights"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def title(self) -> str:
        """Say in a line what the table shows."""
        return "Rudin's matrix: where a hypothesis (x0 to x7) is right on a row, and the start"

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the matrix column by column, and the start beside it."""
        names = number_features(len(self.matrix))
        columns = dict(zip(names, self.matrix.T.tolist(), strict=True))
        return columns | {"start": self.start.tolist()}


def rudin_matrix() -> RudinMatrix:
    """Give the example of Rudin, Daubechies and Schapire: margin 1/3 where 3/8 is possible.

    AdaBoost that takes the column of the largest edge in each round repeats columns 0, 2, 1 for
    ever, so that its margin stays at 1/3 while linear programming reaches 3/8 with
    ``optimal_weights``.

    Returns
    -------
    RudinMatrix

    Examples
    --------
    >>> game = rudin_matrix()
    >>> game.matrix @ game.optimal_weights
    array([0.375, 0.375, 0.375, 0.375, 0.375, 0.375, 0.375, 0.375])
    """
    rows = [[1.0 if sign == "+" else -1.0 for sign in line] for line in _SIGNS.split()]
    golden = math.sqrt(5.0)
    light, heavy = (3.0 - golden) / 8.0, (golden - 1.0) / 8.0
    start = [light, light, 1 / 6, 1 / 6, 1 / 6, heavy, heavy, 0.0]
    weights = np.array([2.0, 3.0, 4.0, 1.0, 2.0, 2.0, 1.0, 1.0]) / 16.0
    return RudinMatrix(np.array(rows), np.array(start), weights)
