"""Robust boosting by name."""

from collections.abc import Callable

from spinney.ensembles.robust.brown import BrownBoost
from spinney.ensembles.robust.martingale import MartingaleProgram, boost_by_martingale
from spinney.ensembles.robust.nonconvex import AnyBoost
from spinney.ensembles.robust.outcome import RobustBoost
from spinney.ensembles.robust.potentials import BrownPotential, RobustPotential
from spinney.ensembles.robust.robust import RobustBoosting
from spinney.ensembles.robust.rounds import Scheme, boost_by
from spinney.ensembles.robust.settings import RobustSettings
from spinney.ensembles.robust.smooth import MadaBoost, SmoothBoost
from spinney.ensembles.weak.hypothesis import Ask
from spinney.ensembles.weak.signed_rows import SignedRows
from spinney.losses.margin import MARGIN_LOSSES, ramp, sigmoid
from spinney.typing import AnyArray

_SCHEMES: dict[str, Callable[[RobustSettings], Scheme]] = {
    "mada": lambda _: MadaBoost(),
    "smooth": lambda s: SmoothBoost(s.smoothness, s.edge),
    "brown": lambda s: BrownBoost(BrownPotential.of(s.target_error), s.least_edge),
    "robust": lambda s: RobustBoosting(RobustPotential.of(s), s.least_edge),
    "savage": lambda s: AnyBoost(MARGIN_LOSSES["savage"], s.largest_step, s.in_hull),
    "sigmoid": lambda s: AnyBoost(sigmoid(s.steepness), s.largest_step, s.in_hull),
    "tangent": lambda s: AnyBoost(MARGIN_LOSSES["tangent"], s.largest_step, s.in_hull),
    "ramp": lambda s: AnyBoost(ramp(s.steepness), s.largest_step, s.in_hull),
}


def boost_robustly(
    ask: Ask,
    signs: AnyArray,
    settings: RobustSettings,
    weights: AnyArray | None = None,
) -> RobustBoost | MartingaleProgram:
    """Boost a weak learner on labels some of which may be wrong.

    Parameters
    ----------
    ask : callable
        The weak learner: a distribution over the rows -> a hypothesis.
    signs : array of shape (n_rows,)
        1 for rows of the second class, -1 for the others.
    settings : RobustSettings
    weights : array of shape (n_rows,), optional
        How often each row counts; once, if not given.

    Returns
    -------
    RobustBoost or MartingaleProgram
        A program if ``settings.algorithm`` is "martingale", else a weighted sum.

    Raises
    ------
    InvalidParameter
        When the target error of "robust" is one that guessing reaches.
    InvalidInput
        When signs, weights or a learner's answers are not what they should be.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney.ensembles.weak.hypothesis import Hypothesis
    >>> x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> def ask(distribution):
    ...     return Hypothesis(answers=np.where(x > 2.5, 1.0, -1.0), member="x > 2.5")
    >>> boost = boost_robustly(ask, y, RobustSettings(algorithm="brown", target_error=0.2))
    >>> boost.members, boost.stop_reason, boost.time_left
    (('x > 2.5',), 'the time is up', 0.0)
    """
    rows = SignedRows.of(signs, weights)
    if settings.algorithm == "martingale":
        return boost_by_martingale(ask, rows, settings)
    return boost_by(_SCHEMES[settings.algorithm](settings), ask, rows, settings)
