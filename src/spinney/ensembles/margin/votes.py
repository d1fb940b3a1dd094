"""arc-gv, AdaBoost_rho, AdaBoost*_nu, AdaBoost_Reg: votes added round by round.

They are AdaBoost with another step. The weights of rows are the distribution of the first round:
a row of weight 2 is the row twice.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.ensembles.margin.certificate import MarginCertificate
from spinney.ensembles.margin.outcome import (
    ALL_ROUNDS,
    HOPELESS,
    Diary,
    Entry,
    MarginBoost,
    alone,
)
from spinney.ensembles.margin.pool import Pool
from spinney.ensembles.margin.program import LeastEdge
from spinney.ensembles.margin.settings import MarginSettings
from spinney.ensembles.weak.hypothesis import Ask
from spinney.ensembles.weak.signed_rows import SignedRows, sum_product
from spinney.losses.line_search import best_vote
from spinney.progress import follow
from spinney.typing import FloatArray

_HIGHEST = 1.0 - 2.0**-52
"""An edge of 1 on rows that are not all the rows would be an infinite step."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What a step depends on."""

    distribution: FloatArray
    votes: FloatArray
    edge: float
    least_edge: float
    """Of all rounds, with this one."""
    margin: float
    """The least normalised margin of the vote so far."""
    ratios: FloatArray
    """How many times its share each row has in the distribution."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How long a step is, and what it means when there is none."""

    step: Callable[[Asked, MarginSettings], float]
    end: str
    rounds: Callable[[SignedRows, MarginSettings], float] = lambda *_: math.inf
    """How many rounds are enough for the promise."""
    promises: bool = False
    penalises: bool = False
    """Whether the weight a row has had counts as margin."""


def half_log_odds(edge: float) -> float:
    """Give ½ ln((1 + edge) / (1 - edge)): AdaBoost's step.

    Examples
    --------
    >>> half_log_odds(0.0), round(half_log_odds(0.5), 6)
    (0.0, 0.549306)
    """
    return math.atanh(min(max(edge, -_HIGHEST), _HIGHEST))


def rounds_of_star(rows: SignedRows, settings: MarginSettings) -> float:
    """Give the rounds after which AdaBoost*_nu has kept its promise: ⌈2 ln n / nu²⌉."""
    return math.ceil(2.0 * math.log(rows.most()) / settings.precision**2)


def _arc_gv(asked: Asked, _: MarginSettings) -> float:
    # Before the margin is positive the target is 0: in round 1 there is none at all.
    return half_log_odds(asked.edge) - half_log_odds(max(0.0, asked.margin))


def _towards_target(asked: Asked, settings: MarginSettings) -> float:
    return half_log_odds(asked.edge) - half_log_odds(settings.target_margin)


def _towards_least_edge(asked: Asked, settings: MarginSettings) -> float:
    target = asked.least_edge - settings.precision  # may be negative: so is then the best margin
    return half_log_odds(asked.edge) - half_log_odds(target) if target > -1.0 else 0.0


def _regularised(asked: Asked, settings: MarginSettings) -> float:
    if asked.edge <= 0.0:
        return 0.0
    if settings.regularisation == 0.0 and np.all(np.abs(asked.votes) == 1.0):
        return half_log_odds(asked.edge)
    gains = asked.votes + settings.regularisation * asked.ratios
    counts = asked.distribution > 0.0  # others' gains may be anything, and weigh nothing
    return max(0.0, best_vote(asked.distribution[counts], gains[counts]))


RULES = {
    "arc_gv": Rule(_arc_gv, "no hypothesis has a positive edge above the margin reached"),
    "adaboost_rho": Rule(_towards_target, "no hypothesis has an edge above target_margin"),
    "adaboost_star": Rule(
        _towards_least_edge, "any vote keeps the promise", rounds_of_star, promises=True
    ),
    "adaboost_reg": Rule(_regularised, "no hypothesis has a positive edge", penalises=True),
}


def boost_votes(ask: Ask, rows: SignedRows, settings: MarginSettings) -> MarginBoost:
    """Ask, add the hypothesis with the step of the rule, give more weight to rows it gets wrong."""
    rule = RULES[settings.algorithm]
    vote = _Vote(rows, settings, rule)
    n_rounds = min(settings.n_rounds, rule.rounds(rows, settings))
    reason = ""
    for _ in follow(range(int(n_rounds)), int(n_rounds), "round"):
        hypothesis = ask(vote.distribution.copy())
        votes = rows.votes(hypothesis)
        if rows.are_perfect(votes):
            return alone(hypothesis, vote.distribution, vote.diary, rows.caps(), vote.promise)
        reason = vote.cast(votes, hypothesis.member)
        if reason:
            break
    if not reason:
        enough = "the rounds that suffice for the precision are done"
        reason = ALL_ROUNDS if n_rounds == settings.n_rounds else enough
    return vote.close(reason)


class _Vote:
    """The sum so far, and the distribution to ask about."""

    def __init__(self, rows: SignedRows, settings: MarginSettings, rule: Rule) -> None:
        self.rows, self.settings, self.rule = rows, settings, rule
        self.promise = settings.precision if rule.promises else None
        self.diary = Diary(keep_distributions=settings.keep_distributions)
        self.distribution: FloatArray = rows.prior
        self.members: list[Any] = []
        self.alphas: list[float] = []
        self._pool, self._least = Pool(), LeastEdge()
        self._least_edge = math.inf
        self._total = 0.0
        self._margins = np.zeros(len(rows.signs))  # not normalised
        self._penalties = np.zeros(len(rows.signs))
        with np.errstate(divide="ignore"):
            self._log_prior = np.log(rows.prior)
        self._log_objective = 0.0

    def cast(self, votes: FloatArray, member: object) -> str:
        """Add the vote of the learner; say why to stop, if so."""
        asked = self._asked(votes)
        alpha = self.rule.step(asked, self.settings)
        self._pool.add(votes, member)
        if alpha <= 0.0 and self.members:
            return self.rule.end
        reason = self.rule.end if alpha <= 0.0 else ""
        if reason:  # of nothing but this, it is the best
            alpha = 1.0
        self.members.append(member)
        self.alphas.append(alpha)
        self._total += alpha
        self._margins += alpha * votes
        if self.rule.penalises:
            self._penalties += alpha * self.settings.regularisation * asked.ratios
        self._reweight(asked.edge, alpha)
        return reason

    def _asked(self, votes: FloatArray) -> Asked:
        distribution, prior = self.distribution, self.rows.prior
        edge = sum_product(distribution, votes)
        self._least.see(votes, distribution, edge)
        self._least_edge = min(self._least_edge, edge)
        ratios = np.divide(distribution, prior, out=np.zeros_like(prior), where=prior > 0.0)
        return Asked(distribution, votes, edge, self._least_edge, self._margin(), ratios)

    def _margin(self) -> float:
        return self.rows.least(self._margins) / self._total if self._total else 0.0

    def _reweight(self, edge: float, alpha: float) -> None:
        logs = self._log_prior - self._margins - self._penalties
        highest = float(logs.max())  # so that the largest term is 1, after any number of rounds
        raised = np.exp(logs - highest)
        total = float(raised.sum())
        before, self._log_objective = self._log_objective, highest + math.log(total)
        shrunk = math.exp(self._log_objective - before)
        objective = math.exp(self._log_objective) if self._log_objective < 700.0 else math.inf
        entry = Entry(edge, alpha, shrunk, objective, self._margin())
        self.diary.write(entry, self.distribution)
        self.distribution = raised / total

    def close(self, reason: str) -> MarginBoost:
        """Prove what was reached."""
        alphas = np.array(self.alphas)
        dual = self._pool.highest_edge(self._least.distribution)
        reason += HOPELESS if dual <= 0.0 else ""
        proof = MarginCertificate(
            self._margin(),
            dual,
            alphas / alphas.sum(),
            self._least.distribution,
            self.rows.caps(),
            len(self.diary),
            self.promise,
        )
        trace = self.diary.trace(reason, self.distribution)
        return MarginBoost(self.members, alphas, trace, proof, reason)
