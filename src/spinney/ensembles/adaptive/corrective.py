"""Totally corrective AdaBoost: after each round all votes are weighed anew."""

import functools
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import logsumexp
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

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
        matrix = np.column_stack(self._columns)
        return least_exponential_loss(matrix, np.log(self.rows.prior), start)


def least_exponential_loss(
    matrix: FloatArray, log_prior: FloatArray, start: FloatArray
) -> FloatArray:
    """Minimise the logarithm of sum(prior * exp(-matrix @ alphas)) over 0 <= alphas <= longest.

    Newton's method, each step between the bounds: from the weights of the round
    before, a few steps. It ends where slopes vanish, or where no more can be gained than rounding
    takes. If it gets nowhere before, as it may where there is no minimum, slopes alone lead on.

    Examples
    --------
    >>> votes = np.array([[1.0], [1.0], [1.0], [-1.0]])
    >>> least_exponential_loss(votes, np.log(np.full(4, 0.25)), np.zeros(1)).round(6)
    array([0.549306])
    """
    alphas = np.clip(start, 0.0, LONGEST_MOVE)
    with _threads().limit(limits=1, user_api="blas"):  # so that bytes do not depend on them
        here = _Loss.at(alphas, matrix, log_prior)
        for _ in range(_MOST_STEPS):
            bounds = -alphas, LONGEST_MOVE - alphas
            if np.max(np.abs(np.clip(-here.slope, *bounds))) <= _FLAT:
                return alphas
            step = _bounded_step(here.curvature(matrix), here.slope, *bounds)
            if abs(float(here.slope @ step)) <= _ROUNDING:
                return alphas
            better = _shorten(alphas, step, here, (matrix, log_prior))
            if better is None:
                break
            alphas, here = better
        return _by_slopes(matrix, log_prior, alphas)


_FLAT, _ROUNDING = 1e-10, 1e-13
_MOST_STEPS = 60
_MOST_HALVINGS = 30
_MOST_GUESSES = 30


@functools.cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


@dataclass(frozen=True, slots=True, eq=False)
class _Loss:
    value: float
    slope: FloatArray
    shares: FloatArray
    """Of the rows in the loss."""

    @classmethod
    def at(cls, alphas: FloatArray, matrix: FloatArray, log_prior: FloatArray) -> "_Loss":
        logs = log_prior - matrix @ alphas
        total = logsumexp(logs)
        shares = np.exp(logs - total)
        return cls(float(total), -(shares @ matrix), shares)

    def curvature(self, matrix: FloatArray) -> FloatArray:
        """Second derivatives."""
        squares: FloatArray = matrix.T @ (self.shares[:, None] * matrix)
        return squares - np.outer(self.slope, self.slope)


def _bounded_step(
    curvature: FloatArray, slope: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Minimise the quadratic model between bounds: guess which hold, solve, guess again."""
    step = np.zeros(len(slope))
    at_low, at_high = (low >= 0.0) & (slope > 0.0), (high <= 0.0) & (slope < 0.0)
    for _ in range(_MOST_GUESSES):
        held = at_low | at_high
        step = np.where(at_low, low, np.where(at_high, high, 0.0))
        free = np.flatnonzero(~held)
        if len(free):
            rest = slope[free] + curvature[np.ix_(free, held)] @ step[held]
            step[free] = -_solve(curvature[np.ix_(free, free)], rest)
        pull = curvature @ step + slope
        now_low = (at_low & (pull >= 0.0)) | (~held & (step <= low))
        now_high = (at_high & (pull <= 0.0)) | (~held & (step >= high))
        if np.array_equal(now_low, at_low) and np.array_equal(now_high, at_high):
            break
        at_low, at_high = now_low, now_high
    return np.clip(step, low, high)


def _solve(curvature: FloatArray, right: FloatArray) -> FloatArray:
    """Solve; a little is added to curvatures where there is no one solution."""
    scale = max(float(np.trace(curvature)), np.finfo(float).tiny)
    for added in (0.0, 1e-14, 1e-11, 1e-8):
        try:
            factor = cho_factor(curvature + added * scale * np.eye(len(right)))
        except LinAlgError:
            continue
        return np.asarray(cho_solve(factor, right))
    return right / scale


def _shorten(
    alphas: FloatArray, step: FloatArray, here: _Loss, problem: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, _Loss] | None:
    """Halve a step until it keeps a part of its promise; None: none does."""
    promised = float(here.slope @ step)
    for _ in range(_MOST_HALVINGS):
        there = _Loss.at(alphas + step, *problem)
        if there.value <= here.value + 1e-4 * promised:
            return np.clip(alphas + step, 0.0, LONGEST_MOVE), there
        step, promised = step / 2.0, promised / 2.0
    return None


def _by_slopes(matrix: FloatArray, log_prior: FloatArray, start: FloatArray) -> FloatArray:
    def loss(alphas: FloatArray) -> tuple[float, FloatArray]:
        found = _Loss.at(alphas, matrix, log_prior)
        return found.value, found.slope

    found = minimize(
        loss,
        start,
        jac=True,
        bounds=[(0.0, LONGEST_MOVE)] * len(start),
        method="L-BFGS-B",
        options={"maxiter": 500, "ftol": 1e-15, "gtol": _FLAT},
    )
    return np.asarray(found.x)
