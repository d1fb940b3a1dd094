"""The page: head, navigation, parts, scripts; one file that asks nobody for anything."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from spinney.report.markup import Html, join, script_hash, tag
from spinney.report.sections.section import Section

STYLES = ("page.css", "figures.css", "print.css")
SCRIPTS = (
    "theme.js",
    "tables.js",
    "tips.js",
    "model.js",
    "derivation.js",
    "waterfall.js",
    "what_if.js",
)
_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath "
    "d='M8 1 3 8h3l-4 6h5v2h2v-2h5l-4-6h3z' fill='%23009E73'/%3E%3C/svg%3E"
)


@cache
def asset(name: str) -> str:
    """Read a file of the page's own."""
    return files("spinney.report").joinpath("assets", name).read_text(encoding="utf-8")


def page_html(title: str, subtitle: str, sections: Sequence[Section]) -> str:
    """Put the page together."""
    style = "\n".join(asset(name) for name in STYLES)
    script = "(() => {\n" + "\n".join(asset(name) for name in SCRIPTS) + "\n})();\n"
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src {script_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        Html(f'<link rel="icon" href="{_ICON}">'),
        tag("style", Html(style)),
    )
    links = [tag("li", tag("a", part.title, href=f"#{part.id}")) for part in sections]
    theme = tag(
        "button", "Dark", type="button", id="theme", aria_pressed="false", title="Light or dark"
    )
    top = tag(
        "header",
        tag("div", tag("h1", tag("bdi", title)), tag("p", subtitle), class_="titles"),
        theme,
    )
    body = tag(
        "body",
        tag("a", "Skip to the report", href="#main", class_="skip"),
        top,
        tag(
            "div",
            tag("nav", tag("ol", *links), aria_label="Parts of the report"),
            tag("main", *(part.html() for part in sections), id="main", tabindex="-1"),
            class_="frame",
        ),
        tag("footer", tag("p", "Made by Spinney. This file works without a network.")),
        tag("div", id="tip", role="tooltip", hidden=True),
        tag("script", Html(script)),
    )
    page = join(Html("<!doctype html>\n"), tag("html", head, body, lang="en"), "\n")
    return str(page)
