"""The numbers a certificate rests on, as arrays that a file can hold."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import InvalidInput
from spinney.results import read_only
from spinney.theory.checks import (
    count,
    error_array,
    inside,
    margin_array,
    number_array,
    weight_array,
)
from spinney.theory.complexity import HypothesisClass
from spinney.theory.fingerprints import prints_from_text, prints_to_text
from spinney.typing import AnyArray, FloatArray

_ARRAYS = ("margins", "weights", "errors", "alphas", "normalisers", "thetas", "rhos", "draws")
_PRINTS = ("rows", "labels")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Evidence:
    """What is known of a fit; every statement of a certificate is computed from it alone."""

    margins: FloatArray
    """Normalised margins of the training rows."""
    weights: FloatArray
    """How much each row counts; they add up to 1."""
    errors: FloatArray
    alphas: FloatArray
    normalisers: FloatArray
    n_classes: int
    exponential: bool
    """Whether the product of the normalisers is the mean of exp(-y F) (or more, of many classes).
    Only then does it speak of margins."""
    votes: bool
    """Whether members say -1 or 1, and nothing in between."""
    hypotheses: HypothesisClass | None
    """The class of the base learners; None: unknown, so nothing is said about new rows."""
    delta: float
    thetas: FloatArray
    """Margins at which the distribution is bounded."""
    rhos: FloatArray
    """Margins that bounds of the risk may use."""
    draws: FloatArray | None = None
    """Correlations of the class with drawn signs, for the Rademacher complexity."""
    seed: int = 0
    """What the signs were drawn by."""
    notes: tuple[str, ...] = ()
    """What is not stated, and why."""
    factor: float = 1.0
    """What the product of the normalisers must be multiplied by to bound the mean of exp(-y F):
    more than 1 for boosters that weigh pairs of a row and a class."""
    rows: AnyArray | None = None
    """Fingerprints of the training rows without their labels; None where there is no table, and in
    certificates of earlier versions."""
    labels: AnyArray | None = None
    """Fingerprints of the labels."""

    def __post_init__(self) -> None:
        for name in (*_ARRAYS, *_PRINTS):
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, read_only(array))

    @property
    def norm(self) -> float:
        """The sum of |alphas|."""
        return float(np.abs(self.alphas).sum())

    @property
    def log_product(self) -> float:
        """The logarithm of the product of the normalisers."""
        return float(np.log(self.normalisers).sum())

    @property
    def log_bound(self) -> float:
        """The logarithm of what bounds the mean of exp(-y F)."""
        return self.log_product + math.log(self.factor)

    @property
    def log_potential(self) -> float:
        """The logarithm of the mean of exp(-y F) over the rows."""
        exponents = np.log(self.weights) - self.norm * self.margins
        top = float(exponents.max())
        return top + math.log(float(np.exp(exponents - top).sum()))

    def share(self, theta: float) -> float:
        """Give the weight of the rows whose margin is ``theta`` or less."""
        chosen = self.margins <= theta
        return float(chosen.mean()) if self.even else float(self.weights[chosen].sum())

    @property
    def training_error(self) -> float:
        """The weight of the rows of margin 0 or less."""
        return self.share(0.0)

    @property
    def even(self) -> bool:
        """Whether all rows count alike."""
        return float(np.ptp(self.weights)) <= 1e-12 / len(self.weights)

    def to_dict(self) -> dict[str, Any]:
        """Give lists, numbers and text only."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        prints = {name: getattr(self, name) for name in _PRINTS}
        texts = {name: prints_to_text(p) for name, p in prints.items() if p is not None}
        return (
            texts
            | {name: None if a is None else a.tolist() for name, a in arrays.items()}
            | {
                "n_classes": self.n_classes,
                "exponential": self.exponential,
                "votes": self.votes,
                "hypotheses": None if self.hypotheses is None else list(self.hypotheses),
                "delta": self.delta,
                "seed": self.seed,
                "factor": self.factor,
                "notes": list(self.notes),
            }
        )

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Evidence":
        """Read what ``to_dict`` gave, and check that it can be what it says."""
        try:
            hypotheses, n_rows = stored["hypotheses"], len(stored["margins"])
            prints = {name: stored[name] for name in _PRINTS if name in stored}
            evidence = cls(
                **_stored_arrays(stored),
                **{name: prints_from_text(name, text, n_rows) for name, text in prints.items()},
                n_classes=count("n_classes", stored["n_classes"], 2),
                exponential=bool(stored["exponential"]),
                votes=bool(stored["votes"]),
                hypotheses=None if hypotheses is None else tuple(hypotheses),
                delta=inside("delta", stored["delta"], 0.0, 1.0),
                seed=count("seed", stored["seed"], 0),
                factor=inside("factor", stored.get("factor", 1.0), 0.0, math.inf),
                notes=tuple(str(note) for note in stored["notes"]),
            )
        except (KeyError, TypeError) as problem:
            raise InvalidInput(
                f"This is not the evidence of a certificate: {problem!r}. Give what "
                "Certificate.to_dict() returned."
            ) from None
        evidence.check_lengths()
        return evidence

    def check_lengths(self) -> None:
        """Refuse arrays that do not go together."""
        rows = {len(self.margins), len(self.weights)}
        rounds = {len(self.errors), len(self.alphas), len(self.normalisers)}
        if len(rows) > 1 or len(rounds) > 1 or self.norm <= 0.0 or self.normalisers.min() <= 0.0:
            raise InvalidInput(
                f"There are margins and weights of {sorted(rows)} rows; errors, alphas and "
                f"normalisers of {sorted(rounds)} rounds; the alphas' sizes add up to {self.norm} "
                f"and the least normaliser is {float(self.normalisers.min())}: expected one number "
                "of each for each row or round, some vote, and no normaliser of 0."
            )
        if self.weights.min() <= 0.0:
            raise InvalidInput("A row has no weight: expected only rows that count. Drop it.")


def _stored_arrays(stored: Mapping[str, Any]) -> dict[str, Any]:
    margins, draws = margin_array(stored["margins"]), stored["draws"]
    return {
        "margins": margins,
        "weights": _as_stored(weight_array(stored["weights"], len(margins)), stored["weights"]),
        "errors": error_array(stored["errors"]),
        "alphas": number_array("alphas", stored["alphas"]),
        "normalisers": number_array("normalisers", stored["normalisers"], low=0.0),
        "thetas": number_array("thetas", stored["thetas"], low=-1.0, high=1.0),
        "rhos": number_array("rhos", stored["rhos"], low=0.0, high=1.0),
        "draws": None if draws is None else number_array("draws", draws, low=0.0, high=1.0),
    }


def _as_stored(shares: FloatArray, weights: Any) -> FloatArray:
    """Keep weights that add up to 1 as they are, to the last bit; refuse others."""
    exact = np.asarray(weights, np.float64)
    if not np.allclose(shares, exact, rtol=1e-9, atol=0.0):
        raise InvalidInput(
            f"weights add up to {float(exact.sum())}: expected 1. Give what "
            "Certificate.to_dict() returned."
        )
    return exact
