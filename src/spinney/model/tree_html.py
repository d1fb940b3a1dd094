"""A tree as a page: questions that fold, answers below them."""

from typing import Protocol

from spinney.markup import Html, escape, joined
from spinney.model.tree import Tree

_MOST_NODES = 400
"""Nodes that are written; what lies deeper is left away."""
_OPEN_LEVELS = 2
"""Levels whose questions are unfolded to begin with."""


class Words(Protocol):
    """How to talk about the nodes of a tree."""

    tree: Tree

    def question(self, node: int) -> str:
        """Ask what the rows that go left answer with yes."""

    def answer(self, node: int) -> str:
        """Say what a node predicts."""

    def rows(self, node: int) -> str:
        """Say how many rows a node has."""


def tree_html(words: Words, *, most: int = _MOST_NODES) -> Html:
    """Write a tree as nested folds; of a large one the levels below the root that fit.

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor().fit([[0.0], [1.0]], [2.0, 3.0])
    >>> "x0 &lt;= 0.5" in tree_html(TreeNumbers(tree.model_[0]))
    True
    """
    right, parts = words.tree.right, []
    depth = _depth_within(words.tree, most)
    # What is still to be written: a node with its side and level, or text that closes a fold.
    to_write: list[tuple[int, str, int] | str] = [(0, "", 0)]
    while to_write:
        one = to_write.pop()
        if isinstance(one, str):
            parts.append(one)
            continue
        node, side, level = one
        before = f'<span class="side">{side}</span> ' if side else ""
        told = f"{words.answer(node)}, {words.rows(node)}"
        if right[node] < 0 or level == depth:
            end = "" if right[node] < 0 else ", …"
            parts.append(f'<div class="leaf">{before}{escape(told)}{end}</div>')
            continue
        state = " open" if level < _OPEN_LEVELS else ""
        parts.append(f"<details{state}><summary>{before}{escape(words.question(node))} ")
        parts.append(f'<span class="note">({escape(told)})</span></summary>')
        below = (node + 1, "yes", level + 1), (int(right[node]), "no", level + 1)
        to_write += ["</details>", below[1], below[0]]
    return joined(parts)


class TreeNumbers:
    """Talks about a tree that knows neither names nor classes."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def question(self, node: int) -> str:
        """Ask what the rows that go left answer with yes."""
        name = f"x{int(self.tree.feature[node])}"
        missing = " or missing" if self.tree.missing_left[node] else ""
        if self.tree.category_set[node] >= 0:
            return f"{name} in set {int(self.tree.category_set[node])}{missing}"
        return f"{name} <= {float(self.tree.threshold[node]):.4g}{missing}"

    def answer(self, node: int) -> str:
        """Say what a node predicts."""
        return ", ".join(f"{number:.4g}" for number in self.tree.values[node][:6])

    def rows(self, node: int) -> str:
        """Say how many rows a node has."""
        count = int(self.tree.count[node])
        return f"{count} row{'' if count == 1 else 's'}"


def _depth_within(tree: Tree, most: int) -> int:
    """Give how many levels below the root have no more than so many nodes together."""
    total, depth, here = 1, 0, [0]
    while here:
        inner = [node for node in here if tree.right[node] >= 0]
        below = [child for node in inner for child in (node + 1, int(tree.right[node]))]
        total += len(below)
        if total > most:
            return depth
        depth, here = depth + 1, below
    return depth
