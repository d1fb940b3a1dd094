"""Every statement that follows from the evidence about a fit, with its numbers."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from spinney.theory.bounds import training_error_bounds, upsilon
from spinney.theory.complexity import (
    Complexity,
    massart_complexity,
    sampling_slack,
    vc_complexity,
    vc_dimension,
)
from spinney.theory.evidence import Evidence
from spinney.theory.risk import margin_risk, vc_risk
from spinney.typing import FloatArray

Relation: TypeAlias = Literal["=", "<=", ">="]
_NEAR = 1e-9
"""Difference by which two computations of the same number may differ."""
DRAWING = 0.2
"""Share of delta that is spent on the drawing of signs; the rest is for the rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One inequality: what, how it relates, to which number."""

    name: str
    subject: str
    """What the value is, in words."""
    value: float | None
    """None: unknown, as the risk always is; the statement then holds with a chance of 1 - delta."""
    relation: Relation
    bound: float
    vacuous: bool = False
    """Whether it says nothing: no error exceeds 1, no margin is below -1."""

    @property
    def holds(self) -> bool:
        """Whether the numbers relate as they are said to, but for rounding."""
        if self.value is None:
            return True
        slack = _NEAR * max(abs(self.value), abs(self.bound), 1.0)
        if self.relation == "<=":
            return self.value <= self.bound + slack
        if self.relation == ">=":
            return self.value >= self.bound - slack
        return abs(self.value - self.bound) <= slack

    def agrees(self, other: "Statement") -> bool:
        """Whether two statements say the same, but for rounding."""
        words = ("name", "subject", "relation", "vacuous")
        return (
            all(getattr(self, word) == getattr(other, word) for word in words)
            and _near(self.value, other.value)
            and _near(self.bound, other.bound)
        )

    def to_dict(self) -> dict[str, Any]:
        """Give numbers and text only."""
        return {name: getattr(self, name) for name in self.__slots__}


def statements_of(evidence: Evidence) -> tuple[Statement, ...]:
    """Derive all statements from the evidence."""
    return (
        *_about_training(evidence),
        *_about_margins(evidence),
        *_about_risk(evidence),
    )


def effective_errors(evidence: Evidence) -> FloatArray:
    """Give each round the error for which its vote would have been the best one.

    It is the round's own unless the vote was held back, by shrinkage or because there was no error.
    """
    own = np.minimum(evidence.errors, 1.0 - evidence.errors)
    with np.errstate(over="ignore"):
        voted = 1.0 / (1.0 + np.exp(2.0 * np.abs(evidence.alphas)))
    effective: FloatArray = np.maximum(own, voted)
    return effective


def _shrinks_as_it_should(evidence: Evidence) -> bool:
    """Whether each normaliser is no more than that of the best vote for the effective error."""
    effective = effective_errors(evidence)
    best = 2.0 * np.sqrt(effective * (1.0 - effective))
    return bool((evidence.normalisers <= best * (1.0 + _NEAR)).all())


def _votes_are_best(evidence: Evidence) -> bool:
    """Whether, besides, no vote is larger than the best one; then edges bound the margin."""
    effective = effective_errors(evidence)
    with np.errstate(divide="ignore"):
        best = 0.5 * np.log((1.0 - effective) / effective)
    modest = bool((np.abs(evidence.alphas) <= best + _NEAR).all())
    return modest and _shrinks_as_it_should(evidence)


def _about_training(evidence: Evidence) -> Iterator[Statement]:
    if not evidence.exponential:
        return
    yield Statement(
        name="potential",
        subject="log of the mean of exp(-y F)",
        value=evidence.log_potential,
        relation="=" if evidence.n_classes == 2 else "<=",
        bound=evidence.log_bound,
    )
    numbers = {"product": math.exp(evidence.log_bound)}
    if _shrinks_as_it_should(evidence):
        found = training_error_bounds(effective_errors(evidence))
        names = ("power", "exponential_sum", "exponential")
        numbers |= {name: evidence.factor * float(getattr(found, name)[-1]) for name in names}
    for name, bound in numbers.items():
        yield Statement(
            name=name,
            subject="training error",
            value=evidence.training_error,
            relation="<=",
            bound=bound,
            vacuous=bound >= 1.0,
        )


def _about_margins(evidence: Evidence) -> Iterator[Statement]:
    if not evidence.exponential:
        return
    for theta in evidence.thetas.tolist():
        bound = math.exp(min(theta * evidence.norm + evidence.log_bound, 700.0))
        yield Statement(
            name=f"margin {theta:g}",
            subject=f"share of margins of {theta:g} or less",
            value=evidence.share(theta),
            relation="<=",
            bound=bound,
            vacuous=bound >= 1.0,
        )
    rarest = math.log(float(evidence.weights.min()))
    yield _least_margin(evidence, "least margin", (rarest - evidence.log_bound) / evidence.norm)
    if _votes_are_best(evidence):
        edge = 1.0 - 2.0 * float(effective_errors(evidence).max())
        rarest -= math.log(evidence.factor)
        yield _least_margin(evidence, "upsilon", upsilon(edge) + rarest / evidence.norm)


def _least_margin(evidence: Evidence, name: str, bound: float) -> Statement:
    return Statement(
        name=name,
        subject="least margin",
        value=float(evidence.margins.min()),
        relation=">=",
        bound=bound,
        vacuous=bound <= -1.0,
    )


def _about_risk(evidence: Evidence) -> Iterator[Statement]:
    if evidence.hypotheses is None or evidence.n_classes != 2 or not evidence.even:
        return
    n_rows = len(evidence.margins)
    for complexity in _complexities(evidence, n_rows):
        found = margin_risk(evidence.margins, complexity, evidence.rhos, delta=evidence.delta)
        yield Statement(
            name=f"risk by {complexity.method}",
            subject=f"risk on new rows, by margin {found.best_rho:g}",
            value=None,
            relation="<=",
            bound=found.best,
            vacuous=found.vacuous,
        )
    if not evidence.votes:
        return
    rounds, vc = len(evidence.alphas), vc_dimension(evidence.hypotheses)
    bound = vc_risk(evidence.training_error, n_rows, rounds, vc, evidence.delta)
    yield Statement(
        name="risk by rounds",
        subject=f"risk on new rows, by {rounds} rounds",
        value=None,
        relation="<=",
        bound=bound,
        vacuous=bound >= 1.0,
    )


def _complexities(evidence: Evidence, n_rows: int) -> Iterator[Complexity]:
    if evidence.hypotheses is None:
        return
    if evidence.draws is not None:
        failure = DRAWING * evidence.delta
        slack = sampling_slack(len(evidence.draws), n_rows, failure)
        value = float(evidence.draws.mean()) + slack
        yield Complexity("rademacher", value, n_rows, failure, evidence.draws)
    yield massart_complexity(evidence.hypotheses, n_rows)
    yield vc_complexity(evidence.hypotheses, n_rows)


def _near(one: float | None, two: float | None) -> bool:
    if one is None or two is None:
        return one is two
    return math.isclose(one, two, rel_tol=_NEAR, abs_tol=1e-12)
