"""Variants that weigh pairs of a row and a class: AdaBoost.MH and AdaBoost.M2."""

import abc

import numpy as np

from spinney.ensembles.adaptive.variant import (
    Refusal,
    Round,
    Rules,
    TrainingRows,
    Variant,
    weights_from_logs,
)
from spinney.ensembles.adaptive.votes import call_alpha
from spinney.ensembles.weak.hypothesis import LEAST_EDGE, Hypothesis
from spinney.ensembles.weak.learners import SumOutput, TreeLearner, WeakLearner
from spinney.losses.line_search import best_vote
from spinney.losses.row_weights import RowWeights, exp_or_infinity
from spinney.model.elementary import exact_log, log_of
from spinney.typing import FloatArray


class Pairs(Variant):
    """Scores per row and class, and weights of all pairs from them."""

    _spread: float
    """Largest difference of two answers about a row."""
    _pairs: FloatArray
    """(n_rows, n_classes) weights of sum 1."""
    _log_objective: float

    def __init__(self, rows: TrainingRows, rules: Rules) -> None:
        super().__init__(rows, rules)
        self._scores = np.zeros((rows.n_rows, rows.n_classes))
        self._truth = np.eye(rows.n_classes)[rows.codes] > 0
        self._total_alpha = 0.0
        self._weigh()

    @abc.abstractmethod
    def _weigh(self) -> None:
        """Find the weights of the pairs, and the objective, from the scores."""

    @property
    def weights(self) -> RowWeights:
        """Weights of the rows: those of their pairs, summed."""
        return self.weigh(self._pairs.sum(axis=1))

    def _leads(self) -> FloatArray:
        """Lead of the true class over the best other, per row."""
        true = self._scores[self._truth]
        others = np.where(self._truth, -np.inf, self._scores)
        return np.asarray(true - others.max(axis=1))

    def _record(self, hypothesis: Hypothesis, edge: float, alpha: float, weight: float) -> Round:
        before, clip = self._log_objective, self.rules.eps_clip
        self._scores += alpha * hypothesis.answers
        self._total_alpha += abs(alpha)
        self._weigh()
        return Round(
            members=(hypothesis.member,),
            weights=(weight,),
            error=(1.0 - abs(edge)) / 2,
            edge=abs(edge),
            alpha=abs(alpha),
            normaliser=exp_or_infinity(self._log_objective - before),
            objective=exp_or_infinity(self._log_objective),
            min_margin=float(self._leads().min() / self._spread / self._total_alpha),
            ends="the last learner made no error" if 1 - abs(edge) <= 2 * clip else "",
        )

    def _alpha(self, edge: float, leads: FloatArray) -> float:
        """Weigh an answer whose lead for the truth is this, pair by pair."""
        if self.rules.alpha == "line_search":
            alpha = best_vote(self._pairs.reshape(-1), leads.reshape(-1))
            return alpha * self.rules.learning_rate
        most = 1.0 - 2.0 * self.rules.eps_clip
        clipped = min(max(edge, -most), most)
        if callable(self.rules.alpha):
            alpha = float(np.sign(edge)) * call_alpha(self.rules.alpha, (1.0 - abs(clipped)) / 2)
        else:
            alpha = 0.5 * exact_log((1.0 + clipped) / (1.0 - clipped))
        return alpha * self.rules.learning_rate

    def output(self, n_members: int) -> SumOutput:  # noqa: ARG002 - every member adds to all
        """Give a score per class."""
        return SumOutput("softmax", np.zeros(self.rows.n_classes))


class MH(Pairs):
    """AdaBoost.MH (Schapire and Singer 1999): is this the class, yes or no, for every class.

    The Hamming loss of the signs of the scores is at most the product of the normalisers. Our trees
    answer for every class on its own; a foreign learner says yes to the class it predicts.
    """

    form = "class_signs"
    _spread = 2.0

    def _weigh(self) -> None:
        signs = np.where(self._truth, 1.0, -1.0)
        n_classes = self.rows.n_classes
        logs = log_of(self.rows.prior / n_classes)[:, np.newaxis] - signs * self._scores
        flat, self._log_objective = weights_from_logs(logs.reshape(-1))
        self._pairs = flat.reshape(logs.shape)

    def round(self, learner: WeakLearner, number: int) -> Round | Refusal:
        """Ask about all classes at once."""
        if isinstance(learner, TreeLearner):
            hypothesis = learner.classify_pairs(self._pairs, number)
        else:
            hypothesis = learner.classify(self.weights, self.form, number)
        signs = np.where(self._truth, 1.0, -1.0)
        edge = float((self._pairs * signs * hypothesis.answers).sum())
        if abs(edge) < LEAST_EDGE or (edge < 0 and self.rules.on_weak_failure != "reverse"):
            return Refusal(f"round {number + 1} found no learner better than guessing")
        alpha = self._alpha(edge, signs * hypothesis.answers)
        return self._record(hypothesis, edge, alpha, 2.0 * alpha)


class M2(Pairs):
    """AdaBoost.M2 (Freund and Schapire 1997): the pseudo-loss of plausibilities of the classes."""

    form = "shares"
    _spread = 1.0

    def _weigh(self) -> None:
        # exp(-(score of the true class - score of the other)), over the wrong classes only
        leads = self._scores[self._truth][:, np.newaxis] - self._scores
        n_wrong = max(self.rows.n_classes - 1, 1)
        logs = log_of(self.rows.prior / n_wrong)[:, np.newaxis] - leads
        logs = np.where(self._truth, -np.inf, logs)
        flat, self._log_objective = weights_from_logs(logs.reshape(-1))
        self._pairs = flat.reshape(logs.shape)

    def round(self, learner: WeakLearner, number: int) -> Round | Refusal:
        """Ask for plausibilities; wrong classes that look plausible gain weight."""
        hypothesis = learner.classify(self.weights, self.form, number)
        answers = hypothesis.answers
        leads = answers[self._truth][:, np.newaxis] - answers
        edge = float((self._pairs * leads).sum())
        if edge < LEAST_EDGE:
            return Refusal(f"round {number + 1} found no learner better than guessing")
        alpha = self._alpha(edge, leads)
        return self._record(hypothesis, edge, alpha, 2.0 * alpha)
