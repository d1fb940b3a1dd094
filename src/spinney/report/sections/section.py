"""A part of the page."""

from dataclasses import dataclass

from spinney.report.markup import Html, tag


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page under a heading."""

    id: str
    title: str
    body: Html
    lead: object = None
    """A sentence on what it shows."""

    def html(self) -> Html:
        """Lay it out."""
        heading = tag("h2", self.title, id=f"{self.id}-title")
        lead = None if self.lead is None else tag("p", self.lead, class_="lead")
        return tag(
            "section", heading, lead, self.body, id=self.id, aria_labelledby=f"{self.id}-title"
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a reader should know before believing the rest."""

    level: str
    """``"danger"``, ``"warning"`` or ``"note"``."""
    title: str
    text: object

    def html(self) -> Html:
        """Lay it out."""
        word = {"danger": "Danger", "warning": "Warning", "note": "Note"}[self.level]
        head = tag("p", tag("span", word, class_="badge"), " ", tag("b", self.title))
        return tag("li", head, tag("p", self.text), class_=f"finding {self.level}")


def figures(*drawn: Html | None) -> Html:
    """Lay figures out side by side."""
    return tag("div", *(one for one in drawn if one is not None), class_="figures")
