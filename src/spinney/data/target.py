"""Targets: labels become codes, numbers are checked, and the model keeps what it needs."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from spinney.data.levels import pack_texts
from spinney.data.sources.objects import has_value, read_objects
from spinney.data.sources.vector import missing_value, read_vector
from spinney.data.stored_classes import classes_below, classes_state, read_classes
from spinney.data.table import Kind
from spinney.errors import InvalidInput, InvalidInputType, InvalidModel, SpinneyError
from spinney.typing import AnyArray, CodeArray, FloatArray

TASKS = ("classification", "multi_classification", "regression", "ranking", "unsupervised")
_ONE_LABEL = (
    "Give one label per row. For several labels per row use a tree, a forest or "
    "GradientBoostingClassifier, or fit a classifier for each column, for example by "
    "sklearn.multioutput.MultiOutputClassifier."
)


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """What a model must know of y to answer in the user's terms.

    ``classes`` is there exactly for a classification, in the dtype of the user's labels;
    ``n_outputs`` is then their number. A row of a multi-classification has several labels, each of
    classes of its own: ``label_classes`` has them, and the outputs are the classes of the first
    label, then those of the second, and so on.
    """

    task: str
    classes: AnyArray | None = None
    n_outputs: int = 1
    output_names: tuple[str, ...] | None = None
    label_classes: tuple[AnyArray, ...] | None = None

    def __post_init__(self) -> None:
        if (
            self.task not in TASKS
            or (self.task == "classification") != (self.classes is not None)
            or (self.task == "multi_classification") != (self.label_classes is not None)
        ):
            raise InvalidModel(f"Target: task {self.task!r} and its classes do not fit together.")
        if type(self.n_outputs) is not int or self.n_outputs < 1:
            raise InvalidModel(f"Target: n_outputs={self.n_outputs!r}, expected 1 or more.")
        if self.classes is not None and len(self.classes) != self.n_outputs:
            raise InvalidModel("Target: n_outputs is not the number of classes.")
        if self.label_classes is not None and (
            len(self.label_classes) < 2 or sum(map(len, self.label_classes)) != self.n_outputs
        ):
            raise InvalidModel("Target: n_outputs is not the number of classes of all labels.")
        if self.output_names is not None and len(self.output_names) != self.n_outputs:
            raise InvalidModel("Target: output_names must have one name per output.")

    @classmethod
    def classification(cls, classes: AnyArray) -> "Target":
        """Describe a target with these classes."""
        return cls("classification", classes, len(classes))

    @classmethod
    def regression(
        cls, n_outputs: int = 1, output_names: tuple[str, ...] | None = None
    ) -> "Target":
        """Describe a target of ``n_outputs`` numbers per row."""
        return cls("regression", None, n_outputs, output_names)

    @classmethod
    def multi_classification(cls, label_classes: tuple[AnyArray, ...]) -> "Target":
        """Describe a target of several labels per row, with the classes of each."""
        n_outputs = sum(map(len, label_classes))
        return cls("multi_classification", n_outputs=n_outputs, label_classes=label_classes)

    @property
    def has_classes(self) -> bool:
        """Whether rows have a label, or several."""
        return self.classes is not None or self.label_classes is not None

    @property
    def n_targets(self) -> int:
        """What a row has: one label, or several, or as many numbers as there are outputs."""
        if self.label_classes is not None:
            return len(self.label_classes)
        return 1 if self.classes is not None else self.n_outputs

    def spans(self) -> list[slice]:
        """Give the outputs of each label of a multi-classification.

        Examples
        --------
        >>> target = Target.multi_classification((np.array(["a", "b"]), np.arange(3)))
        >>> [(span.start, span.stop) for span in target.spans()]
        [(0, 2), (2, 5)]
        """
        ends = np.cumsum([0, *(len(classes) for classes in self.label_classes or ())]).tolist()
        return [slice(*ends[place : place + 2]) for place in range(len(ends) - 1)]

    def same_as(self, other: "Target") -> bool:
        """Tell whether two models answer in the same terms: task, classes and outputs."""
        (meta, arrays), (other_meta, other_arrays) = self.to_state(), other.to_state()
        return (
            meta == other_meta
            and set(arrays) == set(other_arrays)
            and all(np.array_equal(arrays[name], other_arrays[name]) for name in arrays)
        )

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Give the target as plain JSON values and arrays, for a model file; no pickle."""
        meta: dict[str, Any] = {
            "task": self.task,
            "n_outputs": self.n_outputs,
            "output_names": None if self.output_names is None else list(self.output_names),
            "classes_dtype": None,
        }
        if self.classes is not None:
            meta["classes_dtype"], arrays = classes_state(self.classes)
            return meta, arrays
        if self.label_classes is None:
            return meta, {}
        states = [classes_state(classes) for classes in self.label_classes]
        meta["classes_dtype"] = [dtype for dtype, _ in states]
        return meta, {
            f"{place}/{name}": array
            for place, (_, arrays) in enumerate(states)
            for name, array in arrays.items()
        }

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> "Target":
        """Rebuild a target from a file, believing nothing: InvalidModel if anything is off."""
        if not isinstance(meta.get("task"), str):
            raise InvalidModel("Target: no task.")
        names = meta.get("output_names")
        if names is not None:
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                raise InvalidModel("Target: output_names is not a list of text.")
            names = tuple(names)
        dtype = meta.get("classes_dtype")
        classes = several = None
        if isinstance(dtype, list):
            several = tuple(
                read_classes(one, classes_below(arrays, place)) for place, one in enumerate(dtype)
            )
        elif dtype is not None:
            classes = read_classes(dtype, arrays)
        target = cls(meta["task"], classes, meta.get("n_outputs", 0), names, several)
        own_meta, own_arrays = target.to_state()
        if own_meta != dict(meta) or set(own_arrays) != set(arrays):
            raise InvalidModel("Target: parts are missing or unknown.")
        return target


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The classes in order, and the code of each row's class."""

    classes: AnyArray
    codes: CodeArray

    def take(self, rows: Any) -> "Labels":
        """Choose rows (numbers, a mask or a slice); classes without a row are gone.

        Examples
        --------
        >>> labels = Labels(np.array(["a", "b", "c"]), np.array([0, 2, 1], np.int32))
        >>> labels.take([0, 1]).classes.tolist()
        ['a', 'c']
        """
        present, codes = np.unique(self.codes[rows], return_inverse=True)
        return Labels(self.classes[present], codes.astype(np.int32))


def read_labels(y: Any, n_rows: int, estimator_name: str = "The estimator") -> Labels:
    """Read class labels of any type: text, integers, whole floats, booleans, categories.

    ``classes`` is what ``numpy.unique`` gives, in the user's own type; object arrays of text
    stay object arrays, object arrays of numbers get the type of their numbers.

    Examples
    --------
    >>> read_labels(["yes", "no", "yes"], 3).codes
    array([1, 0, 1], dtype=int32)
    """
    values = _one_column(_given(y, estimator_name), may_warn=True, why_one=_ONE_LABEL)
    _check_length(values, n_rows)
    if values.dtype.kind == "O":
        values = _labels_from_objects(values)
    _check_labels(values)
    if values.dtype.kind == "O":
        return _text_labels(values)
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    classes, codes = np.unique(native, return_inverse=True)
    if classes.dtype.kind == "U":
        pack_texts(classes.tolist())
    return Labels(classes, codes.astype(np.int32))


def read_numbers(
    y: Any,
    n_rows: int,
    estimator_name: str = "The estimator",
    *,
    multi_output: bool = True,
    why_one: str = "",
) -> FloatArray:
    """Read a regression target: finite float64 of shape (n,), or (n, K) for K > 1 outputs.

    A single column of shape (n, 1) becomes (n,); without ``multi_output`` that warns as
    scikit-learn does, and several columns are refused, for the reason ``why_one`` if it is given.

    Examples
    --------
    >>> read_numbers([True, 2, 2.5], 3)
    array([1. , 2. , 2.5])
    """
    values = _given(y, estimator_name)
    if values.ndim != 2 or values.shape[1] == 1 or not multi_output:
        values = _one_column(values, may_warn=not multi_output, why_one=why_one)
    _check_length(values, n_rows)
    try:
        return _as_numbers(values)
    except SpinneyError:
        if values.ndim == 2:
            _tell_column(values)
        raise


def _tell_column(values: AnyArray) -> None:
    """Refuse the first column that holds what is no number."""
    for place, column in enumerate(values.T):
        try:
            _as_numbers(column)
        except SpinneyError as error:
            raise type(error)(f"In column {place} of y: {error}") from error


def _as_numbers(values: AnyArray) -> FloatArray:
    if values.dtype.kind == "O":
        flat = [_numbers_from_objects(column) for column in np.atleast_2d(values.T)]
        values = np.column_stack(flat) if values.ndim == 2 else flat[0]
    if values.dtype.kind not in "biuf":
        raise InvalidInputType(
            f"y has type {values.dtype}: the argument must be a real number, not a string or an "
            "instant, in every row. Convert y to numbers, or use a classifier for labels."
        )
    with np.errstate(over="ignore"):
        numbers = np.asarray(values, dtype=np.float64)
    _check_finite(numbers)
    return numbers


def _given(y: Any, estimator_name: str) -> AnyArray:
    if y is None:
        raise InvalidInput(
            f"{estimator_name} requires y to be passed, but the target y is None. Call "
            "fit(X, y) with one target per row."
        )
    values = read_vector(y, "y")
    if values.dtype.kind == "c":
        raise InvalidInput(f"Complex data not supported: y has type {values.dtype}.")
    if values.ndim == 2 and values.shape[1] == 0:
        raise InvalidInput(
            f"y has shape {values.shape}, no target at all. Give one target per row, or one column "
            "for each of several."
        )
    return values


def _one_column(values: AnyArray, *, may_warn: bool, why_one: str = "") -> AnyArray:
    if values.ndim == 1:
        return values
    if values.ndim != 2 or values.shape[1] != 1:
        raise InvalidInput(
            f"y should be a 1d array, got an array of shape {values.shape} instead. "
            + ((values.ndim == 2 and why_one) or "Give one target per row.")
        )
    if may_warn:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
    return values[:, 0]


def _check_length(values: AnyArray, n_rows: int) -> None:
    if len(values) != n_rows:
        raise InvalidInput(
            f"Found input variables with inconsistent numbers of samples: {[n_rows, len(values)]}."
            " Give one target per row of X."
        )


def _check_finite(values: AnyArray) -> None:
    finite = np.isfinite(values)
    if finite.all():
        return
    bad = np.argwhere(~finite)[0]
    if np.isnan(values[tuple(bad)]):
        raise missing_value("y", int(bad[0]))
    raise InvalidInput(
        "Input y contains infinity or a value too large for dtype('float64'). The first is in "
        f"row {bad[0]}. Drop or clip such rows."
    )


def _check_labels(values: AnyArray) -> None:
    kind = values.dtype.kind
    if kind in "biuUO":
        return
    if kind != "f":
        raise InvalidInputType(
            f"Unknown label type: y has type {values.dtype}. Expected text, integers or booleans; "
            "convert y, for instance with .astype(str)."
        )
    _check_finite(values)
    whole = values == np.floor(values)
    if not whole.all():
        row = int(np.argmin(whole))
        raise InvalidInput(
            f"Unknown label type: continuous. Row {row} of y is {values[row]}, and classes are "
            "expected to be whole numbers or text. Use a regressor, or put y into classes."
        )


def _labels_from_objects(values: AnyArray) -> AnyArray:
    present = has_value(values)
    if not present.all():
        raise missing_value("y", int(np.argmin(present)))
    types = list(dict.fromkeys(map(type, values)))
    families = {_family(found) for found in types}
    if families == {"text"}:
        return values
    if len(families) > 1 or "" in families:
        examples = [next(v for v in values if type(v) is found) for found in types[:2]]
        raise InvalidInputType(
            "Unknown label type: y mixes or holds values that cannot be put in order, for "
            f"example {', '.join(map(repr, examples))}. Expected labels of one type, text or "
            "numbers; convert y, for instance with .astype(str)."
        )
    if families == {"boolean"}:
        return values.astype(bool)
    whole = all(isinstance(value, int | np.integer) for value in values)
    try:
        return values.astype(np.int64 if whole else np.float64)
    except OverflowError:
        raise InvalidInput("A label in y does not fit in 64 bits. Use text labels.") from None


def _family(found: type) -> str:
    if issubclass(found, str):
        return "text"
    if issubclass(found, bool | np.bool_):
        return "boolean"
    return "number" if issubclass(found, int | float | np.integer | np.floating) else ""


def _text_labels(values: AnyArray) -> Labels:
    # A set beats sorting all rows: Python compares two texts ten times slower than it hashes one.
    items = values.tolist()
    classes = sorted(map(str, set(items)))
    pack_texts(classes)
    place = {text: code for code, text in enumerate(classes)}
    codes = np.fromiter(map(place.__getitem__, items), np.int32, len(items))
    return Labels(np.array(classes, dtype=object), codes)


def _numbers_from_objects(values: AnyArray) -> AnyArray:
    column = read_objects("y", values)
    if column.kind not in {Kind.NUMERIC, Kind.BOOLEAN}:
        raise InvalidInputType(
            f"y is {column.kind}, but a regressor needs numbers: the argument must be a real "
            "number, not a string, in every row. Convert y, for instance with .astype(float)."
        )
    return column.values
