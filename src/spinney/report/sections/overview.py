"""The top of the page: the main numbers, and what to know before believing them."""

import re
from collections.abc import Sequence

from spinney.report.markup import Html, count_of, join, name_of, number, tag
from spinney.report.scores.metrics import Metric
from spinney.report.sections.card import fingerprint_of
from spinney.report.sections.importance import Influence
from spinney.report.sections.section import Finding, Section
from spinney.report.subject import Subject

_LEADING = {
    "binary": ("ROC AUC", "Log loss"),
    "classes": ("Accuracy", "Log loss"),
    "numbers": ("R²", "MAE"),
}


def overview_section(
    subject: Subject,
    metrics: dict[str, list[Metric]],
    influence: Influence,
    findings: Sequence[Finding],
) -> Section:
    """Lay out the main numbers and all findings."""
    cards = [_card("Model", _breakable(type(subject.fitted).__name__), _size(subject))]
    cards.append(_card("Rows", f"{subject.rows.n_rows:,}", count_of(len(subject.names), "feature")))
    leading = _LEADING.get(subject.task, ())
    first = next(iter(metrics.values()), [])
    cards += [_metric_card(metric) for metric in first if metric.name in leading]
    top = [subject.names[place] for place in influence.ranking(len(subject.names))[:3]]
    names = join(
        *(part for k, name in enumerate(top) for part in (", " if k else "", name_of(name)))
    )
    cards.append(_card("Main features", names, "by how far they move scores", is_text=True))
    body = join(tag("div", *cards, class_="cards"), _findings(findings))
    return Section("overview", "Overview", body)


def _card(name: str, value: object, note: object, *, is_text: bool = False) -> Html:
    kind = "value text" if is_text else "value"
    return tag(
        "div",
        tag("p", name, class_="name"),
        tag("p", value, class_=kind),
        tag("p", note, class_="note"),
        class_="card",
    )


def _breakable(name: str) -> Html:
    """Let the name of a class break before its words."""
    words = re.findall("[A-Z][^A-Z]*|[^A-Z]+", name)
    return join(*(part for word in words for part in (Html("<wbr>"), word)))


def _metric_card(metric: Metric) -> Html:
    note = f"95 %: {number(metric.low, 3)} to {number(metric.high, 3)}"
    return _card(metric.name, number(metric.estimate, 3), note)


def _size(subject: Subject) -> str:
    fingerprint = fingerprint_of(subject)
    shown = count_of(len(subject.model), "tree" if subject.forest is not None else "member")
    return shown if fingerprint is None else f"{shown}, {fingerprint[:12]}"


def _findings(findings: Sequence[Finding]) -> Html:
    if not findings:
        text = "Nothing suspicious was found in the table: no leaks, no duplicates, no constants."
        return tag("p", text, class_="fine")
    title = tag("h3", f"{count_of(len(findings), 'thing')} to know first")
    return join(title, tag("ul", *(finding.html() for finding in findings), class_="findings"))
