"""Variants whose members vote: discrete AdaBoost, SAMME, M1, confidence-rated, arc-x4."""

import math

import numpy as np

from spinney.ensembles.adaptive.variant import (
    Refusal,
    Round,
    Rules,
    TrainingRows,
    Variant,
)
from spinney.ensembles.weak.hypothesis import LEAST_EDGE, Hypothesis
from spinney.ensembles.weak.learners import SumOutput, WeakLearner
from spinney.errors import InvalidParameter
from spinney.losses.line_search import LONGEST_MOVE, best_vote
from spinney.losses.row_weights import MarginWeights, Verdict, exp_or_infinity
from spinney.model.elementary import exact_log, exp_of, log_of
from spinney.typing import BoolArray, FloatArray, IntArray


class Votes(Variant):
    """AdaBoost for any number of classes: wrong rows gain weight, right ones lose it.

    With a = ln((1 - error) / error) + ln(K - 1) a round adds a/2 · ±1 to the score of two classes
    (Freund and Schapire 1997), and a · (1, or -1/(K - 1) for every other class) to those of more
    (SAMME; Zhu, Zou, Rosset and Hastie 2009). The loss is exp(-margin), where a right answer adds
    a (K - 1)/K to the margin and a wrong one takes a/K from it: for two classes y F.
    """

    def __init__(self, rows: TrainingRows, rules: Rules) -> None:
        super().__init__(rows, rules)
        self.form = "signs" if rows.n_classes == 2 else "votes"
        self._margins = np.zeros(rows.n_rows)
        """What exp(-·) is taken of: the unnormalised margin, up to a shift common to all rows."""
        self._origin: FloatArray | None = None
        """Margins when the weights began anew; None: they never did."""
        self._total_alpha = 0.0
        self._signs = (2 * rows.codes - 1).astype(np.int8) if rows.n_classes == 2 else None
        self._weigh()
        self._votes = np.zeros((rows.n_rows, rows.n_classes)) if rows.n_classes > 2 else None

    def _weigh(self) -> None:
        """Find the weights of the next round, and the objective, from the margins."""
        counts, signs = self.rows.counts, self._signs
        self._all = MarginWeights(self._margins, counts, signs=signs)
        self._look()

    def _look(self) -> None:
        """Find them from what all rows weigh."""
        self._objective, self._least = self._all.mean_exp, self._all.least
        self._weights = self._all
        if self._origin is not None:
            since = self._margins - self._origin
            self._weights = MarginWeights(since, self.rows.counts, signs=self._signs)

    @property
    def weights(self) -> MarginWeights:
        """Weights proportional to exp(-margin)."""
        return self._weights

    def reset(self) -> bool:
        """Give the rows their first weights again; the votes stay."""
        self._origin = self._margins.copy()
        self._weigh()
        return True

    def round(self, learner: WeakLearner, number: int) -> Round | Refusal:
        """Ask for labels, weigh the vote by its error."""
        hypothesis = learner.classify(self.weights, self.form, number)
        verdict = self._weights.judge(self._right(hypothesis))
        sign = 1.0
        reverses = self.rows.n_classes == 2 and self.rules.on_weak_failure == "reverse"
        if verdict.error > 0.5 and reverses:
            verdict, sign = verdict.reversed(), -1.0
        if verdict.error >= self._most_error() - LEAST_EDGE:
            return Refusal(f"round {number + 1} found no learner better than guessing")
        clipped = max(verdict.error, self.rules.eps_clip)
        weight = self._weight(verdict.right, clipped) * self.rules.learning_rate
        return self._take(hypothesis, verdict, sign * weight)

    def _take(self, hypothesis: Hypothesis, verdict: Verdict, signed_weight: float) -> Round:
        weight, error = abs(signed_weight), verdict.error
        cost = self._cost_of_wrong() * weight
        if_right, if_wrong = weight - cost, -cost
        gained = (1 - error) * exp_or_infinity(-if_right)
        lost = error * exp_or_infinity(-if_wrong)
        self._total_alpha += weight / 2
        if self._origin is not None:  # it looked at margins since then
            verdict = self._all.judge(verdict.right)
        self._all.move(verdict.vote(if_right, if_wrong))
        self._look()
        ends = ""
        if error <= self.rules.eps_clip:
            ends = "the last learner made no error"
        return Round(
            members=(hypothesis.member,),
            weights=(self._model_weight(signed_weight),),
            error=error,
            edge=1.0 - 2.0 * error,
            alpha=weight / 2,
            normaliser=gained + lost,
            objective=self._objective,
            min_margin=self._min_margin(hypothesis, signed_weight),
            ends=ends,
        )

    def _right(self, hypothesis: Hypothesis) -> BoolArray:
        answers = hypothesis.answers
        if self._signs is not None:
            if answers.dtype == np.int8:  # signs already
                return np.asarray(answers[:, 0] == self._signs)
            return np.asarray((answers[:, 0] > 0) == (self._signs > 0))
        return np.asarray(answers.argmax(axis=1) == self.rows.codes)

    def _cost_of_wrong(self) -> float:
        """Share of a vote's weight that a wrong answer takes from the margin."""
        return 1.0 / self.rows.n_classes

    def _most_error(self) -> float:
        return 1.0 - 1.0 / self.rows.n_classes

    def _weight(self, right: BoolArray, error: float) -> float:
        """Give a, twice the weight of the vote in the natural scale."""
        n_classes = self.rows.n_classes
        alpha = self.rules.alpha
        if alpha == "exact":
            return exact_log((1.0 - error) / error) + exact_log(n_classes - 1)
        if alpha == "line_search":
            return self._search(right, 1.0 / n_classes)
        return 2.0 * call_alpha(alpha, error)

    def _search(self, right: BoolArray, wrong_share: float) -> float:
        """Find the least Z numerically, where wrong answers cost this share of the weight."""
        products = 2.0 * (np.where(right, 1.0, 0.0) - wrong_share)
        return 2.0 * best_vote(self.weights.distribution, products)

    def _model_weight(self, weight: float) -> float:
        # Scores of two classes are F; of more, logarithms of probabilities up to a shift.
        n_classes = self.rows.n_classes
        return weight / 2 if n_classes == 2 else weight * (n_classes - 1) / n_classes

    def _min_margin(self, hypothesis: Hypothesis, weight: float) -> float:
        if self._votes is None:
            least = self._least
        else:
            least = add_votes(self._votes, hypothesis.answers, weight / 2, self.rows.codes)
        return float(least / self._total_alpha)

    def output(self, n_members: int) -> SumOutput:  # noqa: ARG002 - every member adds to all
        """Half the log-odds of two classes, or a score per class."""
        n_classes = self.rows.n_classes
        if n_classes == 2:
            return SumOutput("double_logistic", np.zeros(1))
        return SumOutput("softmax", np.zeros(n_classes))


class M1(Votes):
    """AdaBoost.M1 (Freund and Schapire 1997): as for two classes, and ends at an error of ½.

    A row that is voted wrong in the end was so by at least half of the votes, so the objective and
    the product of 2 √(error (1 - error)) bound the training error of any number of classes.
    """

    def __init__(self, rows: TrainingRows, rules: Rules) -> None:
        super().__init__(rows, rules)
        self.form = "signs" if rows.n_classes == 2 else "one_hot"

    def _cost_of_wrong(self) -> float:
        return 0.5

    def _most_error(self) -> float:
        return 0.5

    def _weight(self, right: BoolArray, error: float) -> float:
        if callable(self.rules.alpha):
            return super()._weight(right, error)
        if self.rules.alpha == "line_search":
            return self._search(right, 0.5)
        return exact_log((1.0 - error) / error)

    def _model_weight(self, weight: float) -> float:
        return weight / 2 if self.rows.n_classes == 2 else weight


class Confidence(Votes):
    """Votes between -1 and 1, weighed where Z is least (Schapire and Singer 1999); two classes."""

    def __init__(self, rows: TrainingRows, rules: Rules) -> None:
        super().__init__(rows, rules)
        self.form = "confidence"

    def round(self, learner: WeakLearner, number: int) -> Round | Refusal:
        """Ask for confidences; find the weight by a line search."""
        distribution = self.weights.distribution
        hypothesis = learner.classify(self.weights, self.form, number)
        products = self.rows.signs * hypothesis.answers[:, 0]
        edge = float((distribution * products).sum())
        if abs(edge) < LEAST_EDGE:
            return Refusal(f"round {number + 1} found no learner better than guessing")
        if edge < 0 and self.rules.on_weak_failure != "reverse":
            return Refusal(f"round {number + 1} found no learner better than guessing")
        if callable(self.rules.alpha):
            alpha = math.copysign(call_alpha(self.rules.alpha, (1.0 - abs(edge)) / 2), edge)
        else:
            alpha = best_vote(distribution, products)
        alpha *= self.rules.learning_rate
        normaliser = float((distribution * exp_of(-alpha * products)).sum())
        self._margins += alpha * products
        self._total_alpha += abs(alpha)
        self._weigh()
        return Round(
            members=(hypothesis.member,),
            weights=(alpha,),
            error=(1.0 - abs(edge)) / 2,
            edge=abs(edge),
            alpha=abs(alpha),
            normaliser=normaliser,
            objective=self._objective,
            min_margin=float(self._margins.min() / self._total_alpha),
            ends="" if abs(alpha) < LONGEST_MOVE else "the last learner made no error",
        )


class ArcX4(Votes):
    """Breiman's arc-x4 (1998): rows weigh 1 + (times voted wrong)⁴, and all votes count alike."""

    def __init__(self, rows: TrainingRows, rules: Rules) -> None:
        self._n_wrong = np.zeros(rows.n_rows)
        super().__init__(rows, rules)

    def _weigh(self) -> None:
        logs = -log_of(1.0 + self._n_wrong**4)
        self._weights = MarginWeights(logs, self.rows.counts, signs=self._signs)
        self._objective = self._weights.mean_exp
        self._least = float(self._margins.min())

    def reset(self) -> bool:
        """Forget the wrong votes."""
        self._n_wrong[:] = 0.0
        self._weigh()
        return True

    def round(self, learner: WeakLearner, number: int) -> Round | Refusal:
        """Ask for labels; the vote counts whatever its error."""
        before = self._objective
        hypothesis = learner.classify(self.weights, self.form, number)
        right = self._right(hypothesis)
        error = self._weights.share_of(~right)
        self._n_wrong += ~right
        self._margins += 2.0 * right - 1.0
        self._total_alpha += 1.0
        self._weigh()
        return Round(
            members=(hypothesis.member,),
            weights=(self._model_weight(2.0),),
            error=error,
            edge=1.0 - 2.0 * error,
            alpha=1.0,
            normaliser=self._objective / before,
            objective=self._objective,
            min_margin=self._min_margin(hypothesis, 2.0),
        )


def add_votes(votes: FloatArray, answers: FloatArray, weight: float, codes: IntArray) -> float:
    """Count the votes for every class, in place; give the least lead of the true class."""
    rows = np.arange(len(codes))
    votes[rows, answers.argmax(axis=1)] += weight
    true = votes[rows, codes]
    others = votes.copy()
    others[rows, codes] = -np.inf
    return float((true - others.max(axis=1)).min())


def call_alpha(alpha: object, error: float) -> float:
    """Ask the user's function for the weight of a vote."""
    if not callable(alpha):
        raise InvalidParameter(f"alpha={alpha!r}: expected a function here")
    try:
        weight = float(alpha(error))
    except Exception as problem:
        raise InvalidParameter(
            f"alpha({error!r}) raised {type(problem).__name__}: {problem}. Expected a function "
            "that takes a weighted error and gives a number."
        ) from problem
    if not np.isfinite(weight) or weight <= 0:
        raise InvalidParameter(
            f"alpha({error!r}) gave {weight!r}; expected a positive number: the weight of the vote "
            "of a learner with this weighted error."
        )
    return weight
