"""Links of the guide lead to files and sections that exist, and so do paths named in passing."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs/guide").glob("*.md"))


def sections(page):
    """Give the names by which links reach the sections of a page."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", head.strip().lower()) for head in heads]
    return {name.replace(" ", "-") for name in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_sections_that_exist(page):
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith("https://"):
            continue
        path, _, section = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not section or section in sections(target), link
    folders = "src|native|tests|benchmarks|docs|examples|tools"
    for path in re.findall(rf"`((?:{folders})/[\w/.-]+)(?:::\w+)?`", text):
        assert (ROOT / path).exists(), path


def test_every_figure_of_the_guide_is_shown_somewhere():
    shown = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [f.name for f in (ROOT / "docs/guide/figures").iterdir() if f.name not in shown] == []
