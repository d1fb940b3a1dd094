"""Targets of committees: labels as codes that every member is given, or numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from spinney.data.sources.vector import read_vector
from spinney.data.target import Labels, read_labels, read_numbers
from spinney.errors import InvalidInput, NotOffered
from spinney.typing import AnyArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class ManyLabels:
    """Several labels per row, each with its own classes, as codes."""

    classes: list[AnyArray]
    codes: AnyArray
    """(n_rows, n_labels)"""

    def decode(self, codes: AnyArray) -> AnyArray:
        """Give the labels of codes."""
        columns = [own[column.astype(np.int64)] for own, column in zip(self.classes, codes.T)]  # noqa: B905
        return np.array(columns).T


def read_classes(y: Any, estimator_name: str) -> Labels:
    """Read one label per row; several are refused."""
    if has_many_labels(y):
        raise NotOffered(
            f"{estimator_name} only supports binary or multiclass classification, and y has "
            "several columns: multilabel and multi-output classification are not supported. Fit "
            "one committee per column."
        )
    return read_labels(y, _length(y, estimator_name), estimator_name)


def read_many_labels(y: Any) -> ManyLabels:
    """Read an indicator matrix: one column of two classes per label."""
    table = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    pairs = [np.unique(column, return_inverse=True) for column in table.T]
    codes = np.array([codes for _, codes in pairs]).T
    return ManyLabels([classes for classes, _ in pairs], codes)


def has_many_labels(y: Any) -> bool:
    """Tell whether y has several labels per row."""
    shape = getattr(y, "shape", None)
    if shape is None:
        shape = np.shape(np.asarray(y, dtype=object)) if y is not None else ()
    if len(shape) != 2 or shape[1] < 2:
        return False
    kind = str(type_of_target(y))
    if kind == "multilabel-indicator":
        return True
    raise InvalidInput(
        f"y should be a 1d array, got an array of shape {tuple(shape)} instead. Give one target "
        "per row."
    )


def read_column(y: Any, estimator_name: str) -> FloatArray:
    """Read one number per row."""
    return read_numbers(y, _length(y, estimator_name), estimator_name, multi_output=False)


def _length(y: Any, estimator_name: str) -> int:
    if y is None:
        raise InvalidInput(
            f"{estimator_name} requires y to be passed, but the target y is None. Call fit(X, y) "
            "with one target per row."
        )
    return len(read_vector(y, "y"))
