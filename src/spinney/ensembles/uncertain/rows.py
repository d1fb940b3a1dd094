"""The rows that estimators around other estimators are given, and how they are divided."""

import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from spinney.data.sources.vector import read_vector
from spinney.data.target import Target
from spinney.ensembles.fitting import IntakeSettings, read_rows
from spinney.ensembles.weak.foreign import flat_rows
from spinney.errors import InvalidInput, InvalidParameter
from spinney.model.answers import as_members_take
from spinney.randomness import Stream, random_bits
from spinney.typing import AnyArray, FloatArray, TableLike

Fold = tuple[AnyArray, AnyArray]
"""Rows to learn from, and rows to judge."""


@dataclass(frozen=True, slots=True, eq=False)
class GivenRows:
    """What ``fit`` was given, as members take it. Rows of weight 0 are gone."""

    X: TableLike
    y: AnyArray
    """Numbers, or labels as the user wrote them."""
    codes: AnyArray | None
    """Classes by their places."""
    weights: FloatArray | None
    groups: AnyArray | None
    target: Target
    names: AnyArray | None
    """Names of the features."""
    n_features: int
    kept: AnyArray | None
    """Numbers of the rows in what was given; None: all of them."""
    n_given: int

    def __len__(self) -> int:
        return len(self.y)

    def table(self, rows: AnyArray) -> TableLike:
        """Give some rows of the table."""
        return _safe_indexing(self.X, rows)

    def weights_of(self, rows: AnyArray) -> FloatArray | None:
        """Give the weights of some rows; None: all are 1."""
        return None if self.weights is None else self.weights[rows]


def read_given(
    X: TableLike, y: Any, sample_weight: Any, groups: Any, *, task: str, owner: str
) -> GivenRows:
    """Read a table, its target, weights and groups."""
    settings = IntakeSettings(estimator_name=owner, task=task, multi_output=False)
    reading = read_rows(flat_rows(X), y, sample_weight, settings)
    given = as_members_take(X)
    kept = reading.kept
    classes = reading.target.classes
    codes = None if classes is None else reading.y.astype(np.int64)
    targets = reading.y.reshape(-1) if codes is None else np.asarray(classes)[codes]
    labels = None
    if groups is not None:
        labels = read_vector(groups, "groups")
        if labels.shape != (reading.n_given,):
            raise InvalidInput(
                f"groups has the shape {labels.shape}: expected ({reading.n_given},), a label for "
                "each row."
            )
        labels = labels if kept is None else labels[kept]
    return GivenRows(
        X=given if kept is None else _safe_indexing(given, kept),
        y=targets,
        codes=codes,
        weights=reading.weights,
        groups=labels,
        target=reading.target,
        names=reading.schema.feature_names_in(),
        n_features=len(reading.schema.names),
        kept=kept,
        n_given=reading.n_given,
    )


def divide(cv: Any, rows: GivenRows, seed: int, owner: str) -> list[Fold]:
    """Divide rows into folds.

    Parameters
    ----------
    cv : a number of folds, a splitter of scikit-learn's kind, or pairs of rows to learn from and
        rows to judge; or a share of the rows: those alone are judged, once
    rows : what was given
    seed : decides which rows go together
    owner : name of the estimator, for errors

    Returns
    -------
    list of folds
        No row is judged twice; rows that no fold judges do not calibrate.
    """
    if len(rows) < 2:
        raise InvalidInput(
            f"{owner} was given n_samples=1: expected two rows at least, to learn from one and "
            "judge by another."
        )
    if isinstance(cv, numbers.Integral):
        places = _dealt(rows, seed) % min(int(cv), len(rows))
        return [_by_mask(places == fold) for fold in np.unique(places)]
    if isinstance(cv, numbers.Real):
        return [_by_mask(_held_out(float(cv), rows, seed))]
    if hasattr(cv, "split"):
        return _checked(cv.split(rows.X, rows.y, rows.groups), len(rows), owner)
    return _checked((_still_there(pair, rows) for pair in cv), len(rows), owner)


def _dealt(rows: GivenRows, seed: int) -> AnyArray:
    """Number the rows so that neighbours in number are alike: rows of a class stand together.

    Rows of a group have the same number.
    """
    generator = np.random.default_rng(random_bits(seed, Stream.ROWS, 0))
    if rows.groups is not None:
        labels = rows.groups.astype(str) if rows.groups.dtype.kind == "O" else rows.groups
        groups = np.unique(labels, return_inverse=True)[1]
        if groups.max() == 0:
            raise InvalidInput("All rows are of one group: expected two groups at least to divide.")
        return np.asarray(generator.permutation(int(groups.max()) + 1)[groups])
    shuffled = generator.permutation(len(rows))
    if rows.codes is not None:
        shuffled = shuffled[np.argsort(rows.codes[shuffled], kind="stable")]
    numbers_of_rows = np.empty(len(rows), np.int64)
    numbers_of_rows[shuffled] = np.arange(len(rows))
    return numbers_of_rows


def _held_out(share: float, rows: GivenRows, seed: int) -> AnyArray:
    """Mark about a share of the rows, of each class the same share, one row at least."""
    places = _dealt(rows, seed)
    chosen = np.floor((places + 1) * share) > np.floor(places * share)
    if not chosen.any():
        chosen = places == places.max()
    if chosen.all():
        chosen = places != 0
    return chosen


def _by_mask(judged: AnyArray) -> Fold:
    return np.flatnonzero(~judged), np.flatnonzero(judged)


def _still_there(pair: Any, rows: GivenRows) -> Fold:
    """Give rows by their numbers among those that have weight."""
    try:
        learn, judge = (np.asarray(part) for part in pair)
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"cv holds {pair!r}: expected pairs of rows to learn from and rows to judge."
        ) from None
    if rows.kept is None:
        return learn, judge
    place = np.full(rows.n_given, -1)
    place[rows.kept] = np.arange(len(rows.kept))
    out = [place[np.flatnonzero(p) if p.dtype.kind == "b" else p] for p in (learn, judge)]
    return out[0][out[0] >= 0], out[1][out[1] >= 0]


def _checked(pairs: Iterable[Any], n_rows: int, owner: str) -> list[Fold]:
    """Refuse folds in which a row is judged twice, or judged by who has learnt from it."""
    folds: list[Fold] = []
    judged = np.zeros(n_rows, np.int64)
    for learn, judge in pairs:
        parts = [np.asarray(part) for part in (learn, judge)]
        fold = tuple(np.flatnonzero(p) if p.dtype.kind == "b" else p for p in parts)
        wrong = any(
            len(p) and (p.dtype.kind not in "iu" or p.min() < 0 or p.max() >= n_rows) for p in fold
        )
        if wrong:
            raise InvalidParameter(f"cv of {owner}: expected numbers of rows below {n_rows}.")
        if np.intersect1d(*fold).size:
            raise InvalidParameter(
                f"cv of {owner}: row {int(np.intersect1d(*fold)[0])} is judged by a member that "
                "has learnt from it. Give folds that have no row in both parts."
            )
        if len(fold[0]) and len(fold[1]):
            np.add.at(judged, fold[1], 1)
            folds.append((fold[0], fold[1]))
    if not folds:
        raise InvalidParameter(
            f"cv of {owner}: expected one fold at least with rows in both parts."
        )
    if judged.max() > 1:
        raise InvalidParameter(
            f"cv of {owner} judges row {int(judged.argmax())} in {judged.max()} folds. Give folds "
            "that judge each row once at most, KFold for instance."
        )
    return folds
