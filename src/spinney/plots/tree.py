"""A tree, drawn."""

import textwrap
from typing import Any

import numpy as np

from spinney.errors import InvalidInputType
from spinney.model import Model, TreeForest
from spinney.plots.canvas import COLOURS, INK, Axes, one_axes, pick, plain
from spinney.trees.structure import levels, parents
from spinney.trees.words import TreeWords, check_limits
from spinney.typing import AnyArray, FloatArray

_SHORT, _LONG = 20, 30
"""Letters on a line, of a leaf and of a question, which has the room of two leaves."""


def plot_tree(
    fitted: Any,
    *,
    tree: int = 0,
    max_depth: int | None = None,
    digits: int = 3,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw a tree: a box for each node, yes to the left and no to the right.

    Boxes of classes have the colour of the likeliest class, fuller where its share is larger;
    boxes of numbers are fuller where the (first) prediction is larger.

    Parameters
    ----------
    fitted : estimator or TreeForest
        Fitted, and made of trees.
    tree : int
        Which tree of a forest.
    max_depth : int or None
        Levels of questions that are drawn; None for all.
    digits : int
        Significant digits of numbers, 1 to 17.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure that is as wide as the tree needs.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from spinney import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> [box.get_text() for box in plot_tree(tree).texts if box.get_bbox_patch()]
    ['x0 <= 0.5\nno (50%)\n2 rows', 'no (100%)\n1 row', 'yes (100%)\n1 row']
    """
    model = fitted if isinstance(fitted, Model) else getattr(fitted, "model_", None)
    if not isinstance(model, TreeForest):
        raise InvalidInputType(
            f"A {type(fitted).__name__} has no trees to draw. Pass a fitted estimator that is made "
            "of trees, or its model_."
        )
    check_limits("plot_tree", max_depth=max_depth, digits=digits)
    words = TreeWords.of(model, tree, digits=digits)
    shown = levels(words.tree)[: None if max_depth is None else max_depth + 1]
    across, up = _places(words, shown)
    width, height = 1.1 + 1.35 * (np.nanmax(across) + 1.0), 0.7 + 1.05 * len(shown)
    ax = one_axes(ax, size=(min(width, 120.0), min(height, 80.0)))
    above, shades = parents(words.tree), _shades(words)
    for level, nodes in enumerate(shown):
        for node in nodes.tolist():
            here = (float(across[node]), float(up[node]))
            if level:
                _edge(ax, here, (float(across[above[node]]), float(up[above[node]])))
            _box(ax, here, _label(words, node, ends=level + 1 == len(shown)), shades[node])
    ax.set_xlim(-0.7, float(np.nanmax(across)) + 0.7)
    ax.set_ylim(-len(shown) + 0.4, 0.6)
    ax.set_axis_off()
    return ax


def _places(words: TreeWords, shown: list[Any]) -> tuple[FloatArray, FloatArray]:
    """Give where nodes stand: leaves side by side, others between their children."""
    right = words.tree.right
    across, up = np.full(len(right), np.nan), np.full(len(right), np.nan)
    last = set(shown[-1].tolist())
    ends = [n for n in np.sort(np.concatenate(shown)).tolist() if right[n] < 0 or n in last]
    across[ends] = np.arange(len(ends))
    for level in range(len(shown) - 1, -1, -1):
        nodes = shown[level]
        up[nodes] = -level
        inner = nodes[(right[nodes] >= 0) & np.isnan(across[nodes])]
        across[inner] = (across[inner + 1] + across[right[inner]]) / 2
    return across, up


def _label(words: TreeWords, node: int, *, ends: bool) -> str:
    """Write what a node asks and says, on lines so short that boxes do not touch."""
    is_leaf = words.tree.right[node] < 0
    lines = [plain(words.answer(node), _SHORT), plain(words.rows(node), _SHORT)]
    if not is_leaf:
        lines = [*lines, "…"] if ends else [*_two_lines(words.question(node)), *lines]
    return "\n".join(lines)


def _two_lines(question: str) -> list[str]:
    """Divide a long question at a space, and shorten what is left."""
    first, *rest = textwrap.wrap(question, _LONG, break_on_hyphens=False) or [""]
    if len(first) > _LONG:
        return [plain(question, _LONG)]
    return [plain(first, _LONG), *([plain(" ".join(rest), _LONG)] if rest else [])]


def _shades(words: TreeWords) -> AnyArray:
    """Give the colour of every box; (n_nodes, 3)."""
    values = words.tree.values
    if words.tells_shares and words.forest.target.classes is not None:
        hues = np.array([_parts(pick(COLOURS, k)) for k in range(values.shape[1])])
        largest, least = values.max(axis=1), 1.0 / values.shape[1]
        fullness = (largest - least) / (1.0 - least) if values.shape[1] > 1 else largest
        hue = hues[values.argmax(axis=1)]
    else:
        first = values[:, 0]
        spread = float(np.ptp(first)) or 1.0
        fullness = (first - first.min()) / spread
        hue = np.tile(_parts(COLOURS[0]), (len(first), 1))
    strength = (0.08 + 0.47 * fullness)[:, np.newaxis]
    shades: AnyArray = 1.0 - strength * (1.0 - hue)
    return shades


def _parts(colour: str) -> list[float]:
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def _edge(ax: Axes, here: tuple[float, float], above: tuple[float, float]) -> None:
    ax.plot(*zip(above, here, strict=True), color=INK, linewidth=0.8, zorder=1)
    is_left = here[0] < above[0]
    beside = ((here[0] + above[0]) / 2 + (-0.06 if is_left else 0.06), (here[1] + above[1]) / 2)
    side, align = ("yes", "right") if is_left else ("no", "left")
    ax.annotate(side, beside, ha=align, va="bottom", fontsize=7, color=INK, zorder=2)


def _box(ax: Axes, place: tuple[float, float], label: str, shade: Any) -> None:
    look = {"boxstyle": "round,pad=0.35", "facecolor": tuple(shade), "edgecolor": INK}
    ax.annotate(
        label,
        place,
        ha="center",
        va="center",
        fontsize=8,
        color=INK,
        bbox={**look, "linewidth": 0.8},
        zorder=3,
    )
