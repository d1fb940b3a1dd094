"""Claims about a model, their verdicts, and the rows that refute them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, TypeAlias

from spinney.errors import InvalidInputType
from spinney.explain.verification.rows import Row
from spinney.results import Result

Verdict: TypeAlias = Literal["proved", "refuted", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One statement about all rows, and what is known about it.

    ``"proved"`` means proved for the numbers that prediction returns, rounding included;
    ``"refuted"`` comes with rows that were put through the model.
    """

    statement: str
    verdict: Verdict
    evidence: str
    features: tuple[str, ...] = ()
    """The features it is about."""
    counter_example: tuple[Row, ...] | None = None
    """Rows that refute it, as values by the names of features; None for missing values."""
    predictions: tuple[float, ...] | None = None
    """What the model predicts for these rows; a quantile forest the median, whatever is claimed."""
    raw_scores: tuple[float, ...] | None = None
    """Their raw scores, before the link."""
    bounds: tuple[float, float] | None = None
    """Of a statement about a range: what no prediction is outside of."""


@dataclass(frozen=True, slots=True, repr=False)
class Verification(Result):
    """The claims that were examined; printed one per line.

    Attributes
    ----------
    claims : tuple of Claim
    rows : str
        Which rows they are about.
    """

    claims: tuple[Claim, ...]
    rows: str = "all rows"

    @property
    def holds(self) -> bool:
        """Whether every claim is proved."""
        return all(claim.verdict == "proved" for claim in self.claims)

    def __bool__(self) -> NoReturn:
        raise InvalidInputType(
            "A Verification is neither true nor false: a claim may be undecided. Use .holds, "
            "which is True when every claim is proved."
        )

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the claims: statement, verdict and evidence."""
        return {
            "claim": [claim.statement for claim in self.claims],
            "verdict": [str(claim.verdict) for claim in self.claims],
            "evidence": [claim.evidence for claim in self.claims],
        }

    def title(self) -> str:
        """Count the verdicts."""
        verdicts = [claim.verdict for claim in self.claims]
        counts = [f"{verdicts.count(kind)} {kind}" for kind in dict.fromkeys(verdicts)]
        return f"Verification over {self.rows}: {', '.join(counts) or 'no claims'}"
