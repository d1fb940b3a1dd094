"""One split of a boosted tree, step by step: similarity, gain and outputs."""

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from spinney.ensembles.gradient.boosting import GradientBoosting
from spinney.ensembles.gradient.replay import replay_round, settings_of_fit
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.explain.reading import forest_of, model_of, raw_output_names
from spinney.explain.splitting.sources import Found, from_model, from_rows
from spinney.explain.splitting.sums import Asked
from spinney.explain.splitting.words import decision_of, question_of
from spinney.losses import PointLoss
from spinney.model import TreeForest
from spinney.model.derived import DerivedForest
from spinney.results import Result, format_table
from spinney.theory.second_order import leaf_output, similarity
from spinney.typing import TableLike

_ROLES = ("node", "left", "right")


@dataclass(frozen=True, slots=True)
class SplitNode:
    """The numbers of one node; None where they are not known."""

    node: int
    role: str
    """ "node", "left" or "right"."""
    rows: int
    weight: float
    """Sum of the weights of its rows."""
    residuals: float | None
    """Sum of the negative gradients of its rows, times their weights."""
    hessians: float | None
    """Sum of their second derivatives, times their weights."""
    similarity: float | None
    output: float
    """What it adds to scores, before the learning rate."""
    value: float
    """The same after the learning rate, as the model stores it."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SplitExplanation(Result):
    """How a node of a boosted tree came to its split and its outputs; prints as a derivation."""

    tree: int
    round_number: int
    """From 0, as trees and nodes."""
    output_name: str
    """The raw score the tree adds to."""
    loss: str
    question: str | None
    """What the node asks; a row goes left if it is so. None: it is a leaf."""
    missing_goes: str | None
    """"left" or "right"."""
    nodes: tuple[SplitNode, ...]
    """The node, and its children if it has any."""
    gain: float | None
    """Similarity of the left, plus of the right, minus of the node; None if not known."""
    loss_removed: float | None
    """What the model stores: half of the gain that the trainer saw."""
    decision: tuple[str, ...]
    """Why the split was made, and why it was kept."""
    learning_rate: float
    l2: float
    l1: float
    from_rows: bool
    """Whether sums are those of the training rows; otherwise they follow from the model."""
    remarks: tuple[str, ...]

    @property
    def node(self) -> SplitNode:
        """The node itself."""
        return self.nodes[0]

    @property
    def left(self) -> SplitNode | None:
        """Its left child; None: it is a leaf."""
        return self.nodes[1] if len(self.nodes) > 1 else None

    @property
    def right(self) -> SplitNode | None:
        """Its right child; None: it is a leaf."""
        return self.nodes[2] if len(self.nodes) > 1 else None

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give all numbers of the node and its children."""
        names = [field.name for field in fields(SplitNode)]
        return {name: [getattr(node, name) for node in self.nodes] for name in names}

    def title(self) -> str:
        """Say which node it is and what it asks."""
        place = f"Tree {self.tree} (round {self.round_number + 1}, {self.output_name})"
        if self.question is None:
            return f"{place}, node {self.node.node}: a leaf, {self.node.rows} rows"
        return f"{place}, node {self.node.node}: {self.question}?"

    def __str__(self) -> str:
        lines = [self.title()]
        if self.question is not None:
            lines += [*self._ways(), *self._gain_lines()]
        lines += [*self._output_lines(), *self.decision]
        return "\n".join([*lines, *(f"({remark})" for remark in self.remarks)])

    __repr__ = __str__

    def _ways(self) -> list[str]:
        _, left, right = self.nodes
        missing = left if self.missing_goes == "left" else right
        named: dict[str, list[Any]] = {
            "": [f"node {self.node.node}", f"left, {left.node}", f"right, {right.node}"],
            "rows": [node.rows for node in self.nodes],
            "sum r": [node.residuals for node in self.nodes],
            "sum h": [node.hessians for node in self.nodes],
        }
        return [
            f"yes: node {left.node}; no: node {right.node}; missing: node {missing.node}",
            f"r: negative gradients of the {self.loss} loss, h: its second derivatives",
            format_table(named),
        ]

    def _gain_lines(self) -> list[str]:
        if self.gain is None:
            return []
        pull = "max(|sum r| - l1, 0)²" if self.l1 else "(sum r)²"
        lines = [f"similarity = {pull} / (sum h + l2)"]
        for node in self.nodes:
            line = f"  node {node.node}: {self._fraction(node, power='²')}"
            best = similarity(node.residuals, node.hessians, self.l2, self.l1)
            found = node.similarity or 0.0
            lines.append(f"{line} = {_n(best)}" + self._unless_same(best, found))
        parent, left, right = (_n(node.similarity) for node in self.nodes)
        return [*lines, f"gain = {left} + {right} - {parent} = {_n(self.gain)}"]

    def _output_lines(self) -> list[str]:
        pull = "sum r drawn to 0 by l1" if self.l1 else "sum r"
        lines = [f"output = {pull} / (sum h + l2), then times the learning rate"]
        for node in self.nodes:
            text = f"  node {node.node}: "
            if node.residuals is not None:
                best = leaf_output(node.residuals, node.hessians, self.l2, self.l1)
                text += f"{self._fraction(node)} = {_n(best)}"
                text += self._unless_same(best, node.output)
            else:
                text += _n(node.output)
            rate = f"{_n(self.learning_rate)} * {_n(node.output, sign=True)}"
            lines.append(f"{text}; {rate} = {_n(node.value)}")
        return lines

    def _fraction(self, node: SplitNode, *, power: str = "") -> str:
        residuals = node.residuals or 0.0
        top = _n(residuals, sign=bool(power)) + power
        if self.l1:
            sign = "-" if residuals < 0.0 and not power else ""
            top = f"{sign}max({_n(abs(residuals))} - {_n(self.l1)}, 0){power}"
        return f"{top} / ({_n(node.hessians)} + {_n(self.l2)})"

    def _unless_same(self, best: float, found: float) -> str:
        is_same = math.isclose(best, found, rel_tol=1e-6, abs_tol=1e-12)
        return "" if is_same else f", but as it is used {_n(found)}"


def _n(number: float | None, *, sign: bool = False) -> str:
    """Write a number; ``sign``: negative ones in brackets."""
    text = f"{(number or 0.0):.6g}"
    return f"({text})" if sign and text.startswith("-") else text


def explain_split(
    fitted: Any,
    tree: int,
    node: int,
    X: TableLike = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
) -> SplitExplanation:
    """Take one split of gradient boosting apart: similarities, gain, outputs, and what decided.

    A boosted tree is grown on residuals r, the negative gradients of the loss at the scores of the
    trees before it, and on second derivatives h. A node with these rows would output
    ``sum r / (sum h + l2)``, which removes half of ``(sum r)² / (sum h + l2)`` from the loss: its
    similarity. The gain of a split is the similarity of both children minus that of the node.

    Parameters
    ----------
    fitted : estimator
        A fitted ``GradientBoosting*`` or ``HistGradientBoosting*`` estimator.
    tree : int
        From 0; with more than two classes every round adds one for each.
    node : int
        From 0, the root; the left child of node i is node i + 1.
    X, y, sample_weight : optional
        What was given to ``fit``. With them sums are taken over the training rows, and compared
        with all that the model stores; rows that are not those of the fit are refused. Rows that
        were held out for early stopping or not drawn (``subsample``) are found by the seed.
        Without them sums are worked out from what the model stores, where that determines them.

    Returns
    -------
    SplitExplanation
        Printed, a derivation with all its numbers.

    Notes
    -----
    A model stores of a node the number of its rows, the sum of their weights (not of h) and its
    output times the learning rate; of a split the loss it removes, half of the gain. What XGBoost
    calls gamma is compared with the gain: with ``tree_method="exact"`` it is twice ``prune_gain``,
    with the others twice ``min_split_gain``; with ``growth="symmetric"`` both are compared with
    the sum over a level. Where ``max_delta_step``, ``path_smoothing`` or ``monotonic_cst`` move
    outputs, gains are those of Newton steps that these have moved: with rows they are worked out
    from the root down, and without them only the stored gain is known. From the outputs of three
    nodes and the gain the sums of r and h follow, as exact as the gain, which the trainer computes
    from rounded derivatives: 13 bits of each where there are more than 512 rows and h differs, 23
    where it does not, and 29 for fewer rows.

    Examples
    --------
    >>> from spinney import GradientBoostingRegressor
    >>> X, y = [[10], [20], [25], [35]], [-10, 7, 8, -7]
    >>> fitted = GradientBoostingRegressor(
    ...     max_iter=1, learning_rate=0.3, max_depth=2, min_samples_leaf=1
    ... ).fit(X, y)
    >>> print(explain_split(fitted, tree=0, node=2, X=X, y=y))
    Tree 0 (round 1, prediction), node 2: x0 <= 30?
    yes: node 3; no: node 4; missing: node 3
    r: negative gradients of the squared loss, h: its second derivatives
              rows  sum r  sum h
    node 2       3    9.5      3
    left, 3      2     16      2
    right, 4     1   -6.5      1
    similarity = (sum r)² / (sum h + l2)
      node 2: 9.5² / (3 + 0) = 30.0833
      node 3: 16² / (2 + 0) = 128
      node 4: (-6.5)² / (1 + 0) = 42.25
    gain = 128 + 42.25 - 30.0833 = 140.167
    output = sum r / (sum h + l2), then times the learning rate
      node 2: 9.5 / (3 + 0) = 3.16667; 0.3 * 3.16667 = 0.95
      node 3: 16 / (2 + 0) = 8; 0.3 * 8 = 2.4
      node 4: -6.5 / (1 + 0) = -6.5; 0.3 * (-6.5) = -1.95
    gain - 2 * min_split_gain = 140.167 - 0 = 140.167 > 0: the split was made
    (Compared with what the model stores, and equal: rows, weights, outputs, gain.)
    """
    asked = _asked(fitted, tree, node)
    if X is None or y is None:
        if X is not None or y is not None or sample_weight is not None:
            raise InvalidInput(
                "X, y and sample_weight belong together: give X and y, and sample_weight if the "
                "fit had it; or none of them."
            )
        return _explanation(asked, from_model(asked), from_rows=False)
    n_outputs = len(asked.forest.arrays["baseline"])
    rows = replay_round(fitted, X, y, sample_weight, asked.number // n_outputs)
    return _explanation(asked, from_rows(asked, rows), from_rows=True)


def _asked(fitted: Any, tree: Any, node: Any) -> Asked:
    forest = _trees_of(fitted)
    if forest.arrays["values"].shape[1] > 1 and isinstance(fitted, GradientBoosting):
        raise InvalidInput(
            f"The trees of this {type(fitted).__name__} are of {forest.arrays['values'].shape[1]} "
            "outputs together, and explain_split takes splits of one output apart. Fit an "
            "estimator for one of them."
        )
    if not isinstance(fitted, GradientBoosting):
        raise InvalidInputType(
            f"explain_split takes splits of gradient boosting apart, and a {type(fitted).__name__} "
            "was not grown on gradients, or does not know its learning rate and penalties. Pass a "
            "fitted GradientBoosting or HistGradientBoosting estimator."
        )
    number = _place(tree, "tree", len(forest), type(fitted).__name__)
    chosen = forest[number]
    loss, settings = settings_of_fit(fitted)
    model = model_of(fitted)
    if isinstance(model, DerivedForest):  # constraints are laid out over what trees split on
        signs = model.derivation.signs(settings.tree.monotone)
        settings = replace(settings, tree=replace(settings.tree, monotone=signs))
    place = _place(node, "node", len(chosen), f"Tree {number}")
    return Asked(forest, number, place, loss, settings, chosen)


def _trees_of(fitted: Any) -> TreeForest:
    """Give the trees; derived features are theirs, unless training rows saw others of them."""
    model = model_of(fitted)
    if isinstance(model, DerivedForest) and all(f.table is None for f in model.derivation.features):
        return model.forest
    return forest_of(fitted)


def _place(given: Any, name: str, n: int, owner: str) -> int:
    is_whole = isinstance(given, numbers.Integral) and not isinstance(given, bool)
    if is_whole and 0 <= int(given) < n:
        return int(given)
    raise InvalidParameter(
        f"{name}={given!r}: {owner} has {n} {name}s. Give a whole number from 0 to {n - 1}."
    )


def _explanation(asked: Asked, found: Found, *, from_rows: bool) -> SplitExplanation:
    is_leaf = len(asked.nodes) == 1
    scores, stored = found.similarities, float(asked.tree.gain[asked.node])
    gain = None
    if not is_leaf and None not in scores:
        node, left, right = (score or 0.0 for score in scores)
        gain = left + right - node
    settings, n_outputs = asked.settings, len(asked.forest.arrays["baseline"])
    goes_left = bool(asked.tree.missing_left[asked.node])
    return SplitExplanation(
        tree=asked.number,
        round_number=asked.number // n_outputs,
        output_name=raw_output_names(asked.forest)[asked.number % n_outputs],
        loss=asked.loss.name if isinstance(asked.loss, PointLoss) else "multinomial",
        question=None if is_leaf else question_of(asked),
        missing_goes=None if is_leaf else ("left" if goes_left else "right"),
        nodes=_nodes(asked, found),
        gain=gain,
        loss_removed=None if is_leaf else stored,
        decision=() if is_leaf else decision_of(asked, 2.0 * stored),
        learning_rate=settings.learning_rate,
        l2=settings.tree.l2,
        l1=settings.tree.l1,
        from_rows=from_rows,
        remarks=found.remarks,
    )


def _nodes(asked: Asked, found: Found) -> tuple[SplitNode, ...]:
    made = []
    for place, node in enumerate(asked.nodes):
        sums = found.sums[place]
        made.append(
            SplitNode(
                node=node,
                role=_ROLES[place],
                rows=int(asked.tree.count[node]),
                weight=float(asked.tree.weight[node]),
                residuals=None if sums is None else sums.residuals,
                hessians=None if sums is None else sums.hessians,
                similarity=found.similarities[place],
                output=found.outputs[place],
                value=float(asked.tree.values[node, 0]),
            )
        )
    return tuple(made)
