"""What is known about a split: from the training rows, checked against the model, or from it."""

from dataclasses import dataclass

from spinney.ensembles.gradient.replay import RoundRows
from spinney.errors import InvalidInput
from spinney.explain.splitting.sums import FEW_CATEGORIES, Asked, Sums, TreeRows, derived_sums
from spinney.theory.second_order import leaf_output, similarity

_NOT_THE_ROWS = (
    "X, y, sample_weight or a parameter are not those of the fit. Give what was given to fit, rows "
    "in the same order."
)

_ROUNDING = 1e-9
"""Values are multiplied with the learning rate, and divided by it here."""


@dataclass(frozen=True, slots=True)
class Found:
    """Of each node the sums, if they are known, the similarity and the output; and remarks."""

    sums: tuple[Sums | None, ...]
    similarities: tuple[float | None, ...]
    outputs: tuple[float, ...]
    remarks: tuple[str, ...]


def from_model(asked: Asked) -> Found:
    """Work out what a model determines by what it stores."""
    sums, reason = derived_sums(asked)
    outputs = tuple(asked.stored_output(node) for node in asked.nodes)
    if sums is None:
        nothing = (None,) * len(outputs)
        remark = f"The model does not determine the sums, because {reason}: give X and y."
        return Found(nothing, nothing, outputs, (remark, *_about_outputs(asked)))
    settings = asked.settings.tree
    scores = tuple(similarity(s.residuals, s.hessians, settings.l2, settings.l1) for s in sums)
    remark = (
        "Sums follow from what the model stores, rows, weights, outputs and the gain, and are as "
        "exact as these: give X and y to add up the training rows."
    )
    return Found(sums, scores, outputs, (remark, *_about_outputs(asked)))


def from_rows(asked: Asked, rows: RoundRows) -> Found:
    """Add up the training rows, and compare with everything the model stores."""
    of_tree = TreeRows(asked, rows)
    _check_counts(asked, of_tree)
    sums = tuple(of_tree.sums(node) for node in asked.nodes)
    outputs, is_moved = _outputs(asked, sums)
    l2, l1 = asked.settings.tree.l2, asked.settings.tree.l1
    scores = tuple(
        similarity(s.residuals, s.hessians, l2, l1, output=asked.newton(w) if is_moved else None)
        for s, w in zip(sums, outputs, strict=True)
    )
    remarks, agrees = [*_about_outputs(asked)], ["rows", "weights"]
    by_newton = not asked.loss.has_order_statistic_leaves
    if by_newton and not is_moved:
        agrees.append("outputs")
    if is_moved:
        names = asked.settings.tree.moved_by
        remarks.append(f"{names} moved outputs: similarities are those of the moved ones.")
    if len(sums) > 1 and (by_newton or not asked.settings.tree.moved_by):
        remarks += _check_gain(asked, of_tree, outputs if is_moved else None)
        agrees.append("gain")
    remarks.append(f"Compared with what the model stores, and equal: {', '.join(agrees)}.")
    return Found(sums, scores, outputs, tuple(remarks))


def _about_outputs(asked: Asked) -> list[str]:
    return [*_about_optima(asked), *_about_length(asked), *_about_weight(asked)]


def _about_length(asked: Asked) -> list[str]:
    longest = asked.settings.tree.longest_step
    return [f"Newton steps are cut off at {longest:g}."] if asked.has_cut_off else []


def _about_weight(asked: Asked) -> list[str]:
    weight = float(asked.forest.arrays["tree_weight"][asked.number])
    return [] if weight == 1.0 else [f"dropout: raw scores have {weight:.6g} times this tree."]


def _about_optima(asked: Asked) -> list[str]:
    if asked.loss.has_order_statistic_leaves:
        return ["Leaves have the exact optimum of this loss; inner nodes the mean of their leaves."]
    if asked.by_formula:
        return ["leaf_steps='exact': outputs are the exact optima that Newton steps lead to."]
    return []


def _check_counts(asked: Asked, of_tree: TreeRows) -> None:
    for node in dict.fromkeys((0, *asked.nodes)):
        count, stored = of_tree.count(node), int(asked.tree.count[node])
        if count != stored:
            raise InvalidInput(
                f"{count} of the rows reach node {node} of tree {asked.number}, but the model "
                f"counted {stored}: {_NOT_THE_ROWS}"
            )
        weight, stored_weight = of_tree.weight(node), float(asked.tree.weight[node])
        if abs(weight - stored_weight) > 1e-6 * stored_weight:
            raise InvalidInput(
                f"The rows of node {node} of tree {asked.number} weigh {weight:.6g}, but those of "
                f"the model weighed {stored_weight:.6g}: {_NOT_THE_ROWS}"
            )


def _outputs(asked: Asked, sums: tuple[Sums, ...]) -> tuple[tuple[float, ...], bool]:
    """Give the outputs of nodes, and tell whether one of them was moved."""
    stored = tuple(asked.stored_output(node) for node in asked.nodes)
    if asked.loss.has_order_statistic_leaves:
        return stored, False
    l2, l1 = asked.settings.tree.l2, asked.settings.tree.l1
    ranges = [tuple(map(asked.final, s.outputs(l2, l1))) for s in sums]
    step = asked.output_step
    agrees = [
        low - _ROUNDING * abs(low) - step <= output <= high + _ROUNDING * abs(high) + step
        for output, (low, high) in zip(stored, ranges, strict=True)
    ]
    if all(agrees):
        best = (asked.final(leaf_output(s.residuals, s.hessians, l2, l1)) for s in sums)
        return tuple(best), False
    if asked.settings.tree.moved_by:
        return stored, True
    place = agrees.index(False)
    raise InvalidInput(
        f"Node {asked.nodes[place]} of tree {asked.number} has an output of {stored[place]:.6g} in "
        f"the model, but of {ranges[place][0]:.6g} with these rows: {_NOT_THE_ROWS}"
    )


def _check_gain(asked: Asked, of_tree: TreeRows, moved: tuple[float, ...] | None) -> list[str]:
    """Compare the gain, up to the grid that splits are searched on; tell of a penalty it has."""
    stored = 2.0 * float(asked.tree.gain[asked.node])
    sums = tuple(of_tree.sums(node, searched=True) for node in asked.nodes)
    for penalty, remarks in _penalties(asked, of_tree, sums[0]):
        (least, most), *children = (
            _similarities(asked, sums, penalty)
            if moved is None
            else _moved_similarities(asked, of_tree, sums, moved)
        )
        low = sum(side[0] for side in children) - most
        high = sum(side[1] for side in children) - least
        if low <= stored <= high:
            return remarks
    raise InvalidInput(
        f"Node {asked.node} of tree {asked.number} has a gain of {stored:.6g} in the model, "
        f"but of {low:.6g} to {high:.6g} with these rows: {_NOT_THE_ROWS}"
    )


def _penalties(asked: Asked, of_tree: TreeRows, node: Sums) -> list[tuple[float, list[str]]]:
    """Give the penalty that the gain may have beside l2, and what to say of it.

    Of symmetric trees there are two where categories of the whole tree need care: those of a level
    may be fewer, and the nodes that a level had are not all known.
    """
    settings = asked.settings.tree
    if not asked.n_category_bins or settings.moved_by:
        return [(0.0, [])]
    feature = int(asked.tree.feature[asked.node])
    n_categories = of_tree.n_categories(0 if settings.symmetric else asked.node, feature)
    if n_categories <= FEW_CATEGORIES:
        return [(0.0, [])]
    penalty = settings.category_penalty * node.hessians / of_tree.weight(asked.node)
    remark = (
        f"Among {n_categories} categories some look good by chance: to choose the split "
        f"{penalty:.4g} was added to l2 of the children, which made the gain "
        f"{2.0 * float(asked.tree.gain[asked.node]):.6g}."
    )
    careful = (penalty, [remark])
    return [careful, (0.0, [])] if settings.symmetric else [careful]


def _similarities(
    asked: Asked, sums: tuple[Sums, ...], penalty: float
) -> list[tuple[float, float]]:
    """Give the least and the largest that the trainer may have found, of node, left and right."""
    l2, l1 = asked.settings.tree.l2, asked.settings.tree.l1
    penalties = (0.0, penalty, penalty)
    return [s.similarities(l2 + extra, l1) for s, extra in zip(sums, penalties, strict=True)]


def _moved_similarities(
    asked: Asked, of_tree: TreeRows, sums: tuple[Sums, ...], outputs: tuple[float, ...]
) -> list[tuple[float, float]]:
    """Give the same for outputs that were moved, and are known as well as those they come from.

    Bounds and smoothing lead to a number between those of the nodes from the root down.
    """
    l2, l1 = asked.settings.tree.l2, asked.settings.tree.l1
    above = tuple(of_tree.sums(node, searched=True) for node in asked.path)
    off = max(high - low for low, high in (s.outputs(l2, l1) for s in (*above, *sums)))
    found = []
    for s, output in zip(sums, map(asked.newton, outputs), strict=True):
        score = similarity(s.residuals, s.hessians, l2, l1, output=output)
        stiffness = s.hessians + l2
        slope = 2.0 * (abs(s.residuals - stiffness * output) + l1)
        slack = 2.0 * abs(output) * s.slack[0] + output**2 * s.slack[1]
        slack += slope * off + stiffness * off**2
        found.append((score - slack, score + slack))
    return found
