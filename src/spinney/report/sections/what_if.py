"""The part on single rows: pick one, see why, change its values, see what the model says."""

from typing import Any

import numpy as np

from spinney.report.embedded.derivation import (
    derivation_bytes,
    embed_derivation,
    trees_of_page,
)
from spinney.report.embedded.model import MOST_BYTES, embed_forest, embedded_bytes
from spinney.report.embedded.rows import embed_features, embed_rows, too_many_levels
from spinney.report.markup import Html, join, script_json, tag
from spinney.report.sections.section import Section
from spinney.report.subject import Subject
from spinney.typing import AnyArray


def reason_against(subject: Subject) -> str | None:
    """Say why the page cannot answer by itself; None if it can."""
    forest = subject.forest
    if forest is None:
        return f"the model of {type(subject.fitted).__name__} is no plain sum of trees"
    if not len(forest):
        return "the model has no trees: every row is predicted alike"
    size = embedded_bytes(trees_of_page(forest)) + derivation_bytes(forest)
    if size > MOST_BYTES:
        return (
            f"the model would take about {size / 1e6:.1f} MB of the page, more than "
            f"{MOST_BYTES / 1e6:.1f} MB. A smaller model would fit; spinney.explain.explain_row "
            "explains rows of any"
        )
    if too_many_levels(subject):
        return "its categories have too many levels to be listed on the page"
    some = subject.draw(200, stream=5)
    if not np.array_equal(subject.ask(subject.rows.asked.take(some)), subject.predictions[some]):
        return "the estimator makes something else of what its trees say"
    return None


def what_if_section(
    subject: Subject, rows: AnyArray, ranking: AnyArray, reason: str | None
) -> Section:
    """Lay out the panel, which the page fills; or say why there is none."""
    forest = subject.forest
    if forest is None or reason is not None:
        text = f"There is no panel to change values of rows here: {reason}."
        return Section("what-if", "Rows and what-if", tag("p", text))
    data: dict[str, Any] = {
        "model": embed_forest(trees_of_page(forest)) | {"derived": embed_derivation(forest)},
        "features": embed_features(subject),
        "rows": embed_rows(subject, forest, rows),
        "order": ranking.tolist(),
        "classes": list(subject.classes),
        "outputs": list(subject.output_names),
    }
    lead = (
        f"Pick one of {len(rows)} rows and change what you like: the model is on this page and "
        "says exactly what it says anywhere else."
    )
    return Section("what-if", "Rows and what-if", _panel(data), lead)


def _panel(data: dict[str, Any]) -> Html:
    chooser = tag(
        "div",
        tag("label", "Row ", tag("select", id="row-choice")),
        tag("button", "Back to the row as it was", type="button", id="row-reset"),
        tag(
            "label",
            "Find a feature ",
            tag("input", type="search", id="feature-filter", autocomplete="off"),
        ),
        class_="chooser",
    )
    answer = tag(
        "div",
        tag("div", id="answer", role="status", aria_live="polite"),
        tag("div", id="waterfall"),
        tag("div", id="curve"),
        class_="answer",
    )
    inputs = tag("form", id="inputs", autocomplete="off", aria_label="Values of the row")
    stored = tag("script", script_json(data), type="application/json", id="what-if-data")
    without = tag("noscript", tag("p", "This panel needs JavaScript."))
    return join(
        chooser,
        tag("div", inputs, answer, class_="panel"),
        tag("p", id="self-check", class_="note"),
        without,
        stored,
    )
