"""What a booster of margins may be told."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from spinney.ensembles.parameters import (
    Boolean,
    Choice,
    Integer,
    Real,
    Rule,
    check_parameters,
)

VotingAlgorithm: TypeAlias = Literal["arc_gv", "adaboost_rho", "adaboost_star", "adaboost_reg"]
ProgramAlgorithm: TypeAlias = Literal[
    "lpboost", "totalboost", "softboost", "erlpboost", "corrective_erlpboost"
]
Algorithm: TypeAlias = VotingAlgorithm | ProgramAlgorithm
ALGORITHMS = (
    "arc_gv",
    "adaboost_rho",
    "adaboost_star",
    "adaboost_reg",
    "lpboost",
    "totalboost",
    "softboost",
    "erlpboost",
    "corrective_erlpboost",
)


@dataclass(frozen=True, slots=True)
class _Advised:
    """A rule with a word for those who break it."""

    rule: Rule
    advice: str

    def accepts(self, value: Any) -> bool:
        return self.rule.accepts(value)

    def describe(self) -> str:
        return f"{self.rule.describe()} ({self.advice})"


_RULES: dict[str, Rule] = {
    "algorithm": Choice(ALGORITHMS),
    "n_rounds": Integer(1),
    "nu": _Advised(
        Real(0.0, 1.0, above=True),
        "for the hard margin choose nu below the share of every row, for example 1e-9",
    ),
    "target_margin": Real(-1.0, 1.0, above=True, below=True),
    "precision": _Advised(
        Real(0.0, 1.0, above=True, below=True),
        "it is how far from the best margin the answer may be; 0.01 is usual",
    ),
    "regularisation": Real(0.0),
    "tol": _Advised(Real(0.0, 0.1, above=True), "1e-6 is usual"),
    "keep_distributions": Boolean(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginSettings:
    """Which booster of margins, and how far it goes.

    Examples
    --------
    >>> MarginSettings(algorithm="lpboost", nu=0)
    Traceback (most recent call last):
    ...
    spinney.errors.InvalidParameter: nu=0 of MarginSettings: expected a number above 0 and at most
    1 (for the hard margin choose nu below the share of every row, for example 1e-9).
    """

    algorithm: Algorithm = "corrective_erlpboost"
    n_rounds: int = 1000
    """How many hypotheses are asked for at most."""
    nu: float = 0.1
    """Share of the rows (by weight) that may lie below the margin: "lpboost", "softboost" and both
    forms of "erlpboost". The others are about the least margin of all rows."""
    target_margin: float = 0.0
    """The rho of "adaboost_rho"."""
    precision: float = 0.01
    """How far from the best margin the answer may be: "adaboost_star" (its nu), "totalboost",
    "softboost" and both forms of "erlpboost" (their delta)."""
    regularisation: float = 0.1
    """The C of "adaboost_reg", in multiples of the number of rows."""
    tol: float = 1e-6
    """An edge that is higher by no more than this is not higher: "lpboost"."""
    keep_distributions: bool = False
    """Whether the trace keeps the distribution of every round."""

    def __post_init__(self) -> None:
        check_parameters(type(self).__name__, asdict(self), _RULES)
