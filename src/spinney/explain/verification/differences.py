"""Rows that differ in a few features alone: how far apart their scores can be."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from spinney._native import _ext
from spinney.explain.verification.cells import MISSING, CellSpace, NumericCells
from spinney.explain.verification.rows import Row, better_rows, row_of, scores_at
from spinney.typing import AnyArray, FloatArray

Step: TypeAlias = tuple[int, int]
"""Two neighbouring cells of a feature. What no step changes, nothing changes."""
SLICE = 1000
"""Boxes opened between two looks at the keyboard."""
_GLANCE = 64
"""Boxes for every question before any question gets more."""


@dataclass(frozen=True, slots=True)
class Question:
    """Whether ``sign`` times a difference, or a mixed difference, can be positive."""

    features: tuple[int, ...]
    steps: tuple[Step, ...]
    sign: float


@dataclass(slots=True, eq=False)
class Answers:
    """What a list of questions came to."""

    rows: tuple[Row, ...] = ()
    """Rows with a positive difference, put through the model; empty: none found."""
    question: Question | None = None
    """The one these rows answer with yes."""
    n_open: int = 0
    """Questions left undecided."""
    at_most: float = 0.0
    """No difference is larger than this."""
    n_boxes: int = 0


def run(search: _ext.BoxSearch, budget: int) -> None:
    """Open boxes until the search is done or has opened ``budget``; Ctrl-C works."""
    while not search.is_done and search.n_boxes < budget:
        search.advance(min(SLICE, budget - search.n_boxes))


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Questions about one output of a forest."""

    space: CellSpace
    output: int
    boxes: _ext.Boxes
    largest_score: float
    """A bound of the magnitude of every partial sum."""
    grain: float
    """Every term is a multiple of this power of two."""
    subject: str = "the score"
    """What the sum of the trees is, for statements."""

    @classmethod
    def of(cls, space: CellSpace, output: int, subject: str = "the score") -> "Differences":
        """Prepare for questions."""
        terms = space.contributions(output)
        start = abs(float(space.forest.arrays["baseline"][output]))
        magnitude = float(largest_terms(space, terms).sum()) + start
        grain = _grain(np.append(terms, start))
        return cls(space, output, space.boxes(output), magnitude, grain, subject)

    def margin(self, n_corners: int) -> float:
        """Bound what rounding can do to a sum over corners, ours and prediction's together.

        Each of n + 1 additions is off by half a unit of the last place at most; twice that, and
        something, covers the products of such errors. Terms that are multiples of one power of two
        add up without any rounding as long as the sums fit 53 bits.
        """
        return 0.0 if self._is_exact(n_corners) else self._rounding(n_corners)

    def _is_exact(self, n_corners: int) -> bool:
        return n_corners * self.largest_score <= 2.0**52 * self.grain

    def _rounding(self, n_corners: int) -> float:
        n_terms = len(self.space.forest) + 8
        return 4.0 * n_corners * n_terms * float(np.finfo(float).eps) * self.largest_score

    def ask(self, questions: Iterable[Question], budget: int) -> Answers:
        """Answer questions until one is answered with yes: a glance at each, then the hard ones."""
        answers = Answers()
        hard = []  # questions, not searches: those hold all pieces of their trees
        for question in questions:
            search = self._pursue(question, _GLANCE, budget, answers)
            if answers.rows:
                return answers
            if not self._denied(question, search):
                hard.append(question)
        while hard:
            share = max(budget - answers.n_boxes, 0) // len(hard)
            question = hard.pop()
            search = self._pursue(question, share, budget, answers)
            if answers.rows:
                return answers
            if not self._denied(question, search):
                answers.n_open += 1
                answers.at_most = max(answers.at_most, search.upper + self._margin_of(question))
        return answers

    def _pursue(
        self, question: Question, share: int, budget: int, answers: Answers
    ) -> _ext.BoxSearch:
        search = self._search(question)
        run(search, min(share, max(budget - answers.n_boxes, 0)))
        answers.n_boxes += search.n_boxes
        self._look(question, search, answers)
        return search

    def _margin_of(self, question: Question) -> float:
        return self.margin(2 ** len(question.features))

    def _search(self, question: Question) -> _ext.BoxSearch:
        margin = self._margin_of(question)
        goal = _ext.SearchGoal(0.0, -margin, margin, True)
        features = np.array(question.features, np.int32)
        cells = np.array(question.steps, np.int32).reshape(-1)
        return self.boxes.largest_difference(features, cells, question.sign, goal)

    def _denied(self, question: Question, search: _ext.BoxSearch) -> bool:
        """Tell whether every box was shown to have no positive difference."""
        return search.upper <= -self._margin_of(question)

    def _look(self, question: Question, search: _ext.BoxSearch, answers: Answers) -> None:
        """Put the best rows of a search through the model; keep them if they answer with yes."""
        if search.attained <= -self._margin_of(question):
            return
        witness = search.witness()
        corners = itertools.product(*question.steps)
        rows = tuple(
            row_of(self.space, witness, dict(zip(question.features, cells, strict=True)))
            for cells in corners
        )

        def gain(some: tuple[Row, ...]) -> float:
            return question.sign * mixed_difference(self.scores(some))

        noise = self._noise(question)
        if gain(rows) <= noise:
            kept = {f for n in question.features for f in self.space.owners_of(n)}
            rows = better_rows(self.space, witness, rows, gain, kept=kept)
        if gain(rows) > noise:
            answers.rows, answers.question = rows, question

    def _noise(self, question: Question) -> float:
        """Two scores are compared as they are; sums of more carry their own rounding."""
        n_corners, scale = 2 ** len(question.features), self.space.forest.divisor
        if n_corners == 2 or (scale == 1.0 and self._is_exact(n_corners)):
            return 0.0
        return self._rounding(n_corners) / abs(scale)

    def scores(self, rows: Sequence[Row]) -> FloatArray:
        """Predict raw scores, with the sign that sums have before a mean is taken."""
        sign = 1.0 if self.space.forest.divisor > 0.0 else -1.0
        return sign * scores_at(self.space.model, rows, self.output)


def mixed_difference(scores: AnyArray) -> float:
    """Sum 2, 4, 8, … corner scores with alternating signs: f(a) - f(b), and differences of these.

    Examples
    --------
    >>> mixed_difference(np.array([7.0, 5.0, 4.0, 3.0]))
    1.0
    """
    while len(scores) > 1:
        scores = scores[0::2] - scores[1::2]
    return float(scores[0])


def largest_terms(space: CellSpace, terms: FloatArray) -> FloatArray:
    """Give the largest magnitude a leaf of each tree adds."""
    arrays = space.forest.arrays
    if not len(space.forest):
        return np.zeros(0)
    of_leaves = np.where(arrays["feature"] < 0, np.abs(terms), 0.0)
    largest: FloatArray = np.maximum.reduceat(of_leaves, arrays["tree_start"][:-1])
    return largest


def _grain(numbers: FloatArray) -> float:
    """Find the largest power of two that all numbers are multiples of; infinity for zeros."""
    mantissas, exponents = np.frexp(numbers[numbers != 0.0])
    whole = (mantissas * 2.0**53).astype(np.int64)
    lowest_bits = (whole & -whole).astype(np.float64)
    return float(np.ldexp(lowest_bits, exponents - 53).min(initial=np.inf))


def steps_of(space: CellSpace, feature: int, nodes: AnyArray, *, ordered: bool) -> list[Step]:
    """List the steps of a feature that these nodes separate, of the cells that are asked about.

    ``ordered``: only between numbers, from the smaller to the larger.
    """
    cells = space.features[feature]
    order = cells.order
    to_missing = cells.missing and bool(order) and not ordered
    found: set[Step] = set()
    for node in nodes:
        goes_left = _goes_left(space, int(node))
        if isinstance(cells, NumericCells):
            cut = int(space.arrays["cut"][node])
            found |= {(cut, cut + 1)} if order[0] <= cut < order[-1] else set()
        else:
            found |= {s for s in itertools.pairwise(order) if goes_left(s[0]) != goes_left(s[1])}
        if to_missing and goes_left(MISSING) != goes_left(order[0]):
            found.add((MISSING, order[0]))
    return sorted(found)


def _goes_left(space: CellSpace, node: int) -> Callable[[int], bool]:
    arrays = space.arrays
    missing_left = bool(arrays["missing_left"][node])
    number = int(arrays["category_set"][node])
    cut = int(arrays["cut"][node])
    if number < 0:
        return lambda cell: missing_left if cell == MISSING else cell <= cut
    chosen = arrays["category_sets"][32 * number : 32 * number + 32]
    bits = np.unpackbits(chosen, bitorder="little")
    return lambda cell: missing_left if cell == MISSING else bool(bits[cell])


def both_ways(features: tuple[int, ...], steps: tuple[Step, ...]) -> Iterator[Question]:
    """Ask whether a difference can be anything but zero."""
    yield Question(features, steps, 1.0)
    yield Question(features, steps, -1.0)
