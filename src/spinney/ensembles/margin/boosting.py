"""The way in: every booster of margins by its name."""

from collections.abc import Callable

import numpy.typing as npt

from spinney.ensembles.margin.columns import boost_columns
from spinney.ensembles.margin.entropy import CorrectiveERLPBoost, ERLPBoost, Projections
from spinney.ensembles.margin.linear_programs import LPBoost
from spinney.ensembles.margin.outcome import MarginBoost
from spinney.ensembles.margin.program import Program
from spinney.ensembles.margin.settings import MarginSettings
from spinney.ensembles.margin.votes import RULES, boost_votes
from spinney.ensembles.weak.hypothesis import Ask
from spinney.ensembles.weak.signed_rows import SignedRows

_PROGRAMS: dict[str, Callable[[SignedRows, MarginSettings], Program]] = {
    "lpboost": LPBoost,
    "totalboost": Projections,
    "softboost": Projections,
    "erlpboost": ERLPBoost,
    "corrective_erlpboost": CorrectiveERLPBoost,
}


def boost_margins(
    ask: Ask,
    signs: npt.ArrayLike,
    settings: MarginSettings,
    prior: npt.ArrayLike | None = None,
) -> MarginBoost:
    """Combine hypotheses into a vote of large margins.

    Parameters
    ----------
    ask : callable
        Takes a distribution over the rows, gives a hypothesis with answers in [-1, 1]. What the
        algorithms promise is about a learner that gives the hypothesis of the highest edge.
    signs : (n_rows,) array
        The classes of the rows: -1 or 1.
    settings : MarginSettings
        Which algorithm, and how far it goes.
    prior : (n_rows,) array, optional
        Weights of the rows; a weight is a repetition, and without weight a row does not count.
        arc-gv and AdaBoost's kin start from them; programs let no row have more than 1 / nu times
        its share of them.

    Returns
    -------
    MarginBoost
        Members, weights, trace and certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney.ensembles.weak.hypothesis import Hypothesis
    >>> votes = np.array([[-1.0, 1, 1], [1, -1, 1], [1, 1, -1]])
    >>> def ask(distribution):
    ...     best = int(np.argmax(distribution @ votes))
    ...     return Hypothesis(votes[:, best], best)
    >>> settings = MarginSettings(algorithm="lpboost", nu=1e-9)
    >>> boosted = boost_margins(ask, np.ones(3), settings)
    >>> boosted.weights.round(6), round(boosted.certificate.primal, 6)
    (array([0.333333, 0.333333, 0.333333]), 0.333333)
    """
    rows = SignedRows.of(signs, prior)
    if settings.algorithm in RULES:
        return boost_votes(ask, rows, settings)
    program = _PROGRAMS[settings.algorithm](rows, settings)
    return boost_columns(ask, rows, settings, program)
