"""Totally corrective AdaBoost: after each round all votes are weighed anew."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from spinney.ensembles.adaptive.variant import Refusal, Round, Rules, TrainingRows
from spinney.ensembles.adaptive.votes import Votes
from spinney.ensembles.weak.hypothesis import Hypothesis
from spinney.ensembles.weak.learners import WeakLearner
from spinney.losses.line_search import LONGEST_MOVE
from spinney.losses.row_weights import Verdict, exp_or_infinity
from spinney.typing import FloatArray


class Corrective(Votes):
    """Discrete AdaBoost of two classes whose weights minimise the loss over all votes so far.

    The loss is never above that of plain AdaBoost after as many rounds. Where votes separate the
    classes there is no minimum, and weights end at ``LONGEST_MOVE``.
    """

    def reset(self) -> bool:
        """Refuse: all votes are weighed by the first weights anyway."""
        return False

    def __init__(self, rows: TrainingRows, rules: Rules) -> None:
        super().__init__(rows, rules)
        self._columns: list[FloatArray] = []
        self._turns: list[float] = []
        self.alphas = np.empty(0)

    def round(self, learner: WeakLearner, number: int) -> Round | Refusal:
        """Make a round of AdaBoost, then weigh all votes again."""
        before = self._weights.log_mean_exp
        made = super().round(learner, number)
        if isinstance(made, Refusal):
            return made
        sign = 1.0 if made.weights[0] > 0 else -1.0
        self._turns.append(sign)
        self.alphas = self._weigh_votes(np.append(self.alphas, made.alpha))
        self._margins = np.column_stack(self._columns) @ self.alphas
        self._total_alpha = float(self.alphas.sum())
        self._weigh()
        return Round(
            members=made.members,
            weights=made.weights,
            error=made.error,
            edge=made.edge,
            alpha=made.alpha,
            normaliser=exp_or_infinity(self._weights.log_mean_exp - before),
            objective=self._objective,
            min_margin=float(self._margins.min() / self._total_alpha),
            ends=made.ends,
        )

    def _take(self, hypothesis: Hypothesis, verdict: Verdict, signed_weight: float) -> Round:
        self._columns.append(np.where(verdict.right, 1.0, -1.0))
        return super()._take(hypothesis, verdict, signed_weight)

    @property
    def final_weights(self) -> FloatArray:
        """Weights of the members as the last round left them."""
        return np.array(self._turns) * self.alphas

    def _weigh_votes(self, start: FloatArray) -> FloatArray:
        """Minimise the logarithm of the loss, a convex function, over weights of votes."""
        matrix = np.column_stack(self._columns)
        log_prior = np.log(self.rows.prior)

        def loss(alphas: FloatArray) -> tuple[float, FloatArray]:
            logs = log_prior - matrix @ alphas
            total = logsumexp(logs)
            return float(total), -(np.exp(logs - total) @ matrix)

        bounds = [(0.0, LONGEST_MOVE)] * len(start)
        found = minimize(
            loss,
            np.minimum(start, LONGEST_MOVE),
            jac=True,
            bounds=bounds,
            method="L-BFGS-B",
            options={"maxiter": 500, "ftol": 1e-15, "gtol": 1e-10},
        )
        return np.asarray(found.x)
