"""The rows that estimators around other estimators are given, and how they are divided."""

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from spinney.data.keys import one_per_row, read_codes
from spinney.data.target import Target
from spinney.ensembles.fitting import IntakeSettings, read_rows
from spinney.ensembles.weak.foreign import flat_rows
from spinney.errors import InvalidInput
from spinney.model.answers import as_members_take
from spinney.randomness import Stream, random_bits
from spinney.resampling.assigning import latest_rows
from spinney.resampling.folds import Fold, read_folds
from spinney.resampling.keys import read_ranks
from spinney.typing import AnyArray, FloatArray, IntArray, TableLike


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
    time: IntArray | None
    """Ranks: equal times, equal ranks."""
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
        codes = read_codes(self.groups, len(self), "groups")
        if codes.max() == 0:
            raise InvalidInput("All rows are of one group: expected two groups at least to divide.")
        return codes

    def keys_of(self, rows: AnyArray) -> dict[str, AnyArray | None]:
        """Give the groups and times of some rows by their names; None: there are none."""
        keys = {"groups": self.groups, "time": self.time}
        return {name: None if own is None else own[rows] for name, own in keys.items()}

    def weights_of(self, rows: AnyArray) -> FloatArray | None:
        """Give the weights of some rows; None: all are 1."""
        return None if self.weights is None else self.weights[rows]


def read_given(
    rows: tuple[TableLike, Any, Any], keys: tuple[Any, Any], *, task: str, owner: str
) -> GivenRows:
    """Read a table, its target and weights; groups and time."""
    (X, y, sample_weight), (groups, time) = rows, keys
    settings = IntakeSettings(estimator_name=owner, task=task, multi_output=False)
    reading = read_rows(flat_rows(X), y, sample_weight, settings)
    given = as_table(X)
    kept = reading.kept
    classes = reading.target.classes
    codes = None if classes is None else reading.y.astype(np.int64)
    targets = reading.y.reshape(-1) if codes is None else np.asarray(classes)[codes]
    labels = None
    if groups is not None:
        labels = one_per_row(groups, reading.n_given, "groups")
        labels = labels if kept is None else labels[kept]
    ranks = None if time is None else read_ranks(time, reading.n_given)
    return GivenRows(
        X=given if kept is None else chosen(given, kept),
        y=targets,
        codes=codes,
        weights=reading.weights,
        groups=labels,
        time=ranks if ranks is None or kept is None else ranks[kept],
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
    if isinstance(cv, numbers.Integral) and rows.time is None:
        places = _dealt(rows, seed) % min(int(cv), len(rows))
        return [_by_mask(places == fold) for fold in np.unique(places)]
    if isinstance(cv, numbers.Real) and not isinstance(cv, numbers.Integral):
        return [_by_mask(_held_out(float(cv), rows, seed))]
    kept = None
    if rows.kept is not None:
        kept = np.zeros(rows.n_given, bool)
        kept[rows.kept] = True
    return read_folds(cv, rows.y, groups=rows.group_codes(), time=rows.time, X=rows.X, kept=kept)


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
    """Mark about a share of the rows, of each class the same share, one row at least.

    With time they are the latest.
    """
    if rows.time is not None:
        if rows.groups is not None:
            raise InvalidInput(
                f"cv={share:g} holds out the latest rows by time, which would divide groups. Give "
                "groups or time to fit, or a number of folds as cv."
            )
        return latest_rows(rows.time, share, rows.weights)
    places = _dealt(rows, seed)
    chosen = np.floor((places + 1) * share) > np.floor(places * share)
    if not chosen.any():
        chosen = places == places.max()
    if chosen.all():
        chosen = places != 0
    return chosen


def _by_mask(judged: AnyArray) -> Fold:
    return np.flatnonzero(~judged), np.flatnonzero(judged)
