"""What the README and the tutorial show is what happens."""

import contextlib
import doctest
import io
import re
import shlex
from fnmatch import fnmatch
from pathlib import Path

import pytest
from tools.missed_targets import missed, missed_table

from spinney.cli.__main__ import main

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "docs" / "guide" / "tutorial.md"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(path, language):
    text = path.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def said_by(command):
    """All that a terminal would show of a command."""
    program, *arguments = shlex.split(command)
    assert program == "spinney"
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        assert main(arguments) == 0
    return shown.getvalue()


def test_commands_of_the_tutorial_say_what_it_shows(monkeypatch):
    page = TUTORIAL.read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(page, {}, "tutorial", str(TUTORIAL), 0)
    assert doctest.DocTestRunner(optionflags=FLAGS).run(test, clear_globs=False).failed == 0
    monkeypatch.chdir(test.globs["folder"])
    shown = "\n".join(["", *blocks(TUTORIAL, "console")])
    commands = shown.split("\n$ ")[1:]
    assert len(commands) >= 4
    for command in commands:
        line, expected = command.split("\n", 1)
        said = said_by(line)
        assert doctest.OutputChecker().check_output(expected, said, FLAGS), f"{line}\n{said}"


def test_the_code_of_the_readme_runs(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code = blocks(ROOT / "README.md", "python")
    assert code
    names = {}
    for block in code:
        exec(block, names)  # noqa: S102
    score = names["model"].score(names["X"][names["test"]], names["y"][names["test"]])
    assert f"  # {score:.3f}\n" in code[0]
    assert (tmp_path / "tumours.spn").exists()
    assert (tmp_path / "report.html").exists()


def test_every_page_stands_in_the_navigation():
    entries = re.findall(r"[\w/*-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    pages = [p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if not any(fnmatch(page, entry) for entry in entries)] == []


RESULTS = """## Duel (other processes took 1% of the machine)

| workload | s | ratio | to reach |
|---|---|---|---|
| fast | 1 | 2.00 | ≥ 2 |
| slow | 1 | 1.99 | ≥ 2 |
| memory | 1 | 1.14 (≤ 1.1) | |

## Verdicts

| with | slope | to reach | |
|---|---|---|---|
| rows | 1.10 | 1 ± 0.1 | missed |
| trees | 1.10 | 1 ± 0.1 | reached |
"""


def test_the_page_of_the_duels_lists_every_miss(tmp_path):
    (tmp_path / "duel.md").write_text(RESULTS, encoding="utf-8")
    lines = [(miss.line, miss.measured, miss.to_reach) for miss in missed(tmp_path)]
    assert lines == [
        ("slow", "1.99", "≥ 2"),
        ("memory", "1.14", "≤ 1.1"),
        ("rows", "1.10", "1 ± 0.1"),
    ]
    assert missed_table(tmp_path).count("\n") == 4
    (tmp_path / "duel.md").write_text(RESULTS.replace("≥ 2", "about 2"), encoding="utf-8")
    with pytest.raises(ValueError, match="'about 2' is no bound"):
        missed(tmp_path)
