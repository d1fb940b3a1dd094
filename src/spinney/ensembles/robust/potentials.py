"""Potentials made of the error function, and the schedules that move them.

The potential of a row is a step from "lost" to "safe", blurred by what may still happen to the row
in the time that is left. Its slope is a bell: rows far below the step have been given up.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import erfc, erfcinv

from spinney.ensembles.robust.settings import RobustSettings
from spinney.errors import InvalidParameter
from spinney.typing import FloatArray

_E = math.e


@dataclass(frozen=True, slots=True)
class BrownPotential:
    """Of BrownBoost: 1 - erf((r + s) / √c) for margin r and remaining time s, at first s = c.

    With √c = erfinv(1 - ε) it starts at ε; a row with r <= 0 ends with at least 1, hence ε bounds
    the training error when the time is up.
    """

    root: float
    """√c."""

    @classmethod
    def of(cls, target_error: float) -> "BrownPotential":
        """Choose c such that the potential starts at the target error.

        Examples
        --------
        >>> potential = BrownPotential.of(0.15)
        >>> round(float(potential.values(np.array([potential.total_time]))[0]), 12)
        0.15
        """
        return cls(float(erfcinv(target_error)))

    @property
    def total_time(self) -> float:
        """c: what the clock shows at the start."""
        return self.root * self.root

    def values(self, ahead: FloatArray) -> FloatArray:
        """Potential by r + s."""
        return np.asarray(erfc(ahead / self.root))

    def log_weights(self, ahead: FloatArray) -> FloatArray:
        """Logarithm of the slope by r + s, up to a constant."""
        return -np.square(ahead / self.root)


def largest_target(settings: RobustSettings) -> float:
    """Share of rows that RobustBoost loses by guessing: its target error must be below.

    Examples
    --------
    >>> largest_target(RobustSettings(goal_margin=0.0))
    0.5
    """
    return 0.5 * float(erfc(-_E * settings.goal_margin / _first_width(settings.sigma_final)))


def _first_width(sigma_final: float) -> float:
    """sigma(0)."""
    return math.sqrt(_E**2 * (sigma_final**2 + 1.0) - 1.0)


@dataclass(frozen=True, slots=True)
class RobustPotential:
    """Of RobustBoost: 1 - Φ((m - μ(t)) / sigma(t)) with Φ(x) = (1 + erf x) / 2, for times 0 to 1.

    Examples
    --------
    >>> potential = RobustPotential.of(RobustSettings(target_error=0.14, sigma_final=0.1))
    >>> round(float(potential.values(np.zeros(1), 0.0)[0]), 12)
    0.14
    >>> round(potential.centre(1.0), 12), round(potential.width(1.0), 12)
    (0.0, 0.1)
    """

    drift: float
    """rho, what the schedule relies on."""
    goal_margin: float
    sigma_final: float

    @classmethod
    def of(cls, settings: RobustSettings) -> "RobustPotential":
        """Choose rho such that the potential starts at the target error.

        Raises
        ------
        InvalidParameter
            When that rho is not positive: no time could then be gained.
        """
        goal, final = settings.goal_margin, settings.sigma_final
        blur = _first_width(final) * float(erfcinv(2.0 * settings.target_error))
        drift = (blur + _E * goal) / (2.0 * (_E - 1.0))
        if not 0.0 < drift < math.inf:
            raise InvalidParameter(
                f"target_error={settings.target_error} with goal_margin={goal} and "
                f"sigma_final={final}: expected a target error above 0 and below "
                f"{largest_target(settings):.4g}, which guessing reaches. Lower target_error or "
                "raise goal_margin."
            )
        return cls(drift, goal, final)

    def centre(self, time: float) -> float:
        """μ(t): the margin at which a row is as good as lost or safe."""
        return (self.goal_margin - 2.0 * self.drift) * math.exp(1.0 - time) + 2.0 * self.drift

    def width(self, time: float) -> float:
        """sigma(t): how blurred the step is."""
        return math.sqrt((self.sigma_final**2 + 1.0) * math.exp(2.0 * (1.0 - time)) - 1.0)

    def values(self, margins: FloatArray, time: float) -> FloatArray:
        """Potential of each row."""
        return 0.5 * np.asarray(erfc((margins - self.centre(time)) / self.width(time)))

    def log_weights(self, margins: FloatArray, time: float) -> FloatArray:
        """Logarithm of the slope, up to a constant."""
        return -np.square((margins - self.centre(time)) / self.width(time))
