"""Tables and targets that are handed on to base learners as they are."""

from typing import Any

import numpy as np
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import _get_feature_names, _num_samples

from spinney.data.intake import read_table
from spinney.data.schema import FeatureSchema
from spinney.data.table import Kind, made_up_names
from spinney.data.target import Target, read_labels, read_numbers
from spinney.ensembles.bagging.job import Job
from spinney.ensembles.forests.row_order import MOST_COLUMNS, row_keys
from spinney.ensembles.weak.checks import check_means
from spinney.errors import InvalidInput, InvalidParameter, SpinneyError
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


def takes_several(base: Any) -> bool:
    """Tell whether an estimator says that it takes several numbers per row."""
    if not hasattr(base, "__sklearn_tags__"):
        return False
    return bool(get_tags(base).target_tags.multi_output)


def content_keys(table: TableLike, y: AnyArray) -> AnyArray | None:
    """Mix what stands in each row to 64 bits; None if we cannot read the table.

    Sorted by them, rows are drawn alike whatever order they came in, and a row of weight 2 as the
    row twice.
    """
    if table.shape[1] > MOST_COLUMNS:
        return None  # a walk over all columns would take longer than many a fit
    try:
        return row_keys(read_table(table), y)
    except SpinneyError:
        return None


def read_member_target(y: Any, n_rows: int, job: Job) -> tuple[Target, AnyArray, AnyArray]:
    """Give the target, y as codes of classes or (n_rows, n_outputs) numbers, and y for members."""
    if job.task == "classification":
        labels = read_labels(y, n_rows, estimator_name=job.name)
        target = Target.classification(labels.classes)
        return target, labels.codes.astype(float), labels.classes[labels.codes]
    shape = np.asarray(y).shape
    several = takes_several(job.base) or (len(shape) == 2 and shape[1] > 1)
    numbers = read_numbers(y, n_rows, multi_output=several, estimator_name=job.name)
    targets = numbers.reshape(n_rows, -1)
    check_means(targets, job.name)
    n_outputs = targets.shape[1]
    if job.params["aggregation"] == "median" and n_outputs > 1:
        raise InvalidParameter(
            f"aggregation='median' takes one number per row, but y has {n_outputs}. Fit one "
            "ensemble each, or use 'mean'."
        )
    return Target.regression(n_outputs), targets, targets[:, 0] if n_outputs == 1 else targets
