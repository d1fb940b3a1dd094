"""Variants whose members add real numbers to scores: Real and Gentle AdaBoost, LogitBoost."""

import numpy as np

from spinney.ensembles.adaptive.variant import (
    Refusal,
    Round,
    Rules,
    TrainingRows,
    Variant,
    weights_from_logs,
)
from spinney.ensembles.weak.learners import SumOutput, WeakLearner
from spinney.losses.row_weights import RowWeights, exp_or_infinity
from spinney.model.elementary import exact_log, log_of
from spinney.model.links import apply_link
from spinney.typing import FloatArray

LEAST_CURVATURE = 1e-12


class Scores(Variant):
    """Scores of rows, and the weights exp(-margin) of exponential loss."""

    def __init__(self, rows: TrainingRows, rules: Rules) -> None:
        super().__init__(rows, rules)
        n_scores = 1 if rows.n_classes == 2 else rows.n_classes
        self._scores = np.zeros((rows.n_rows, n_scores))
        self._total_alpha = 0.0
        self._log_prior = log_of(rows.prior)
        self._weigh()

    def _margins(self) -> FloatArray:
        """Give y F of two classes; of more the true class' score, which sums to 0 with the rest."""
        if self.rows.n_classes == 2:
            return np.asarray(self.rows.signs * self._scores[:, 0])
        true = self._scores[np.arange(self.rows.n_rows), self.rows.codes]
        return np.asarray(true)

    def _weigh(self) -> None:
        logs = self._log_prior - self._margins()
        self._distribution, self._log_objective = weights_from_logs(logs)
        self._objective = exp_or_infinity(self._log_objective)

    @property
    def weights(self) -> RowWeights:
        """Weights proportional to exp(-margin)."""
        return self.weigh(self._distribution)

    def _move(self, steps: FloatArray) -> tuple[float, float, float, float]:
        """Add steps to the scores; give the error, edge and size of them, and the normaliser."""
        margins, before, distribution = self._margins(), self._log_objective, self._distribution
        self._scores += steps
        gained = self._margins() - margins
        largest = float(np.abs(steps).max())
        edge = float((distribution * gained).sum()) / largest if largest > 0 else 0.0
        self._total_alpha += largest
        self._weigh()
        error = float(distribution[gained <= 0].sum())
        return error, edge, largest, exp_or_infinity(self._log_objective - before)

    def _record(self, members: list[object], steps: FloatArray, number: int) -> Round | Refusal:
        if not np.abs(steps).max() > 0:
            return Refusal(f"round {number + 1} changed nothing")
        error, edge, largest, normaliser = self._move(steps)
        return Round(
            members=tuple(members),
            weights=(self._member_weight(),) * len(members),
            error=error,
            edge=edge,
            alpha=self._model_scale() * largest,
            normaliser=normaliser,
            objective=self._objective,
            min_margin=self._min_margin(),
        )

    def _min_margin(self) -> float:
        """Least lead of the true class, as a share of the largest lead there could be."""
        if self.rows.n_classes == 2:
            return float(self._margins().min() / self._total_alpha)
        rows = np.arange(self.rows.n_rows)
        others = self._scores.copy()
        others[rows, self.rows.codes] = -np.inf
        leads = self._scores[rows, self.rows.codes] - others.max(axis=1)
        return float(leads.min() / (2.0 * self._total_alpha))

    def _member_weight(self) -> float:
        return self.rules.learning_rate * self._model_scale()

    def _model_scale(self) -> float:
        """Give the factor from scores here to raw scores of the model."""
        return 1.0

    def output(self, n_members: int) -> SumOutput:  # noqa: ARG002 - every member adds to all
        """Half the log-odds of two classes, or a score per class."""
        n_classes = self.rows.n_classes
        if n_classes == 2:
            return SumOutput("double_logistic", np.zeros(1))
        return SumOutput("softmax", np.zeros(n_classes))


class Real(Scores):
    """Real AdaBoost (Friedman, Hastie and Tibshirani 2000); of more classes SAMME.R.

    A round adds half the log-odds of the weighted shares of the classes, or their centred
    logarithms. For trees this is the step that makes Z least in every leaf.
    """

    def __init__(self, rows: TrainingRows, rules: Rules) -> None:
        super().__init__(rows, rules)
        self.form = "half_log_odds" if rows.n_classes == 2 else "log_shares"

    def round(self, learner: WeakLearner, number: int) -> Round | Refusal:
        """Ask for shares of classes and add their logarithms."""
        hypothesis = learner.classify(self.weights, self.form, number)
        steps = self.rules.learning_rate * hypothesis.answers
        return self._record([hypothesis.member], steps, number)


class Gentle(Scores):
    """Gentle AdaBoost: least squares of the signs under the weights, and no division by them.

    More than two classes are one problem of signs per class, each with its own weights.
    """

    form = "values"

    def _targets(self) -> FloatArray:
        if self.rows.n_classes == 2:
            return self.rows.signs[:, np.newaxis]
        return 2 * np.eye(self.rows.n_classes)[self.rows.codes] - 1

    def round(self, learner: WeakLearner, number: int) -> Round | Refusal:
        """Fit the signs of every score."""
        targets = self._targets()
        members: list[object] = []
        steps = np.empty_like(self._scores)
        for k in range(self._scores.shape[1]):
            logs = self._log_prior - targets[:, k] * self._scores[:, k]
            distribution, _ = weights_from_logs(logs)
            hypothesis = learner.regress(targets[:, k], self.weigh(distribution), number)
            steps[:, k] = self.rules.learning_rate * hypothesis.answers[:, 0]
            members.append(hypothesis.member)
        return self._record(members, steps, number)

    def _model_scale(self) -> float:
        # Scores of signs are half log-odds; the softmax wants whole ones.
        return 1.0 if self.rows.n_classes == 2 else 2.0

    def output(self, n_members: int) -> SumOutput:
        """Say which score each member adds to."""
        output = super().output(n_members)
        n_scores = len(output.baseline)
        if n_scores == 1:
            return output
        in_turn = (np.arange(n_members) % n_scores).astype(np.int32)
        return SumOutput(output.link, output.baseline, in_turn)


class Logit(Gentle):
    """LogitBoost: Newton's steps on the log-likelihood (Friedman, Hastie and Tibshirani 2000)."""

    def _shares(self) -> FloatArray:
        if self.rows.n_classes == 2:
            return apply_link("double_logistic", self._scores)[:, 1:]
        return apply_link("softmax", self._scores)

    def _weigh(self) -> None:
        """Weights are the curvatures; the objective is the mean of ln(1 + exp(-2 y F))."""
        super()._weigh()
        shares = self._shares()
        if self.rows.n_classes == 2:
            true = apply_link("double_logistic", self.rows.signs[:, np.newaxis] * self._scores)[
                :, 1
            ]
        else:
            true = shares[np.arange(self.rows.n_rows), self.rows.codes]
        losses = -log_of(np.maximum(true, np.finfo(float).tiny))
        curvatures = self.rows.prior * (shares * (1 - shares)).sum(axis=1)
        curvatures = np.maximum(curvatures, LEAST_CURVATURE * self.rows.prior)
        self._distribution = curvatures / curvatures.sum()
        self._objective = float((self.rows.prior * losses).sum())
        self._log_objective = exact_log(max(self._objective, np.finfo(float).tiny))

    def round(self, learner: WeakLearner, number: int) -> Round | Refusal:
        """Fit the working responses of every score."""
        shares = self._shares()
        n_scores = self._scores.shape[1]
        truth = np.eye(self.rows.n_classes)[self.rows.codes][:, -n_scores:]
        curvatures = np.maximum(shares * (1 - shares), LEAST_CURVATURE)
        responses = (truth - shares) / curvatures
        largest = self.rules.largest_response
        if largest is not None:
            responses = np.clip(responses, -largest, largest)
        members: list[object] = []
        fits = np.empty_like(self._scores)
        for k in range(n_scores):
            weights = self.rows.prior * curvatures[:, k]
            seen = self.weigh(weights / weights.sum())
            hypothesis = learner.regress(responses[:, k], seen, number)
            fits[:, k] = hypothesis.answers[:, 0]
            members.append(hypothesis.member)
        return self._record(members, self._steps(fits), number)

    def _steps(self, fits: FloatArray) -> FloatArray:
        if self.rows.n_classes == 2:
            return self.rules.learning_rate * 0.5 * fits
        n_classes = self.rows.n_classes
        centred = fits - fits.mean(axis=1, keepdims=True)
        return np.asarray(self.rules.learning_rate * (n_classes - 1) / n_classes * centred)

    def _member_weight(self) -> float:
        # The mean over classes that each step takes away is no concern of a softmax.
        n_classes = self.rows.n_classes
        return self.rules.learning_rate * (0.5 if n_classes == 2 else (n_classes - 1) / n_classes)

    def _model_scale(self) -> float:
        return 1.0
