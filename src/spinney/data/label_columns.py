"""Several labels per row, each of classes of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spinney.data.sources.vector import column_vectors
from spinney.data.target import Labels, Target, read_labels
from spinney.data.weights import label_weights
from spinney.errors import InvalidInput
from spinney.typing import FloatArray


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
    return [read_labels(column, n_rows, estimator_name) for column in columns]


def read_several_labels(
    columns: Sequence[Labels], weights: FloatArray | None, class_weight: Any
) -> tuple[Target, FloatArray, FloatArray | None]:
    """Give the target, a 1 among zeros for each label of each row, and weights with the classes'.

    Weights of classes multiply. A class all of whose rows have no sample weight is as if absent;
    one of class weight 0 stays, without a share anywhere.
    """
    parts = _weights_of_labels(class_weight, len(columns))
    own = label_weights(parts, columns, weights)
    known = np.ones(len(columns[0].codes), bool) if weights is None else weights > 0
    there = [np.bincount(one.codes[known], minlength=len(one.classes)) > 0 for one in columns]
    classes = tuple(one.classes[kept] for one, kept in zip(columns, there, strict=True))
    hot = [
        (one.codes[:, np.newaxis] == np.flatnonzero(kept)).astype(np.float64)
        for one, kept in zip(columns, there, strict=True)
    ]
    return Target.multi_classification(classes), np.hstack(hot), own


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
    return [class_weight] * n_labels
