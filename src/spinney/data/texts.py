"""Parts of texts: how long, which words, where a category would only know the text as a whole."""

import enum
import re
from collections.abc import Iterable, Sequence

import numpy as np

from spinney.typing import FloatArray

MOST_WORDS = 100
"""Words of a text feature that are counted one by one."""
FEWEST_ROWS = 5
"""A word that fewer rows have, or that fewer rows lack, tells too little to be counted."""
LONGEST_WORD = 40
"""Characters; what is longer is no word but a key or a number."""
FEWEST_TEXTS = 30
"""Fewer different strings are the levels of a category."""
_SEVERAL = 3
_LOOKED_AT = 2_000
"""Texts that tell whether there are several words in most."""
_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+")


class TextPart(enum.IntEnum):
    """A part of a text; the numbers stand in files: add at the end, never change."""

    LENGTH = 0
    """In characters."""
    WORDS = 1
    """How many there are."""
    DIGITS = 2
    """Characters that are decimal digits of any script."""
    CAPITALS = 3
    """The share of upper-case characters, from 0 to 1."""


def words_of(text: str) -> list[str]:
    """Cut a text into words: letters, digits and underscores of any script, in lower case.

    Examples
    --------
    >>> words_of("Größe 42: like NEW, don't wash!")
    ['größe', '42', 'like', 'new', 'don', 't', 'wash']
    """
    return _WORD.findall(text.lower())


def is_word(text: str) -> bool:
    """Tell whether a text is one word as ``words_of`` gives it, short enough to be counted."""
    return len(text) <= LONGEST_WORD and words_of(text) == [text]


def text_part(text: str, part: TextPart) -> float:
    """Give a part of one text as a number.

    Examples
    --------
    >>> [text_part("Room 12 B", part) for part in TextPart]
    [9.0, 3.0, 2.0, 0.2222222222222222]
    """
    if part is TextPart.LENGTH:
        return float(len(text))
    if part is TextPart.WORDS:
        return float(len(words_of(text)))
    if part is TextPart.DIGITS:
        return float(sum(map(len, _DIGITS.findall(text))))
    return sum(map(str.isupper, text)) / len(text) if text else 0.0


class WordCounts:
    """How often each of some words is in each of some texts; the texts are read once.

    Examples
    --------
    >>> counts = WordCounts(["old and cold", "New", "old, OLD house"], ["old", "new"])
    >>> counts.of("old")
    array([1., 0., 2.])
    """

    def __init__(self, texts: Sequence[str], words: Sequence[str]) -> None:
        self._n_texts = len(texts)
        self._places = {word: place for place, word in enumerate(words)}
        found: list[int] = []
        for number, text in enumerate(texts):
            known = [self._places[word] for word in words_of(text) if word in self._places]
            found += [place * len(texts) + number for place in known]
        cells, self._counts = np.unique(np.array(found, np.int64), return_counts=True)
        self._texts = cells % max(len(texts), 1)
        starts = np.arange(len(words) + 1) * len(texts)
        self._starts = np.searchsorted(cells, starts)

    def of(self, word: str) -> FloatArray:
        """Count one of the words in all texts."""
        place = self._places[word]
        span = slice(self._starts[place], self._starts[place + 1])
        counts = np.zeros(self._n_texts)
        counts[self._texts[span]] = self._counts[span]
        return counts


class TextWords:
    """The words of some texts, each text read once; which of them tell most is up to the rows.

    Examples
    --------
    >>> words = TextWords(["the red car", "the blue car", "the red bus"])
    >>> rows, sold = np.array([6.0, 6.0, 6.0]), np.array([6.0, 0.0, 6.0])
    >>> words.most_telling(rows, [[sold, rows - sold]])
    ('blue', 'red', 'bus', 'car')
    """

    def __init__(self, texts: Sequence[str]) -> None:
        numbers: dict[str, int] = {}
        texts_of: list[int] = []
        words: list[int] = []
        for text, content in enumerate(texts):
            found = {word for word in words_of(content) if len(word) <= LONGEST_WORD}
            words += [numbers.setdefault(word, len(numbers)) for word in found]
            texts_of += [text] * len(found)
        self._names = list(numbers)
        self._text = np.array(texts_of, np.int64)
        self._word = np.array(words, np.int64)

    def most_telling(
        self, rows: FloatArray, targets: Iterable[Iterable[FloatArray]]
    ) -> tuple[str, ...]:
        """Choose the words whose rows differ most from the others in the group they belong to.

        ``rows`` have each text, and of these so many belong to each group of each target. A word
        is worth the largest share of the variance of one target's groups that it explains: what
        decides one of many targets is not lost among the others. All are whole numbers, so their
        sums are exact, and neither the order of rows nor that of words is any matter: of equal
        words those come first that precede in the order of code points.
        """
        total, n_words = float(rows.sum()), len(self._names)
        having = np.bincount(self._word, rows[self._text], n_words)
        explained = np.zeros(n_words)
        for groups in targets:
            surplus, variance = np.zeros(n_words), 0.0
            for group in groups:
                inside = np.bincount(self._word, group[self._text], n_words)
                share = float(group.sum()) / max(total, 1.0)
                surplus += (inside - having * share) ** 2
                variance += share * (1.0 - share)
            if variance > 0.0:
                explained = np.maximum(explained, surplus / variance)
        may_tell = np.flatnonzero(np.minimum(having, total - having) >= FEWEST_ROWS)
        spread = having[may_tell] * (total - having[may_tell])
        gains = (explained[may_tell] / spread).tolist()
        names = [self._names[word] for word in may_tell.tolist()]
        best = sorted(zip([-gain for gain in gains], names, strict=True))[:MOST_WORDS]
        return tuple(name for _, name in best)


def looks_like_text(texts: Sequence[str], n_rows: int) -> bool:
    """Tell whether strings are sentences to be read rather than names that come again.

    There are at least ``FEWEST_TEXTS`` of them, at least half as many as ``n_rows`` different rows
    that have one, and half of them have three words or more.
    """
    if len(texts) < FEWEST_TEXTS or 2 * len(texts) < n_rows:
        return False
    some = texts[:: max(len(texts) // _LOOKED_AT, 1)]
    return 2 * sum(len(words_of(text)) >= _SEVERAL for text in some) >= len(some)
