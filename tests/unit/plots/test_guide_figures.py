"""The figures of the guide are made by code, and the guide shows no others."""

import importlib.util
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).parents[3]
GUIDE = ROOT / "docs" / "guide"
SHOWN = {
    picture
    for page in GUIDE.glob("*.md")
    for picture in re.findall(r"!\[[^\]]+\]\(figures/([\w.-]+)\)", page.read_text("utf-8"))
}


@pytest.fixture(scope="module")
def program():
    place = ROOT / "tools" / "make_figures.py"
    spec = importlib.util.spec_from_file_location("make_figures", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def made(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "figures"
    program.make_figures(folder)
    return folder


def drawn_paths(svg):
    root = ET.fromstring(svg.read_text("utf-8"))  # noqa: S314 - our own file
    assert root.tag.endswith("}svg")
    return len(root.findall(".//{http://www.w3.org/2000/svg}path"))


def test_the_guide_shows_figures():
    assert {"adaboost-rounds.svg", "margin-distribution.svg", "error-bounds.svg"} <= SHOWN


def test_every_figure_that_is_shown_is_made_and_none_is_empty(made):
    assert {path.name for path in made.iterdir()} == SHOWN
    for path in made.iterdir():
        assert drawn_paths(path) > 20, path.name  # an empty pair of axes has fewer


def test_the_figures_beside_the_guide_are_all_there_and_small():
    kept = {path.name: path.stat().st_size for path in (GUIDE / "figures").iterdir()}
    assert set(kept) == SHOWN
    assert max(kept.values()) < 150_000


def test_the_same_figure_has_the_same_bytes(made, program, tmp_path):
    program.make_figures(tmp_path, ("margin-losses", "alpha-against-error"))
    assert len(list(tmp_path.iterdir())) > 2
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (made / path.name).read_bytes()
