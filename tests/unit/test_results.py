"""Explanations print as a table and become frames."""

from dataclasses import dataclass

import pandas as pd
import polars as pl
import pytest

from spinney.errors import InvalidParameter
from spinney.results import Result, format_table


@dataclass(frozen=True, repr=False)
class Ages(Result):
    """A result to try."""

    n_rows: int

    def columns(self):
        return {"name": [f"p{i}" for i in range(self.n_rows)], "age": [1.5] * self.n_rows}

    def title(self):
        return "Ages"


def test_a_short_answer_is_printed_whole():
    assert str(Ages(2)) == "Ages\nname  age\np0    1.5\np1    1.5"
    assert repr(Ages(2)) == str(Ages(2))


def test_a_long_answer_is_cut_and_says_so():
    lines = str(Ages(100)).splitlines()
    assert len(lines) < 20
    assert lines[-1] == "… and 88 more rows; to_frame() has them all"


def test_nothing_is_still_a_table():
    assert format_table({}) == ""
    assert str(Ages(0)) == "Ages\nname  age"


def test_frames_of_two_libraries_hold_everything():
    pd.testing.assert_frame_equal(Ages(20).to_frame(), pd.DataFrame(Ages(20).columns()))
    assert Ages(20).to_frame("polars").equals(pl.DataFrame(Ages(20).columns()))


def test_an_unknown_library_is_refused():
    with pytest.raises(InvalidParameter, match="expected 'pandas'"):
        Ages(1).to_frame("excel")


def test_in_notebooks_it_is_a_table_of_text():
    page = Ages(20)._repr_html_()
    assert page.count("<tr>") == 13
    assert "… and 8 more rows" in page
    assert "<td>p0</td>" in page
    assert '<td class="number">1.5</td>' in page
