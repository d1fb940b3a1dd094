"""The part on certificates: what is proved of the model for all rows there could be."""

import datetime as dt
from typing import Any

from spinney.data.table import Kind
from spinney.errors import SpinneyError
from spinney.explain import Claim, verify
from spinney.explain.reading import raw_output_names
from spinney.report.markup import Html, join, name_of, number, shortened, tag
from spinney.report.moments import moment_text
from spinney.report.sections.section import Section
from spinney.report.subject import Rows, Subject
from spinney.report.tables import Cell, Heading, table
from spinney.theory import Certificate, certify
from spinney.typing import AnyArray

_BUDGET = 1_000
"""Boxes that the search for a range may open."""
_SMALL_BUDGET = 150
_MOST_NODES = 60_000
_MOST_FEATURES = 6


def certificates_section(subject: Subject, ranking: AnyArray) -> Section:
    """Lay out claims with their verdicts, and bounds of boosting theory where they apply."""
    claims, problem = _claims(subject, ranking)
    parts: list[object] = []
    if claims:
        headings = [Heading(text, is_number=False) for text in ("Claim", "Verdict", "Evidence")]
        lines = [[Cell(tag("bdi", c.statement)), _verdict(c), Cell(_evidence(c))] for c in claims]
        parts.append(table(headings, lines, caption="Claims about all rows", can_sort=False))
    if problem:
        parts.append(tag("p", problem))
    parts.append(_theory(subject))
    lead = (
        "Proved for every row that prediction accepts, rounding included; refuted by rows that "
        "were put through the model; undecided where the search was cut short."
    )
    return Section("certificates", "Certificates", join(*parts), lead)


def _claims(subject: Subject, ranking: AnyArray) -> tuple[list[Claim], str]:
    trees = subject.trees
    n_nodes = 0 if trees is None else len(trees.arrays["feature"])
    if n_nodes > _MOST_NODES:
        text = f"Nothing is proved here: the model has {n_nodes:,} nodes, and proofs would take"
        return [], f"{text} too long for a report. spinney.explain.verify(fitted) takes its time."
    try:
        claims = list(verify(subject.fitted, budget=_BUDGET).claims)
        known = {claim.statement for claim in claims}
        more, neither = _monotone(subject, ranking)
        claims += [claim for claim in more if claim.statement not in known]
    except SpinneyError as problem:
        return [], f"Nothing is proved. {problem}"
    told = ", ".join(shortened(name, 40) for name in neither)
    text = f"Neither only rising nor only falling, as pairs of rows show: {told}." if told else ""
    return claims, text


def _monotone(subject: Subject, ranking: AnyArray) -> tuple[list[Claim], list[str]]:
    """Ask of the main features whether scores only rise, or only fall; name those that do both."""
    kinds = subject.model.schema.kinds
    ordered = [
        int(place)
        for place in ranking
        if kinds[place] not in (Kind.CATEGORICAL, Kind.TEXT) and int(place) in subject.used
    ][:_MOST_FEATURES]
    if len(raw_output_names(subject.fitted)) > 1:
        return [], []  # of several classes hardly anything is monotone in all of them
    found: list[Claim] = []
    neither: list[str] = []
    for place in ordered:
        up, down = (
            verify(subject.model, monotonic={place: sign}, budget=_SMALL_BUDGET).claims[0]
            for sign in (1, -1)
        )
        verdicts = up.verdict, down.verdict
        if "proved" in verdicts:
            found.append(up if up.verdict == "proved" else down)
        elif verdicts == ("refuted", "refuted"):
            neither.append(subject.names[place])
    return found, neither


def _verdict(claim: Claim) -> Cell:
    return Cell(tag("span", claim.verdict, class_=f"badge {claim.verdict}"))


def _evidence(claim: Claim) -> Html:
    if claim.counter_example is None:
        return join(claim.evidence)
    changed = [name for name in claim.features if any(name in row for row in claim.counter_example)]
    parts: list[object] = []
    for k, row in enumerate(claim.counter_example):
        values = ", ".join(f"{shortened(n, 24)} = {_value(row[n])}" for n in changed)
        said = "" if claim.predictions is None else f": {number(claim.predictions[k], 6)}"
        parts.append(tag("li", name_of(f"{values}{said}")))
    intro = "two rows that differ in it alone:" if len(parts) > 1 else "a row:"
    return join(intro, tag("ul", *parts))


def _value(value: Any) -> str:
    if value is None:
        return "missing"
    if isinstance(value, dt.datetime):
        return moment_text(value, daily=value.time() == dt.time())
    return number(value, 6) if isinstance(value, float) else shortened(str(value), 24)


def _theory(subject: Subject) -> Html | None:
    if not hasattr(subject.fitted, "trace_") or not hasattr(subject.fitted, "complexity_class"):
        return None
    classes, rows = subject.model.target.classes, _training_rows(subject)
    if rows is not None and rows.target is not None and classes is not None:
        try:
            found = certify(subject.fitted, rows.given, classes[rows.target], n_draws=50)
        except (SpinneyError, TypeError, ValueError):  # other rows than those of the fit
            pass
        else:
            return _certificate(found)
    text = "The bounds of boosting theory need the training rows: give train=(X, y)."
    return tag("p", text)


def _training_rows(subject: Subject) -> Rows | None:
    """Give what is said to be the training rows, or rows that are as many."""
    if subject.train is not None:
        return subject.train
    forest = subject.forest
    is_alike = (
        forest is not None and len(forest) and forest.arrays["count"][0] == subject.rows.n_rows
    )
    return subject.rows if is_alike else None


def _certificate(certificate: Certificate) -> Html:
    headings = [Heading("Statement", is_number=False), Heading("About", is_number=False)]
    headings += [Heading("Value"), Heading("", is_number=False), Heading("Bound")]
    lines = [
        [s.name, s.subject, Cell(_number(s.value)), s.relation, Cell(_bound(s))]
        for s in certificate.statements
    ]
    notes = [tag("p", f"Not stated: {note}") for note in certificate.notes]
    made = table(headings, lines, caption="Bounds of boosting theory", can_sort=False)
    return join(tag("h3", "Bounds of boosting theory"), made, *notes)


def _number(value: float | None) -> str:
    return "not known" if value is None else number(float(value))


def _bound(statement: Any) -> str:
    return _number(statement.bound) + (" (says nothing)" if statement.vacuous else "")
