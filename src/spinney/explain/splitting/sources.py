"""What is known about a split: from the training rows, checked against the model, or from it."""

import math
from dataclasses import dataclass
from functools import partial

from spinney.ensembles.gradient.replay import RoundRows
from spinney.errors import InvalidInput
from spinney.explain.splitting.steps import Step, steps_of
from spinney.explain.splitting.sums import FEW_CATEGORIES, Asked, Sums, TreeRows, derived_sums
from spinney.theory.second_order import similarity

_NOT_THE_ROWS = (
    "X, y, sample_weight or a parameter are not those of the fit. Give what was given to fit, rows "
    "in the same order."
)

_ROUNDING = 1e-9
"""Values are multiplied with the learning rate, and divided by it here."""
_NOT_THE_GAIN = 1e-4
"""Of the similarities of children: more than the grid of the search takes from a gain."""
_NOISE = 1e-12
"""Of sums of a few products."""


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
    return Found(
        sums, scores, outputs, (remark, *_about_penalty(asked, scores), *_about_outputs(asked))
    )


def from_rows(asked: Asked, rows: RoundRows) -> Found:
    """Add up the training rows, and compare with everything the model stores."""
    of_tree = TreeRows(asked, rows)
    _check_counts(asked, of_tree)
    sums = tuple(of_tree.sums(node) for node in asked.nodes)
    by_newton = not asked.loss.has_order_statistic_leaves
    steps = steps_of(asked, of_tree.sums, of_tree.weight)
    outputs = tuple(asked.stored_output(node) for node in asked.nodes)
    agrees, remarks = ["rows", "weights"], _about_optima(asked) + _about_weight(asked)
    if by_newton:
        longest = asked.settings.tree.longest_step or math.inf
        cut = steps_of(asked, of_tree.sums, of_tree.weight, longest)
        outputs = _outputs(asked, outputs, cut)
        agrees.append("outputs")
        if [s.moved for s in cut] != [s.moved for s in steps]:
            remarks += [f"Newton steps are cut off at {longest:g}."]
    remarks += _about_moves(asked, steps, outputs)
    l2, l1 = asked.settings.tree.l2, asked.settings.tree.l1
    scores = tuple(
        similarity(s.residuals, s.hessians, l2, l1, output=w.moved if w.is_moved else None)
        for s, w in zip(sums, steps, strict=True)
    )
    if len(sums) > 1:
        remarks += _check_gain(asked, of_tree)
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
        moved_by = asked.settings.tree.moved_by
        remark = "Leaves have the exact optimum of this loss; inner nodes the mean of their leaves"
        return [remark + (f", from which {moved_by} may move both." if moved_by else ".")]
    if asked.by_formula:
        return ["leaf_steps='exact': outputs are the exact optima that Newton steps lead to."]
    return []


def _about_penalty(asked: Asked, scores: tuple[float, ...]) -> list[str]:
    """Tell of a penalty by what is left of the gain: the model does not know the categories."""
    stored = 2.0 * float(asked.tree.gain[asked.node])
    if len(scores) == 1 or not asked.n_category_bins:
        return []
    if abs(scores[1] + scores[2] - scores[0] - stored) <= _NOT_THE_GAIN * (scores[1] + scores[2]):
        return []
    why = "Among many categories some look good by chance"
    return [
        f"{why}: to choose the split l2 of the children grew, which made the gain {stored:.6g}."
    ]


def _about_moves(asked: Asked, steps: tuple[Step, ...], outputs: tuple[float, ...]) -> list[str]:
    if not any(step.is_moved for step in steps):
        return []
    names = asked.settings.tree.moved_by
    pairs = [(step.moved, output) for step, output in zip(steps, outputs, strict=True)]
    if all(math.isclose(w, output, rel_tol=1e-6, abs_tol=1e-12) for w, output in pairs):
        return [f"{names} moved outputs: similarities are those of the moved ones."]
    told = ", ".join(f"{w:.6g}" for w, _ in pairs)
    why = f"Splits are chosen by Newton steps, which {names} moved"
    return [f"{why}: similarities are those of steps of {told}."]


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


def _outputs(asked: Asked, stored: tuple[float, ...], steps: tuple[Step, ...]) -> tuple[float, ...]:
    """Give the outputs that these steps lead to; refuse rows that lead elsewhere."""
    slack = asked.output_step
    for node, output, step in zip(asked.nodes, stored, steps, strict=True):
        low, high = asked.final(step.moved - step.off), asked.final(step.moved + step.off)
        low, high = low - _ROUNDING * abs(low) - slack, high + _ROUNDING * abs(high) + slack
        if not low <= output <= high:
            raise InvalidInput(
                f"Node {node} of tree {asked.number} has an output of {output:.6g} in the model, "
                f"but of {low:.6g} with these rows: {_NOT_THE_ROWS}"
            )
    return tuple(asked.final(step.moved) for step in steps)


def _check_gain(asked: Asked, of_tree: TreeRows) -> list[str]:
    """Compare the gain, up to the grid that splits are searched on; tell of a penalty it has."""
    stored = 2.0 * float(asked.tree.gain[asked.node])
    sums_of = partial(of_tree.sums, searched=True)
    sums = tuple(map(sums_of, asked.nodes))
    for penalty, remarks in _penalties(asked, of_tree, sums[0]):
        (least, most), *children = (
            _moved_similarities(asked, sums, steps_of(asked, sums_of, of_tree.weight))
            if asked.settings.tree.moved_by
            else _similarities(asked, sums, penalty)
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
    asked: Asked, sums: tuple[Sums, ...], steps: tuple[Step, ...]
) -> list[tuple[float, float]]:
    """Give the same for steps that may have been moved."""
    l2, l1 = asked.settings.tree.l2, asked.settings.tree.l1
    found = []
    for s, step in zip(sums, steps, strict=True):
        w, stiffness = step.moved, s.hessians + l2
        score = similarity(s.residuals, s.hessians, l2, l1, output=w)
        slope = 2.0 * (abs(s.residuals - stiffness * w) + l1)
        slack = 2.0 * abs(w) * s.slack[0] + w**2 * s.slack[1]
        slack += slope * step.off + stiffness * step.off**2
        slack += _NOISE * abs(w) * (abs(s.residuals) + l1 + stiffness * abs(w))
        found.append((score - slack, score + slack))
    return found
