"""Bias and variance of any estimator, by fitting it to many training sets."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing

from spinney.data.row_keys import keys_for
from spinney.errors import InvalidInput, InvalidInputType
from spinney.progress import follow
from spinney.randomness import Stream, random_bits, seed_from
from spinney.theory.checks import choice, count
from spinney.theory.decompositions import ZERO_ONE, decompose_squared, decompose_zero_one
from spinney.theory.error_parts import BiasVariance
from spinney.theory.training_sets import FoldSets, Points, SetSource
from spinney.typing import AnyArray, BoolArray, IntArray, RandomState

DECOMPOSITIONS = ("auto", "squared", *ZERO_ONE)
"""What an error can be taken apart into."""
_MOST_SINGLE = 0.1
"""Share of points that may be predicted once without a warning."""


def bias_variance(
    estimator: Any,
    source: SetSource,
    *,
    decomposition: str = "auto",
    n_sets: int = 50,
    random_state: RandomState = None,
) -> BiasVariance:
    """Fit an estimator to many training sets and take its error apart.

    Parameters
    ----------
    estimator : estimator with scikit-learn's methods
        A copy of it is fitted to each set, with a ``random_state`` of its own wherever it has one:
        what a learner draws is part of its variance. One that divides rows is given the groups of a
        source that has some.
    source : FreshSets, BootstrapSets or FoldSets
        Where training sets come from. Fresh ones show bias and variance as they are defined;
        bootstrap sets and folds are what can be had from one table, and overlap. Sets of which no
        two are asked about the same point are refused: they know nothing of variance.
    decomposition : {"auto", "squared", "domingos", "kohavi_wolpert"}
        Of the squared error, or of the share of wrong labels; "auto" takes "domingos" for
        classifiers and "squared" for others.
    n_sets : int
        Training sets; of folds: repetitions.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None

    Returns
    -------
    BiasVariance
        Noise is told apart from bias only where the source knows it: recipes for regression do.

    References
    ----------
    Breiman (1996), Bias, variance, and arcing classifiers, for bootstrap sets; Webb (2000) for
    folds.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from spinney.theory import FreshSets
    >>> source = FreshSets("friedman", options={"number": 1})
    >>> found = bias_variance(LinearRegression(), source, n_sets=20, random_state=0)
    >>> bool(abs(found.bias + found.variance + found.noise - found.error) < 1e-12 * found.error)
    True
    >>> found.bias > 10 * found.variance, round(found.noise, 6)
    (True, 1.0)
    """
    _check_estimator(estimator)
    chosen = choice("decomposition", decomposition, DECOMPOSITIONS)
    if chosen == "auto":
        chosen = "domingos" if is_classifier(estimator) else "squared"
    wanted, seed = count("n_sets", n_sets, 2), seed_from(random_state)
    points = _points_of(source, seed)
    if chosen == "squared" and np.asarray(points.y).dtype.kind not in "biuf":
        _refuse_labels(points.y)
    times = source.times_asked() if isinstance(source, FoldSets) else None
    if times is not None and times.any():
        _refuse_single(times, source)  # before hours of fits
    answers = _Answers(points.n_points)
    sets = source.training_sets(wanted, seed, labels=chosen != "squared")
    for number, part in enumerate(follow(sets, wanted, "training set")):
        model = _seeded(clone(estimator), seed, number)
        model.fit(part.X, part.y, **keys_for(model, {"groups": part.groups}))
        answers.add(part.asked, model.predict(_safe_indexing(points.X, part.asked)))
    said, answered = answers.table()
    counts = answered.sum(axis=0)
    _refuse_single(counts, source)
    _warn_of_single(counts)
    if chosen != "squared":
        return decompose_zero_one(said, points.y, method=chosen, answered=answered)
    if points.truth is None:
        return decompose_squared(said, points.y, answered=answered)
    return decompose_squared(said, points.truth, noise=points.noise, answered=answered)


class _Answers:
    """What models said, where each of them was asked about some of the points."""

    def __init__(self, n_points: int) -> None:
        self._counts = np.zeros(n_points, np.int64)
        self._places: list[tuple[IntArray, IntArray]] = []
        self._said: list[AnyArray] = []

    def add(self, asked: IntArray, said: Any) -> None:
        """Keep the answers of one model, each in the next free line of its point."""
        answers = np.asarray(said)
        if answers.shape != asked.shape:
            raise InvalidInput(
                f"predict gave the shape {answers.shape} for {len(asked)} rows: expected one "
                "number or label for each. Estimators of several outputs are taken one by one."
            )
        self._places.append((self._counts[asked], asked))
        self._said.append(answers)
        self._counts[asked] += 1

    def table(self) -> tuple[AnyArray, BoolArray]:
        """Give all answers, (most answers of a point, n_points), and which of them are there."""
        if not self._said:
            raise InvalidInput("There is no training set that leaves a row to ask about.")
        said = np.concatenate(self._said)
        lines = np.concatenate([line for line, _ in self._places])
        points = np.concatenate([point for _, point in self._places])
        table = np.full((int(self._counts.max()), len(self._counts)), said[0], dtype=said.dtype)
        table[lines, points] = said
        return table, np.arange(len(table))[:, np.newaxis] < self._counts


def _refuse_single(counts: IntArray, source: SetSource) -> None:
    """Refuse sets of which no two are asked about the same point."""
    if counts.max() < 2:
        raise InvalidInput(
            f"No point is predicted by two models of these {type(source).__name__}: of one "
            "prediction the variance would be 0 and all error bias, whatever the estimator. Give "
            "FoldSets a number of folds, which are drawn anew n_sets times, or a splitter that "
            "tests every row several times, such as RepeatedKFold; or take BootstrapSets, or more "
            "n_sets."
        )


def _warn_of_single(counts: IntArray) -> None:
    """Warn where so many points are predicted once that means over points are off."""
    n_once = int((counts == 1).sum())
    if n_once > _MOST_SINGLE * (counts > 0).sum():
        warnings.warn(
            f"{n_once} of {int((counts > 0).sum())} points are predicted by one model only: there "
            "the variance counts as 0, and all error as bias. Take more training sets, or folds "
            "that test every row several times.",
            UserWarning,
            stacklevel=3,
        )


def _check_estimator(estimator: Any) -> None:
    if isinstance(estimator, type) or not all(
        hasattr(estimator, name) for name in ("fit", "predict", "get_params")
    ):
        name = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
        raise InvalidInputType(
            f"estimator is {name}, which cannot be copied, fitted and asked: expected an instance "
            "with scikit-learn's get_params, fit and predict."
        )


def _refuse_labels(y: Any) -> None:
    """Refuse targets that have no squared error; objects may be numbers all the same."""
    try:
        np.asarray(y).astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"decomposition='squared' is of numbers, and y holds labels such as "
            f"{np.asarray(y).ravel()[:1].tolist()[0]!r}. Use decomposition='domingos' or "
            "'kohavi_wolpert' for labels."
        ) from None


def _points_of(source: Any, seed: int) -> Points:
    if isinstance(source, type) or not hasattr(source, "training_sets"):
        raise InvalidInputType(
            f"source is {source!r}: expected FreshSets(sampler), BootstrapSets(X, y) or "
            "FoldSets(X, y)."
        )
    points: Points = source.points(seed)
    n_rows = points.X.shape[0] if hasattr(points.X, "shape") else len(points.X)
    if n_rows != points.n_points:
        raise InvalidInput(
            f"The points have {n_rows} rows in X and y of the shape {np.shape(points.y)}: expected "
            f"one target for each row, or (n_targets, {n_rows})."
        )
    return points


def _seeded(model: Any, seed: int, number: int) -> Any:
    """Give a copy, and all that is inside it, a seed of its own."""
    names = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
    own = random_bits(seed, Stream.FEATURES, number) >> 32
    return model.set_params(**dict.fromkeys(names, own)) if names else model
