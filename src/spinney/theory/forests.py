"""Breiman's strength and correlation of a forest, and variances of what forests say."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data.weights import read_weights
from spinney.errors import InvalidInput, InvalidParameter
from spinney.results import Result
from spinney.theory.checks import number_array
from spinney.typing import AnyArray, FloatArray

VARIANCES = ("infinitesimal", "jackknife", "mean")
"""Ways to estimate the variance of a forest's answers."""
_ROWS_AT_ONCE = 4096
_BLAS_PAYS = 1 << 26
"""Products from which on BLAS is worth waking: its threads wait long on a busy machine."""


@dataclass(frozen=True, slots=True, repr=False)
class Strength(Result):
    """How good the trees of a forest are and how alike, and what that says of their vote."""

    strength: float
    """Mean margin: share of votes for the right class less that for the best wrong one."""
    correlation: float
    """Of the trees' raw margins, averaged over pairs of trees."""
    margin_variance: float
    tree_deviation: float
    """Mean over trees of the standard deviation of the raw margin."""
    error: float
    """Share of rows whose margin is negative."""
    n_rows: int
    """Rows that some tree did not see."""

    @property
    def bound(self) -> float:
        """Most the error can be: correlation (1 - s²) / s²; infinite unless the strength s > 0."""
        if self.strength <= 0:
            return math.inf
        return self.correlation * (1 - self.strength**2) / self.strength**2

    @property
    def ratio(self) -> float:
        """Breiman's c/s²: the correlation over the squared strength."""
        return self.correlation / self.strength**2 if self.strength > 0 else math.inf

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the whole answer as named columns."""
        names = ("strength", "correlation", "ratio", "bound", "error")
        return {"quantity": names, "value": [getattr(self, name) for name in names]}

    def title(self) -> str:
        """Say in a line what the table shows."""
        return f"Strength and correlation of trees, on {self.n_rows} rows they did not see"


def forest_strength(votes: Any, out_of_bag: Any, y: Any, sample_weight: Any = None) -> Strength:
    """Compute the strength and the correlation of trees from votes on rows they did not see.

    Parameters
    ----------
    votes : (n_rows, n_trees) whole numbers
        The class each tree votes for, as its number.
    out_of_bag : (n_rows, n_trees) booleans
        Whether the tree did not see the row; other votes are not looked at.
    y : (n_rows,) whole numbers
        The right classes.
    sample_weight : (n_rows,) numbers, optional
        How often each row counts.

    Returns
    -------
    Strength

    References
    ----------
    Breiman (2001), Random forests, Machine Learning 45, theorem 2.3 and appendix II.

    Examples
    --------
    >>> votes = [[0, 0, 1], [1, 1, 1], [0, 1, 0]]
    >>> found = forest_strength(votes, [[True] * 3] * 3, [0, 1, 0])
    >>> round(found.strength, 4), found.error
    (0.5556, 0.0)
    """
    voted, unseen, right = _votes(votes, out_of_bag, y)
    weights = read_weights(sample_weight, len(right))
    if weights is None:
        weights = np.ones(len(right))
    n_classes = int(max(voted.max(), right.max())) + 1
    asked = unseen.sum(axis=1)
    known = (asked > 0) & (weights > 0)
    if not known.any():
        raise InvalidInput("No row with a weight is out of some tree's bag: there are no margins.")
    voted, unseen, right, weights = voted[known], unseen[known], right[known], weights[known]
    shares = np.stack([(unseen & (voted == k)).sum(axis=1) for k in range(n_classes)], axis=1)
    shares = shares / asked[known, np.newaxis]
    rows = np.arange(len(shares))
    own = shares[rows, right]
    shares[rows, right] = -1.0
    rival = shares.argmax(axis=1)
    margins = own - shares[rows, rival]
    p1 = _rates(voted == right[:, np.newaxis], unseen, weights)
    p2 = _rates(voted == rival[:, np.newaxis], unseen, weights)
    deviation = float(np.sqrt(np.maximum(p1 + p2 - (p1 - p2) ** 2, 0.0)).mean())
    strength = float(np.average(margins, weights=weights))
    variance = float(np.average((margins - strength) ** 2, weights=weights))
    return Strength(
        strength=strength,
        correlation=variance / deviation**2 if deviation > 0 else 0.0,
        margin_variance=variance,
        tree_deviation=deviation,
        error=float(np.average(margins < 0, weights=weights)),
        n_rows=len(margins),
    )


def _votes(votes: Any, out_of_bag: Any, y: Any) -> tuple[AnyArray, AnyArray, AnyArray]:
    voted, unseen, right = np.asarray(votes), np.asarray(out_of_bag, bool), np.asarray(y)
    if voted.ndim != 2 or unseen.shape != voted.shape or right.shape != voted.shape[:1]:
        raise InvalidInput(
            f"votes {voted.shape}, out_of_bag {unseen.shape} and y {right.shape} do not fit: "
            "expected (n_rows, n_trees) twice and (n_rows,)."
        )
    if not unseen.any():
        raise InvalidInput("No tree has a row out of its bag, so nothing can be said of margins.")
    if max(voted.max(), right.max()) < 1:
        raise InvalidInput("There is only one class: a margin needs a rival.")
    return voted.astype(np.int64), unseen, right.astype(np.int64)


def _rates(hits: AnyArray, unseen: AnyArray, weights: FloatArray) -> FloatArray:
    """Give for each tree with rows out of its bag the share of hits among them, by weight."""
    counted = np.einsum("i,ib->b", weights, unseen.astype(np.float64))
    some = counted > 0
    hit = np.einsum("i,ib->b", weights, (hits & unseen).astype(np.float64))
    rates: FloatArray = hit[some] / counted[some]
    return rates


def forest_variance(
    answers: Any,
    counts: Any,
    *,
    method: str = "infinitesimal",
    replacement: bool = True,
    corrected: bool = True,
    weights: Any = None,
    chances: Any = None,
) -> FloatArray:
    """Estimate the variance of the mean answer of trees, over draws of the training rows.

    Parameters
    ----------
    answers : (n_trees, n_points) numbers
        What each tree says.
    counts : (n_trees, n_rows) whole numbers
        How often each tree drew each training row.
    method : {"infinitesimal", "jackknife", "mean"}
        The infinitesimal jackknife, whose trees may also be grown on subsamples; the jackknife
        after bootstrap; or the mean of both, as one tends to be too low and the other too high.
    replacement : bool
        Whether rows were drawn with replacement.
    corrected : bool
        Whether to subtract what the noise of finitely many trees adds. The difference may be
        negative, where there are few trees; 0 is given then.
    weights : (n_rows,) whole numbers, optional
        How many rows each row stands for; for the infinitesimal jackknife.
    chances : (n_rows,) numbers, optional
        What the chances of rows to be drawn are in proportion to, for the infinitesimal jackknife;
        by default to ``weights``. The variance is then that of the mean over rows weighed so.

    Returns
    -------
    variances : (n_points,) numbers, not negative

    References
    ----------
    Wager, Hastie and Efron (2014), Confidence intervals for random forests: the jackknife and the
    infinitesimal jackknife, JMLR 15; Wager and Athey (2018), JASA 113, for subsamples.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=50)
    >>> counts = rng.multinomial(50, np.full(50, 1 / 50), size=1000)
    >>> means = counts @ x / 50  # the answer of a tree that is the mean of its bag
    >>> variance = forest_variance(means[:, None], counts)[0]
    >>> bool(abs(variance / (x.var() / 50) - 1) < 0.2)
    True
    """
    said = number_array("answers", answers, n_axes=2)
    form = variance_form(
        counts,
        method=method,
        replacement=replacement,
        corrected=corrected,
        weights=weights,
        chances=chances,
    )
    if len(form) != len(said):
        raise InvalidInput(
            f"answers {said.shape} and counts {np.shape(counts)} do not fit: expected a row for "
            "each tree in both."
        )
    return variances_of(form, said)


def variance_form(
    counts: Any,
    *,
    method: str = "infinitesimal",
    replacement: bool = True,
    corrected: bool = True,
    weights: Any = None,
    chances: Any = None,
) -> FloatArray:
    """Give the quadratic form that makes variances of deviations of trees from their mean.

    The parameters are those of :func:`forest_variance`; the form serves any number of points.

    Returns
    -------
    form : (n_trees, n_trees)

    Examples
    --------
    >>> variance_form([[1, 0], [0, 1]], corrected=False)
    array([[0.25, 0.  ],
           [0.  , 0.25]])
    """
    if method not in VARIANCES:
        raise InvalidParameter(f"method={method!r}: expected one of {', '.join(VARIANCES)}.")
    drawn = np.asarray(counts)
    if drawn.ndim != 2 or len(drawn) < 2:
        raise InvalidInput(
            f"counts has the shape {drawn.shape}: expected (n_trees, n_rows), two trees at least."
        )
    by_chance = chances is not None
    if method != "infinitesimal" and (weights is not None or by_chance or not replacement):
        raise InvalidParameter(
            f"method={method!r} needs rows drawn with replacement, each for itself and all with "
            "the same chance. Use method='infinitesimal'."
        )
    forms = []
    if method != "jackknife":
        stands_for = np.ones(drawn.shape[1]) if weights is None else np.asarray(weights, float)
        chance = stands_for if chances is None else np.asarray(chances, float)
        pair = (stands_for, chance / chance.sum())
        forms.append(_infinitesimal(drawn, pair, replacement=replacement, corrected=corrected))
    if method != "infinitesimal":
        forms.append(_after_bootstrap(drawn, corrected=corrected))
    mean: FloatArray = np.mean(forms, axis=0)
    return mean


def variances_of(form: FloatArray, answers: FloatArray) -> FloatArray:
    """Apply a form of ``variance_form`` to answers (n_trees, n_points); not negative."""
    deviations = answers - answers.mean(axis=0)
    moved = np.einsum("bc,cx->bx", form, deviations)  # in one order, whatever the machine
    variances: FloatArray = np.einsum("bx,bx->x", deviations, moved)
    not_negative: FloatArray = np.maximum(variances, 0.0)
    return not_negative


def _infinitesimal(
    counts: AnyArray, rows: tuple[FloatArray, FloatArray], *, replacement: bool, corrected: bool
) -> FloatArray:
    """Sum the squared covariances of answers and counts: t' N N' t / B².

    That is the sum of squared influences of rows whatever their chances p are: an influence is the
    covariance over p, and counts by p. Rows: what each stands for, and its chance.
    """
    stands_for, chance = rows
    n_trees = len(counts)
    n = float(stands_for.sum())
    drawn = float(counts.sum()) / n_trees
    form = np.zeros((n_trees, n_trees))
    for value in np.unique(stands_for):
        form += _gram(counts[:, stands_for == value]) / value
    if corrected:
        # The sum over rows of the variances of their counts, each over what it stands for.
        spread = drawn * float((chance / stands_for).sum())
        noise = spread if replacement else drawn * (n - drawn) / n
        form -= np.eye(n_trees) * noise
    scale = 1.0 if replacement else n * (n - 1) / max(n - drawn, 1.0) ** 2
    form *= scale / n_trees**2
    return form


def _after_bootstrap(counts: AnyArray, *, corrected: bool) -> FloatArray:
    """Sum the squared differences that leaving a row out makes."""
    n_trees, n_rows = counts.shape
    absent = counts == 0
    without = absent.sum(axis=0)
    form = np.zeros((n_trees, n_trees))
    for number in np.unique(without[without > 0]):
        form += _gram(absent[:, without == number]) / number**2
    form *= (n_rows - 1) / n_rows
    if corrected:
        share = (1 - 1 / n_rows) ** (counts.sum() / n_trees)  # of trees that lack a row: about 1/e
        form -= np.eye(n_trees) * ((1 / share - 1) * n_rows / n_trees**2)
    return form


def _gram(counts: AnyArray) -> FloatArray:
    """Give N N' of whole numbers, which is exact in any order, without a copy of all of them."""
    total = np.zeros((len(counts), len(counts)))
    for first in range(0, counts.shape[1], _ROWS_AT_ONCE):
        block = counts[:, first : first + _ROWS_AT_ONCE].astype(np.float64)
        if block.size * len(counts) < _BLAS_PAYS:
            total += np.einsum("bi,ci->bc", block, block)
        else:
            total += block @ block.T
    return total
