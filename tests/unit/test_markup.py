"""HTML for notebooks: nothing of a user's becomes markup."""

from html.parser import HTMLParser

import pytest

from spinney.markup import card, code, escape, facts, fold, note, table

HOSTILE = "</td><script>alert('x')</script><img src=x onerror=\"y\"> & \x00\n"


class Reader(HTMLParser):
    """Reads tags, attributes and text, and whether tags are closed in order."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text, self._open = [], [], "", []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text += data

    @classmethod
    def of(cls, page):
        reader = cls()
        reader.feed(page)
        reader.close()
        assert reader._open == []
        return reader


@pytest.mark.parametrize(
    "page",
    [
        card(HOSTILE, note(HOSTILE), mark=HOSTILE),
        fold(HOSTILE, code(HOSTILE), mark=HOSTILE),
        facts({HOSTILE: HOSTILE, "code": code(HOSTILE)}),
        table({HOSTILE: [HOSTILE, 1.5]}),
    ],
)
def test_what_a_user_gives_stays_text(page):
    read = Reader.of(page)
    assert set(read.tags) <= {
        *("div", "style", "span", "details", "summary", "code"),
        *("table", "thead", "tbody", "tr", "th", "td"),
    }
    assert set(read.attributes) <= {"class", "scope", "open"}
    assert "<script>alert('x')</script>" in read.text


def test_pages_need_neither_script_nor_network():
    page = card("title", table({"a": [1]}), fold("more", note("text")))
    for word in ("<script", "http", "url(", "@import", "javascript"):
        assert word not in page


def test_long_values_are_cut_before_they_are_escaped():
    assert escape("<" * 300, most=10) == "&lt;" * 9 + "…"


def test_numbers_stand_to_the_right_and_rows_are_counted():
    page = table({"name": ["a"] * 20, "size": [1.0] * 20})
    assert page.count("<tr>") == 13
    assert page.count('<td class="number">') == 12
    assert "… and 8 more rows" in page
    assert table({}) == "<table><thead><tr></tr></thead><tbody></tbody></table>"
