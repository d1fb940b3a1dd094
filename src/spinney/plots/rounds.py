"""Rounds of AdaBoost in the plane."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import InvalidInput, InvalidParameter
from spinney.model import TreeForest
from spinney.model.tree import Tree
from spinney.plots.boosters import read_distributions, read_rounds, read_trace, signed_weights
from spinney.plots.canvas import (
    COLOURS,
    INK,
    MARKERS,
    Axes,
    class_shades,
    legend_beside,
    pick,
    plain,
    several_axes,
)
from spinney.plots.cells import Cells, Plane
from spinney.theory.checks import label_array
from spinney.typing import AnyArray, BoolArray, FloatArray, IntArray, TableLike


def plot_adaboost_rounds(
    fitted: Any,
    X: TableLike,
    y: Any,
    rounds: Sequence[int] = (1, 2, 3),
    *,
    axes: Sequence[Axes] | AnyArray | None = None,
) -> AnyArray:
    """Draw what each round saw and answered, and what all rounds say together.

    In the panel of a round the area of a point is proportional to its weight, the background is the
    answer of the round, a line is the threshold of its stump, and points it gets wrong are ringed.
    The last panel has the sum of all rounds.

    Parameters
    ----------
    fitted : booster
        Fitted with ``store_weights=True``, on two features.
    X, y : table and labels
        The rows it was trained on.
    rounds : whole numbers
        Which rounds, 1 for the first.
    axes : matplotlib axes, optional
        Where to draw: one for each round, and one more; None for a new figure.

    Returns
    -------
    axes : array of matplotlib axes

    References
    ----------
    The ten points of ``spinney.datasets.make_toy10`` give the figure that opens the book of
    Schapire and Freund (2012), Boosting.

    Examples
    --------
    >>> from spinney import AdaBoostClassifier
    >>> from spinney.datasets import make_toy10
    >>> data = make_toy10()
    >>> fitted = AdaBoostClassifier(n_estimators=3, store_weights=True).fit(data.X, data.y)
    >>> axes = plot_adaboost_rounds(fitted, data.X, data.y)
    >>> len(axes), axes[-1].get_title()
    (4, 'sum of 3 rounds: error 0.00')
    """
    numbers, kept, trace = read_rounds(rounds), read_distributions(fitted), read_trace(fitted)
    scene = _Scene.of(fitted, X, y)
    _check_rounds(numbers, len(trace), len(scene.members))
    if kept.shape[1] != len(scene.codes):
        raise InvalidInput(
            f"X has {len(scene.codes)} rows, but the booster kept weights of {kept.shape[1]}: "
            "expected the rows it was fitted to, without those of weight 0."
        )
    row = several_axes(axes, len(numbers) + 1)
    for ax, number in zip(row, numbers, strict=False):
        scene.draw_round(ax, number, kept[number - 1])
        error, alpha = trace.errors[number - 1], trace.alphas[number - 1]
        title = rf"round {number}: $\varepsilon$ = {error:.2f}, $\alpha$ = {alpha:.2f}"
        ax.set_title(title, fontsize="medium")
    scene.draw_sum(row[-1], "1 round" if len(trace) == 1 else f"{len(trace)} rounds")
    row[0].set_ylabel(plain(scene.plane.names[1]))
    legend_beside(row[-1])
    return row


@dataclass(frozen=True, slots=True, eq=False)
class _Scene:
    """What all panels show."""

    fitted: Any
    plane: Plane
    codes: IntArray
    """Classes of the points."""
    members: Sequence[Any]
    trees: Sequence[Tree] | None
    """The members as trees; None: they are no trees of ours."""

    @classmethod
    def of(cls, fitted: Any, X: TableLike, y: Any) -> "_Scene":
        model = fitted.model_
        plane = Plane.of(X, (*model.schema.names, "", ""))
        labels = label_array(y, len(plane.points))
        fitted.margins(X, y)  # or say which label is not known
        codes = np.searchsorted(fitted.classes_, labels)
        trees = list(model) if isinstance(model, TreeForest) else None
        return cls(fitted, plane, codes, fitted.estimators_, trees)

    def draw_round(self, ax: Axes, number: int, distribution: FloatArray) -> None:
        """Show a member's answers, and the points by their weights."""
        one = None if self.trees is None else self.trees[number - 1 : number]
        cells = Cells.between(one, self.plane.limits())
        cells.draw(
            ax, self._answers(number, cells.centres()), class_shades(len(self.fitted.classes_))
        )
        if one is not None and len(one[0]) == 3:  # a root and two leaves
            line = ax.axvline if one[0].feature[0] == 0 else ax.axhline
            line(float(one[0].threshold[0]), color=INK, linewidth=1.4, zorder=1)
        wrong = self._answers(number, self.plane.points) != self.codes
        self._draw_points(ax, len(distribution) * distribution, wrong)

    def draw_sum(self, ax: Axes, what: str) -> None:
        """Show what the whole vote says."""
        cells = Cells.between(self.trees, self.plane.limits())
        cells.draw(ax, self._voted(cells.centres()), class_shades(len(self.fitted.classes_)))
        wrong = self._voted(self.plane.points) != self.codes
        self._draw_points(ax, np.ones(len(wrong)), wrong)
        ax.set_title(f"sum of {what}: error {wrong.mean():.2f}", fontsize="medium")

    def _voted(self, points: FloatArray) -> IntArray:
        labels = self.fitted.predict(self.plane.like(points))
        codes: IntArray = np.searchsorted(self.fitted.classes_, labels)
        return codes

    def _answers(self, number: int, points: FloatArray) -> IntArray:
        """Give the classes that a member says; the others where it was turned round."""
        said = np.asarray(self.members[number - 1].predict(self.plane.like(points)))
        classes = self.fitted.classes_
        if not hasattr(self.members[number - 1], "classes_"):  # numbers: scores of classes
            codes = said.argmax(axis=1) if said.ndim == 2 else (said > 0.0).astype(np.int64)
        else:
            codes = np.searchsorted(classes, said)
        turned = len(classes) == 2 and signed_weights(self.fitted)[number - 1] < 0.0
        return 1 - codes if turned else codes

    def _draw_points(self, ax: Axes, sizes: FloatArray, wrong: BoolArray) -> None:
        area = min(80.0, max(8.0, 2400.0 / len(sizes)))
        for code, label in enumerate(self.fitted.classes_):
            of_class = self.codes == code
            ax.scatter(
                *self.plane.points[of_class].T,
                s=area * sizes[of_class],
                marker=pick(MARKERS, code),
                color=pick(COLOURS, code),
                edgecolors=np.where(wrong[of_class], INK, "white"),
                linewidths=np.where(wrong[of_class], 1.6, 0.5),
                label=plain(f"class {label}"),
                zorder=2,
            )
        (left, right), (low, high) = self.plane.limits()
        ax.set(xlim=(left, right), ylim=(low, high), xlabel=plain(self.plane.names[0]))


def _check_rounds(numbers: list[int], n_rounds: int, n_members: int) -> None:
    if max(numbers) > n_rounds:
        raise InvalidParameter(
            f"rounds holds {max(numbers)}, but the booster was fitted in {n_rounds}: expected "
            f"numbers from 1 to {n_rounds}."
        )
    if n_members != n_rounds:
        raise InvalidInput(
            f"The booster has {n_members} members of {n_rounds} rounds: expected one member of "
            "each round. Boosters that add one for each class, or drop some, cannot be drawn."
        )
