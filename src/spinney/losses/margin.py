"""Margin losses: what a score F costs where the label y is -1 or 1, as a function φ of u = yF.

``value`` is the formula as papers write it; ``scaled`` divides it by φ(0), so that all losses pass
through 1 at 0 and can be laid beside the 0-1 loss, which most of them bound from above. The
logistic loss is ln(1 + exp(-2u)): with the factor 2 half the log-odds minimise it, as they do the
exponential loss; divided by ln 2 it bounds the 0-1 loss.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from spinney.errors import InvalidInput, InvalidParameter, nearest_names
from spinney.losses import margin_formulas as formulas
from spinney.losses.margin_formulas import Formula, Numerical, Ramp, Sigmoid, SigmoidLogarithm
from spinney.typing import FloatArray

_GRID = np.linspace(-6.0, 6.0, 1537)
"""Where a new loss is looked at: steps of 1/128, which is exact, and 0 is among them."""


@dataclass(frozen=True, slots=True)
class MarginLoss:
    """A loss φ of the margin u = yF."""

    name: str
    words: str
    """The formula, for titles."""
    formula: Formula = field(repr=False)
    """φ, φ' and φ'' by order; see ``value``, ``derivative`` and ``second_derivative``."""
    is_convex: bool
    is_smooth: bool
    """Whether φ' is continuous; if so there is a second derivative almost everywhere."""
    upper_bounds_01: bool
    """Whether φ(u) / φ(0) is at least 1 for u ≤ 0 and never negative."""
    link: Callable[[FloatArray], FloatArray] | None = field(default=None, repr=False)
    """See ``bayes_link``."""
    logarithm: Formula | None = field(default=None, repr=False)
    """ln φ, ln(-φ') and, of convex losses, ln φ'' by order, where they shrink exponentially."""

    def value(self, u: npt.ArrayLike) -> FloatArray:
        """Give φ(u).

        Examples
        --------
        >>> MARGIN_LOSSES["hinge"].value([-1.0, 0.0, 2.0])
        array([2., 1., 0.])
        """
        return self.formula(np.asarray(u, np.float64), 0)

    def scaled(self, u: npt.ArrayLike) -> FloatArray:
        """Give φ(u) / φ(0).

        Examples
        --------
        >>> MARGIN_LOSSES["logistic"].scaled([0.0, 1.0])
        array([1.        , 0.18311841])
        """
        return self.value(u) / self.at_zero

    def derivative(self, u: npt.ArrayLike) -> FloatArray:
        """Give φ'(u); at a kink the slope to its right.

        Examples
        --------
        >>> MARGIN_LOSSES["mada"].derivative([-3.0, 0.0, np.log(4)])
        array([-1.  , -1.  , -0.25])
        """
        if self.name == "zero_one":
            raise InvalidParameter(
                "loss='zero_one' has no derivative to follow: it is there to be plotted. Choose a "
                "loss that bounds it, such as 'exponential' or 'logistic'."
            )
        return self.formula(np.asarray(u, np.float64), 1)

    def second_derivative(self, u: npt.ArrayLike) -> FloatArray:
        """Give φ''(u); where it jumps the one to the right.

        Examples
        --------
        >>> MARGIN_LOSSES["squared_hinge"].second_derivative([0.0, 2.0])
        array([2., 0.])
        """
        if not self.is_smooth:
            raise InvalidParameter(
                f"loss={self.name!r} has no second derivative: its slope jumps. Choose a smooth "
                "one, such as 'squared_hinge' or 'huberised_hinge'."
            )
        return self.formula(np.asarray(u, np.float64), 2)

    @property
    def at_zero(self) -> float:
        """φ(0)."""
        return float(self.value(0.0))

    @property
    def is_calibrated(self) -> bool:
        """Whether φ'(0) < 0.

        For convex φ this is what makes the best score have the sign of the more likely label
        (Bartlett, Jordan & McAuliffe 2006). The 0-1 loss needs no slope for that.
        """
        return self.name == "zero_one" or bool(self.derivative(0.0) < 0.0)

    def bayes_link(self, p: npt.ArrayLike) -> FloatArray:
        """Give the score of least expected loss where the label is 1 with probability p.

        Where several are best (at p = ½ of the hinge) the one in the middle.

        Examples
        --------
        >>> MARGIN_LOSSES["exponential"].bayes_link([0.5, 0.9])
        array([0.        , 1.09861229])
        """
        if self.link is None:
            raise InvalidParameter(f"loss={self.name!r} has no Bayes link in closed form.")
        shares = np.asarray(p, np.float64)
        if not np.all((shares >= 0.0) & (shares <= 1.0)):
            raise InvalidInput("p has values outside [0, 1]: expected probabilities of label 1.")
        return self.link(shares)

    def distribution(self, u: npt.ArrayLike, mass: FloatArray | None = None) -> FloatArray:
        """Weigh rows in proportion to mass · -φ'(u): what boosting looks at next.

        Weights come from margins by log-sum-exp, so that those of the exponential family never
        vanish all at once. Losses that rise again (squared, tangent) give negative weights to rows
        beyond their minimum, and magnitudes add up to 1. All zero where φ is flat for every row.

        Examples
        --------
        >>> MARGIN_LOSSES["exponential"].distribution([9000.0, 9000.0 + np.log(3)])
        array([0.75, 0.25])
        """
        margins = np.asarray(u, np.float64)
        weights = np.ones_like(margins) if mass is None else mass
        if self.logarithm is None:
            pulls = -weights * self.derivative(margins)
        else:
            with np.errstate(divide="ignore"):  # a row without mass
                powers = self.logarithm(margins, 1) + np.log(weights)
            pulls = np.exp(powers - powers.max())
        total = float(np.abs(pulls).sum())
        return pulls / total if total > 0.0 else pulls


def _margin_loss(
    words: str,
    formula: Formula,
    kind: str,
    link: Callable[[FloatArray], FloatArray] | None,
    logarithm: Formula | None = None,
) -> MarginLoss:
    """Make one of the registry, named later; ``kind`` says "convex" and "smooth" if it is."""
    is_convex, is_smooth = "convex" in kind, "smooth" in kind
    return MarginLoss("", words, formula, is_convex, is_smooth, True, link, logarithm)


def _named(losses: Mapping[str, MarginLoss]) -> Mapping[str, MarginLoss]:
    return MappingProxyType({name: replace(loss, name=name) for name, loss in losses.items()})


def sigmoid(sharpness: float = 1.0) -> MarginLoss:
    """Make the sigmoid loss 1 - tanh(λu) with another λ than 1.

    Examples
    --------
    >>> sigmoid(3.0).value(0.0), sigmoid(3.0).derivative(0.0)
    (np.float64(1.0), np.float64(-3.0))
    """
    words = f"1 - tanh({_times(sharpness)}u)"
    powers = SigmoidLogarithm(sharpness)
    made = _margin_loss(words, Sigmoid(sharpness), "smooth", formulas.far_side, powers)
    return replace(made, name="sigmoid")


def ramp(sharpness: float = 1.0) -> MarginLoss:
    """Make the ramp min(2, max(0, 1 - λu)) with another λ than 1.

    Examples
    --------
    >>> ramp(4.0).value([-1.0, 0.0, 0.125]), ramp(4.0).words
    (array([2. , 1. , 0.5]), 'min(2, max(0, 1 - 4u))')
    """
    words = f"min(2, max(0, 1 - {_times(sharpness)}u))"
    formula = Ramp(sharpness)
    return replace(_margin_loss(words, formula, "", formula.end), name="ramp")


def _times(sharpness: float) -> str:
    if not 0.0 < sharpness < np.inf:
        raise InvalidParameter(f"sharpness={sharpness!r}: expected a positive, finite number.")
    return "" if sharpness == 1.0 else f"{sharpness:g}"


MARGIN_LOSSES: Mapping[str, MarginLoss] = _named(
    {
        "zero_one": _margin_loss("1[u ≤ 0]", formulas.zero_one, "", formulas.side),
        "exponential": _margin_loss(
            "exp(-u)",
            formulas.exponential,
            "convex smooth",
            formulas.half_log_odds,
            formulas.exponential_logarithm,
        ),
        "logistic": _margin_loss(
            "ln(1 + exp(-2u))",
            formulas.logistic,
            "convex smooth",
            formulas.half_log_odds,
            formulas.logistic_logarithm,
        ),
        "hinge": _margin_loss("max(0, 1 - u)", formulas.hinge, "convex", formulas.side),
        "squared_hinge": _margin_loss(
            "max(0, 1 - u)²", formulas.squared_hinge, "convex smooth", formulas.twice_minus_one
        ),
        "squared": _margin_loss(
            "(1 - u)²", formulas.squared, "convex smooth", formulas.twice_minus_one
        ),
        "huberised_hinge": _margin_loss(
            "max(0, 1 - u)², -4u below -1",
            formulas.huberised_hinge,
            "convex smooth",
            formulas.twice_minus_one,
        ),
        "mada": _margin_loss(
            "exp(-u), 1 - u below 0",
            formulas.mada,
            "convex smooth",
            formulas.log_odds,
            formulas.mada_logarithm,
        ),
        "savage": _margin_loss(
            "1 / (1 + exp(2u))²",
            formulas.savage,
            "smooth",
            formulas.half_log_odds,
            formulas.savage_logarithm,
        ),
        "ramp": ramp(),
        "tangent": _margin_loss(
            "(2 arctan(u) - 1)²", formulas.tangent, "smooth", formulas.centred_tangent
        ),
        "sigmoid": sigmoid(),
    }
)
"""All margin losses by name."""


def margin_loss(
    loss: str | MarginLoss | Callable[[FloatArray], Any],
    *,
    derivative: Callable[[FloatArray], Any] | None = None,
) -> MarginLoss:
    """Find a margin loss by name, or make one of a convex function.

    A function takes an array of margins and gives an array of the same shape. It is looked at
    between -6 and 6, and refused unless it is finite, not negative, convex there and falling at 0.

    Parameters
    ----------
    loss : str, MarginLoss or callable
        A name of ``MARGIN_LOSSES``; a loss, which is given back; or φ.
    derivative : callable, default=None
        φ', checked against differences of φ; None: these differences are used.

    Returns
    -------
    MarginLoss

    Examples
    --------
    >>> margin_loss("savage").words
    '1 / (1 + exp(2u))²'
    >>> quartic = margin_loss(lambda u: np.maximum(0.0, 1.0 - u) ** 4)
    >>> quartic.derivative(0.5).round(9), quartic.is_smooth
    (np.float64(-0.5), True)
    """
    if isinstance(loss, str):
        if loss not in MARGIN_LOSSES:
            known = ", ".join(map(repr, MARGIN_LOSSES))
            raise InvalidParameter(
                f"loss={loss!r} is not a margin loss. Expected {known}, or a convex function of "
                f"the margin.{nearest_names(loss, MARGIN_LOSSES)}"
            )
        return MARGIN_LOSSES[loss]
    if isinstance(loss, MarginLoss):
        return loss
    if not callable(loss):
        raise InvalidParameter(
            f"loss={loss!r}: expected the name of a margin loss, a MarginLoss, or a convex "
            "function of an array of margins."
        )
    return _from_function(loss, derivative)


def _from_function(
    phi: Callable[[FloatArray], Any], slope: Callable[[FloatArray], Any] | None
) -> MarginLoss:
    name = getattr(phi, "__name__", type(phi).__name__)
    for function in (phi, slope):
        if function is not None:
            _check_shape(name, function)
    formula = Numerical(phi, slope)
    values, differences = formula(_GRID, 0), Numerical(phi)(_GRID, 1)
    _check_values(name, values, differences)
    if slope is not None:
        _check_slopes(name, formula(_GRID, 1), differences)
    bounds = bool(np.all(values[_GRID <= 0.0] >= formula(np.zeros(1), 0)[0]))
    is_smooth = _largest_jump(Numerical(phi)) < 0.01
    return MarginLoss(name, name, formula, True, is_smooth, bounds)


def _check_shape(name: str, function: Callable[[FloatArray], Any]) -> None:
    with np.errstate(all="ignore"):
        given = np.asarray(function(_GRID))
    if given.shape != _GRID.shape or given.dtype.kind not in "biuf":
        raise InvalidParameter(
            f"loss {name} gave shape {given.shape} and type {given.dtype} for {len(_GRID)} "
            "margins: expected one number per margin. np.vectorize makes that of a function of one "
            "number."
        )


def _check_values(name: str, values: FloatArray, slopes: FloatArray) -> None:
    with np.errstate(invalid="ignore"):
        bends = values[:-2] + values[2:] - 2.0 * values[1:-1]
    faults = {
        "finite": ~(np.isfinite(values) & np.isfinite(slopes)),
        "at least 0": values < 0.0,
        "convex": np.pad(bends < -1e-12 * np.abs(values).max(), 1),
        "falling at 0": (_GRID == 0.0) & ~(slopes < 0.0),
    }
    for expected, wrong in faults.items():
        if wrong.any():
            at = int(np.argmax(wrong))
            raise InvalidParameter(
                f"loss {name} has value {values[at]:.6g} and slope {slopes[at]:.6g} at margin "
                f"{_GRID[at]:g}: expected a function that is {expected}. If it is meant so, make a "
                "spinney.losses.MarginLoss of it, which says what it is."
            )


def _check_slopes(name: str, slopes: FloatArray, differences: FloatArray) -> None:
    # Beside a kink the two differ, and the one given is right.
    off = np.abs(slopes - differences) > 1e-6 * (1.0 + np.abs(differences))
    if np.mean(off) > 0.01:
        at = int(np.argmax(off))
        raise InvalidParameter(
            f"derivative of loss {name} is {slopes[at]:.6g} at margin {_GRID[at]:g}, but "
            f"differences of the loss say {differences[at]:.6g}. Correct it, or leave it out."
        )


def _largest_jump(formula: Numerical) -> float:
    """How much the slope changes within 2e-4, beside its size; of a smooth φ next to nothing."""
    fine: FloatArray = np.arange(-60_000.0, 60_001.0) * 1e-4
    slopes = np.diff(formula(fine, 0)) / 1e-4
    sizes = np.abs(slopes[1:]) + np.abs(formula(np.zeros(1), 1))
    return float((np.abs(np.diff(slopes)) / sizes).max())
