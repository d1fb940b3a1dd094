"""Martingale boosting (Long and Servedio 2005): rows walk, and every place has its own learner.

At level t a row stands at the number of learners, of the t it has met, that said +. Each place
trains a learner on the rows that stand there, weighted so that both labels have half of the
weight; its answer decides the next step. After the last level a row is + if at least half of the
learners it met said so. A wrong label only matters among rows with the same past, so there is no
potential that noise could tilt.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from spinney.ensembles.robust.settings import RobustSettings
from spinney.ensembles.weak.hypothesis import LEAST_EDGE, Ask
from spinney.ensembles.weak.signed_rows import SignedRows
from spinney.errors import InvalidInput, SmallWeights
from spinney.model.program import (
    ask_where_rows_stand,
    first_node,
    members_of_nodes,
    occupied_places,
    walk,
)
from spinney.progress import follow
from spinney.results import Result, read_only
from spinney.theory.trace import Trace
from spinney.typing import BoolArray, FloatArray, IntArray

Answer: TypeAlias = Callable[[int, IntArray], FloatArray]
"""What the member with this number says of the rows with these numbers; + where positive."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MartingaleProgram(Result):
    """A branching program. Node (t, i) has number t (t + 1) / 2 + i."""

    members: tuple[Any, ...]
    """Learners, in the order of their nodes."""
    n_levels: int
    answers: IntArray
    """What each node says to every row, 1 or -1; 0 where it has a member who decides."""
    edges: FloatArray
    """Edge of each node's member on the node's rows, both labels weighing the same; else 0."""
    shares: FloatArray
    """Share of the training rows that came to each node."""
    trace: Trace
    """What each level did: errors are (1 - edge) / 2; edges are means over the rows of the level;
    alphas are 1 / n_levels; the objective is the training error of the levels so far, where a
    row that heard + and - as often is wrong; normalisers are its quotients."""

    def __post_init__(self) -> None:
        for name in ("answers", "edges", "shares"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.members)

    def title(self) -> str:
        """Say in a line what the table shows."""
        return f"{self.n_levels} levels of martingale boosting with {len(self)} learners"

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the nodes as named columns."""
        level = _levels(self.n_levels)
        return {
            "level": level.tolist(),
            "n_plus": (np.arange(len(level)) - first_node(level)).tolist(),
            "member": members_of_nodes(self.answers).tolist(),
            "answer": self.answers.tolist(),
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
    tell = ask_where_rows_stand(program.answers, lambda *asked: np.asarray(answer(*asked)) > 0)
    return list(walk(program.n_levels, tell, n_rows))[-1]


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
    ...     ("a", "b"), n_levels=2, answers=np.array([0, -1, 0]), edges=np.zeros(3),
    ...     shares=np.ones(3), trace=None)
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
    ``least_node_weight`` (the first node excepted), if they have one label, or if the learner has
    no edge. Where no training row comes, a node confirms what most learners before it said.
    """
    total, n_rows = float(rows.weights.sum()), int(np.count_nonzero(rows.weights))
    if total < settings.least_node_weight <= n_rows:
        warnings.warn(
            f"All {n_rows} rows together weigh {total:g}, less than "
            f"least_node_weight={settings.least_node_weight:g}: only the first node gets a "
            "learner. Lower least_node_weight, or give weights that count rows.",
            SmallWeights,
            stacklevel=2,
        )
    growing = _Growing(ask, rows, settings)
    wrong, least = np.empty(settings.n_rounds), np.empty(settings.n_rounds)
    levels = walk(settings.n_rounds, growing.level, len(rows.signs))
    for level, plus in enumerate(follow(levels, settings.n_rounds, "level")):
        margins = rows.signs * (2.0 * plus / (level + 1) - 1.0)
        wrong[level] = rows.mean((margins <= 0.0).astype(float))
        least[level] = rows.least(margins)
    return growing.program(wrong, least)


class _Growing:
    """A program while it grows."""

    def __init__(self, ask: Ask, rows: SignedRows, settings: RobustSettings) -> None:
        self._ask, self._rows, self._settings = ask, rows, settings
        self._members: list[Any] = []
        n_nodes = first_node(settings.n_rounds)
        level = _levels(settings.n_rounds)
        place = np.arange(n_nodes) - first_node(level)
        self._answers = np.where(2 * place >= level, 1, -1)
        self._edges, self._shares = np.zeros(n_nodes), np.zeros(n_nodes)

    def level(self, level: int, places: IntArray) -> BoolArray:
        """Train the nodes of a level on the rows that stand there; tell which rows hear +."""
        heard = np.empty(len(places), bool)
        for place, rows in occupied_places(places, level):
            heard[rows] = self._node(first_node(level) + place, rows)
        return heard

    def _node(self, node: int, here: IntArray) -> BoolArray:
        weights, signs = self._rows.weights[here], self._rows.signs[here]
        of_plus, of_minus = float(weights[signs > 0].sum()), float(weights[signs < 0].sum())
        total = of_plus + of_minus
        self._shares[node] = min(1.0, total / self._rows.weights.sum())
        if total > 0.0:
            self._answers[node] = 1 if of_plus >= of_minus else -1
        is_heavy = node == 0 or total >= self._settings.least_node_weight
        if is_heavy and min(of_plus, of_minus) > 0.0:
            balanced = np.zeros(len(self._rows.signs))
            balanced[here] = 0.5 * weights / np.where(signs > 0, of_plus, of_minus)
            heard = self._rows.hear(self._ask, balanced)
            if heard.edge > LEAST_EDGE:
                self._answers[node] = 0
                self._members.append(heard.member)
                self._edges[node] = min(heard.edge, 1.0)
                return np.asarray(heard.agreement[here] * signs > 0)
        return np.full(len(here), self._answers[node] > 0)

    def program(self, wrong: FloatArray, least: FloatArray) -> MartingaleProgram:
        """Freeze it; with the training error and the least margin after each level."""
        n_levels = self._settings.n_rounds
        edges = np.zeros(n_levels)
        np.add.at(edges, _levels(n_levels), self._shares * self._edges)
        before = np.append(1.0, wrong[:-1])
        trace = Trace(
            errors=(1.0 - edges) / 2.0,
            edges=edges,
            alphas=np.full(n_levels, 1.0 / n_levels),
            normalisers=np.divide(wrong, before, out=np.zeros(n_levels), where=before > 0.0),
            objective=wrong,
            min_margins=least,
            stop_reason=(
                f"all {n_levels} levels were done"
                if self._members
                else "no node had both labels, rows enough and a learner with an edge"
            ),
        )
        members = tuple(self._members)
        return MartingaleProgram(members, n_levels, self._answers, self._edges, self._shares, trace)


def _levels(n_levels: int) -> IntArray:
    """Give the level of each node."""
    return np.repeat(np.arange(n_levels), np.arange(1, n_levels + 1))
