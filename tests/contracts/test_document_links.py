"""Links of documents lead to files and sections that exist, and so do paths named in passing."""

import ast
import posixpath
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = sorted((ROOT / "docs/guide").glob("*.md"))
AT_THE_ROOT = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "benchmarks/README.md")
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / name for name in AT_THE_ROOT)]
LINK = r"\]\(([^)\s]+)\)"


def named(page):
    return page.relative_to(ROOT).as_posix()


def sections(page):
    """Give the names by which links reach the sections of a page."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", head.strip().lower()) for head in heads]
    return {name.replace(" ", "-") for name in plain}


def links(page):
    """Give the links into the repository: paths, and sections behind them."""
    found = re.findall(LINK, page.read_text(encoding="utf-8"))
    return [link.partition("#")[::2] for link in found if not link.startswith("https://")]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_to_files_and_sections_that_exist(page):
    for path, section in links(page):
        target = page.parent / path if path else page
        assert target.exists(), path
        assert not section or section in sections(target), section
    folders = "src|native|tests|benchmarks|docs|examples|tools"
    text = page.read_text(encoding="utf-8")
    for path in re.findall(rf"`((?:{folders})/[\w/.-]+)(?:::\w+)?`", text):
        assert (ROOT / path).exists(), path


def pages_of_the_site():
    """Give the documents outside ``docs`` that are pages of the site, as its maker lists them."""
    tree = ast.parse((ROOT / "tools/docs_pages.py").read_text(encoding="utf-8"))
    (given,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "FROM_THE_ROOT"
    )
    return ast.literal_eval(given)


def test_links_between_documents_lead_to_pages_of_the_site():
    known = pages_of_the_site()
    astray = []
    for page in [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / name for name in known)]:
        inlined = "benchmarks/duels/results" if named(page) == "docs/benchmarks.md" else "-"
        for path, _ in links(page):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(named(page)), path))
            is_page = target.startswith(("docs/", inlined)) or target in known
            if path.endswith(".md") and not is_page:
                astray.append((named(page), path))
    assert astray == []


def test_every_figure_of_the_guide_is_shown_somewhere():
    shown = "".join(page.read_text(encoding="utf-8") for page in GUIDE)
    assert [f.name for f in (ROOT / "docs/guide/figures").iterdir() if f.name not in shown] == []
