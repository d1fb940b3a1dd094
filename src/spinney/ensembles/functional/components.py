"""Least squares one feature at a time: the path of L2 boosting, and its degrees of freedom."""

import abc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from spinney.progress import follow
from spinney.typing import AnyArray, BoolArray, FloatArray

Fold: TypeAlias = tuple[AnyArray, AnyArray]
"""Numbers of the rows that train, and of those that are left out."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What is fitted to what."""

    X: FloatArray
    """(n_rows, n_features); NaN where a value is missing."""
    y: FloatArray
    weights: FloatArray
    """(n_rows,), positive."""

    def take(self, rows: AnyArray) -> "Rows":
        """Choose rows."""
        return Rows(self.X[rows], self.y[rows], self.weights[rows])


@dataclass(slots=True, eq=False, kw_only=True)
class Path(abc.ABC):
    """What each round did, and how well it fits."""

    start: float
    """Weighted mean of the target."""
    features: list[int] = field(default_factory=list)
    sums_of_squares: list[float] = field(default_factory=list)
    """Of residuals, before the first round and after each."""
    degrees: list[float] = field(default_factory=list)
    """Trace of the operator that maps the target to what is fitted, likewise."""

    @abc.abstractmethod
    def additions(self, X: FloatArray) -> Iterator[FloatArray]:
        """Give what each round adds to the prediction of rows."""

    @abc.abstractmethod
    def model_arrays(self, n_rounds: int) -> dict[str, AnyArray]:
        """Give the arrays of the model after some rounds."""


@dataclass(slots=True, eq=False, kw_only=True)
class LinePath(Path):
    """Rounds that add lines."""

    centres: FloatArray
    steps: list[float] = field(default_factory=list)
    """What each round adds to the coefficient of its feature."""

    def additions(self, X: FloatArray) -> Iterator[FloatArray]:
        """Give what each round adds to the prediction of rows."""
        there = np.where(np.isnan(X), 0.0, X - self.centres)
        for feature, step in zip(self.features, self.steps, strict=True):
            yield step * there[:, feature]

    def model_arrays(self, n_rounds: int) -> dict[str, AnyArray]:
        """Give the arrays of the model after some rounds."""
        return {
            "feature": np.array(self.features[:n_rounds], np.int32),
            "step": np.array(self.steps[:n_rounds], np.float64),
            "centre": self.centres,
            "start": np.array([self.start]),
        }


class Columns:
    """Features and residuals scaled by the roots of weights, so that sums need none."""

    def __init__(self, rows: Rows) -> None:
        X, y, weights = rows.X, rows.y, rows.weights
        known: BoolArray = ~np.isnan(X)
        roots = np.sqrt(weights)
        masses = (known * weights[:, np.newaxis]).sum(axis=0)
        filled = np.where(known, X, 0.0)
        sums = (filled * weights[:, np.newaxis]).sum(axis=0)
        self.centres = np.divide(sums, masses, out=np.zeros_like(sums), where=masses > 0)
        centred = np.where(known, X - self.centres, 0.0)
        scaled = centred * roots[:, np.newaxis]
        self.norms = np.sqrt((scaled * scaled).sum(axis=0))
        # Of a constant only rounding is left, which is not worth fitting.
        least = 1e-12 * np.sqrt((filled * filled * weights[:, np.newaxis]).sum(axis=0))
        usable = self.norms > least
        self.norms = np.where(usable, self.norms, 1.0)
        self.units = np.asfortranarray(np.where(usable, scaled / self.norms, 0.0))
        self.start = float((weights * y).sum() / weights.sum())
        self.residuals = roots * (y - self.start)

    def along(self, vector: FloatArray) -> FloatArray:
        """Give the product of every column with a vector; without BLAS, whose sums vary."""
        return np.asarray(np.einsum("ij,i->j", self.units, vector))


def follow_lines(columns: Columns, *, learning_rate: float, n_rounds: int) -> LinePath:
    """Fit the feature that explains most of the residuals, take part of it, and go on.

    With U the columns of unit length, the rounds so far leave (I - U C Uᵀ) of the centred target.
    Another step along column j makes row j of C larger by rate * (e_j - u_jᵀ U C), and the trace of
    U C Uᵀ by the product of that with Uᵀ u_j: the degrees of freedom are exact, without any matrix
    of the size of the rows. Features that were never chosen have no part in C.
    """
    path = LinePath(start=columns.start, centres=columns.centres)
    residuals, products = columns.residuals.copy(), columns.along(columns.residuals)
    limit = 1e-14 * float(np.sqrt((residuals * residuals).sum()))
    place_of: dict[int, int] = {}
    grams: list[FloatArray] = []
    operator = np.zeros((0, 0))
    path.sums_of_squares.append(float((residuals * residuals).sum()))
    path.degrees.append(1.0)  # the mean
    for _ in follow(range(n_rounds), n_rounds, "round"):
        feature = int(np.abs(products).argmax()) if len(products) else 0
        if not abs(products[feature]) > limit:
            break
        if feature not in place_of:
            place_of[feature] = len(grams)
            grams.append(columns.along(columns.units[:, feature]))
            operator = np.pad(operator, (0, 1))
        place = place_of[feature]
        own = grams[place][np.array(list(place_of))]
        change = -own @ operator
        change[place] += 1.0
        operator[place] += learning_rate * change
        step = learning_rate * float(products[feature])
        products = products - step * grams[place]
        residuals -= step * columns.units[:, feature]
        path.features.append(feature)
        path.steps.append(step / float(columns.norms[feature]))
        path.sums_of_squares.append(float((residuals * residuals).sum()))
        path.degrees.append(path.degrees[-1] + learning_rate * float(change @ own))
    return path


def corrected_aic(path: Path, n_rows: float) -> FloatArray:
    """Akaike's criterion with the correction of Hurvich, Simonoff and Tsai (1998), per round.

    ``log(RSS / n) + (1 + df / n) / (1 - (df + 2) / n)``, and infinite where df + 2 is n or more.
    """
    degrees = np.array(path.degrees)
    left = 1.0 - (degrees + 2.0) / n_rows
    penalty = np.full(len(degrees), np.inf)
    np.divide(1.0 + degrees / n_rows, left, out=penalty, where=left > 0)
    with np.errstate(divide="ignore"):
        logs = np.log(np.array(path.sums_of_squares) / n_rows)
    # A perfect fit is the best there is, unless it has used up all rows.
    return np.where(left > 0, logs + np.where(left > 0, penalty, 0.0), np.inf)


def errors_of_folds(
    rows: Rows, folds: Sequence[Fold], learn: Callable[[Rows], Path], *, n_rounds: int
) -> FloatArray:
    """Give the mean squared error of rows left out, before the first round and after each."""
    total, weight = np.zeros(n_rounds + 1), 0.0
    for train, test in follow(folds, len(folds), "fold"):
        path, out = learn(rows.take(train)), rows.take(test)
        errors = out.y - path.start
        sums = [float((out.weights * errors**2).sum())]
        for added in path.additions(out.X):
            errors = errors - added
            sums.append(float((out.weights * errors**2).sum()))
        total[: len(sums)] += sums
        total[len(sums) :] += sums[-1]  # nothing was left to fit
        weight += float(out.weights.sum())
    means: FloatArray = total / weight
    return means
