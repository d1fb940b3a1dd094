"""Which rows are learnt from and which are measured on, over one table of bins."""

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spinney.data.binning import BinnedTable, CategoryBins, FeatureBins
from spinney.data.derivation import UNSEEN, Derivation
from spinney.data.fixed_point import exact_total
from spinney.data.nonzero import without_zeros
from spinney.data.table import Table
from spinney.data.target import Target, read_numbers
from spinney.data.weights import read_weights
from spinney.ensembles.fitting import IntakeSettings, Reading
from spinney.ensembles.gradient.labels import codes_of_held_out, compact_codes
from spinney.ensembles.sharing import TableRows
from spinney.errors import InvalidInput, InvalidInputType, SmallWeights
from spinney.model import Policy
from spinney.resampling.assigning import drawn_groups, latest_rows
from spinney.resampling.keys import read_codes, read_ranks
from spinney.typing import AnyArray, FloatArray, TableLike

VALIDATION_ROWS: Mapping[str, str] = {
    "drawn": "of X, one by one (of a ranker query by query)",
    "by_keys": "of X, by groups or time",
    "given": "a table of their own",
}
"""Which rows rounds were measured on, by name."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Some of the rows."""

    rows: AnyArray | None
    """Their numbers, increasing; None: all."""
    weights: FloatArray | None
    """Weights in the loss of all rows, 0 outside the part; None: 1 each."""
    is_weighted: bool
    """Whether weights were given, by rows or by classes."""

    def take(self, values: AnyArray) -> AnyArray:
        """Choose the entries of these rows."""
        return values if self.rows is None else values[self.rows]


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Validation rows of a table of their own."""

    table: Table
    y: FloatArray
    weights: FloatArray | None
    offset: FloatArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BoostingRows:
    """All rows, binned, and the parts they fall into."""

    target: Target
    binned: BinnedTable
    tables: list[Table]
    """The same rows before they were binned, one table behind the other; empty once forgotten."""
    y: AnyArray
    """(n_rows,) codes of classes, in a byte if there are two, or numbers; of several labels or
    numbers a column each, in Fortran order."""
    weights: FloatArray | None
    factors: FloatArray | None
    """Factors of the loss of rows, beside the weights: class weights."""
    train: Part
    validation: Part | None
    offset: FloatArray | None = None
    """(n_rows, n_outputs), in Fortran order: added to the raw scores of each row; None: nothing."""
    derivation: Derivation | None = None
    """How ``tables`` were made of those of the user; None: they are those."""
    inputs: list[Table] = field(default_factory=list)
    """The tables of the user, where ``tables`` are derived."""
    orders: tuple[AnyArray, ...] = ()
    """Where training rows are told in several orders: their numbers in each one."""

    @property
    def n_rows(self) -> int:
        """Number of rows, of all parts."""
        return len(self.y)

    def in_turn(self, number: int) -> AnyArray | None:
        """Give the training rows of a round, in the order whose turn it is; None: all."""
        return self.orders[number % len(self.orders)] if self.orders else self.train.rows

    @property
    def told_first(self) -> Part:
        """The training rows as the first order tells them: each once."""
        train = self.train
        return replace(train, rows=self.orders[0]) if self.orders else train

    def table_of(self, part: Part) -> Table:
        """Choose the unbinned rows of a part, as the user gave them."""
        tables = self.inputs or self.tables
        if part is self.validation and len(tables) == 2:
            return tables[1]
        return tables[0] if part.rows is None else tables[0].take(part.rows)

    def forget_tables(self) -> None:
        """Keep only bins."""
        self.tables.clear()
        self.inputs.clear()


def arrange_rows(
    reading: Reading,
    factors: FloatArray | None,
    held_out: AnyArray | HeldOut | None,
    settings: IntakeSettings,
    offset: FloatArray | None = None,
) -> BoostingRows:
    """Bin all rows once, by bins of the training rows or of the table they share with other fits.

    ``held_out`` is a table of its own, or the numbers of the rows to be left out of training.
    """
    if isinstance(held_out, HeldOut):
        return _with_own_table(reading, factors, held_out, settings, offset)
    y = _compact(targets_of(reading), reading.target)
    in_loss = weights_in_loss(reading.weights, factors)
    weights, validation = reading.weights, None
    train = Part(None, in_loss, in_loss is not None)
    if held_out is not None:
        is_held = np.zeros(len(y), bool)
        is_held[held_out] = True
        ones = np.ones(len(y)) if in_loss is None else in_loss
        rows = np.flatnonzero(~is_held).astype(np.uint32)
        train = Part(rows, np.where(is_held, 0.0, ones), in_loss is not None)
        validation = Part(held_out, np.where(is_held, ones, 0.0), in_loss is not None)
        weights = None if weights is None else np.where(is_held, weights[rows].min(), weights)
    if isinstance(reading.table, TableRows):
        binned = reading.table.binned(settings.max_bins, settings.n_threads)
    else:
        sparse = replace(reading, table=without_zeros(reading.table, settings.n_threads))
        binner = sparse.binner(settings, train.rows)
        binned = binner.transform(sparse.table, n_threads=settings.n_threads)
    return BoostingRows(
        reading.target, binned, [reading.table], y, weights, factors, train, validation, offset
    )


def targets_of(reading: Reading) -> FloatArray:
    """Give the targets of rows; (n_rows,), or a column for each if there are several."""
    y = reading.y.reshape(len(reading.y), -1)
    return y[:, 0] if y.shape[1] == 1 else y


def _compact(y: FloatArray, target: Target) -> AnyArray:
    """Give codes of classes no more memory than they need; numbers stay as they are."""
    if target.label_classes is not None:
        return compact_codes(y, target.label_classes)
    if target.classes is None:
        return np.asfortranarray(y)  # also of one column: contiguous
    return y.astype(np.uint8 if len(target.classes) <= 2 else np.int32)


def _with_own_table(
    reading: Reading,
    factors: FloatArray | None,
    held_out: HeldOut,
    settings: IntakeSettings,
    offset: FloatArray | None,
) -> BoostingRows:
    n, more = len(reading.y), len(held_out.y)
    binner = reading.binner(settings)
    tables = [reading.table, held_out.table]
    n_threads = settings.n_threads
    bins = [binner.transform(table, n_threads=n_threads).dense(n_threads) for table in tables]
    in_loss = weights_in_loss(reading.weights, factors)
    ones = np.ones(n) if in_loss is None else in_loss
    own = np.ones(more) if held_out.weights is None else held_out.weights
    # A held-out row is never grown on. Its weight in the grower is the smallest one, so that it
    # changes neither whether all weights are whole nor the grid that they are put on.
    weights = reading.weights
    if weights is not None:
        weights = np.append(weights, np.full(more, weights.min()))
    return BoostingRows(
        reading.target,
        BinnedTable(np.concatenate(bins), binner.features),
        tables,
        _compact(np.concatenate([targets_of(reading), held_out.y]), reading.target),
        weights,
        None if factors is None else np.append(factors, np.ones(more)),
        Part(np.arange(n, dtype=np.uint32), np.append(ones, np.zeros(more)), in_loss is not None),
        Part(
            np.arange(n, n + more, dtype=np.uint32),
            np.append(np.zeros(n), own),
            held_out.weights is not None,
        ),
        _joined(offset, held_out.offset),
    )


def _joined(offset: FloatArray | None, behind: FloatArray | None) -> FloatArray | None:
    """Put the offsets of two tables behind each other; both are there, or neither."""
    if offset is None or behind is None:
        return None
    return np.asfortranarray(np.concatenate([offset, behind]))


def draw_held_out(reading: Reading, fraction: float, seed: int) -> AnyArray:
    """Draw the rows to validate on, of every class its share; scikit-learn's split.

    Of several labels per row, as of numbers, by chance alone.
    """
    from sklearn.model_selection import train_test_split  # noqa: PLC0415 - 0.1 s, for few only

    is_classes = reading.target.classes is not None
    try:
        _, held_out = train_test_split(
            np.arange(len(reading.y), dtype=np.uint32),
            test_size=fraction,
            stratify=reading.y if is_classes else None,
            random_state=seed % 2**32,
        )
    except ValueError as error:
        raise InvalidInput(
            f"validation_fraction={fraction!r} splits no validation rows off {len(reading.y)} rows:"
            f" {error} Give more rows, another fraction, X_val and y_val, or set "
            "early_stopping=False."
        ) from error
    return np.sort(held_out)


def held_out_by_keys(
    reading: Reading, fraction: float, seed: int, *, groups: Any, time: Any
) -> AnyArray:
    """Draw whole groups to validate on, or take the latest rows; about a share of the weight.

    A row of weight 2 is two rows, which go together.
    """
    n_rows, weights = len(reading.y), reading.weights
    share = fraction if isinstance(fraction, float) else fraction / n_rows
    if share >= 1.0:
        raise InvalidInput(
            f"validation_fraction={fraction!r} leaves none of {n_rows} rows to learn from. Give "
            "more rows, another fraction, X_val and y_val, or set early_stopping=False."
        )
    if time is not None:
        held = latest_rows(read_ranks(time, n_rows), share, weights)
    else:
        held = drawn_groups(read_codes(groups, n_rows, "groups"), share, weights, seed=seed)
    _check_classes_left(reading, held, fraction)
    return np.flatnonzero(held).astype(np.uint32)


def _check_classes_left(reading: Reading, held: AnyArray, fraction: float) -> None:
    """Refuse to hold out all rows of a class: nothing would be learnt of it."""
    if reading.target.classes is None:
        return
    missing = np.setdiff1d(reading.y, reading.y[~held]).astype(np.int64)
    if len(missing):
        label = reading.target.classes[missing[0]].tolist()
        raise InvalidInput(
            f"validation_fraction={fraction!r}, by groups or time, holds out all rows of class "
            f"{label!r}, and nothing would be learnt of it. Give another fraction or "
            "random_state, or set early_stopping='cv', whose last fit learns from all rows."
        )


def read_held_out(
    given: tuple[TableLike, Any, Any], reading: Reading, policy: Policy, settings: IntakeSettings
) -> HeldOut:
    """Read ``X_val``, ``y_val`` and ``sample_weight_val`` in the terms of the training table."""
    try:
        return _held_out(given, reading, policy, settings.estimator_name)
    except (InvalidInput, InvalidInputType) as error:
        message = f"In the validation rows (X_val, y_val, sample_weight_val): {error}"
        raise type(error)(message) from error


def _held_out(
    given: tuple[TableLike, Any, Any], reading: Reading, policy: Policy, name: str
) -> HeldOut:
    X_val, y_val, sample_weight_val = given
    table = reading.schema.conform(
        X_val,
        unseen=policy.unseen,
        extra=policy.extra,
        estimator_name=name,
        unseen_code=UNSEEN,  # bins take it for missing
    )
    weights = read_weights(sample_weight_val, table.n_rows)
    if reading.target.has_classes:
        codes = codes_of_held_out(y_val, table.n_rows, reading.target, name)
        return HeldOut(table, codes, weights)
    shape = targets_of(reading).shape[1:]
    numbers = read_numbers(y_val, table.n_rows, name, multi_output=bool(shape))
    if numbers.shape[1:] != shape:
        raise InvalidInput(
            f"y_val has the shape {numbers.shape}, but y has {reading.y.shape[1]} outputs. "
            "Give one column for each of them."
        )
    return HeldOut(table, numbers, weights)


def bins_digest(features: Sequence[FeatureBins]) -> str:
    """Give a fingerprint of bins: tables with the same one are binned alike."""
    digest = hashlib.sha256()
    for feature in features:
        numbers = feature.bin_of_code if isinstance(feature, CategoryBins) else feature.cuts
        digest.update(f"{type(feature).__name__} {len(numbers)} ".encode())
        digest.update(np.ascontiguousarray(numbers).tobytes())
    return digest.hexdigest()


def weights_in_loss(weights: FloatArray | None, factors: FloatArray | None) -> FloatArray | None:
    """Multiply the weights of rows with the factors of their losses; None: all 1."""
    if weights is None or factors is None:
        return factors if weights is None else weights
    return weights * factors


def warn_of_small_weights(rows: BoostingRows, min_samples_leaf: float) -> None:
    """Say so if rows are enough for a split and their weights are not: the model is a constant."""
    if rows.weights is None:
        return
    weights = rows.train.take(rows.weights)
    if len(weights) < 2 * min_samples_leaf:
        return
    total = exact_total(weights)
    if total < 2 * min_samples_leaf:
        warnings.warn(
            f"sample_weight adds up to {total:.3g} over {len(weights)} rows, and a leaf must weigh "
            f"min_samples_leaf={min_samples_leaf}: no split is possible. A weight of k counts as "
            "the row k times; multiply weights so that their mean is 1, or lower min_samples_leaf.",
            SmallWeights,
            stacklevel=4,
        )
