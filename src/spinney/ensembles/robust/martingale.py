"""Martingale boosting (Long and Servedio 2005): rows walk, and every place has its own learner.

At level t a row stands at the number of learners, of the t it has met, that said +. Each place
trains a learner on the rows that stand there, weighted so that both labels have half of the
weight; its answer decides the next step. After the last level a row is + if at least half of the
learners it met said so. A wrong label only matters among rows with the same past, so there is no
potential that noise could tilt.
"""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from spinney.ensembles.adaptive.hypothesis import Ask
from spinney.ensembles.robust.rounds import LEAST_EDGE
from spinney.ensembles.robust.rows import SignedRows
from spinney.ensembles.robust.settings import RobustSettings
from spinney.errors import InvalidInput, SmallWeights
from spinney.results import Result, read_only
from spinney.typing import FloatArray, IntArray

Answer: TypeAlias = Callable[[int, IntArray], FloatArray]
"""What the member with this number says of the rows with these numbers; + where positive."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MartingaleProgram(Result):
    """A branching program. Node (t, i) has number t (t + 1) / 2 + i."""

    members: tuple[Any, ...]
    """Learners, in the order of their nodes."""
    n_levels: int
    node_members: IntArray
    """Number of each node's member; -1 where the node says the same of every row."""
    constants: IntArray
    """What each node says if it has no member: 1 or -1."""
    edges: FloatArray
    """Edge of each node's member on the node's rows, both labels weighing the same; else NaN."""
    shares: FloatArray
    """Share of the training rows that came to each node."""

    def __post_init__(self) -> None:
        for name in ("node_members", "constants", "edges", "shares"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.members)

    def title(self) -> str:
        """Say in a line what the table shows."""
        return f"{self.n_levels} levels of martingale boosting with {len(self)} learners"

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the nodes as named columns."""
        level = np.repeat(np.arange(self.n_levels), np.arange(1, self.n_levels + 1))
        return {
            "level": level.tolist(),
            "n_plus": (np.arange(len(level)) - level * (level + 1) // 2).tolist(),
            "member": self.node_members.tolist(),
            "constant": self.constants.tolist(),
            "edge": self.edges.tolist(),
            "share": self.shares.tolist(),
        }


def walk_program(program: MartingaleProgram, answer: Answer, n_rows: int) -> IntArray:
    """Let rows walk, asking each member only about the rows that come to it.

    Parameters
    ----------
    program : MartingaleProgram
    answer : callable
        (number of a member, numbers of rows) -> one number for each, positive for +.
    n_rows : int

    Returns
    -------
    array of shape (n_rows,)
        How many of the ``n_levels`` learners said +.
    """
    plus = np.zeros(n_rows, dtype=np.int64)
    for level in range(program.n_levels):
        for place, rows in _places(plus, level):
            node = _node(level, place)
            member = int(program.node_members[node])
            if member < 0:
                plus[rows] += program.constants[node] > 0
            else:
                plus[rows] += np.asarray(answer(member, rows)) > 0
    return plus


def run_program(program: MartingaleProgram, answers: FloatArray) -> FloatArray:
    """Score rows by what every member says of them.

    Parameters
    ----------
    program : MartingaleProgram
    answers : array of shape (n_members, n_rows)
        Positive for +.

    Returns
    -------
    array of shape (n_rows,)
        Mean of the ±1 answers a row met on its way: in [-1, 1]; the row is + from 0 on.

    Examples
    --------
    >>> program = MartingaleProgram(
    ...     members=("a", "b"), n_levels=2, node_members=np.array([0, -1, 1]),
    ...     constants=np.array([1, -1, 1]), edges=np.full(3, np.nan), shares=np.ones(3))
    >>> run_program(program, np.array([[1.0, 1.0, -1.0], [1.0, -1.0, 1.0]]))
    array([ 1.,  0., -1.])
    """
    answers = np.asarray(answers)
    if answers.ndim != 2 or len(answers) != len(program):
        raise InvalidInput(
            f"answers of shape {answers.shape}: expected a row of answers for each of the "
            f"{len(program)} members."
        )
    plus = walk_program(program, lambda member, rows: answers[member, rows], answers.shape[1])
    return 2.0 * plus / program.n_levels - 1.0


def boost_by_martingale(ask: Ask, rows: SignedRows, settings: RobustSettings) -> MartingaleProgram:
    """Grow a program level by level; ``n_rounds`` is the number of levels.

    The learner of a node is asked with a distribution that is 0 outside the node. A node has no
    learner, and answers the label of more weight, if its rows weigh less than
    ``least_node_weight``, if they have one label, or if the learner has no edge. Where no
    training row comes, a node confirms what most learners before it said.
    """
    if rows.weights.sum() < settings.least_node_weight:
        warnings.warn(
            f"All rows together weigh {rows.weights.sum():g}, less than "
            f"least_node_weight={settings.least_node_weight:g}: no node gets a learner. Lower "
            "least_node_weight, or give weights that count rows.",
            SmallWeights,
            stacklevel=2,
        )
    plus = np.zeros(len(rows.signs), dtype=np.int64)
    n_nodes = settings.n_rounds * (settings.n_rounds + 1) // 2
    grown = _Growing(ask, rows, settings, n_nodes)
    for level in range(settings.n_rounds):
        for place, here in _places(plus, level):
            plus[here] += grown.node(_node(level, place), here)
    return grown.program()


def _node(level: int, place: int) -> int:
    return level * (level + 1) // 2 + place


def _places(plus: IntArray, level: int) -> list[tuple[int, IntArray]]:
    """Give the occupied places of a level and the rows that stand there, before any moves."""
    order = np.argsort(plus, kind="stable")
    bounds = np.searchsorted(plus[order], np.arange(level + 2))
    parts = [(i, order[bounds[i] : bounds[i + 1]]) for i in range(level + 1)]
    return [(place, rows) for place, rows in parts if len(rows)]


class _Growing:
    """A program while it grows."""

    def __init__(self, ask: Ask, rows: SignedRows, settings: RobustSettings, n_nodes: int) -> None:
        self._ask, self._rows, self._settings = ask, rows, settings
        self._members: list[Any] = []
        self._node_members = np.full(n_nodes, -1, dtype=np.int64)
        level = np.repeat(np.arange(settings.n_rounds), np.arange(1, settings.n_rounds + 1))
        place = np.arange(n_nodes) - level * (level + 1) // 2
        self._constants = np.where(2 * place >= level, 1, -1)
        self._edges = np.full(n_nodes, math.nan)
        self._shares = np.zeros(n_nodes)

    def node(self, node: int, here: IntArray) -> IntArray:
        """Train a node on the rows that stand there; tell which of them step up."""
        weights, signs = self._rows.weights[here], self._rows.signs[here]
        of_plus, of_minus = float(weights[signs > 0].sum()), float(weights[signs < 0].sum())
        total = of_plus + of_minus
        self._shares[node] = self._rows.prior[here].sum()
        if total > 0.0:
            self._constants[node] = 1 if of_plus >= of_minus else -1
        if min(of_plus, of_minus) > 0.0 and total >= self._settings.least_node_weight:
            balanced = np.zeros(len(self._rows.signs))
            balanced[here] = 0.5 * weights / np.where(signs > 0, of_plus, of_minus)
            heard = self._rows.hear(self._ask, balanced)
            if heard.edge > LEAST_EDGE:
                self._node_members[node] = len(self._members)
                self._members.append(heard.member)
                self._edges[node] = heard.edge
                return (heard.agreement[here] * signs > 0).astype(np.int64)
        return np.full(len(here), int(self._constants[node] > 0), dtype=np.int64)

    def program(self) -> MartingaleProgram:
        """Freeze it."""
        return MartingaleProgram(
            tuple(self._members),
            self._settings.n_rounds,
            self._node_members,
            self._constants,
            self._edges,
            self._shares,
        )
