"""Weights: of rows and of classes, checked once."""

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spinney.data.fixed_point import fixed_weights
from spinney.data.sources.objects import read_objects
from spinney.data.sources.vector import missing_value, read_vector
from spinney.data.table import Kind
from spinney.data.target import Labels
from spinney.errors import InvalidInput, InvalidInputType, nearest_names, shorten
from spinney.typing import AnyArray, FloatArray

_SMALLEST, _LARGEST = 1e-250, 1e250


def read_weights(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Read row weights: finite, not negative, not all zero. None stays None.

    A single number counts for every row, as in scikit-learn.

    Examples
    --------
    >>> read_weights([1, 2, 0], 3)
    array([1., 2., 0.])
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Real | np.bool_):
        try:
            values: AnyArray = np.full(n_rows, float(sample_weight))
        except OverflowError:  # an integer beyond all floats
            values = np.full(n_rows, math.inf)
    else:
        values = read_vector(sample_weight, "sample_weight")
    if values.ndim != 1:
        raise InvalidInput(
            f"Sample weights must be 1D array or scalar, got {values.ndim}D array. Expected "
            f"either a scalar value or a 1D array of length {n_rows}."
        )
    if len(values) != n_rows:
        raise InvalidInput(
            f"sample_weight.shape == {values.shape}, expected {(n_rows,)}! Found input variables "
            f"with inconsistent numbers of samples: {[n_rows, len(values)]}. Give one per row."
        )
    weights = _numbers(values)
    _check_weights(weights)
    return weights


def near_one(sample_weight: Any) -> Any:
    """Scale tiny or huge weights by a power of two, for a learner that looks at ratios only.

    What is no array of positive numbers stays as it is, for ``read_weights`` to refuse.

    Examples
    --------
    >>> near_one(np.array([2.0**-900, 2.0**-901]))
    array([0.5 , 0.25])
    """
    if not isinstance(sample_weight, np.ndarray) or sample_weight.dtype.kind != "f":
        return sample_weight
    largest = float(sample_weight.max(initial=0.0))
    if not 0 < largest < np.inf or _SMALLEST <= largest <= _LARGEST:
        return sample_weight
    return np.ldexp(sample_weight, -math.frexp(largest)[1])


def _numbers(values: AnyArray) -> FloatArray:
    if values.dtype.kind == "c":
        raise InvalidInput("Complex data not supported: sample_weight is complex.")
    if values.dtype.kind == "O":
        column = read_objects("sample_weight", values)
        if column.kind in {Kind.NUMERIC, Kind.BOOLEAN}:
            return column.values
    if values.dtype.kind not in "biuf":
        raise InvalidInputType(
            f"sample_weight has type {values.dtype}: expected numbers, one per row."
        )
    return values.astype(np.float64)


def _check_weights(values: FloatArray) -> None:
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        if np.isnan(values[row]):
            raise missing_value("sample_weight", row)
        known = "" if values[row] > 0 else "Negative values in data passed to `sample_weight`. "
        raise InvalidInput(
            f"{known}Row {row} of sample_weight is {values[row]}: weights must be finite and not "
            "negative (no infinity, no NaN). Correct it, or leave the row out with weight 0."
        )
    extreme = (values > 0) & ((values < _SMALLEST) | (values > _LARGEST))
    if extreme.any():
        row = int(np.argmax(extreme))
        raise InvalidInput(
            f"Row {row} of sample_weight is {values[row]}: positive weights must lie between "
            f"{_SMALLEST} and {_LARGEST}, so that their sums are numbers. Divide all of them by "
            "the same constant."
        )
    if not values.any():
        raise InvalidInput(
            "Sample weights must contain at least one non-zero number: all weights are zero, so "
            "no row would count."
        )


def class_weights(
    class_weight: Any, labels: Labels, weights: FloatArray | None
) -> FloatArray | None:
    """Multiply row weights by the weights of their classes; None when every row weighs 1.

    Examples
    --------
    >>> labels = Labels(np.array(["a", "b"]), np.array([0, 0, 0, 1], np.int32))
    >>> class_weights({"a": 1, "b": 3}, labels, None)
    array([1., 1., 1., 3.])
    """
    # With the 24 bits of a float32 their products with whole row weights are exact: a row weight of
    # 3 and the row three times stay the same thing.
    per_class = weights_per_class(class_weight, labels, weights).astype(np.float32).astype(float)
    if np.all(per_class == 1):
        return weights
    of_rows = per_class[labels.codes]
    combined = of_rows if weights is None else of_rows * weights
    _check_weights(combined)
    return combined


def label_weights(
    class_weights: Sequence[Any], columns: Sequence[Labels], weights: FloatArray | None
) -> FloatArray | None:
    """Multiply row weights by those of the classes of each of their labels; None: all are 1.

    "balanced" counts rows by the weights that were given, whatever the other labels are.

    Examples
    --------
    >>> labels = Labels(np.array(["a", "b"]), np.array([0, 0, 0, 1], np.int32))
    >>> label_weights([{"a": 1, "b": 3}, {"a": 2}], [labels, labels], None)
    array([2., 2., 2., 3.])
    """
    of_rows = label_factors(class_weights, columns, weights)
    if np.all(of_rows == 1):
        return weights
    combined = of_rows if weights is None else of_rows * weights
    _check_weights(combined)
    return combined


def label_factors(
    class_weights: Sequence[Any], columns: Sequence[Labels], weights: FloatArray | None
) -> FloatArray:
    """Multiply the weights of the classes of each row's labels; (n_rows,)."""
    product = np.ones(len(columns[0].codes))
    for k, (class_weight, labels) in enumerate(zip(class_weights, columns, strict=True)):
        product *= weights_per_class(class_weight, labels, weights, column=k)[labels.codes]
    return product.astype(np.float32).astype(np.float64)  # for exact products, as above


def _countable(weights: FloatArray) -> FloatArray:
    """Put weights on a grid on which float64 adds them exactly, in any order; zeros stay zeros."""
    counted = np.zeros(len(weights))
    positive = weights > 0
    counted[positive] = fixed_weights(weights[positive], bits=52)[0]
    return counted


def weights_per_class(
    class_weight: Any, labels: Labels, weights: FloatArray | None, *, column: int | None = None
) -> FloatArray:
    """Give the weight of each class, in the order of ``labels.classes``.

    None is 1 for all. "balanced" makes the classes weigh the same in total, counting rows by
    their weights: W / (K * W_k), where K counts the classes of positive weight; a class without
    weight stays without. A mapping gives 1 to classes it does not
    name and may name classes that y lacks, but not both at once. ``column`` is that of y, of
    several labels.

    Examples
    --------
    >>> labels = Labels(np.array(["a", "b"]), np.array([0, 0, 0, 1], np.int32))
    >>> weights_per_class("balanced", labels, None)
    array([0.66666667, 2.        ])
    """
    n_classes = len(labels.classes)
    if class_weight is None:
        return np.ones(n_classes)
    if isinstance(class_weight, Mapping):
        return _from_mapping(class_weight, labels, column)
    if isinstance(class_weight, str) and class_weight == "balanced":
        counted = None if weights is None else _countable(weights)
        totals = np.bincount(labels.codes, weights=counted, minlength=n_classes).astype(float)
        present = totals > 0
        balanced = np.zeros(n_classes)
        balanced[present] = totals.sum() / (present.sum() * totals[present])
        return balanced
    raise unknown_class_weight(class_weight, _place_of(column))


def unknown_class_weight(given: Any, where: str = "class_weight") -> InvalidInput:
    """Say what is expected in place of what was given."""
    hint = nearest_names(given, ["balanced"]) if isinstance(given, str) else ""
    return InvalidInput(
        f"{where}={given!r}: expected None, 'balanced' or a dict from class to weight.{hint}"
    )


def _place_of(column: int | None) -> str:
    return "class_weight" if column is None else f"class_weight[{column}]"


def _from_mapping(
    class_weight: Mapping[Any, Any], labels: Labels, column: int | None
) -> FloatArray:
    where, of = _place_of(column), "y" if column is None else f"column {column} of y"
    classes = labels.classes.tolist()
    known = set(classes)
    unknown = [key for key in class_weight if key not in known]
    missing = [name for name in classes if name not in class_weight]
    # Either alone is meant: a class left at 1, or a fold without some class. Both are a typo.
    if unknown and missing:
        hint = _hint(unknown[0], missing)
        raise InvalidInput(
            f"{where} does not fit {of}. Not in {of}: {shorten(unknown)}.{hint} Not in "
            f"{where}: {shorten(missing)}. Name the classes as they stand in {of}."
        )
    per_class = [class_weight.get(name, 1.0) for name in classes]
    for name, weight in zip(classes, per_class, strict=True):
        if not isinstance(weight, numbers.Real) or not 0 <= float(weight) < float("inf"):
            raise InvalidInput(
                f"{where}[{name!r}] is {weight!r}: expected a finite number, not negative."
            )
    return np.array(per_class, dtype=np.float64)


def _hint(unknown: Any, missing: Sequence[Any]) -> str:
    """Say which class was meant; if it only is of another type, say of which."""
    for name in missing:
        if str(name) == str(unknown):
            types = f"{type(name).__name__}, not {type(unknown).__name__}"
            return f" y has {name!r}, which is {types}: did you mean {name!r}?"
    return nearest_names(str(unknown), map(str, missing))
