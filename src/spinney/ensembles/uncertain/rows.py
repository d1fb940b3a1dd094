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
        return chosen(self.X, rows)

    def group_codes(self) -> AnyArray | None:
        """Give the groups of rows by their places; None: there are none."""
        if self.groups is None:
            return None
        labels = self.groups.astype(str) if self.groups.dtype.kind == "O" else self.groups
        codes = np.unique(labels, return_inverse=True)[1]
        if codes.max() == 0:
            raise InvalidInput("All rows are of one group: expected two groups at least to divide.")
        return np.asarray(codes)

    def weights_of(self, rows: AnyArray) -> FloatArray | None:
        """Give the weights of some rows; None: all are 1."""
        return None if self.weights is None else self.weights[rows]


def read_given(
    X: TableLike, y: Any, sample_weight: Any, groups: Any, *, task: str, owner: str
) -> GivenRows:
    """Read a table, its target, weights and groups."""
    settings = IntakeSettings(estimator_name=owner, task=task, multi_output=False)
    reading = read_rows(flat_rows(X), y, sample_weight, settings)
    given = as_table(X)
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
        X=given if kept is None else chosen(given, kept),
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


def as_table(X: TableLike) -> TableLike:
    """Give a table whose rows can be chosen, as members take it."""
    given = as_members_take(X)
    if hasattr(given, "shape") or not hasattr(given, "__array__"):
        return given
    return np.asarray(given)


def chosen(X: TableLike, rows: AnyArray) -> TableLike:
    """Choose rows of a table; Arrow's know how themselves."""
    return X.take(rows) if hasattr(X, "num_rows") else _safe_indexing(X, rows)


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
        return _checked(cv.split(rows.X, rows.y, rows.groups), rows, owner)
    return _checked((_still_there(pair, rows) for pair in cv), rows, owner)


def _dealt(rows: GivenRows, seed: int) -> AnyArray:
    """Give the rows numbers, by chance; those of a class follow each other.

    Rows of a group have the same number.
    """
    generator = np.random.default_rng(random_bits(seed, Stream.ROWS, 0))
    groups = rows.group_codes()
    if groups is not None:
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
        learn, judge = (_numbers_of(part) for part in pair)
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"cv holds {pair!r}: expected pairs of rows to learn from and rows to judge."
        ) from None
    if rows.kept is None:
        return learn, judge
    place = np.full(rows.n_given, -1)
    place[rows.kept] = np.arange(len(rows.kept))
    if max(learn.max(initial=0), judge.max(initial=0)) >= rows.n_given:
        raise InvalidParameter(f"cv: expected numbers of rows below {rows.n_given}.")
    learn, judge = place[learn], place[judge]
    return learn[learn >= 0], judge[judge >= 0]


def _checked(pairs: Iterable[Any], rows: GivenRows, owner: str) -> list[Fold]:
    """Refuse folds in which a row is judged twice, or judged by who has learnt from it."""
    folds: list[Fold] = []
    n_rows, groups = len(rows), rows.group_codes()
    judged = np.zeros(n_rows, np.int64)
    for pair in pairs:
        learn, judge = (_numbers_of(part) for part in pair)
        if any(len(part) and (part.min() < 0 or part.max() >= n_rows) for part in (learn, judge)):
            raise InvalidParameter(f"cv of {owner}: expected numbers of rows below {n_rows}.")
        both = np.intersect1d(learn, judge)
        if both.size:
            raise InvalidParameter(
                f"cv of {owner}: row {int(both[0])} is judged by a member that has learnt from it. "
                "Give folds that have no row in both parts."
            )
        if groups is not None and np.intersect1d(groups[learn], groups[judge]).size:
            raise InvalidParameter(
                f"cv of {owner} divides a group: rows of it are learnt from and others judged. "
                "Give a splitter that looks at groups, GroupKFold for instance, or a number."
            )
        if len(learn) and len(judge):
            np.add.at(judged, judge, 1)
            folds.append((learn, judge))
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


def _numbers_of(rows: Any) -> AnyArray:
    """Give rows by their numbers; a mask says which."""
    part = np.asarray(rows)
    if part.dtype.kind == "b":
        return np.flatnonzero(part)
    if part.ndim != 1 or (len(part) and part.dtype.kind not in "iu"):
        raise InvalidParameter(f"cv holds {rows!r}: expected numbers of rows, or a mask.")
    return part.astype(np.int64)
