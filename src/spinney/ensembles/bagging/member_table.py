"""Tables and targets that are handed on to base learners as they are."""

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import _get_feature_names, _num_samples

from spinney.data.schema import FeatureSchema
from spinney.data.table import Kind, made_up_names
from spinney.data.target import Target, read_labels, read_numbers
from spinney.ensembles.bagging.job import Job
from spinney.errors import InvalidInput, InvalidParameter
from spinney.model.answers import as_members_take
from spinney.typing import AnyArray, TableLike


def member_table(X: TableLike) -> TableLike:
    """Give a table that has rows and columns; what stands in them is the members' affair."""
    table = as_members_take(X)
    if isinstance(table, np.ndarray) or not hasattr(table, "shape"):
        return check_array(table, dtype=None, ensure_all_finite=False)
    if len(table.shape) != 2 or 0 in table.shape:
        raise InvalidInput(
            f"X has the shape {tuple(table.shape)}: expected a table with at least one row and one "
            "column."
        )
    return table


def n_rows_of(table: TableLike) -> int:
    """Count the rows."""
    return int(_num_samples(table))


def member_schema(table: TableLike) -> FeatureSchema:
    """Name the columns; their kinds are not looked at."""
    names, n = _get_feature_names(table), int(table.shape[1])
    return FeatureSchema(
        tuple(made_up_names(n)) if names is None else tuple(str(name) for name in names),
        (Kind.NUMERIC,) * n,
        (None,) * n,
        (None,) * n,
        names is not None,
    )


def read_member_target(y: Any, n_rows: int, job: Job) -> tuple[Target, AnyArray, AnyArray]:
    """Give the target, y as codes of classes or (n_rows, n_outputs) numbers, and y for members."""
    if job.task == "classification":
        labels = read_labels(y, n_rows, estimator_name=job.name)
        target = Target.classification(labels.classes)
        return target, labels.codes.astype(float), labels.classes[labels.codes]
    numbers = read_numbers(y, n_rows, multi_output=True, estimator_name=job.name)
    targets = numbers.reshape(n_rows, -1)
    n_outputs = targets.shape[1]
    if job.params["aggregation"] == "median" and n_outputs > 1:
        raise InvalidParameter(
            f"aggregation='median' takes one number per row, but y has {n_outputs}. Fit one "
            "ensemble each, or use 'mean'."
        )
    return Target.regression(n_outputs), targets, targets[:, 0] if n_outputs == 1 else targets
