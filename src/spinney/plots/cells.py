"""The plane, cut into cells in which a classifier of two features says the same."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from spinney.errors import InvalidInput, InvalidInputType
from spinney.model.tree import Tree
from spinney.typing import FloatArray, TableLike

_MOST = 250_000
"""Cells that are worth drawing exactly."""
_FINE = 200
"""Steps per axis where thresholds are not known, or too many."""


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """Points in the plane, and the table they came from."""

    points: FloatArray
    """(n_rows, 2)."""
    like: Callable[[FloatArray], TableLike]
    """Makes other points a table as the classifier knows it."""
    names: tuple[str, str]

    @classmethod
    def of(cls, X: TableLike, names: tuple[str, ...]) -> "Plane":
        """Read a table of two numeric columns."""
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        is_frame = isinstance(frame, nw.DataFrame)
        try:
            points = np.asarray(frame.to_numpy() if is_frame else X, dtype=np.float64)
        except (TypeError, ValueError) as problem:
            raise InvalidInputType(f"X cannot be drawn, as it is no numbers: {problem}.") from None
        if points.ndim != 2 or points.shape[1] != 2 or not len(points):
            raise InvalidInput(
                f"X has the shape {points.shape}: expected rows of two features, to be drawn in "
                "the plane. Fit on two columns of it."
            )
        if not np.isfinite(points).all():
            raise InvalidInput("X has missing or infinite values, which have no place in a plane.")
        return cls(points, _table_maker(frame) if is_frame else np.asarray, (names[0], names[1]))

    def limits(self) -> FloatArray:
        """Give the least and the largest of each feature, with some air; (2, 2)."""
        ends = np.stack([self.points.min(axis=0), self.points.max(axis=0)], axis=1)
        air = 0.07 * np.where(np.ptp(ends, axis=1) > 0.0, np.ptp(ends, axis=1), 1.0)
        padded: FloatArray = ends + air[:, np.newaxis] * [-1.0, 1.0]
        return padded


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Rectangles that fill the plane."""

    across: FloatArray
    """Where they end on the first feature."""
    up: FloatArray
    """Where they end on the second."""

    @classmethod
    def between(cls, trees: Iterable[Tree] | None, limits: FloatArray) -> "Cells":
        """Cut at the thresholds of trees; None: finely and evenly."""
        if trees is not None:
            cuts = _thresholds(trees)
            ends = [_edges(cut, *limit) for cut, limit in zip(cuts, limits, strict=True)]
            if (len(ends[0]) - 1) * (len(ends[1]) - 1) <= _MOST:
                return cls(*ends)
        return cls(*(np.linspace(low, high, _FINE + 1) for low, high in limits))

    def __len__(self) -> int:
        return (len(self.across) - 1) * (len(self.up) - 1)

    def centres(self) -> FloatArray:
        """Give a point inside each; (n_cells, 2), the first feature running fastest."""
        middles = ((edges[:-1] + edges[1:]) / 2.0 for edges in (self.across, self.up))
        return np.stack([axis.ravel() for axis in np.meshgrid(*middles)], axis=1)

    def draw(self, ax: Any, codes: Any, shades: FloatArray) -> None:
        """Fill each cell with the shade of its class."""
        pictured = shades[np.asarray(codes)].reshape(len(self.up) - 1, len(self.across) - 1, 3)
        many = len(self) > 2000  # as a picture in vector files, where each cell would be a path
        ax.pcolormesh(self.across, self.up, pictured, zorder=0, rasterized=many)


def _table_maker(frame: Any) -> Callable[[FloatArray], TableLike]:
    """Make tables of the same library and with the same names."""

    def like(points: FloatArray) -> TableLike:
        columns = dict(zip(frame.columns, points.T, strict=True))
        return nw.from_dict(columns, backend=frame.implementation).to_native()

    return like


def _thresholds(trees: Iterable[Tree]) -> tuple[FloatArray, FloatArray]:
    """Give where trees cut each of two features."""
    forest = list(trees)
    features = np.concatenate([tree.feature for tree in forest])
    cuts = np.concatenate([tree.threshold for tree in forest]).astype(np.float64)
    return cuts[features == 0], cuts[features == 1]


def _edges(cuts: FloatArray, low: float, high: float) -> FloatArray:
    inside = cuts[(cuts > low) & (cuts < high)]
    return np.unique(np.concatenate([[low, high], inside]))
