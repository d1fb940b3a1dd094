"""The sums behind a node of a boosted tree: over the training rows, or from what a model stores.

A model stores of every node its rows (``count``), the sum of their weights (``weight``, not that of
second derivatives), what it adds to scores (``values``, the learning rate included), and of every
split the loss it removes (``gain``, half of the difference of similarities). The trainer sums on a
grid of integers: fine for values, coarser for the search of splits.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spinney.data.binning import native_columns
from spinney.ensembles.gradient.replay import RoundRows
from spinney.ensembles.gradient.rounds import RoundSettings
from spinney.losses import Loss
from spinney.model import Tree, TreeForest
from spinney.theory.second_order import leaf_output, similarity
from spinney.typing import AnyArray, FloatArray

FEW_CATEGORIES = 4
"""With more in a node, a split by categories is chosen under a penalty of its own."""
_FEW_ROWS = 512.0
_FEW_FEATURES = 256
_SUM_BITS = 50
_NOISE = 1e-12


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over the rows of a node, and by how much the trainer's may be off."""

    residuals: float
    hessians: float
    slack: tuple[float, float] = (0.0, 0.0)

    def outputs(self, l2: float, l1: float) -> tuple[float, float]:
        """Give the least and the largest output the trainer may have found."""
        return self._extremes(lambda r, h: leaf_output(r, h, l2, l1))

    def similarities(self, l2: float, l1: float) -> tuple[float, float]:
        """Give the least and the largest similarity the trainer may have found."""
        return self._extremes(lambda r, h: similarity(r, h, l2, l1))

    def _extremes(self, formula: Callable[[float, float], float]) -> tuple[float, float]:
        """Both formulas rise or fall with either sum, on each side of a residual of 0."""
        off_r, off_h = self.slack
        first = [self.residuals - off_r, self.residuals + off_r]
        if first[0] < 0.0 < first[1]:
            first.append(0.0)
        second = [max(self.hessians - off_h, 0.0), self.hessians + off_h]
        found = [formula(r, h) for r, h in itertools.product(first, second)]
        noise = _NOISE * max(map(abs, found))
        return min(found) - noise, max(found) + noise


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """The node that is asked about, and how its tree was grown."""

    forest: TreeForest
    number: int
    """Of the tree."""
    node: int
    loss: Loss
    settings: RoundSettings
    tree: Tree

    @property
    def nodes(self) -> tuple[int, ...]:
        """The node and, unless it is a leaf, its children."""
        right = int(self.tree.right[self.node])
        return (self.node,) if right < 0 else (self.node, self.node + 1, right)

    @property
    def path(self) -> tuple[int, ...]:
        """The nodes above the node, from the root on."""
        right, above, at = self.tree.right, [], 0
        while at != self.node:
            above.append(at)
            at = int(right[at]) if self.node >= right[at] else at + 1
        return tuple(above)

    @property
    def by_formula(self) -> bool:
        """Whether outputs are exact optima that follow from Newton's steps."""
        return self.settings.exact_steps and self.loss.has_exact_steps

    def stored_output(self, node: int) -> float:
        """Give what the model stores of a node, without the learning rate."""
        return float(self.tree.values[node, 0]) / self.settings.learning_rate

    @property
    def output_step(self) -> float:
        """How far outputs may be from the optimum because values of trees lie on a grid.

        The lowest bit that any value has is no finer than the grid.
        """
        values = self.forest.arrays["values"]
        if self.settings.dropout.share == 0.0 or not values.any():
            return 0.0
        mantissas, exponents = np.frexp(values[values != 0.0])
        whole = np.abs(np.ldexp(mantissas, 53)).astype(np.int64)
        lowest = np.ldexp((whole & -whole).astype(np.float64), exponents - 53)
        return float(lowest.min()) / self.settings.learning_rate

    def final(self, step: float) -> float:
        """Make an output of a step."""
        if not self.by_formula:
            return step
        most = self.settings.tree.max_step or math.inf
        return min(max(float(self.loss.exact_steps(np.array([step]))[0]), -most), most)

    def newton(self, output: float) -> float:
        """Take ``final`` back; NaN where that is not possible."""
        return float(self.loss.newton_steps(np.array([output]))[0]) if self.by_formula else output

    @property
    def has_cut_off(self) -> bool:
        """Whether one of the Newton steps may have been longer than any that is believed."""
        longest = self.settings.tree.longest_step
        outputs = [abs(self.stored_output(node)) for node in self.nodes]
        return longest > 0.0 and max(outputs) > longest * (1.0 - 1e-9)

    @property
    def n_category_bins(self) -> int:
        """Of the feature the node looks at, as the model tells its categories apart."""
        feature = int(self.tree.feature[self.node])
        if feature < 0 or not self.forest.arrays["categorical"][feature]:
            return 0
        return len(set(category_bins(self.forest, feature).tolist()))


def category_bins(forest: TreeForest, feature: int) -> AnyArray:
    """Give the bin of each category of a feature."""
    start, end = forest.arrays["category_start"][feature : feature + 2]
    return forest.arrays["category_bins"][start:end]


class TreeRows:
    """The rows that a tree was grown on, with the derivatives it was grown from."""

    def __init__(self, asked: Asked, rows: RoundRows) -> None:
        output = int(asked.forest.arrays["tree_output"][asked.number])
        self._rows, self._asked = rows, asked
        self._factors = np.ones(len(rows.repeats)) if rows.factors is None else rows.factors
        self._gradients = rows.gradients[output] * self._factors
        given = 1.0 if rows.hessians is None else rows.hessians[output]
        self._hessians = given * self._factors
        alone = asked.forest[asked.number : asked.number + 1]
        columns = native_columns(rows.table)
        n_threads = asked.settings.n_threads
        self._leaves = np.asarray(alone.native.leaf_ids(columns, n_threads))[:, 0]

    def count(self, node: int) -> int:
        """How many rows reach the node."""
        return int(np.count_nonzero(self._inside(node)))

    def weight(self, node: int) -> float:
        """Sum of the weights that count for the size of leaves."""
        return math.fsum(self._rows.counted[self._inside(node)])

    def sums(self, node: int, *, searched: bool = False) -> Sums:
        """Add up the rows of a node; ``searched``: with the slack of the search of splits."""
        inside = self._inside(node)
        repeats = self._rows.repeats[inside]
        residuals, hessians = -self._gradients[inside] * repeats, self._hessians[inside] * repeats
        n = float(repeats.sum())
        step_r, step_h = self._steps(searched=searched)
        # Products with factors are rounded to 32 bits, once each factor and once the product.
        off = 0.0 if self._rows.factors is None else 2.0**-23
        slack = (
            n * step_r + off * float(np.abs(residuals).sum()),
            n * step_h + off * float(hessians.sum()),
        )
        return Sums(math.fsum(residuals) + 0.0, math.fsum(hessians), slack)  # no -0.0

    def n_categories(self, node: int, feature: int) -> int:
        """How many categories of a feature the rows of a node have, missing ones being one."""
        codes = self._rows.table.columns[feature].dense(len(self._leaves))[self._inside(node)]
        bins = np.append(category_bins(self._asked.forest, feature).astype(np.int64), -1)
        return len(np.unique(bins[codes]))

    def _inside(self, node: int) -> AnyArray:
        right, last = self._asked.tree.right, node
        while right[last] >= 0:
            last = int(right[last])
        return (self._leaves >= node) & (self._leaves <= last)

    def _steps(self, *, searched: bool) -> tuple[float, float]:
        """Give the steps of the trainer's grids: no number is off by more than one.

        Of few rows it takes 29 bits for gradients and 30 for hessians in the search, of more rows,
        or where features are very many, 13 each, or 23 for gradients where all hessians are 1; for
        values whatever leaves 50 for sums.
        """
        n = float(self._rows.repeats.sum())
        room = _SUM_BITS - math.ceil(math.log2(n + 1.0))
        has_hessians = self._rows.hessians is not None or self._rows.factors is not None
        bits = room, room
        if searched:
            many = (13, 13) if has_hessians else (23, 13)
            is_large = n > _FEW_ROWS or len(self._asked.forest.schema.names) > _FEW_FEATURES
            bits = many if is_large else (29, 30)
        step_r = _step(self._gradients, min(bits[0], room))
        return step_r, _step(self._hessians, min(bits[1], room)) if has_hessians else 0.0


def _step(numbers: FloatArray, bits: int) -> float:
    _, exponent = math.frexp(float(np.abs(numbers).max()))
    return math.ldexp(1.0, exponent - bits)


def derived_sums(asked: Asked) -> tuple[tuple[Sums, ...] | None, str]:
    """Work the sums out from what the model stores of a node and its children, or of a parent.

    With outputs w = R / (H + l2) of a node and its children there are four unknown sums, those of
    the children, and four equations: the outputs of the three, and the gain. They are linear. Where
    all second derivatives are 1, H is the weight.

    Returns
    -------
    sums : as many as ``asked.nodes``; None where they are not determined
    reason : why not
    """
    if asked.loss.has_order_statistic_leaves:
        return None, "the outputs of this loss are no Newton steps"
    if asked.settings.tree.moved_by:
        return None, f"{asked.settings.tree.moved_by} may have moved outputs"
    if asked.tree.right[asked.node] < 0:
        return _of_leaf(asked)
    outputs = [asked.newton(asked.stored_output(node)) for node in asked.nodes]
    if asked.has_cut_off or not np.isfinite(outputs).all():
        return None, "a step was cut off"
    if asked.loss.has_constant_hessian:
        found = _by_weights(asked, outputs)
        if found is not None:
            return found, ""
    if asked.n_category_bins + 1 > FEW_CATEGORIES:
        return None, "the gain of a split by many categories has a penalty of its own"
    return _solved(asked, outputs)


def _of_leaf(asked: Asked) -> tuple[tuple[Sums, ...] | None, str]:
    """Look at the split above a leaf, and take what it says of this side."""
    tree, leaf = asked.tree, asked.node
    parents = [p for p in range(len(tree)) if tree.right[p] >= 0 and leaf in (p + 1, tree.right[p])]
    if not parents:
        return None, "a tree of one leaf stores its output alone"
    above = Asked(asked.forest, asked.number, parents[0], asked.loss, asked.settings, tree)
    sums, reason = derived_sums(above)
    return None if sums is None else (sums[above.nodes.index(leaf)],), reason


def _by_weights(asked: Asked, outputs: list[float]) -> tuple[Sums, ...] | None:
    """Where H is the weight, R follows from the output; None if H is something else."""
    l2, l1 = asked.settings.tree.l2, asked.settings.tree.l1
    hessians = [float(asked.tree.weight[node]) for node in asked.nodes]
    pulls = [
        math.nan if l1 > 0.0 and w == 0.0 else w * (h + l2) + math.copysign(l1, w) * (w != 0.0)
        for w, h in zip(outputs, hessians, strict=True)
    ]
    unknown = [place for place, pull in enumerate(pulls) if math.isnan(pull)]
    if len(unknown) > 1:
        return None
    node, left, right = pulls
    if unknown:
        pulls = [
            [left + right, left, right],
            [node, node - right, right],
            [node, left, node - left],
        ][unknown[0]]
    sums = tuple(Sums(r + 0.0, h) for r, h in zip(pulls, hessians, strict=True))
    if not asked.settings.leaves_count_rows:
        return sums
    # There the weight is the number of rows unless weights are whole: the gain tells.
    seen, above = (
        2.0 * float(asked.tree.gain[asked.node]),
        similarity(pulls[0], hessians[0], l2, l1),
    )
    penalties = (0.0, asked.settings.tree.category_penalty if asked.n_category_bins else 0.0)
    for penalty in penalties:
        below = [similarity(s.residuals, s.hessians, l2 + penalty, l1) for s in sums[1:]]
        if abs(sum(below) - above - seen) <= 1e-4 * sum(below):
            return sums
    return None


def _solved(asked: Asked, outputs: list[float]) -> tuple[tuple[Sums, ...] | None, str]:
    l2, l1 = asked.settings.tree.l2, asked.settings.tree.l1
    if l1 > 0.0 and 0.0 in outputs:
        return None, "l1_regularization made an output 0"
    w, w_left, w_right = outputs
    shift, shift_left, shift_right = (math.copysign(l1, output) for output in outputs)
    matrix = [[w - w_left, w - w_right], [w_left**2 - w**2, w_right**2 - w**2]]
    seen = 2.0 * float(asked.tree.gain[asked.node])
    known = [
        l2 * (w_left + w_right - w) + shift_left + shift_right - shift,
        seen - l2 * (w_left**2 + w_right**2 - w**2),
    ]
    try:
        left, right = np.linalg.solve(matrix, known).tolist()
    except np.linalg.LinAlgError:
        return None, "two of the outputs are equal"
    if not (left > 0.0 and right > 0.0):
        return None, "rounding of the stored gain outweighs it"
    hessians = (left + right, left, right)
    shifts = (shift, shift_left, shift_right)
    return (
        tuple(
            Sums(output * (h + l2) + extra + 0.0, h)
            for output, h, extra in zip(outputs, hessians, shifts, strict=True)
        ),
        "",
    )
