"""Parts of texts and the words that tell, against their definitions."""

import unicodedata

import numpy as np
import pytest

from spinney.data import texts
from spinney.data.texts import (
    FEWEST_ROWS,
    LONGEST_WORD,
    MOST_WORDS,
    TextPart,
    TextWords,
    WordCounts,
    is_word,
    looks_like_text,
    text_part,
    words_of,
)

ODD = [
    "",
    "  ",
    "Größe 42: like NEW, don't wash!",
    "ΟΔΟΣ ΟΔΟΣ",
    "東京 2024年",
    "İstanbul ٣٤ ǅ",
    "a_b-c\n\td",
    "🙂🙂 ok",
]


def slow_words(text):
    """Runs of letters, digits and underscores, one character after the other."""
    found = [""]
    for character in text.lower():
        belongs = character == "_" or unicodedata.category(character)[0] in "LN"
        if belongs:
            found[-1] += character
        else:
            found.append("")
    return [word for word in found if word]


@pytest.mark.parametrize("text", ODD)
def test_words_are_runs_of_letters_and_digits(text):
    assert words_of(text) == slow_words(text)


@pytest.mark.parametrize("text", ODD)
def test_parts_are_what_they_say(text):
    digits = sum(unicodedata.decimal(c, None) is not None for c in text)
    capitals = sum(c.isupper() for c in text)
    expected = [len(text), len(slow_words(text)), digits, capitals / max(len(text), 1)]
    assert [text_part(text, part) for part in TextPart] == expected


def test_counts_are_those_of_lists():
    rng = np.random.default_rng(0)
    lines = [" ".join(rng.choice(list("abcdef"), rng.integers(0, 9))) for _ in range(200)]
    counts = WordCounts(lines, ["c", "z", "a"])
    for word in "cza":
        expected = [line.split().count(word) for line in lines]
        np.testing.assert_array_equal(counts.of(word), expected)


def test_no_texts_and_no_words_are_no_trouble():
    assert WordCounts([], ["a"]).of("a").tolist() == []
    assert TextWords([]).most_telling(np.empty(0), [[np.empty(0)]]) == ()
    assert TextWords(["", "!"]).most_telling(np.ones(2), [[np.ones(2)]]) == ()


def slow_choice(lines, rows, targets):
    """The share of the variance of groups that each word explains, of its best target."""
    total, found = rows.sum(), []
    for word in {word for line in lines for word in words_of(line)}:
        has = np.array([word in words_of(line) for line in lines])
        with_it = (rows * has).sum()
        if min(with_it, total - with_it) < FEWEST_ROWS:
            continue
        explained = [explained_share(has, rows, groups) for groups in targets]
        found.append((-max(explained), word))
    return tuple(word for _, word in sorted(found)[:MOST_WORDS])


def explained_share(has, rows, groups):
    total, with_it = rows.sum(), (rows * has).sum()
    shares = np.array([group.sum() for group in groups]) / total
    inside = np.array([(group * has).sum() for group in groups])
    surplus = ((inside - with_it * shares) ** 2).sum()
    return surplus / (shares * (1 - shares)).sum() / (with_it * (total - with_it))


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_the_words_that_tell_most_are_chosen(seed, n_targets):
    rng = np.random.default_rng(seed)
    names = [f"w{k}" for k in range(300)]
    lines = [" ".join(rng.choice(names, 12)) for _ in range(150)]
    rows = rng.integers(1, 5, 150).astype(float)
    first = [np.floor(rows * rng.random(150) ** (k + 1)) for k in range(n_targets)]
    targets = [[some, rows - some] for some in first]
    assert TextWords(lines).most_telling(rows, targets) == slow_choice(lines, rows, targets)


def test_a_target_that_never_changes_is_no_matter():
    lines = ["red car", "blue car"] * 10
    sold = np.resize([1.0, 0.0], 20)
    rows = np.ones(20)
    constant = [rows, np.zeros(20)]
    chosen = TextWords(lines).most_telling(rows, [constant, [sold, rows - sold]])
    assert chosen == TextWords(lines).most_telling(rows, [[sold, rows - sold]]) == ("blue", "red")


def test_the_word_that_decides_comes_first():
    rng = np.random.default_rng(1)
    lines = [f"{'broken' if k % 3 == 0 else 'fine'} thing {rng.integers(9)}" for k in range(90)]
    is_first = np.array([k % 3 == 0 for k in range(90)], float)
    chosen = TextWords(lines).most_telling(np.ones(90), [[is_first, 1 - is_first]])
    assert chosen[:2] == ("broken", "fine")
    assert "thing" not in chosen  # every row has it


def test_words_are_few_frequent_and_short():
    assert not is_word("x" * (LONGEST_WORD + 1))
    assert not any(map(is_word, ("Two", "a b", "")))
    lines = ["x" * (LONGEST_WORD + 1), "y"] * 20
    assert TextWords(lines).most_telling(np.ones(40), [[np.ones(40)]]) == ("y",)
    many = [" ".join(f"w{(k * j) % 500}" for j in range(60)) for k in range(100)]
    assert len(TextWords(many).most_telling(np.ones(100), [[np.ones(100)]])) <= MOST_WORDS


SENTENCES = [f"the {k} houses of street {k}" for k in range(texts.FEWEST_TEXTS)]


@pytest.mark.parametrize(
    ("strings", "n_rows", "expected"),
    [
        (SENTENCES, len(SENTENCES), True),
        (SENTENCES, 2 * len(SENTENCES), True),
        (SENTENCES, 2 * len(SENTENCES) + 1, False),
        (SENTENCES[:-1], len(SENTENCES) - 1, False),
        ([f"shop {k}" for k in range(500)], 500, False),
        ([f"id{k}" for k in range(500)], 500, False),
    ],
    ids=["all_different", "half", "less_than_half", "few", "two_words", "keys"],
)
def test_what_looks_like_text(strings, n_rows, expected):
    assert looks_like_text(strings, n_rows) is expected
