"""Penalised splines one feature at a time: the path of L2 boosting, and its degrees of freedom."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from spinney.ensembles.functional.components import Path, Rows
from spinney.ensembles.functional.smoothers import Smoother, smoother_of
from spinney.model.natural_splines import NaturalSplines
from spinney.progress import follow
from spinney.typing import AnyArray, FloatArray


@dataclass(slots=True, eq=False, kw_only=True)
class SplinePath(Path):
    """Rounds that add splines."""

    n_features: int
    splines: dict[int, NaturalSplines]
    """Of every feature that is not constant."""
    steps: list[FloatArray] = field(default_factory=list)
    """Coefficients of what each round adds."""

    def additions(self, X: FloatArray) -> Iterator[FloatArray]:
        """Give what each round adds to the prediction of rows."""
        values: dict[int, FloatArray] = {}
        for feature, step in zip(self.features, self.steps, strict=True):
            if feature not in values:
                values[feature] = self.splines[feature].values(np.eye(len(step)), X[:, feature])
            yield np.asarray(np.einsum("ij,j->i", values[feature], step))

    def model_arrays(self, n_rounds: int) -> dict[str, AnyArray]:
        """Give the arrays of the model after some rounds."""
        knots = [np.empty(0)] * self.n_features
        for feature, splines in self.splines.items():
            knots[feature] = splines.knots
        return {
            "feature": np.array(self.features[:n_rounds], np.int32),
            "coefficient": np.concatenate([np.empty(0), *self.steps[:n_rounds]]),
            "knot_start": np.append(0, np.cumsum([len(some) for some in knots])).astype(np.int64),
            "knot": np.concatenate(knots),
            "start": np.array([self.start]),
        }


class SplineColumns:
    """The smoothers of all features side by side, and residuals, scaled by the roots of weights.

    Of each row there are as many numbers as all splines have knots.
    """

    def __init__(self, rows: Rows, degrees: float) -> None:
        weights = rows.weights
        self.n_features = rows.X.shape[1]
        self.start = float((weights * rows.y).sum() / weights.sum())
        self.residuals = np.sqrt(weights) * (rows.y - self.start)
        self.smoothers: dict[int, Smoother] = {}
        units = []
        for feature in range(self.n_features):
            known = ~np.isnan(rows.X[:, feature])
            found = smoother_of(rows.X[known, feature], weights[known], degrees)
            if found is not None:
                self.smoothers[feature], of_known = found
                some = np.zeros((len(known), of_known.shape[1]), order="F")
                some[known] = of_known
                units.append(some.T)
        nothing = np.empty((0, len(weights)))
        self._units = np.concatenate([nothing, *units])
        self.shares = np.concatenate([[], *(one.shares for one in self.smoothers.values())])
        ends = np.cumsum([len(one.shares) for one in self.smoothers.values()]).tolist()
        starts = [0, *ends[:-1]]
        self.places = dict(zip(self.smoothers, map(slice, starts, ends), strict=True))

    def along(self, vector: FloatArray) -> FloatArray:
        """Give the product of every curve with a vector; without BLAS, whose sums vary."""
        return np.asarray(np.einsum("ij,j->i", self._units, vector))

    def best(self, products: FloatArray) -> tuple[int, float]:
        """Give the feature whose smoother leaves the least squares, and by how much less.

        Of the part c of residuals along a unit a smoother leaves (1 - share) c.
        """
        gains = self.shares * (2 - self.shares) * np.square(products)
        sums = [float(gains[place].sum()) for place in self.places.values()]
        chosen = int(np.argmax(sums))
        return list(self.places)[chosen], sums[chosen]

    def units(self, feature: int) -> FloatArray:
        """Give the curves of a feature; (n_curves, n_rows)."""
        return self._units[self.places[feature]]

    def grams(self, feature: int) -> FloatArray:
        """Give the products of the curves of a feature with all; (n_curves, n_all_curves)."""
        return np.array([self.along(unit) for unit in self.units(feature)])


class FittedPart:
    """The operator of the rounds so far, which maps the centred target to what they fit.

    With U the units of all features it is U C Uᵀ. A step of the smoother Q D Qᵀ, with Q among the
    units, makes the rows of C that belong to Q larger by rate * D (E - Qᵀ U C), E the rows of the
    identity: the trace is exact, without any matrix of the size of the rows. Features that were
    never chosen have no part in C.
    """

    def __init__(self) -> None:
        self._matrix = np.zeros((0, 0))
        self._places: dict[int, slice] = {}
        self._columns = np.zeros(0, np.int64)

    def let_in(self, feature: int, place: slice) -> None:
        """Make room for a feature whose units stand at a place among all."""
        before, n_curves = len(self._matrix), place.stop - place.start
        self._places[feature] = slice(before, before + n_curves)
        self._columns = np.append(self._columns, np.arange(place.start, place.stop))
        self._matrix = np.pad(self._matrix, (0, n_curves))

    def step(self, feature: int, grams: FloatArray, kept: FloatArray) -> float:
        """Take a step that keeps a share of each curve of a feature; give what the trace gains."""
        place, own = self._places[feature], grams[:, self._columns]
        change = -np.einsum("ij,jk->ik", own, self._matrix)
        change[:, place] += np.eye(len(own))
        change *= kept[:, np.newaxis]
        self._matrix[place] += change
        return float((change * own).sum())


def follow_splines(columns: SplineColumns, *, learning_rate: float, n_rounds: int) -> SplinePath:
    """Smooth the residuals by the feature that explains most, take part of it, and go on."""
    splines = {feature: one.splines for feature, one in columns.smoothers.items()}
    path = SplinePath(start=columns.start, n_features=columns.n_features, splines=splines)
    residuals, products = columns.residuals.copy(), columns.along(columns.residuals)
    squares = float(np.square(residuals).sum())
    limit = 1e-28 * squares
    path.sums_of_squares.append(squares)
    path.degrees.append(1.0)  # the mean
    grams: dict[int, FloatArray] = {}
    fitted = FittedPart()
    for _ in follow(range(n_rounds), n_rounds, "round"):
        feature, gain = columns.best(products) if splines else (0, 0.0)
        if not gain > limit:
            break
        place, smoother = columns.places[feature], columns.smoothers[feature]
        if feature not in grams:
            grams[feature] = columns.grams(feature)
            fitted.let_in(feature, place)
        kept = learning_rate * smoother.shares
        step = kept * products[place]
        products = products - np.einsum("i,ij->j", step, grams[feature])
        residuals -= np.einsum("i,ij->j", step, columns.units(feature))
        path.features.append(feature)
        path.steps.append(np.einsum("ij,j->i", smoother.coefficients, step))
        path.sums_of_squares.append(float(np.square(residuals).sum()))
        path.degrees.append(path.degrees[-1] + fitted.step(feature, grams[feature], kept))
    return path
