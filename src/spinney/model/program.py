"""A branching program: rows walk from learner to learner, and what they are told on the way counts.

Level t has the nodes (t, 0) to (t, t); node (t, i) has number t (t + 1) / 2 + i. A row begins at
(0, 0); at node (t, i) it is told + or - and goes to (t + 1, i + 1) or (t + 1, i). So i counts the
+ it has heard, and after the last level their share is the answer.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeAlias

import numpy as np

from spinney.data.binning import native_columns
from spinney.errors import InvalidInput, InvalidModel
from spinney.model.answers import member_answers
from spinney.model.forest import TreeForest
from spinney.model.member_sum import MemberSum
from spinney.model.model import Model, State
from spinney.model.tree import freeze
from spinney.typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray, TableLike

MAX_LEVELS = 1000
"""Half a million nodes."""
_ANSWERS_AT_ONCE = 1 << 22
"""Answers of trees about rows that are kept at a time."""

Tell: TypeAlias = Callable[[int, IntArray], BoolArray]
"""(level, the places where rows stand) -> which of them hear +."""
Walk: TypeAlias = Iterator[IntArray]
"""Of some rows: how many + they have heard, level by level."""


def first_node(level: Any) -> Any:
    """Give the number of a level's first node, which is how many nodes the levels before it have.

    Examples
    --------
    >>> [first_node(level) for level in range(4)]
    [0, 1, 3, 6]
    """
    return level * (level + 1) // 2


def occupied_places(plus: IntArray, level: int) -> list[tuple[int, IntArray]]:
    """Give the places of a level where rows stand, and these rows.

    Examples
    --------
    >>> [(i, rows.tolist()) for i, rows in occupied_places(np.array([0, 2, 0]), level=2)]
    [(0, [0, 2]), (2, [1])]
    """
    order = np.argsort(plus, kind="stable")
    bounds = np.searchsorted(plus[order], np.arange(level + 2))
    parts = [(i, order[bounds[i] : bounds[i + 1]]) for i in range(level + 1)]
    return [(place, rows) for place, rows in parts if len(rows)]


def walk(n_levels: int, tell: Tell, n_rows: int) -> Walk:
    """Lead rows level by level; give how many + each has heard so far."""
    plus = np.zeros(n_rows, np.int64)
    for level in range(n_levels):
        plus = plus + tell(level, plus)
        yield plus


def ask_where_rows_stand(answers: AnyArray, ask: Callable[[int, IntArray], BoolArray]) -> Tell:
    """Ask each member, by (its number, numbers of rows), about the rows that come to it only."""
    members = members_of_nodes(answers)

    def tell(level: int, places: IntArray) -> BoolArray:
        heard = np.empty(len(places), bool)
        for place, rows in occupied_places(places, level):
            node = first_node(level) + place
            says = answers[node]
            heard[rows] = says > 0 if says else ask(int(members[node]), rows)
        return heard

    return tell


def members_of_nodes(answers: AnyArray) -> IntArray:
    """Give the number of each node's member, -1 where the node itself answers.

    Examples
    --------
    >>> members_of_nodes(np.array([0, 1, 0])).tolist()
    [0, -1, 1]
    """
    asks = answers == 0
    return np.where(asks, np.cumsum(asks) - 1, -1)


class BranchingProgram(Model):
    """Members at the nodes of a program, for two classes.

    ``answers`` has a number for each node: 1 or -1 where the node says the same to every row, 0
    where a member of its own decides. Members stand in the order of their nodes. ``edges`` and
    ``shares`` tell of training: how much better than guessing a node's member was on its rows (0
    without one), and which share of the rows came by.

    Members are the trees of a forest that says -1 or 1, or the estimators of a ``MemberSum``; what
    these say counts by its sign, and their weights and link do not count.
    """

    kind: ClassVar[str] = "program"

    def __init__(
        self,
        members: TreeForest | MemberSum,
        answers: AnyArray,
        *,
        edges: FloatArray,
        shares: FloatArray,
    ) -> None:
        self.members = members
        self.answers = freeze(np.asarray(answers, np.int8))
        self.edges = freeze(np.asarray(edges, np.float64))
        self.shares = freeze(np.asarray(shares, np.float64))
        self.schema, self.target, self.policy = members.schema, members.target, members.policy
        self.passes_tables_on = members.passes_tables_on
        self._check()
        self.node_members: IntArray = freeze(members_of_nodes(self.answers))
        """Number of each node's member; -1 without one."""

    def _check(self) -> None:
        sizes = {self.answers.shape, self.edges.shape, self.shares.shape}
        n_nodes, n_levels = len(self.answers), self.n_levels
        if len(sizes) != 1 or self.answers.ndim != 1 or n_nodes != first_node(n_levels):
            raise InvalidModel("a program needs the nodes of whole levels, and numbers for each")
        if not 1 <= n_levels <= MAX_LEVELS:
            raise InvalidModel(f"a program has 1 to {MAX_LEVELS} levels, not {n_levels}")
        if self.answers.min() < -1 or self.answers.max() > 1:
            raise InvalidModel("a node of a program answers -1 or 1, or 0 to ask its member")
        if np.count_nonzero(self.answers == 0) != len(self.members):
            raise InvalidModel("a program needs a member for each node that asks one")
        if not (np.abs(self.edges).max() <= 1 and 0 <= self.shares.min() <= self.shares.max() <= 1):
            raise InvalidModel("edges of a program lie between -1 and 1, shares between 0 and 1")
        if self.target.n_outputs != 2 or self.target.classes is None:
            raise InvalidModel("a program tells two classes apart")
        if isinstance(self.members, TreeForest):
            _check_signs(self.members)

    @property
    def n_levels(self) -> int:
        """How many members or constants a row meets."""
        return int((np.sqrt(8.0 * len(self.answers) + 1.0) - 1.0) / 2.0)

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, index: Any) -> Any:
        """``program[:k]`` is the program of the first k levels; ``program[i]`` is a member."""
        if not isinstance(index, slice):
            return self.members[index]
        levels = range(self.n_levels)[index]
        if levels.start != 0 or levels.step != 1 or not levels:
            raise InvalidInput(
                f"program[{index.start}:{index.stop}:{index.step}]: rows begin at the first level, "
                "so only its first levels are a program. Write program[:k] with k of at least 1."
            )
        nodes = slice(first_node(len(levels)))
        n_members = int(np.count_nonzero(self.answers[nodes] == 0))
        return BranchingProgram(
            self.members[:n_members],
            self.answers[nodes],
            edges=self.edges[nodes],
            shares=self.shares[nodes],
        )

    def __repr__(self) -> str:
        return f"BranchingProgram({self.n_levels} levels, {len(self)} members)"

    def staged_scores(
        self, X: TableLike, *, n_threads: int = 1, estimator_name: str = "this model"
    ) -> Iterator[FloatArray]:
        """Give the mean of the ±1 that rows were told, after each level; (n_rows, 1) each."""
        walks = self._walks(X, n_threads, estimator_name)
        counts = np.concatenate([np.array(list(walk), np.int16) for walk in walks], axis=1)
        for level, plus in enumerate(counts):
            yield _mean_signs(plus, level + 1)

    def raw_scores(
        self, X: TableLike, *, n_threads: int = 1, estimator_name: str = "this model"
    ) -> FloatArray:
        """Give the mean of all that rows were told: (n_rows, 1), from -1 to 1."""
        walks = self._walks(X, n_threads, estimator_name)
        return _mean_signs(np.concatenate([_last(walk) for walk in walks]), self.n_levels)

    def predictions(
        self, X: TableLike, *, n_threads: int = 1, estimator_name: str = "this model"
    ) -> FloatArray:
        """Shares of - and of + in what a row was told; (n_rows, 2)."""
        return shares_of(self.raw_scores(X, n_threads=n_threads, estimator_name=estimator_name))

    def _walks(self, X: TableLike, n_threads: int, estimator_name: str) -> Iterator[Walk]:
        """Lead blocks of rows through the program."""
        if isinstance(self.members, MemberSum):
            self.members.check_width(X, estimator_name)
            n_rows = int(X.shape[0]) if hasattr(X, "shape") else len(X)
            yield walk(self.n_levels, self._foreign_tell(self.members, X), n_rows)
            return
        forest, table = self.members, self.members.conform(X, estimator_name)
        at_once = max(1, _ANSWERS_AT_ONCE // max(1, len(forest)))
        for first in range(0, max(table.n_rows, 1), at_once):
            whole = table.n_rows <= at_once
            block = table if whole else table.take(slice(first, first + at_once))
            leaves = np.asarray(forest.native.leaf_ids(native_columns(block), n_threads))
            yield walk(self.n_levels, self._tree_tell(forest, leaves), block.n_rows)

    def _tree_tell(self, forest: TreeForest, leaves: CodeArray) -> Tell:
        """Look up what all trees say: that takes less than sorting rows by where they stand."""
        says_plus, start = forest.arrays["values"][:, 0] > 0, forest.arrays["tree_start"]

        def tell(level: int, places: IntArray) -> BoolArray:
            nodes = first_node(level) + places
            heard: BoolArray = self.answers[nodes] > 0
            asks = np.flatnonzero(self.answers[nodes] == 0)
            members = self.node_members[nodes[asks]]
            heard[asks] = says_plus[start[members] + leaves[asks, members]]
            return heard

        return tell

    def _foreign_tell(self, members: MemberSum, X: TableLike) -> Tell:
        """Ask each member about the rows that come to it, and no others."""
        from sklearn.utils import _safe_indexing  # noqa: PLC0415 - 0.1 s, and not for our trees

        classes = np.asarray(self.target.classes)

        def ask(member: int, rows: IntArray) -> BoolArray:
            asked = _safe_indexing(X, rows)
            answers = member_answers(members.members[member], asked, classes, members.form)
            return answers[:, 0] > 0

        return ask_where_rows_stand(self.answers, ask)

    def to_state(self) -> State:
        """Take the program apart: its members are a forest inside it."""
        meta, parts = self.members.to_state()
        arrays: dict[str, AnyArray] = {f"members/{name}": part for name, part in parts.items()}
        arrays |= {
            "program/answers": self.answers,
            "program/edges": self.edges,
            "program/shares": self.shares,
        }
        return {"kind": self.kind, "members": meta}, arrays

    def __eq__(self, other: object) -> bool:
        return self is other or (self._is_ours and super().__eq__(other))

    def __hash__(self) -> int:
        return super().__hash__() if self._is_ours else id(self)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._is_ours:
            return super().__reduce__()
        facts = (np.array(self.answers), np.array(self.edges), np.array(self.shares))
        return _restored, (self.members, *facts)

    @property
    def _is_ours(self) -> bool:
        return isinstance(self.members, TreeForest)


def shares_of(scores: FloatArray) -> FloatArray:
    """Turn means of ±1, (n_rows, 1), into shares of - and +, (n_rows, 2)."""
    return np.hstack([1.0 - scores, 1.0 + scores]) / 2.0


def _mean_signs(plus: AnyArray, n_levels: int) -> FloatArray:
    return np.asarray(2.0 * plus[:, np.newaxis] / n_levels - 1.0)


def _last(walk: Walk) -> IntArray:
    return deque(walk, maxlen=1)[0]


def _check_signs(forest: TreeForest) -> None:
    arrays = forest.arrays
    is_plain = np.all(arrays["tree_weight"] == 1.0) and not arrays["baseline"].any()
    if not is_plain or arrays["values"].shape[1] != 1 or np.any(np.abs(arrays["values"]) != 1.0):
        raise InvalidModel("the trees of a program say -1 or 1, and nothing is added to that")


def _restored(
    members: MemberSum, answers: AnyArray, edges: FloatArray, shares: FloatArray
) -> BranchingProgram:
    return BranchingProgram(members, answers, edges=edges, shares=shares)
