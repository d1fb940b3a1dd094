"""TotalBoost, SoftBoost, ERLPBoost: programs in which distributions stay near the weights of rows.

For weights of rows the entropy is relative to them, and a row gets at most 1 / nu times its share:
so a row of weight 2 is treated as the row twice.
"""

import math

import numpy as np
from scipy.special import rel_entr

from spinney.ensembles.margin.capped import (
    project_below_edges,
    regularised_game,
    smooth_soft_margin,
)
from spinney.ensembles.margin.linear_programs import soft_margin_program
from spinney.ensembles.margin.pool import Pool
from spinney.ensembles.margin.program import REPEATS, LeastEdge, Look, Program, Step
from spinney.ensembles.margin.settings import MarginSettings
from spinney.ensembles.weak.signed_rows import SignedRows
from spinney.typing import FloatArray


class Projections(Program):
    """SoftBoost, and TotalBoost, which is SoftBoost without caps.

    The next distribution is the nearest to the rows' weights under which every hypothesis so far
    has an edge lower by ``precision`` than the least highest edge seen. When there is none, the
    best weights of the hypotheses so far are within ``precision`` of the best of all.
    Warmuth, Liao & Rätsch (2006); Warmuth, Glocer & Rätsch (2007): at most
    2 ln(1 / nu) / precision² rounds.
    """

    def __init__(self, rows: SignedRows, settings: MarginSettings) -> None:
        nu = 0.0 if settings.algorithm == "totalboost" else settings.nu
        super().__init__(rows.caps(nu), settings.precision)
        self._prior, self._most = rows.prior, rows.most(nu)
        self._precision = settings.precision
        self._least = math.inf
        self._multipliers = np.empty(0)
        self._final: FloatArray | None = None

    def verdict(self, look: Look) -> str:
        """Stop only if nothing changes: a hypothesis may come again when edges must sink."""
        if look.is_repeated and look.highest >= self._least:
            return REPEATS
        self._least = look.least
        return ""

    def advance(self, pool: Pool, distribution: FloatArray) -> Step:
        """Project the rows' weights, or find that edges cannot sink further."""
        matrix = pool.matrix()
        found = project_below_edges(
            matrix,
            self._least - self._precision,
            self._prior,
            self._most,
            _padded(self._multipliers, len(pool)),
        )
        if found is None:
            final = self._final = soft_margin_program(matrix, self.caps).weights
            end = "no distribution makes all edges lower by the precision"
            return Step(distribution, final, matrix @ final, math.inf, end)
        projected, self._multipliers = found
        weights = self._multipliers / self._multipliers.sum()
        entropy = float(rel_entr(projected, self._prior).sum())
        return Step(projected, weights, matrix @ weights, entropy)

    def final_weights(self, pool: Pool) -> FloatArray:
        """Give the weights of the largest soft margin."""
        if self._final is None:
            return soft_margin_program(pool.matrix(), self.caps).weights
        return self._final


class _Regularised(Program):
    """Of programs whose value is the highest edge plus the entropy over eta."""

    def __init__(self, rows: SignedRows, settings: MarginSettings) -> None:
        super().__init__(rows.caps(settings.nu), settings.precision)
        self._prior, self._most = rows.prior, rows.most(settings.nu)
        self._half = 0.5 * settings.precision
        # The entropy is at most ln most: over eta it costs no more than half the precision.
        self._eta = max(0.5, math.log(self._most) / self._half)


class ERLPBoost(_Regularised):
    """The next distribution has the least sum of highest edge and entropy over eta.

    Warmuth, Glocer & Vishwanathan (2008): at most max(4 / precision, 8 ln(1 / nu) / precision²)
    rounds.
    """

    def __init__(self, rows: SignedRows, settings: MarginSettings) -> None:
        super().__init__(rows, settings)
        self._least = LeastEdge()
        self._value = -math.inf
        self._weights = np.ones(1)

    def verdict(self, look: Look) -> str:
        """Stop when the last program's value is nearly the least that any round proved."""
        entropy = float(rel_entr(look.distribution, self._prior).sum())
        self._least.see(look.votes, look.distribution, look.highest, entropy / self._eta)
        if self._least.value - self._value <= self._half:
            return "the regularised edge cannot rise by more than half the precision"
        return REPEATS if look.is_repeated else ""

    def advance(self, pool: Pool, distribution: FloatArray) -> Step:  # noqa: ARG002
        """Solve the regularised game with one more hypothesis."""
        matrix, start = pool.matrix(), _padded(self._weights, len(pool))
        self._value, worst, self._weights = regularised_game(
            matrix, self._prior, self._most, self._eta, start
        )
        return Step(worst, self._weights, matrix @ self._weights, self._value)

    def final_weights(self, pool: Pool) -> FloatArray:
        """Give the weights of the largest soft margin."""
        return soft_margin_program(pool.matrix(), self.caps).weights


class CorrectiveERLPBoost(_Regularised):
    """Each round moves some weight to the hypothesis of the highest edge: no solver is needed.

    Steps of Frank and Wolfe on the smooth soft margin, as in Shalev-Shwartz & Singer (2010). The
    published step is safe in the worst case; ours goes on from there as long as it gains, and
    gains at least as much as the published one is sure of. That saves most of the rounds.
    """

    def __init__(self, rows: SignedRows, settings: MarginSettings) -> None:
        super().__init__(rows, settings)
        self._weights = np.ones(1)
        self._margins: FloatArray | None = None
        self._value = -math.inf

    def verdict(self, look: Look) -> str:
        """Stop when no hypothesis is better than the mixture by half the precision."""
        if self._margins is None:
            return ""
        if look.highest - float(look.distribution @ self._margins) <= self._half:
            return "no hypothesis is better than the vote by half the precision"
        return ""

    def advance(self, pool: Pool, distribution: FloatArray) -> Step:
        """Move weight to the best hypothesis known."""
        matrix = pool.matrix()
        best = int(np.argmax(distribution @ matrix))
        if self._margins is None:
            self._margins = matrix[:, best].copy()
            self._value, worst = self._smooth(self._margins)
        else:
            share, worst = self._move(distribution, self._margins, matrix[:, best])
            self._weights = (1.0 - share) * _padded(self._weights, len(pool))
            self._weights[best] += share
        return Step(worst, self._weights, self._margins, self._value)

    def _move(
        self, distribution: FloatArray, margins: FloatArray, votes: FloatArray
    ) -> tuple[float, FloatArray]:
        """Go towards votes; tell how far, as a share of the way, and the next distribution."""
        away = votes - margins
        gap = float(distribution @ away)
        largest = float(np.max(np.abs(away[self._prior > 0.0])))
        published = min(gap / (self._eta * largest**2), 1.0)
        sure = self._value + 0.5 * published * gap
        for share in self._shares(margins, away, published):
            self._margins = margins + share * away
            self._value, worst = self._smooth(self._margins)
            if self._value >= sure:
                break
        return share, worst

    def _shares(self, margins: FloatArray, away: FloatArray, low: float) -> tuple[float, ...]:
        """Say where the slope is about 0, and a point before, where it is positive."""

        def slope(share: float) -> float:
            return float(self._smooth(margins + share * away)[1] @ away)

        before, slope_before = low, math.nan
        while before < 1.0:
            after = min(2.0 * before, 1.0)
            slope_after = slope(after)
            if slope_after <= 0.0:
                break
            before, slope_before = after, slope_after
        else:
            return (1.0,)
        if math.isnan(slope_before):
            slope_before = max(slope(before), 0.0)
        part = slope_before / (slope_before - slope_after) if slope_before > 0.0 else 0.0
        return before + part * (after - before), before

    def _smooth(self, margins: FloatArray) -> tuple[float, FloatArray]:
        return smooth_soft_margin(margins, self._prior, self._most, self._eta)

    def final_weights(self, pool: Pool) -> FloatArray:  # noqa: ARG002
        """Give those of the last step."""
        total = float(self._weights.sum())
        return np.divide(self._weights, total)


def _padded(weights: FloatArray, n_columns: int) -> FloatArray:
    return np.append(weights, np.zeros(n_columns - len(weights)))
