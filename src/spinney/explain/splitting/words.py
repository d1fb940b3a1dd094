"""A split in words: what it asks, and why it is there."""

from dataclasses import replace

import numpy as np

from spinney.data.table import Kind
from spinney.errors import shorten
from spinney.explain.row import shown_value
from spinney.explain.splitting.sums import Asked, category_bins


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
        reason = "it removed most loss in all nodes of its level together"
        return (f"growth='symmetric': the split was made because {reason}",)
    made = _compared(gain, settings.min_split_gain, "min_split_gain")
    lines = [f"{made} > 0: the split was made"]
    if settings.prune_gain > 0.0:
        kept = _compared(gain, settings.prune_gain, "prune_gain")
        if float(tree.gain[asked.node]) >= settings.prune_gain:
            lines.append(f"{kept} >= 0: pruning kept it")
        else:
            below = [node for node in asked.nodes[1:] if tree.right[node] >= 0]
            lines.append(
                f"{kept} < 0: pruning, which begins at the leaves, kept it for the split at node "
                f"{' and at node '.join(map(str, below))}"
            )
    return tuple(lines)


def _compared(gain: float, limit: float, name: str) -> str:
    return f"gain - 2 * {name} = {gain:.6g} - {2.0 * limit:.6g} = {gain - 2.0 * limit:.6g}"
