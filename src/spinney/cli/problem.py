"""What is to be learnt: target, task, weights and features, from a table of a file."""

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.cli.dates import Expected
from spinney.errors import InvalidInput, nearest_names, shorten
from spinney.typing import AnyArray, FloatArray

MOST_CLASSES = 10
"""Different whole numbers up to which a target names classes, unless it is said otherwise."""
_LOOKS_LIKE_AN_ID = 50
"""Rows from which on a column without repetitions is remarkable."""


@dataclass(frozen=True, slots=True, eq=False)
class LearningProblem:
    """Rows to learn from or to test on."""

    X: Any
    """pyarrow.Table"""
    y: AnyArray
    task: str
    weights: FloatArray | None = None
    numbers: AnyArray | None = None
    """Where the rows stand in their file, from 0; None: in their order."""

    @property
    def is_classification(self) -> bool:
        """Whether the target names classes."""
        return self.task == "classification"

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return len(self.y)

    def take(self, rows: AnyArray) -> "LearningProblem":
        """Choose rows."""
        weights = None if self.weights is None else self.weights[rows]
        numbers = rows if self.numbers is None else self.numbers[rows]
        return replace(self, X=self.X.take(rows), y=self.y[rows], weights=weights, numbers=numbers)


def find_columns(texts: Iterable[str], names: list[str], what: str) -> list[str]:
    """Find columns: a text is the name of one, or several with commas between them."""
    return [find_column(name, names, what) for name in _taken_apart(texts, names)]


def find_features(texts: Iterable[str], names: list[str], what: str) -> list[str]:
    """Find features of a model in the same way."""
    return [find_feature(name, names, what) for name in _taken_apart(texts, names)]


def _taken_apart(texts: Iterable[str], names: list[str]) -> Iterator[str]:
    for text in texts:
        parts = [text] if text in names else [part.strip() for part in text.split(",")]
        yield from filter(None, parts)


def find_column(name: str, names: list[str], what: str) -> str:
    """Find a column of a file by its name; otherwise say which there are."""
    return _found(name, names, f"{what} {name!r}: the file has no such column.")


def find_feature(name: str, names: list[str], what: str) -> str:
    """Find a feature of a model by its name; otherwise say which there are."""
    return _found(name, names, f"{what} {name!r}: the model has no such feature.")


def _found(name: str, names: list[str], otherwise: str) -> str:
    if name in names:
        return name
    folded = {known.casefold(): known for known in names}
    hint = nearest_names(name, names)
    if not hint and name.casefold() in folded:
        hint = f" Did you mean {folded[name.casefold()]!r}?"
    raise InvalidInput(f"{otherwise}{hint} It has {shorten(names, most=12)}.")


def expected_columns(arguments: Any) -> Expected:
    """Tell what the arguments say of columns before their file is read."""
    pieces = {part.strip() for text in arguments.categorical for part in (text, *text.split(","))}
    return Expected(
        texts=frozenset(pieces), numbers=frozenset({arguments.target, arguments.weight} - {None})
    )


def read_problem(table: Any, arguments: Any, voice: Any) -> LearningProblem:
    """Find target, weights and features in a table, and say what was noticed."""
    names = table.column_names
    target = find_column(arguments.target, names, "--target")
    dropped = find_columns(arguments.drop, names, "--drop")
    table = as_categories(table, find_columns(arguments.categorical, names, "--categorical"))
    table, numbers = rows_with_target(table, target, voice)
    refuse_infinite(table.column(target), target, numbers)
    y, task = _target_and_task(table.column(target), target, arguments.task, voice)
    weights = read_weights(table, arguments.weight)
    X = table.drop_columns([*{target, *dropped, *filter(None, [arguments.weight])}])
    X = _usable(X, voice)
    if not X.num_columns:
        raise InvalidInput(f"Beside the target {target!r} there is no column to learn from.")
    _mention_odd_columns(X, voice)
    return LearningProblem(X, y, task, weights, numbers)


def as_categories(table: Any, columns: list[str]) -> Any:
    """Make categories of columns, whatever they hold: neither numbers nor texts to be read."""
    for name in columns:
        place = table.column_names.index(name)
        levels = as_text(table.column(place)).dictionary_encode()
        table = table.set_column(place, name, levels)
    return table


def as_text(column: Any) -> Any:
    """Write values as text; whole numbers have no point, also as floats."""
    import pyarrow as pa

    if pa.types.is_floating(column.type):
        values = column.to_pylist()
        texts = [_number_text(value) for value in values]
        return pa.chunked_array([pa.array(texts, pa.string())])
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.string())


def _number_text(value: float | None) -> str | None:
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return None
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def read_weights(table: Any, name: str | None) -> FloatArray | None:
    """Read the column of weights, if there is one."""
    if name is None:
        return None
    column = table.column(find_column(name, table.column_names, "--weight"))
    try:
        weights = column.cast("float64").to_numpy()
    except Exception:  # noqa: BLE001 - Arrow has many reasons, all of them this one
        raise InvalidInput(f"--weight {name!r}: the column holds no numbers.") from None
    if column.null_count or np.isnan(weights).any():
        raise InvalidInput(f"--weight {name!r}: some weights are missing. Use 0 to ignore a row.")
    return np.asarray(weights, np.float64)


def rows_with_target(table: Any, target: str, voice: Any) -> tuple[Any, AnyArray]:
    """Leave out rows without a target; give the others, and their numbers in the file."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.column(target)
    known = pc.is_valid(column)
    if pa.types.is_floating(column.type):
        known = pc.and_(known, pc.invert(pc.fill_null(pc.is_nan(column), fill_value=False)))
    n_known = pc.sum(known).as_py() or 0
    if not n_known:
        raise InvalidInput(f"--target {target!r}: all its values are missing.")
    if n_known == table.num_rows:
        return table, np.arange(table.num_rows)
    voice.remark(
        f"{table.num_rows - n_known} of {table.num_rows} rows have no {target!r}: left out."
    )
    return table.filter(known), np.flatnonzero(known.to_numpy())


def refuse_infinite(column: Any, name: str, numbers: AnyArray) -> None:
    """Refuse a target that nothing can be compared with."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type):
        return
    infinite = np.flatnonzero(pc.is_inf(column).to_numpy())
    if len(infinite):
        value = column[int(infinite[0])].as_py()
        raise InvalidInput(
            f"--target {name!r}: row {numbers[infinite[0]]} has the value {value}, expected finite "
            "numbers. Mend it, or empty the cell: rows without a target are left out."
        )


def label_text(value: Any) -> str:
    """Write a label so that 1, 1.0 and "1" are one, as files may have it either way.

    Examples
    --------
    >>> label_text(1.0), label_text(0.5), label_text("yes")
    ('1', '0.5', 'yes')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def target_values(column: Any, name: str) -> AnyArray:
    """Read a target: text, booleans, whole numbers or other numbers."""
    import pyarrow as pa

    types, dtype = pa.types, column.type
    if types.is_dictionary(dtype):
        column = column.cast(dtype.value_type)
        dtype = column.type
    if types.is_string(dtype) or types.is_large_string(dtype):
        return np.array(column.to_pylist(), dtype=object)
    if types.is_boolean(dtype) or types.is_integer(dtype):
        return np.asarray(column.to_numpy())
    if types.is_floating(dtype) or types.is_decimal(dtype):
        return np.asarray(column.cast(pa.float64()).to_numpy())
    raise InvalidInput(
        f"--target {name!r}: a column of {dtype} cannot be predicted. Expected text, numbers or "
        "booleans."
    )


def _target_and_task(column: Any, name: str, asked: str | None, voice: Any) -> tuple[AnyArray, str]:
    """Read the target, and find out what it is unless that was said."""
    y = target_values(column, name)
    n_different = len(set(y.tolist()))
    if n_different < 2:
        raise InvalidInput(
            f"--target {name!r}: all rows have the value {label_text(y.tolist()[0])}. Nothing to "
            "learn."
        )
    is_number = y.dtype.kind in "iuf"
    whole = is_number and bool(np.all(y == np.rint(y)))
    few = n_different == 2 or (whole and n_different <= MOST_CLASSES)
    task = asked or ("classification" if not is_number or few else "regression")
    if task == "regression" and not is_number:
        if y.dtype.kind == "b":
            return y.astype(np.float64), task
        raise InvalidInput(
            f"--task regression: the target {name!r} is text, such as {y[0]!r}, not numbers."
        )
    if asked is None:
        other = "regression" if task == "classification" else "classification"
        override = f"; --task {other} to override" if is_number or y.dtype.kind == "b" else ""
        what = "values" if is_number or y.dtype.kind == "b" else "texts"
        voice.remark(f"{name!r} has {n_different} different {what}: {task}{override}.")
    if task == "classification" and n_different > max(MOST_CLASSES, len(y) // 2):
        raise InvalidInput(
            f"--target {name!r}: {n_different} different values in {len(y)} rows are too many "
            "classes to learn; it looks like a name or an identifier."
        )
    if task == "classification" and y.dtype.kind == "f":  # classes are whole numbers or text
        y = y.astype(np.int64) if whole else np.array([repr(v) for v in y.tolist()], object)
    return (y.astype(np.float64) if task == "regression" else y), task


def _usable(X: Any, voice: Any) -> Any:
    """Leave out columns of kinds that no estimator takes."""
    import pyarrow as pa

    types = pa.types
    odd = [
        field.name
        for field in X.schema
        if types.is_nested(field.type)
        or types.is_binary(field.type)
        or types.is_large_binary(field.type)
        or types.is_fixed_size_binary(field.type)
    ]
    if odd:
        voice.remark(f"Columns of lists, records or bytes are left out: {shorten(odd)}.")
    return X.drop_columns(odd) if odd else X


def _mention_odd_columns(X: Any, voice: Any) -> None:
    """Say which columns have one value only, or a different one in every row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    constant, unique = [], []
    for name in X.column_names:
        column = X.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        n_known = len(column) - column.null_count
        is_name = pa.types.is_string(column.type) or pa.types.is_integer(column.type)
        head = len(pc.unique(column.slice(0, 1000).drop_null()))
        if head <= 1:
            if len(pc.unique(column.drop_null())) <= 1:
                constant.append(name)
        elif (
            is_name
            and X.num_rows >= _LOOKS_LIKE_AN_ID
            and head == min(1000, len(column))
            and len(pc.unique(column)) == n_known == len(column)
            and _is_an_id(column)
        ):
            unique.append(name)
    if constant:
        voice.remark(f"Columns with one value only tell nothing: {shorten(constant)}.")
    if unique:
        voice.remark(
            f"A different value in every row: {shorten(unique)}. If that is an identifier, leave "
            f"it out: {_drop_words(unique[:3])}."
        )


def _is_an_id(column: Any) -> bool:
    """Tell identifiers from measurements, of columns without repetitions."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type):
        return True
    ends = pc.min_max(column)
    spread = ends["max"].as_py() - ends["min"].as_py() + 1
    return bool(spread <= 2 * len(column))


def _drop_words(names: list[str]) -> str:
    """Write the option that drops columns as a shell takes it."""
    if any("," in name or name != name.strip() for name in names):
        return " ".join(f"--drop {shlex.quote(name)}" for name in names)
    return f"--drop {shlex.quote(','.join(names))}"
