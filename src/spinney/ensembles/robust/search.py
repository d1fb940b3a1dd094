"""The noise parameter, chosen by search.

BrownBoost and RobustBoost tell by their clock whether the target error can be reached, so it is
found without other rows. Parameters of the others are chosen by rows that were held out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.ensembles.robust.brown import BrownBoost
from spinney.ensembles.robust.outcome import RobustBoost
from spinney.ensembles.robust.potentials import BrownPotential, RobustPotential, largest_target
from spinney.ensembles.robust.robust import RobustBoosting
from spinney.ensembles.robust.rounds import Scheme, boost_by
from spinney.ensembles.robust.settings import RobustSettings
from spinney.ensembles.weak.hypothesis import Ask
from spinney.ensembles.weak.signed_rows import SignedRows
from spinney.errors import InvalidParameter
from spinney.progress import Progress
from spinney.results import Result, read_only
from spinney.typing import AnyArray, FloatArray, IntArray

CLOCKS = ("brown", "robust")
"""Boosters that aim at a target error."""
LARGEST_TARGET = 0.4
"""Target error the search begins with: as much noise as is worth boosting for."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TargetSearch(Result):
    """The smallest target error, of those tried, for which the clock reached its end."""

    target_error: float
    boost: RobustBoost
    """What was fitted with it."""
    tried: FloatArray
    """Target errors in the order they were tried."""
    times_left: FloatArray
    """What each of them left of the clock: 0 where the target was reached."""

    def __post_init__(self) -> None:
        for name in ("tried", "times_left"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def reached(self) -> bool:
        """Whether any target was; else ``target_error`` is the largest one tried."""
        return bool((self.times_left == 0.0).any())

    def title(self) -> str:
        """Say in a line what the table shows."""
        return f"search for the target error: {self.target_error:.4g} of {len(self.tried)} tried"

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the fits as named columns."""
        return {"target_error": self.tried.tolist(), "time_left": self.times_left.tolist()}


def search_target_error(
    ask: Ask,
    signs: AnyArray,
    settings: RobustSettings,
    weights: AnyArray | None = None,
    *,
    n_fits: int = 8,
    tolerance: float = 0.005,
) -> TargetSearch:
    """Bisect for the smallest target error with which the clock reaches its end.

    A target far below the share of wrong labels cannot be reached; one far above gives up rows
    that are right. The first fit tries 0.4 (or the most that goal margin and width allow), and
    each further fit halves the interval, until it is as short as ``tolerance`` or ``n_fits`` fits
    are done. Eight fits narrow 0.4 down to 0.003. Every fit takes at most ``settings.n_rounds``
    rounds; too few of them also leave time on the clock, and so give a larger target.

    Parameters
    ----------
    ask, signs, weights
        As for ``boost_robustly``.
    settings : RobustSettings
        For "robust" or "brown". Its target error is not used.
    n_fits : int
        Most fits.
    tolerance : float
        How exactly to know the target error.

    Returns
    -------
    TargetSearch
    """
    if n_fits < 1 or not tolerance > 0.0:
        raise InvalidParameter(
            f"n_fits={n_fits} and tolerance={tolerance}: expected at least one fit and a "
            "tolerance above 0."
        )
    if settings.algorithm not in CLOCKS:
        raise InvalidParameter(
            f"algorithm={settings.algorithm!r} has no clock that could tell whether a target error "
            "can be reached: expected 'robust' or 'brown'."
        )
    rows = SignedRows.of(signs, weights)
    limit = 1.0 if settings.algorithm == "brown" else 0.99 * largest_target(settings)
    low, high = 0.0, min(LARGEST_TARGET, limit)
    with Progress(n_fits, "target error") as progress:
        progress.show(0)
        best = _fit(high, ask, rows, settings)
        tried, left = [high], [best.time_left]
        while best.time_left == 0.0 and len(tried) < n_fits and high - low > tolerance:
            progress.show(len(tried))
            middle = 0.5 * (low + high)
            boost = _fit(middle, ask, rows, settings)
            tried.append(middle)
            left.append(boost.time_left)
            if boost.time_left == 0.0:
                high, best = middle, boost
            else:
                low = middle
        progress.show(len(tried))
    return TargetSearch(high, best, np.array(tried), np.array(left))


def _fit(target: float, ask: Ask, rows: SignedRows, settings: RobustSettings) -> RobustBoost:
    aimed = replace(settings, target_error=target)
    scheme: Scheme
    if aimed.algorithm == "brown":
        scheme = BrownBoost(BrownPotential.of(target), aimed.least_edge)
    else:
        scheme = RobustBoosting(RobustPotential.of(aimed), aimed.least_edge)
    return boost_by(scheme, ask, rows, aimed)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ParameterChoice(Result):
    """A parameter chosen by held-out rows."""

    parameters: FloatArray
    scores: FloatArray
    """(n_parameters, n_folds): more is better."""

    def __post_init__(self) -> None:
        for name in ("parameters", "scores"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def best(self) -> float:
        """The parameter with the best mean score; of equals the first one given."""
        return float(self.parameters[int(np.argmax(self.scores.mean(axis=1)))])

    def title(self) -> str:
        """Say in a line what the table shows."""
        return f"{self.best:.4g} is best of {len(self.parameters)} on {self.scores.shape[1]} folds"

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the parameters as named columns."""
        return {
            "parameter": self.parameters.tolist(),
            "score": self.scores.mean(axis=1).tolist(),
        }


def choose_parameter(
    fit: Callable[[float, IntArray], float],
    parameters: Sequence[float],
    held_out: Sequence[IntArray],
) -> ParameterChoice:
    """Score every parameter on every part of the rows that is held out.

    Labels of held-out rows are as noisy as the others, which moves all scores alike and leaves
    the order. One part is a hold-out, several that cover the rows are cross-validation; the number
    of fits is the product of the two lengths.

    Parameters
    ----------
    fit : callable
        (parameter, numbers of the rows held out) -> score on these rows of what was learnt from
        the others; more is better.
    parameters : sequence of float
        What to try; of equally good ones the first is taken.
    held_out : sequence of arrays
        Parts of the rows.

    Returns
    -------
    ParameterChoice

    Examples
    --------
    >>> parts = [np.array([0, 1]), np.array([2, 3])]
    >>> choose_parameter(lambda p, rows: -abs(p - 0.2), [0.1, 0.2, 0.3], parts).best
    0.2
    """
    if not len(parameters) or not len(held_out):
        raise InvalidParameter(
            f"{len(parameters)} parameters and {len(held_out)} parts held out: expected at least "
            "one of each."
        )
    scores = np.array([[fit(value, rows) for rows in held_out] for value in parameters], float)
    if not np.isfinite(scores).all():
        raise InvalidParameter(
            "a score of the search is not finite: expected numbers of which more is better."
        )
    return ParameterChoice(np.array(parameters, dtype=np.float64), scores)
