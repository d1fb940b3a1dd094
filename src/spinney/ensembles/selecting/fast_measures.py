"""Squared error, log loss and accuracy: candidates judged without a call for each."""

from typing import Any

import numpy as np

from spinney.ensembles.selecting.measures import Answers, Climb, Measure, ScorerMeasure
from spinney.model.elementary import log_of
from spinney.typing import AnyArray, BoolArray, FloatArray

LEAST = float(np.finfo(np.float64).eps)
"""Probabilities are kept this far from 0 before logarithms are taken, as in scikit-learn."""
FACTORS = 16
"""Probabilities multiplied before a logarithm is taken: so many of ``LEAST`` are no underflow."""
SLACK = 1e-9
"""Share of a bound by which rounding could be wrong, many times over."""
BLOCK = 1 << 16
"""Numbers worked on at a time: they stay in the cache."""


def measure_of(answers: Answers, scoring: Any) -> Measure:
    """Choose the road for a metric.

    Examples
    --------
    >>> said = np.array([[[1.0], [2.0]], [[3.0], [2.0]]])
    >>> measure = measure_of(Answers(said, np.array([2.0, 2.0]), None, None), None)
    >>> measure.alone()
    array([-0.5, -0.5])
    >>> measure.score(said.mean(axis=0))
    0.0
    """
    if answers.classes is None:
        if scoring in (None, "neg_mean_squared_error"):
            return SquaredError(answers)
        if scoring == "neg_root_mean_squared_error":
            return SquaredError(answers, root=True)
    elif scoring == "neg_brier_score":
        # Of two classes scikit-learn counts one: half of what both together err.
        return SquaredError(answers, factor=0.5 if len(answers.classes) <= 2 else 1.0)
    elif scoring in (None, "neg_log_loss"):
        return LogLoss(answers)
    elif scoring == "accuracy":
        return Accuracy(answers)
    return ScorerMeasure(answers, scoring)


class SquaredError(Measure):
    """Negative mean squared error, or its root.

    With residuals d of the members, a committee's is their mean, and its square a sum of products
    <d_i, d_j>. A step needs the products of its new member with all others and nothing more.
    """

    def __init__(self, answers: Answers, *, root: bool = False, factor: float = 1.0) -> None:
        super().__init__(answers)
        n_members, n_rows, n_outputs = answers.predictions.shape
        residuals = answers.predictions - answers.truth()
        self.residuals: FloatArray = residuals.reshape(n_members, n_rows * n_outputs)
        self.weights = None if answers.weights is None else np.repeat(answers.weights, n_outputs)
        self.squares = np.array([self.product(d, d) for d in self.residuals])
        self._known: dict[int, FloatArray] = {}
        self._root = root
        self._factor = factor / answers.total

    def product(self, first: FloatArray, second: FloatArray) -> float:
        """Sum the products of two rows of residuals, weighted."""
        products = first * second
        return float((products if self.weights is None else products * self.weights).sum())

    def products(self, member: int) -> FloatArray:
        """Give the products of a member's residuals with everybody's."""
        if member not in self._known:
            one = self.residuals[member]
            one = one if self.weights is None else one * self.weights
            # Not by BLAS, which may add in another order on another number of threads.
            self._known[member] = np.einsum("mn,n->m", self.residuals, one)
        return self._known[member]

    def of_square(self, square: Any) -> Any:
        """Turn a sum of squares into a score."""
        mean = self._factor * np.maximum(square, 0.0)
        return 0.0 - (np.sqrt(mean) if self._root else mean)  # no minus zero

    def score(self, prediction: FloatArray) -> float:
        """Measure the residuals of one prediction."""
        residuals = (prediction - self.answers.truth()).reshape(-1)
        return float(self.of_square(self.product(residuals, residuals)))

    def climb(self, candidates: AnyArray) -> "SquaredClimb":
        """Begin with a committee of nobody."""
        return SquaredClimb(self, candidates)

    def alone(self) -> FloatArray:
        """Score each member by itself."""
        scores: FloatArray = self.of_square(self.squares)
        return scores


class SquaredClimb(Climb):
    """The sum of residuals r, its square, and its products with all members."""

    def __init__(self, measure: SquaredError, candidates: AnyArray) -> None:
        super().__init__(candidates)
        self._measure = measure
        self._sum = np.zeros(measure.residuals.shape[1])
        self._square = 0.0
        self._products = np.zeros(measure.n_members)

    def scores(self) -> FloatArray:
        """Score |r + d|² = |r|² + 2 <r, d> + |d|², for all candidates at once."""
        measure = self._measure
        squares = (self._square + 2 * self._products + measure.squares)[self.candidates]
        scores: FloatArray = measure.of_square(squares / (self.size + 1) ** 2)
        return scores

    def add(self, member: int) -> float:
        """Add a member, and score the committee from its residuals themselves."""
        measure = self._measure
        self._sum += measure.residuals[member]
        self._products += measure.products(member)
        self._square = measure.product(self._sum, self._sum)
        self.size += 1
        return float(measure.of_square(self._square / self.size**2))


class LogLoss(Measure):
    """Negative mean log loss: only the probability of a row's own class counts."""

    def __init__(self, answers: Answers) -> None:
        super().__init__(answers)
        codes = answers.y.astype(np.int64)
        said = np.take_along_axis(answers.predictions, codes[np.newaxis, :, np.newaxis], axis=2)
        self.own = np.ascontiguousarray(said[:, :, 0])
        """(n_members, n_rows)."""
        self.weights = answers.weights
        self.total = answers.total

    def log_sums(self, shares: FloatArray) -> FloatArray:
        """Sum the logarithms of probabilities over the rows; (n_candidates, n_rows) to one each."""
        shares = np.maximum(shares, LEAST)
        if self.weights is not None:
            sums: FloatArray = (log_of(shares) * self.weights).sum(axis=1)
            return sums
        n_candidates, n_rows = shares.shape
        width = n_rows // FACTORS
        whole = shares[:, : FACTORS * width].reshape(n_candidates, FACTORS, width)
        logs = log_of(np.multiply.reduce(whole, axis=1)).sum(axis=1)
        rest = log_of(np.multiply.reduce(shares[:, FACTORS * width :], axis=1))
        return np.asarray(logs + rest)

    def score(self, prediction: FloatArray) -> float:
        """Measure one prediction."""
        codes = self.answers.y.astype(np.int64)
        return self.of_own(prediction[np.arange(len(codes)), codes])

    def of_own(self, shares: FloatArray) -> float:
        """Score the probabilities of the rows' own classes."""
        return float(self.log_sums(shares[np.newaxis])[0] / self.total)

    def climb(self, candidates: AnyArray) -> "LogClimb":
        """Begin with a committee of nobody."""
        return LogClimb(self, candidates)


class LogClimb(Climb):
    """The sum of probabilities s of the rows' own classes.

    The logarithm is concave: with k members and their mean q = s / k, the sum over rows of
    log((s + p) / (k + 1)) is at most that of log(q) + (p / q - 1) / (k + 1). This bound needs one
    product per row and candidate; logarithms are taken of those alone that could still be best.
    """

    def __init__(self, measure: LogLoss, candidates: AnyArray) -> None:
        super().__init__(candidates)
        self._measure = measure
        self._own = measure.own if len(candidates) == measure.n_members else measure.own[candidates]
        self._sum = np.zeros(measure.own.shape[1])
        self._score = -np.inf
        self._at_a_time = max(1, BLOCK // max(1, len(self._sum)))

    def scores(self) -> FloatArray:
        """Score candidates, best bounds first, until no bound can reach the best."""
        scores = np.full(len(self.candidates), -np.inf)
        bounds = self._bounds() if self.size else np.zeros(len(scores))
        order = np.argsort(-bounds, kind="stable")
        best = -np.inf
        for first in range(0, len(order), self._at_a_time):
            some = order[first : first + self._at_a_time]
            if bounds[some[0]] + SLACK * (1 + abs(bounds[some[0]])) < best:
                break
            shares = (self._own[some] + self._sum) / (self.size + 1)
            scores[some] = self._measure.log_sums(shares) / self._measure.total
            best = max(best, float(scores[some].max()))
        return scores

    def add(self, member: int) -> float:
        """Add a member, and score the committee."""
        self._sum += self._measure.own[member]
        self.size += 1
        self._score = self._measure.of_own(self._sum / self.size)
        return self._score

    def _bounds(self) -> FloatArray:
        """Bound the score of every candidate from above."""
        weights, total = self._measure.weights, self._measure.total
        mean = np.maximum(self._sum / self.size, LEAST)
        counts = np.ones(len(mean)) if weights is None else weights
        # A row whose probability is kept at LEAST loses nothing where the member gives it none.
        loses = float(counts[mean >= 2 * LEAST].sum())
        # Not by BLAS, whose threads cost more than the sum when others work on the machine.
        gains = np.einsum("mn,n->m", self._own, counts / mean) - loses
        return np.asarray(self._score + gains / (self.size + 1) / total)


class Accuracy(Measure):
    """Share of the rows whose likeliest class is their own; of equally likely ones the first."""

    def __init__(self, answers: Answers) -> None:
        super().__init__(answers)
        self.by_class = np.ascontiguousarray(answers.predictions.transpose(0, 2, 1))
        """(n_members, n_classes, n_rows)."""
        self.codes = answers.y.astype(np.int32)

    def hits(self, sums: FloatArray, codes: AnyArray) -> BoolArray:
        """Tell which rows have most of their own class; (n_classes, n_rows)."""
        best, leader = sums[0], np.zeros(len(codes), np.int32)
        for code in range(1, len(sums)):
            leader = np.where(sums[code] > best, np.int32(code), leader)
            best = np.maximum(best, sums[code])
        return np.asarray(leader == codes)

    def weigh(self, hits: AnyArray, rows: AnyArray | slice = slice(None)) -> float:
        """Count rows that are right, by their weights."""
        weights = self.answers.weights
        return float(hits.sum() if weights is None else weights[rows][hits].sum())

    def score(self, prediction: FloatArray) -> float:
        """Measure one prediction."""
        return self.weigh(self.hits(prediction.T, self.codes)) / self.answers.total

    def climb(self, candidates: AnyArray) -> "AccuracyClimb":
        """Begin with a committee of nobody."""
        return AccuracyClimb(self, candidates)


class AccuracyClimb(Climb):
    """The sum of what was said so far, class by class.

    No member moves one class against another by more than 1. Rows whose own class leads, or
    trails, by more are decided already, and candidates are asked about the others only.
    """

    def __init__(self, measure: Accuracy, candidates: AnyArray) -> None:
        super().__init__(candidates)
        self._measure = measure
        self._sum = np.zeros(measure.by_class.shape[1:])

    def scores(self) -> FloatArray:
        """Score every candidate."""
        measure = self._measure
        rows, decided = self._open_rows()
        codes, sums = measure.codes[rows], self._sum[:, rows]
        right = [
            measure.weigh(measure.hits(sums + measure.by_class[m][:, rows], codes), rows)
            for m in self.candidates
        ]
        return (decided + np.array(right)) / measure.answers.total

    def add(self, member: int) -> float:
        """Add a member, and score the committee."""
        measure = self._measure
        self._sum += measure.by_class[member]
        self.size += 1
        return measure.weigh(measure.hits(self._sum, measure.codes)) / measure.answers.total

    def _open_rows(self) -> tuple[AnyArray | slice, float]:
        """Find the rows that one more member can decide; give the weight of those decided right."""
        if self.size < 2:
            return slice(None), 0.0
        measure = self._measure
        places = np.arange(len(measure.codes))
        own = self._sum[measure.codes, places]
        others = self._sum.copy()
        others[measure.codes, places] = -np.inf
        lead = own - others.max(axis=0)
        decided = measure.weigh(lead > 1 + SLACK)
        return np.flatnonzero(abs(lead) <= 1 + SLACK), decided
