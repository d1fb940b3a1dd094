"""When boosting ends before its last round."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.utils import _safe_indexing

from spinney.ensembles.adaptive.rounds import Boosted, boost
from spinney.ensembles.adaptive.vote_booster import Preparation
from spinney.errors import InvalidInput
from spinney.randomness import seed_from
from spinney.typing import AnyArray, FloatArray, TableLike

if TYPE_CHECKING:
    from spinney.ensembles.adaptive.classifier import AdaBoostClassifier

STOPPING = ("validation", "cv", "margin")
N_FOLDS = 5

Stop: TypeAlias = Callable[[Boosted], str]
"""Looks at the rounds so far; says why boosting should end, or nothing."""


def best_rounds(
    booster: "AdaBoostClassifier", X: TableLike, y: Any, sample_weight: Any
) -> tuple[int, Stop | None, Preparation]:
    """Say how many rounds to make on which rows, and what may end them earlier."""
    kind = booster.early_stopping
    if kind is None:
        return booster.n_estimators, None, booster._prepare(X, y, sample_weight)  # noqa: SLF001
    if kind == "margin":
        stop = MarginPlateau(booster.n_iter_no_change, booster.tol)
        return booster.n_estimators, stop, booster._prepare(X, y, sample_weight)  # noqa: SLF001
    if kind == "validation":
        n_rounds = _best_on(booster, _held_out(booster, y), X, y, sample_weight)
    else:
        n_rounds = _best_on(booster, _folds(booster, y), X, y, sample_weight)
    return n_rounds, None, booster._prepare(X, y, sample_weight)  # noqa: SLF001


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


def _held_out(booster: "AdaBoostClassifier", y: Any) -> list[tuple[AnyArray, AnyArray]]:
    rows = np.arange(len(y))
    seed = seed_from(booster.random_state) % 2**32
    share = booster.validation_fraction
    try:
        parts = train_test_split(rows, test_size=share, stratify=y, random_state=seed)
    except ValueError as error:
        raise InvalidInput(
            f"validation_fraction={share} cannot hold out rows of every class: {error}"
        ) from error
    return [(parts[0], parts[1])]


def _folds(booster: "AdaBoostClassifier", y: Any) -> list[tuple[AnyArray, AnyArray]]:
    least = int(np.unique(np.asarray(y), return_counts=True)[1].min())
    if least < 2:
        raise InvalidInput(
            "early_stopping='cv' needs at least 2 rows of every class, and one class of y has "
            f"{least}. Use early_stopping=None or 'margin'."
        )
    seed = seed_from(booster.random_state) % 2**32
    folds = StratifiedKFold(min(N_FOLDS, least), shuffle=True, random_state=seed)
    return list(folds.split(np.zeros(len(y)), y))


def _best_on(
    booster: "AdaBoostClassifier",
    splits: list[tuple[AnyArray, AnyArray]],
    X: TableLike,
    y: Any,
    sample_weight: Any,
) -> int:
    """Give the number of rounds with the least mean error on the rows left out of each split."""
    labels = np.asarray(y)
    weights = None if sample_weight is None else np.asarray(sample_weight, float)
    curves = []
    for train, test in splits:
        some = None if weights is None else weights[train]
        errors = _error_curve(
            booster, (_safe_indexing(X, train), labels[train], some), _safe_indexing(X, test)
        )(labels[test])
        curves.append(errors)
    length = max(map(len, curves))
    padded = [np.append(c, np.full(length - len(c), c[-1])) for c in curves]
    mean = np.mean(padded, axis=0)
    return int(np.argmin(mean)) + 1


def _error_curve(
    booster: "AdaBoostClassifier", train: tuple[TableLike, AnyArray, Any], X_test: TableLike
) -> Callable[[AnyArray], FloatArray]:
    """Boost on some rows; give a function from the labels of others to the error per round."""
    from sklearn.base import clone  # noqa: PLC0415

    part = clone(booster).set_params(early_stopping=None, store_weights=False)
    patience, tol = booster.n_iter_no_change, booster.tol

    def curve(labels: AnyArray) -> FloatArray:
        prepared = part._prepare(*train)  # noqa: SLF001
        variant = part._variant(prepared.rows)  # noqa: SLF001
        watch = _Watch(part, prepared, variant, X_test, labels, patience, tol)
        boost(variant, prepared.learner, booster.n_estimators, stops=watch)
        return np.array(watch.errors or [1.0])

    return curve


class _Watch:
    """Measures the error on rows held out after each round."""

    def __init__(self, *parts: Any) -> None:
        part, prepared, variant, X_test, labels, self._patience, self._tol = parts
        self._learner, self._variant = prepared.learner, variant
        from spinney.ensembles.adaptive.learners import TreeLearner  # noqa: PLC0415

        is_ours = isinstance(prepared.learner, TreeLearner)
        schema = prepared.reading.schema
        name = type(part).__name__
        self._X = schema.conform(X_test, estimator_name=name) if is_ours else X_test
        classes = np.asarray(prepared.reading.target.classes)
        self._codes = np.searchsorted(classes, labels)
        output = variant.output(1)
        self._scores = np.zeros((len(labels), len(output.baseline)))
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
        self.errors.append(float(np.mean(said != self._codes)))
        best = int(np.argmin(self.errors))
        if len(self.errors) - 1 - best < self._patience:
            return ""
        return "the error on rows held out has not fallen"
