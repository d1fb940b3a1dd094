"""Certificates: all bounds of a fit, with the numbers that prove them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.errors import FalseCertificate, InvalidInput, shorten
from spinney.randomness import seed_from
from spinney.results import Result, format_table
from spinney.theory.bounds import upsilon
from spinney.theory.checks import (
    inside,
    label_array,
    margin_array,
    number_array,
    trace_of,
    weight_array,
)
from spinney.theory.complexity import HypothesisClass, stump_rademacher
from spinney.theory.evidence import Evidence
from spinney.theory.fingerprints import label_prints, row_prints
from spinney.theory.risk import RHOS
from spinney.theory.same_rows import compare_rows, plain_numbers
from spinney.theory.statements import Statement, effective_errors, statements_of
from spinney.theory.trace import Trace
from spinney.typing import FloatArray, RandomState, TableLike

THETAS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Margins at which a certificate bounds the distribution, unless told otherwise."""
_FORMAT = "spinney certificate 1"
_SAME = 1e-8
"""How far the least margin of the same rows may differ between two computations."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CertificateReport(Result):
    """The statements of a certificate, computed anew from its evidence."""

    statements: tuple[Statement, ...]
    drawn_anew: bool
    """Whether the table was at hand, to compute the correlations with drawn signs again."""
    same_rows: bool = False
    """Whether a table was at hand, and its rows are those that the certificate was made of."""

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the recomputed numbers."""
        return _columns(self.statements)

    def title(self) -> str:
        """Say in a line what the table shows."""
        rows = ", of these rows" if self.same_rows else ""
        if not self.statements:
            return "the certificate states nothing that could be computed again"
        return f"{len(self.statements)} statements computed again{rows}: all hold"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Certificate(Result):
    """Every bound on the errors of a boosted vote, stated with its numbers.

    Statements about training rows are arithmetic and hold without exception; each about the risk
    on new rows holds with a chance of 1 - delta, if rows are independent draws.
    ``certificate["product"]`` is one statement; ``verify`` computes all of them again.
    """

    evidence: Evidence
    statements: tuple[Statement, ...]

    @property
    def training_error(self) -> float:
        """The share of training rows of margin 0 or less."""
        return self.evidence.training_error

    @property
    def min_margin(self) -> float:
        """The least margin of the training rows."""
        return float(self.evidence.margins.min())

    @property
    def asymptotic_margin(self) -> float:
        """What the least margin comes to in the end if no edge is ever less than so far."""
        return float(upsilon(1.0 - 2.0 * float(effective_errors(self.evidence).max())))

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not stated, and why."""
        return self.evidence.notes

    def __getitem__(self, name: str) -> Statement:
        for statement in self.statements:
            if statement.name == name:
                return statement
        raise InvalidInput(
            f"There is no statement {name!r}. There are "
            f"{shorten((s.name for s in self.statements), most=99)}."
        )

    def verify(
        self, X: TableLike | None = None, y: Any = None, sample_weight: Any = None
    ) -> CertificateReport:
        """Compute every number again and check every inequality.

        Parameters
        ----------
        X : table, optional
            The training rows, in any order. Others than those the certificate was made of are
            refused. The correlations of stumps with drawn signs are then computed anew, too, and
            not taken from the certificate.
        y : labels, optional
            Those of the rows: compared, too.
        sample_weight : numbers, optional
            Those that the certificate was made with.

        Returns
        -------
        CertificateReport

        Raises
        ------
        FalseCertificate
            If a number differs, an inequality does not hold, or the rows are others.
        """
        self.evidence.check_lengths()
        anew = statements_of(self.evidence)
        faults = [
            f"{s.name}: {s.subject} {s.value} {s.relation} {s.bound} is false"
            for s in anew
            if not s.holds
        ]
        faults += _differences(self.statements, anew)
        seen = compare_rows(self.evidence, X, y, sample_weight)
        faults += seen.faults
        if faults:
            raise FalseCertificate(
                f"The certificate is false in {len(faults)} places: {'; '.join(faults[:5])}. "
                "Expected what follows from its evidence. Make a new one by certify()."
            )
        return CertificateReport(anew, seen.drawn_anew, seen.same_rows)

    def to_dict(self) -> dict[str, Any]:
        """Give lists, numbers and text only, for ``json.dumps``."""
        statements = [statement.to_dict() for statement in self.statements]
        return {"format": _FORMAT, "evidence": self.evidence.to_dict(), "statements": statements}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Certificate":
        """Read what ``to_dict`` gave. Nothing is believed: call ``verify`` to check it.

        Parameters
        ----------
        stored : dict
        """
        if not isinstance(stored, Mapping) or stored.get("format") != _FORMAT:
            raise InvalidInput(
                f"This is not a certificate: expected a dict with format={_FORMAT!r}. Give what "
                "Certificate.to_dict() returned."
            )
        evidence = Evidence.from_dict(stored.get("evidence", {}))
        try:
            statements = tuple(Statement(**statement) for statement in stored["statements"])
        except (KeyError, TypeError) as problem:
            raise InvalidInput(
                f"The statements of the certificate cannot be read: {problem!r}. Give what "
                "Certificate.to_dict() returned."
            ) from None
        return cls(evidence, statements)

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the statements."""
        return _columns(self.statements)

    def title(self) -> str:
        """Say in a line what the table shows."""
        rounds, rows = len(self.evidence.alphas), len(self.evidence.margins)
        return (
            f"Certificate of {rounds} rounds on {rows} rows: training error "
            f"{self.training_error:.4g}, least margin {self.min_margin:.4g}"
        )

    def __str__(self) -> str:
        lines = [self.title(), format_table(self.columns(), most=len(self.statements))]
        return "\n".join([*lines, *(f"Not stated: {note}" for note in self.notes)])

    __repr__ = __str__


def certify(
    fitted: Any,
    X: TableLike,
    y: Any,
    *,
    delta: float = 0.05,
    sample_weight: Any = None,
    thetas: Any = THETAS,
    n_draws: int = 200,
    random_state: RandomState = 0,
) -> Certificate:
    """State every bound that the theory of boosting has for a fit, and check it.

    Parameters
    ----------
    fitted : booster
        With ``trace_``, ``margins(X, y)`` and ``complexity_class()``; ``members_vote`` is False
        where members say anything between -1 and 1. ``minimises_exponential_loss`` makes wrong
        weights be found out; ``potential_factor`` is more than 1 where rows and classes are
        weighed in pairs.
    X, y : table and labels
        The rows it was trained on.
    delta : float in (0, 1)
        Chance with which a bound of the risk on new rows may be wrong.
    sample_weight : numbers, optional
        The weights it was trained with. Unless all are alike, nothing is said about new rows.
    thetas : numbers in [-1, 1]
        Where to bound the distribution of margins.
    n_draws : int
        Draws of signs for the Rademacher complexity of stumps.
    random_state : int, Generator, RandomState or None
        Decides the signs.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from spinney.theory import Trace
    >>> rounds = (0.25, 0.5, 0.5 * np.log(3), np.sqrt(0.75), np.sqrt(0.75), -1.0)
    >>> stump = SimpleNamespace(
    ...     trace_=Trace(*map(np.atleast_1d, rounds), stop_reason="one round was asked for"),
    ...     margins=lambda X, y: np.array([1.0, 1.0, 1.0, -1.0]),
    ...     complexity_class=lambda: ("stumps", 1),
    ... )
    >>> certificate = certify(stump, [[0], [1], [2], [3]], ["no", "no", "yes", "no"])
    >>> certificate.training_error, round(certificate["product"].bound, 4)
    (0.25, 0.866)
    """
    trace = trace_of(fitted)
    margins = margin_array(fitted.margins(X, y))
    labels, rows = label_array(y, len(margins)), row_prints(X)
    n_classes = len(np.unique(labels))
    weights = weight_array(sample_weight, len(margins))
    _check_same_rows(trace, margins, weights)
    table, counted = plain_numbers(X), weights > 0.0
    hypotheses, notes = _class_of(fitted, table, n_classes, even=float(np.ptp(weights)) == 0.0)
    seed, draws = seed_from(random_state), None
    if hypotheses is not None and hypotheses[0] == "stumps":
        draws = stump_rademacher(table, n_draws=n_draws, random_state=seed).draws
    known = np.isfinite(trace.normalisers)
    evidence = Evidence(
        margins=margins[counted],
        weights=weights[counted],
        errors=np.array(trace.errors, np.float64),
        alphas=np.array(trace.alphas, np.float64),
        normalisers=np.where(known, trace.normalisers, 1.0),
        n_classes=max(2, n_classes),
        exponential=bool(known.all()),
        votes=bool(getattr(fitted, "members_vote", True)),
        hypotheses=hypotheses,
        delta=inside("delta", delta, 0.0, 1.0),
        thetas=number_array("thetas", np.atleast_1d(thetas), low=-1.0, high=1.0),
        rhos=np.array(RHOS),
        draws=draws,
        seed=seed,
        notes=notes,
        factor=float(getattr(fitted, "potential_factor", 1.0)),
        rows=None if rows is None else rows[counted],
        labels=label_prints(labels)[counted],
    )
    evidence.check_lengths()
    evidence = _without_margins(evidence)
    _check_same_weights(fitted, trace, evidence)
    certificate = Certificate(evidence, statements_of(evidence))
    certificate.verify()
    return certificate


def _check_same_rows(trace: Trace, margins: FloatArray, weights: FloatArray) -> None:
    """Refuse rows other than those of the fit: their least margin tells."""
    said = float(trace.min_margins[-1])
    found = float(margins.min()), float(margins[weights > 0.0].min())
    if all(abs(said - least) > _SAME for least in found):
        raise InvalidInput(
            f"The least margin of these rows is {found[0]!r}, but that of the training rows is "
            f"{said!r}: expected the rows, labels and weights that the booster was fitted to."
        )


def _check_same_weights(fitted: Any, trace: Trace, evidence: Evidence) -> None:
    """Refuse other weights than those of the fit: what the booster minimised tells."""
    if evidence.n_classes > 2 or not getattr(fitted, "minimises_exponential_loss", False):
        return
    with np.errstate(divide="ignore"):
        reached = float(np.log(trace.objective[-1]))
    if np.isfinite(reached) and abs(evidence.log_potential - reached) > _SAME * max(
        1.0, abs(reached)
    ):
        raise InvalidInput(
            "The logarithm of the mean of exp(-y F) over these rows is "
            f"{evidence.log_potential!r}, but the booster reached {reached!r}: expected the rows "
            "and weights that it was fitted to. Give the sample_weight of the fit."
        )


def _class_of(
    fitted: Any, table: FloatArray | None, n_classes: int, *, even: bool
) -> tuple[HypothesisClass | None, tuple[str, ...]]:
    """Give the class of the base learners if bounds of the risk apply, or a note why not."""
    hypotheses = fitted.complexity_class()
    if hypotheses is None:
        note = "the risk on new rows, as the complexity of the base learners is not known."
    elif n_classes > 2:
        note = f"the risk on new rows, as there are {n_classes} classes and not two."
    elif not even:
        note = "the risk on new rows, as training rows count differently."
    elif table is None and hypotheses[0] != "finite":
        note = "the risk on new rows, as X has categories or missing values, or is sparse."
    elif hypotheses[0] != "finite" and table is not None and hypotheses[1] != table.shape[1]:
        note = "the risk on new rows, as the base learners see other features than X has."
    else:
        return tuple(hypotheses), ()
    return None, (note,)


def _without_margins(evidence: Evidence) -> Evidence:
    """State nothing of training rows that follows from normalisers of another loss."""
    fits = all(s.holds for s in statements_of(evidence) if s.name == "potential")
    if evidence.exponential and fits:
        return evidence
    note = (
        "bounds of the training error and of margins, as the booster's normalisers are not those "
        "of exp(-y F)."
    )
    return replace(evidence, exponential=False, notes=(*evidence.notes, note))


def _differences(stated: tuple[Statement, ...], anew: tuple[Statement, ...]) -> list[str]:
    """Name the statements that are not what follows from the evidence."""
    told, found = ({s.name: s for s in some} for some in (stated, anew))
    faults = [f"{name}: does not follow from the evidence" for name in told if name not in found]
    faults += [f"{name}: is left out" for name in found if name not in told]
    pairs = ((told[name], found[name]) for name in told if name in found)
    faults += [
        f"{one.name}: says {one.value} {one.relation} {one.bound}, but it is {two.value} "
        f"{two.relation} {two.bound}"
        for one, two in pairs
        if not one.agrees(two)
    ]
    return faults


def _columns(statements: tuple[Statement, ...]) -> dict[str, list[Any]]:
    names = ("name", "subject", "value", "relation", "bound", "vacuous")
    return {name: [getattr(s, name) for s in statements] for name in names}
