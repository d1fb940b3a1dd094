"""A split in words: what it asks, and why it is there."""

import math
from dataclasses import replace

import numpy as np

from spinney.data.table import Kind
from spinney.errors import shorten
from spinney.explain.row import shown_value
from spinney.explain.splitting.sums import Asked, category_bins
from spinney.model import Tree


def question_of(asked: Asked) -> str:
    """Say what a node asks about a row that goes left."""
    feature = int(asked.tree.feature[asked.node])
    described = asked.forest.schema.feature(feature)
    threshold = asked.tree.threshold[asked.node : asked.node + 1]
    if described.kind is Kind.CATEGORICAL:
        return f"{described.name} is one of {_levels(asked, feature)}"
    if threshold[0] == np.inf:
        return f"{described.name} is known"
    if described.kind is Kind.BOOLEAN:
        if 0.0 <= threshold[0] < 1.0:
            return f"{described.name} is False"
        described = replace(described, kind=Kind.NUMERIC)
    return f"{described.name} <= {shown_value(replace(described, values=threshold))}"


def _levels(asked: Asked, feature: int) -> str:
    levels = asked.forest.schema.levels[feature]
    chosen = asked.tree.category_sets[asked.tree.category_set[asked.node]]
    goes_left = np.unpackbits(chosen, bitorder="little").astype(bool)
    bins = category_bins(asked.forest, feature)
    if levels is None:
        raise AssertionError("a categorical feature has levels")
    return shorten([level for level, b in zip(levels.values, bins, strict=False) if goes_left[b]])


def decision_of(asked: Asked, gain: float) -> tuple[str, ...]:
    """Say why a split was made, and why it was kept; ``gain`` is the one to show."""
    settings, tree = asked.settings.tree, asked.tree
    if settings.symmetric:
        return _decision_of_level(asked)
    made = _compared("gain", gain, settings.min_split_gain, "min_split_gain")
    lines = [f"{made} > 0: the split was made"]
    if settings.prune_gain > 0.0:
        kept = _compared("gain", gain, settings.prune_gain, "prune_gain")
        if float(tree.gain[asked.node]) >= settings.prune_gain:
            lines.append(f"{kept} >= 0: pruning kept it")
        else:
            below = [node for node in asked.nodes[1:] if tree.right[node] >= 0]
            lines.append(
                f"{kept} < 0: pruning, which begins at the leaves, kept it for the split at node "
                f"{' and at node '.join(map(str, below))}"
            )
    return tuple(lines)


def _decision_of_level(asked: Asked) -> tuple[str, ...]:
    """Say the same of a symmetric tree, where what a level removes is compared.

    A level is known by its question: below a node that it split, it has nothing left to split, and
    a node that could not make the split then still cannot.
    """
    settings, tree = asked.settings.tree, asked.tree
    level = [node for node in range(len(tree)) if _asks_the_same(tree, node, asked.node)]
    total = 2.0 * math.fsum(float(tree.gain[node]) for node in level)
    made = _compared("sum", total, settings.min_split_gain, "min_split_gain")
    why = "it removed most loss of all that were judged, in all nodes of its level together"
    lines = [
        f"growth='symmetric': the split was made because {why}",
        f"sum of the gains of the nodes that could make it, {len(level)} of them: {total:.6g}",
        f"{made} > 0: the split was made",
    ]
    if settings.prune_gain > 0.0:
        kept = _compared("sum", total, settings.prune_gain, "prune_gain")
        if total >= 2.0 * settings.prune_gain:
            lines.append(f"{kept} >= 0: pruning kept it")
        else:
            lines.append(
                f"{kept} < 0: pruning, which begins at the last level, kept it for a later one"
            )
    return tuple(lines)


def _asks_the_same(tree: Tree, node: int, other: int) -> bool:
    if tree.right[node] < 0 or tree.feature[node] != tree.feature[other]:
        return False
    sets = [int(tree.category_set[place]) for place in (node, other)]
    if min(sets) >= 0:
        return bool(np.array_equal(*(tree.category_sets[place] for place in sets)))
    alike = tree.threshold[node] == tree.threshold[other]
    return bool(alike and tree.missing_left[node] == tree.missing_left[other])


def _compared(what: str, gain: float, limit: float, name: str) -> str:
    return f"{what} - 2 * {name} = {gain:.6g} - {2.0 * limit:.6g} = {gain - 2.0 * limit:.6g}"
