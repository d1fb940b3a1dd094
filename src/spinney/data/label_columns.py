"""Several labels per row, each of classes of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spinney.data.sources.vector import column_vectors
from spinney.data.target import Labels, Target, read_labels
from spinney.data.weights import label_factors, label_weights, unknown_class_weight
from spinney.errors import InvalidInput, InvalidInputType
from spinney.typing import FloatArray, IntArray


def read_label_columns(y: Any, n_rows: int, estimator_name: str) -> list[Labels] | None:
    """Read each column of a target of several columns as labels; None for any other target.

    Columns of a frame keep their types.

    Examples
    --------
    >>> first, second = read_label_columns([["ash", "old"], ["fir", "old"]], 2, "The estimator")
    >>> first.classes.tolist(), second.codes.tolist()
    (['ash', 'fir'], [0, 0])
    """
    columns = column_vectors(y, "y")
    if columns is None or len(columns) < 2:
        return None
    return [_read_label(k, column, n_rows, estimator_name) for k, column in enumerate(columns)]


def _read_label(k: int, column: Any, n_rows: int, estimator_name: str) -> Labels:
    try:
        return read_labels(column, n_rows, estimator_name)
    except (InvalidInput, InvalidInputType) as error:
        raise type(error)(f"In column {k} of y: {error}") from error


def read_several_labels(
    columns: Sequence[Labels], weights: FloatArray | None, class_weight: Any
) -> tuple[Target, FloatArray, FloatArray | None]:
    """Give the target, (n_rows, n_labels) codes of classes, and weights with the classes'.

    Weights of classes multiply. A class all of whose rows have no sample weight is as if absent;
    one of class weight 0 stays, without a share anywhere.
    """
    own = label_weights(_weights_of_labels(class_weight, len(columns)), columns, weights)
    known = np.ones(len(columns[0].codes), bool) if weights is None else weights > 0
    there = [np.bincount(one.codes[known], minlength=len(one.classes)) > 0 for one in columns]
    classes = tuple(one.classes[kept] for one, kept in zip(columns, there, strict=True))
    # Rows of absent classes get a code of their neighbour: their weight is 0, so they go anyway.
    codes = [
        np.maximum(np.cumsum(kept) - 1, 0)[one.codes]
        for one, kept in zip(columns, there, strict=True)
    ]
    return Target.multi_classification(classes), np.column_stack(codes).astype(np.float64), own


def factors_of_classes(
    class_weight: Any, columns: Sequence[Labels], weights: FloatArray | None
) -> FloatArray:
    """Multiply the weights of the classes of each row's labels; "balanced" counts by weights."""
    return label_factors(_weights_of_labels(class_weight, len(columns)), columns, weights)


def ones_among_zeros(codes: FloatArray, n_classes: Sequence[int]) -> FloatArray:
    """Give a 1 among zeros for each label of each row; the classes of labels stand side by side.

    Examples
    --------
    >>> ones_among_zeros(np.array([[1.0, 2.0]]), [2, 3]).tolist()
    [[0.0, 1.0, 0.0, 0.0, 1.0]]
    """
    parts = [codes[:, k, np.newaxis] == np.arange(number) for k, number in enumerate(n_classes)]
    return np.hstack(parts).astype(np.float64)


def rarest_classes(codes: FloatArray) -> IntArray:
    """Give rows the same number if the rarest class that they have among their labels is the same.

    Rows divided evenly by these numbers have the rare classes of every label divided about evenly.

    Examples
    --------
    >>> rarest_classes(np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0]])).tolist()
    [0, 0, 1]
    """
    whole = codes.astype(np.int64)
    counts = np.column_stack([np.bincount(column)[column] for column in whole.T])
    label = counts.argmin(axis=1)
    pairs = np.column_stack([label, whole[np.arange(len(whole)), label]])
    _, numbers = np.unique(pairs, axis=0, return_inverse=True)
    return np.asarray(numbers, np.int64).reshape(-1)


def refuse_several(target: Target, what: str) -> None:
    """Refuse what is defined for one label only."""
    if target.label_classes is not None:
        raise InvalidInput(
            f"{what} is about one label per row, but the model predicts {target.n_targets}. Fit a "
            "model for each, for instance with sklearn.multioutput.MultiOutputClassifier."
        )


def _weights_of_labels(class_weight: Any, n_labels: int) -> Sequence[Any]:
    if isinstance(class_weight, list | tuple):
        if len(class_weight) == n_labels:
            return class_weight
        raise InvalidInput(
            "The number of elements in class_weight should match number of outputs. It has "
            f"{len(class_weight)}, but y has {n_labels} columns. Give a dict, 'balanced' or None "
            "for each column."
        )
    if isinstance(class_weight, Mapping):
        raise InvalidInput(
            f"class_weight={class_weight!r} is one dict, but y has {n_labels} columns with classes "
            "of their own. Give a list of dicts, one for each column, or 'balanced'."
        )
    if class_weight is not None and class_weight != "balanced":
        raise unknown_class_weight(class_weight)
    return [class_weight] * n_labels
