"""One loop for all boosters that weigh every hypothesis anew in each round."""

import functools
import math

import numpy as np
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from spinney.ensembles.margin.capped import soft_margin
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
from spinney.ensembles.margin.program import LeastEdge, Look, Program
from spinney.ensembles.margin.settings import MarginSettings
from spinney.ensembles.weak.hypothesis import Ask
from spinney.ensembles.weak.signed_rows import SignedRows, sum_product
from spinney.progress import follow
from spinney.typing import FloatArray


def boost_columns(
    ask: Ask, rows: SignedRows, settings: MarginSettings, program: Program
) -> MarginBoost:
    """Ask, add the hypothesis, solve the program, ask about the distribution it gives.

    Edges need not be positive: without a separating vote the best margin is negative, and found.
    """
    game = _Game(rows, program, Diary(keep_distributions=settings.keep_distributions))
    reason = ""
    for _ in follow(range(settings.n_rounds), settings.n_rounds, "round"):
        hypothesis = ask(game.distribution.copy())
        votes = rows.votes(hypothesis)
        if rows.are_perfect(votes):
            return alone(hypothesis, game.distribution, game.diary, program.caps, program.promise)
        with _threads().limit(limits=1, user_api="blas"):  # so that bytes do not depend on them
            reason = game.play(votes, hypothesis.member)
        if reason:
            break
    with _threads().limit(limits=1, user_api="blas"):
        return game.close(reason or ALL_ROUNDS)


@functools.cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


class _Game:
    """Hypotheses so far, and the distribution to ask about."""

    def __init__(self, rows: SignedRows, program: Program, diary: Diary) -> None:
        self.rows, self.program, self.diary = rows, program, diary
        self.distribution: FloatArray = rows.prior
        self.pool, self.least = Pool(), LeastEdge()
        self.first_rounds: list[int] = []  # of each hypothesis

    def play(self, votes: FloatArray, member: object) -> str:
        """Use what the learner answered; say why to stop, if so."""
        edge = sum_product(self.distribution, votes)
        highest = edge
        if len(self.pool):
            highest = max(edge, float(np.max(self.distribution @ self.pool.matrix())))
        self.least.see(votes, self.distribution, highest)
        is_repeated = self.pool.find(votes) is not None
        look = Look(votes, self.distribution, highest, self.least.value, is_repeated)
        reason = self.program.verdict(look)
        if reason:
            return reason
        if not look.is_repeated:
            self.first_rounds.append(len(self.diary))
        self.pool.add(votes, member)
        step = self.program.advance(self.pool, self.distribution)
        margin = self.rows.least(step.margins)
        entry = Entry(edge, math.nan, math.nan, step.objective, margin)
        self.diary.write(entry, self.distribution)
        self.distribution = step.distribution
        return step.end

    def close(self, reason: str) -> MarginBoost:
        """Keep the hypotheses that have weight, with the proof."""
        weights, votes = self.program.final_weights(self.pool), self.pool.matrix()
        used = np.flatnonzero(weights)
        primal = soft_margin(votes[:, used] @ weights[used], self.program.caps)
        dual = max(self.least.value, float(np.max(self.least.distribution @ votes)))
        alphas = np.zeros(len(self.diary))
        alphas[self.first_rounds] = weights
        reason += HOPELESS if dual <= 0.0 else ""
        proof = MarginCertificate(
            primal,
            dual,
            weights[used],
            self.least.distribution,
            self.program.caps,
            len(self.diary),
            self.program.promise,
        )
        trace = self.diary.trace(reason, self.distribution, alphas)
        members = [self.pool.members[place] for place in used]
        return MarginBoost(members, weights[used], trace, proof, reason)
