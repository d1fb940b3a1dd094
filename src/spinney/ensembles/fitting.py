"""What every learner does before its first round: intake, target, weights, bins."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data.binning import BinnedTable, Binner
from spinney.data.fixed_point import exact_total
from spinney.data.intake import read_table
from spinney.data.label_columns import (
    ones_among_zeros,
    read_label_columns,
    read_several_labels,
)
from spinney.data.schema import FeatureSchema
from spinney.data.table import Table
from spinney.data.target import Target, read_labels, read_numbers
from spinney.data.weights import class_weights, read_weights
from spinney.ensembles.sharing import TableRows
from spinney.typing import AnyArray, FloatArray, TableLike


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Binned rows and what is to be learnt from them. Rows of weight 0 are already gone."""

    schema: FeatureSchema
    target: Target
    binned: BinnedTable
    y: FloatArray
    """(n_rows,) codes of classes, or (n_rows, n_outputs) numbers."""
    weights: FloatArray | None
    """(n_rows,), positive; None when all are 1."""

    @property
    def targets(self) -> FloatArray:
        """(n_rows, n_outputs): numbers, or classes as a 1 among zeros."""
        if self.target.task != "classification":
            return self.y
        one_hot = np.zeros((len(self.y), self.target.n_outputs))
        one_hot[np.arange(len(self.y)), self.y.astype(np.int64)] = 1.0
        return one_hot

    @property
    def total_weight(self) -> float:
        """Sum of the weights: how many rows there are, counting repetitions."""
        return float(len(self.y)) if self.weights is None else exact_total(self.weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeSettings:
    """How a table is read; each estimator fills it from its parameters."""

    estimator_name: str
    task: str
    categorical_features: Any = "from_dtype"
    class_weight: Any = None
    max_bins: int = 255
    multi_output: bool = True
    why_one: str = ""
    """Why there may be one output only, and what to do; for the message."""
    n_threads: int = 1
    several_labels: bool = False
    """Whether a row may have several labels, each of classes of its own."""
    labels_as_codes: bool = False
    """Whether several labels are read as codes of classes; otherwise as a 1 among zeros each."""
    keeps_classes: bool = False
    """Whether classes of class weight 0 stay classes, though no row of them is left."""


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What ``fit`` was given, read but not binned. Rows of weight 0 are already gone."""

    schema: FeatureSchema
    target: Target
    table: Table
    y: FloatArray
    weights: FloatArray | None
    kept: AnyArray | None = None
    """Numbers of the rows in what was given; None: all of them."""
    n_given: int = 0
    """Rows that were given."""

    @property
    def total_weight(self) -> float:
        """Sum of the weights: how many rows there are, counting repetitions."""
        return float(len(self.y)) if self.weights is None else exact_total(self.weights)

    def binned(self, settings: IntakeSettings) -> Problem:
        """Learn the bins and put the rows into them."""
        binned = self.binner(settings).transform(self.table, n_threads=settings.n_threads)
        return Problem(self.schema, self.target, binned, self.y, self.weights)

    def binner(self, settings: IntakeSettings, rows: AnyArray | None = None) -> Binner:
        """Learn the bins, from some of the rows or from all."""
        table, weights = self.table, self.weights
        if rows is not None:
            table = table.take(rows)
            weights = None if weights is None else weights[rows]
        return Binner.learn(
            table, weights, max_bins=settings.max_bins, n_threads=settings.n_threads
        )


def read_rows(X: TableLike, y: Any, sample_weight: Any, settings: IntakeSettings) -> Reading:
    """Read a table, its target and its weights."""
    table = read_table(X)
    weights = read_weights(sample_weight, table.n_rows)
    target, numbers, weights = read_target(y, table.n_rows, weights, settings)
    kept, n_given = None, table.n_rows
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        table = table.take(kept).forget_unused_levels()
        numbers, weights = numbers[kept], weights[kept]
    if isinstance(table, TableRows):
        schema, table = table.recoded(settings.categorical_features)
    else:
        schema, table = FeatureSchema.learn(table, settings.categorical_features)
    return Reading(schema, target, table, numbers, weights, kept, n_given)


def read_problem(X: TableLike, y: Any, sample_weight: Any, settings: IntakeSettings) -> Problem:
    """Read a table, its target and its weights, and bin it once."""
    return read_rows(X, y, sample_weight, settings).binned(settings)


def read_target(
    y: Any, n_rows: int, weights: FloatArray | None, settings: IntakeSettings
) -> tuple[Target, FloatArray, FloatArray | None]:
    """Give the target, y as numbers or codes, and the weights of rows and classes."""
    name = settings.estimator_name
    if settings.task == "unsupervised":
        return Target("unsupervised"), np.zeros(n_rows), weights
    if settings.task in ("regression", "ranking"):
        several, why = settings.multi_output, settings.why_one
        numbers = read_numbers(y, n_rows, name, multi_output=several, why_one=why)
        targets = numbers.reshape(n_rows, -1)
        return Target(settings.task, n_outputs=targets.shape[1]), targets, weights
    if settings.several_labels and y is not None:
        columns = read_label_columns(y, n_rows, name)
        if columns is not None:
            target, codes, own = read_several_labels(columns, weights, settings.class_weight)
            if settings.labels_as_codes:
                return target, codes, own
            n_classes = [len(classes) for classes in target.label_classes or ()]
            return target, ones_among_zeros(codes, n_classes), own
    labels, of_rows = read_labels(y, n_rows, estimator_name=name), weights
    weights = class_weights(settings.class_weight, labels, weights)
    # A class all of whose rows weigh nothing is as if absent.
    present = np.ones(len(labels.classes), bool)
    decides = of_rows if settings.keeps_classes else weights
    if decides is not None:
        present = np.bincount(labels.codes, decides > 0, len(present)) > 0
    # Rows of absent classes get a code of their neighbour: their weight is 0, so they go anyway.
    codes = np.maximum(np.cumsum(present) - 1, 0)[labels.codes].astype(float)
    classes = labels.classes[present]
    return Target("classification", classes, n_outputs=len(classes)), codes, weights
