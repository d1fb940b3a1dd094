"""When boosting ends before its last round."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.utils import _safe_indexing

from spinney.data.weights import near_one, read_weights
from spinney.ensembles.adaptive.rounds import Boosted, boost
from spinney.ensembles.adaptive.variant import Variant
from spinney.ensembles.adaptive.vote_booster import Preparation
from spinney.ensembles.sharing import TableRows
from spinney.ensembles.weak.learners import TreeLearner
from spinney.errors import InvalidInput
from spinney.progress import follow
from spinney.randomness import seed_from
from spinney.resampling.assigning import drawn_groups, latest_rows
from spinney.resampling.folds import most_folds, read_folds
from spinney.resampling.keys import read_codes, read_ranks
from spinney.resampling.splitters import Folds
from spinney.typing import AnyArray, FloatArray, TableLike

if TYPE_CHECKING:
    from spinney.ensembles.adaptive.classifier import AdaBoostClassifier

STOPPING = ("validation", "cv", "margin")
DIVIDING = ("validation", "cv")
"""Those that divide rows."""
N_FOLDS = 5

Stop: TypeAlias = Callable[[Boosted], str]
"""Looks at the rounds so far; says why boosting should end, or nothing."""


def best_rounds(
    booster: "AdaBoostClassifier",
    X: TableLike,
    y: Any,
    sample_weight: Any,
    keys: Mapping[str, Any],
) -> tuple[int, Stop | None, Preparation]:
    """Say how many rounds to make on which rows, and what may end them earlier."""
    kind = booster.early_stopping
    given = {name: labels for name, labels in keys.items() if labels is not None}
    if given and kind not in DIVIDING:
        name = next(iter(given))
        raise InvalidInput(
            f"{name} is given, but early_stopping={kind!r} divides no rows. Leave {name} out, or "
            "set early_stopping='cv'."
        )
    prepared = booster._prepare(X, y, sample_weight)  # noqa: SLF001 - refuses what is odd
    if kind is None:
        return booster.n_estimators, None, prepared
    if kind == "margin":
        return booster.n_estimators, MarginPlateau(booster.n_iter_no_change, booster.tol), prepared
    weights = _weights(sample_weight, len(y))
    if given:
        splits = _split_by_keys(booster, y, weights, given)
    else:
        divide = _held_out if kind == "validation" else _folds
        splits = divide(booster, y, weights)
    n_rounds = _best_on(booster, splits, X, y, weights)
    return n_rounds, None, prepared


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Some of the rows."""

    X: TableLike
    labels: AnyArray
    weights: FloatArray


def _weights(sample_weight: Any, n_rows: int) -> FloatArray:
    given = read_weights(near_one(sample_weight), n_rows)
    return np.ones(n_rows) if given is None else given


class MarginPlateau:
    """Ends boosting when the least margin has not grown for some rounds."""

    def __init__(self, patience: int, tol: float) -> None:
        self._patience, self._tol = patience, tol
        self._best, self._since = -np.inf, 0

    def __call__(self, done: Boosted) -> str:
        """Look at the last round."""
        margin = done.rounds[-1].min_margin
        if margin > self._best + self._tol:
            self._best, self._since = margin, 0
            return ""
        self._since += 1
        if self._since < self._patience:
            return ""
        return f"the least margin has not grown for {self._patience} rounds"


def _held_out(
    booster: "AdaBoostClassifier", y: Any, weights: FloatArray
) -> list[tuple[AnyArray, AnyArray]]:
    rows = np.flatnonzero(weights)  # a row without weight is as if absent
    seed = seed_from(booster.random_state) % 2**32
    share = booster.validation_fraction
    try:
        parts = train_test_split(
            rows, test_size=share, stratify=np.asarray(y)[rows], random_state=seed
        )
    except ValueError as error:
        raise InvalidInput(
            f"validation_fraction={share} cannot hold out rows of every class: {error}"
        ) from error
    return [(parts[0], parts[1])]


def _folds(
    booster: "AdaBoostClassifier", y: Any, weights: FloatArray
) -> list[tuple[AnyArray, AnyArray]]:
    rows = np.flatnonzero(weights)
    labels = np.asarray(y)[rows]
    least = int(np.unique(labels, return_counts=True)[1].min())
    if least < 2:
        raise InvalidInput(
            "early_stopping='cv' needs at least 2 rows of every class, and one class of y has "
            f"{least}. Use early_stopping=None or 'margin'."
        )
    seed = seed_from(booster.random_state) % 2**32
    folds = StratifiedKFold(min(N_FOLDS, least), shuffle=True, random_state=seed)
    return [(rows[train], rows[test]) for train, test in folds.split(rows, labels)]


def _split_by_keys(
    booster: "AdaBoostClassifier", y: Any, weights: FloatArray, keys: Mapping[str, Any]
) -> list[tuple[AnyArray, AnyArray]]:
    """Divide rows so that no group is divided, and nothing is learnt from the future."""
    n_rows, rows = len(weights), np.flatnonzero(weights)
    labels = read_codes(y, n_rows, "y")[rows]
    groups = time = None
    if "groups" in keys:
        groups = read_codes(keys["groups"], n_rows, "groups")[rows]
    if "time" in keys:
        time = read_ranks(keys["time"], n_rows)[rows]
    seed = seed_from(booster.random_state)
    if booster.early_stopping == "validation":
        held = _held_out_by_keys(booster.validation_fraction, weights[rows], groups, time, seed)
        folds = [(np.flatnonzero(~held), np.flatnonzero(held))]
    else:
        cv: Any = most_folds(N_FOLDS, groups, time)
        if time is None:
            cv = Folds(cv, stratified=True, random_state=seed)
        folds = read_folds(cv, labels, groups=groups, time=time)
    # Of one class nothing is learnt, and its errors are those of no round in particular.
    able = [fold for fold in folds if len(np.unique(labels[fold[0]])) > 1]
    if not able and len(np.unique(labels)) > 1:
        raise InvalidInput(
            f"early_stopping={booster.early_stopping!r} divides the rows by {' and '.join(keys)} "
            "so that only rows of a single class are left to learn from. Use "
            "early_stopping=None or 'margin', or other groups or times."
        )
    return [(rows[train], rows[test]) for train, test in able or folds]


def _held_out_by_keys(
    share: float, weights: FloatArray, groups: AnyArray | None, time: AnyArray | None, seed: int
) -> AnyArray:
    if groups is not None and time is not None:
        raise InvalidInput(
            "groups and time are given, but early_stopping='validation' holds out the latest rows, "
            "which would divide groups. Leave one of them out, or set early_stopping='cv', whose "
            "folds know both."
        )
    if groups is not None:
        return drawn_groups(groups, share, weights, seed=seed)
    return latest_rows(np.asarray(time), share, weights)


def _best_on(
    booster: "AdaBoostClassifier",
    splits: list[tuple[AnyArray, AnyArray]],
    X: TableLike,
    y: Any,
    weights: FloatArray,
) -> int:
    """Give the number of rounds with the least mean error on the rows left out of each split."""
    labels = np.asarray(y)
    curves = []
    for parts in follow(splits, len(splits), "fold") if len(splits) > 1 else splits:
        train, test = (Part(_take(X, rows), labels[rows], weights[rows]) for rows in parts)
        curves.append(_error_curve(booster, train, test))
    length = max(map(len, curves))
    padded = [np.append(c, np.full(length - len(c), c[-1])) for c in curves]
    mean = np.mean(padded, axis=0)
    return int(np.argmin(mean)) + 1


def _take(X: TableLike, rows: AnyArray) -> TableLike:
    return X.take(rows) if isinstance(X, TableRows) else _safe_indexing(X, rows)


def _error_curve(booster: "AdaBoostClassifier", train: Part, test: Part) -> FloatArray:
    """Boost on some rows; give the error on others per round."""
    from sklearn.base import clone  # noqa: PLC0415

    part = clone(booster).set_params(early_stopping=None, store_weights=False)
    prepared = part._prepare(train.X, train.labels, train.weights)  # noqa: SLF001
    variant = part._variant(prepared.rows)  # noqa: SLF001
    watch = _Watch(booster, prepared, variant, test)
    boost(variant, prepared.learner, booster.n_estimators, stops=watch)
    return np.array(watch.errors or [1.0])


class _Watch:
    """Measures the error on rows held out after each round."""

    def __init__(
        self, booster: "AdaBoostClassifier", prepared: Preparation, variant: Variant, test: Part
    ) -> None:
        self._patience, self._tol = booster.n_iter_no_change, booster.tol
        self._learner, self._variant, self._test = prepared.learner, variant, test
        is_ours = isinstance(prepared.learner, TreeLearner)
        name = type(booster).__name__
        conform = prepared.reading.schema.conform
        self._X = conform(test.X, estimator_name=name) if is_ours else test.X
        self._classes = np.asarray(prepared.reading.target.classes)
        self._scores = np.zeros((len(test.labels), len(variant.output(1).baseline)))
        self._best, self._since = np.inf, 0
        self.errors: list[float] = []

    def __call__(self, done: Boosted) -> str:
        """Add what the last round says of the rows held out."""
        last = done.rounds[-1]
        n_members = len(last.members)
        for place, (member, weight) in enumerate(zip(last.members, last.weights, strict=True)):
            answers = self._learner.answers(member, self._X, self._variant.form)
            to = slice(None) if n_members == 1 else slice(place, place + 1)
            self._scores[:, to] += weight * answers
        is_binary = self._scores.shape[1] == 1
        said = self._scores[:, 0] > 0 if is_binary else self._scores.argmax(axis=1)
        wrong = self._classes[said.astype(np.int64)] != self._test.labels
        self.errors.append(float(np.average(wrong, weights=self._test.weights)))
        if self.errors[-1] < self._best - self._tol:
            self._best, self._since = self.errors[-1], 0
            return ""
        self._since += 1
        return "" if self._since < self._patience else "the error on rows held out has not fallen"
