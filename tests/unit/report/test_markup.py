import json
import re

import pytest
from tests.unit.report.tables import HOSTILE

from spinney.report.markup import escape, join, name_of, number, percent, script_json, tag, visible
from spinney.report.tables import Cell, Heading, bar, table


@pytest.mark.parametrize("text", HOSTILE)
def test_text_never_becomes_markup(text):
    shown = tag("p", text, title=text)
    assert shown.count("<") == shown.count(">") == 2
    assert re.fullmatch(r'<p title="[^"<>]*">[^<>]*</p>', shown)
    assert not re.search("[\u2028\u2029\u202e]", shown)


@pytest.mark.parametrize("text", HOSTILE)
def test_json_in_a_script_holds_no_end_of_it_and_reads_back(text):
    written = script_json({text: [text, 0.1, None]})
    assert not re.search("[<>&\u2028\u2029]", written)
    assert json.loads(written) == {text: [text, 0.1, None]}


def test_markup_is_not_escaped_twice_and_text_is_escaped_once():
    assert join(tag("b", "<"), "<", escape("&")) == "<b>&lt;</b>&lt;&amp;"


def test_what_cannot_be_seen_is_shown_by_its_number():
    assert visible("a\u200bb\x00\ud800") == "a\\u200bb\\u0000\\ud800"
    assert visible("Zürich עברית") == "Zürich עברית"


def test_long_names_are_cut_and_kept_as_a_title():
    shown = name_of("x" * 100)
    assert "x" * 60 not in shown.replace(f'title="{"x" * 100}"', "")
    assert f'title="{"x" * 100}"' in shown


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1e-20, "1e-20"), (-0.5, "\u22120.5"), (12345.678, "12,346"), (None, "\u2013")],
)
def test_numbers_are_written_for_people(value, text):
    assert number(value) == text


def test_shares_are_percentages():
    assert [percent(x, 0) for x in (0.0, 1.0, 0.997, 0.1)] == ["0 %", "100 %", "100 %", "10 %"]


def test_tables_sort_by_keys_and_name_their_rows():
    made = table([Heading("a", is_number=False), Heading("b")], [["x", 2.5]], caption="A table")
    assert '<th scope="row">x</th>' in made
    assert 'data-key="2.5"' in made
    assert made.count('class="sort"') == 2


def test_bars_stay_within_their_box():
    assert "width:100.0%" in bar(5.0, 2.0, "5").shown
    assert "width:0.0%" in bar(-1.0, 2.0, "-1").shown
    assert isinstance(bar(1.0, 0.0, "1"), Cell)
