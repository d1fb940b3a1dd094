"""Model files and the tables they are asked about."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spinney.cli.dates import Expected, refuse_other_order
from spinney.cli.files import Reading, _similar, read_file
from spinney.cli.problem import (
    LearningProblem,
    as_text,
    find_column,
    label_text,
    read_weights,
    refuse_infinite,
    rows_with_target,
    target_values,
)
from spinney.data.label_columns import refuse_several
from spinney.data.table import Kind
from spinney.errors import InvalidInput, nearest_names, shorten
from spinney.io.training_record import TrainingRecord
from spinney.typing import AnyArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """What a model file holds."""

    fitted: Any
    record: TrainingRecord | None
    """What ``spinney train`` did; None if something else wrote the file."""

    @property
    def forms(self) -> Mapping[str, str]:
        """How dates were written in the table it learnt from."""
        return {} if self.record is None else self.record.dates


def load_trained(path: str) -> Trained:
    """Open a model file; a name that does not exist is met with similar ones."""
    from spinney.io.atomic import read_bounded
    from spinney.io.save_load import read_with_record

    place = Path(path)
    if not place.exists():
        raise InvalidInput(f"{path}: there is no such file.{_similar(place)}")
    fitted, record = read_with_record(read_bounded(path))
    if hasattr(fitted, "model_"):
        refuse_several(fitted.model_.target, "The command line")
    return Trained(fitted, record)


def schema_of(fitted: Any) -> Any:
    """Give names, kinds and levels of the features; a committee has those of its members."""
    if hasattr(fitted, "model_"):
        return fitted.model_.schema
    for member in getattr(fitted, "estimators_", ()):
        if member is not None:
            return schema_of(member)
    raise InvalidInput(f"This {type(fitted).__name__} does not tell its features.")


def fingerprint_of(fitted: Any) -> str:
    """Give the fingerprint of a model, or of a committee the digest of its file."""
    from spinney.io.estimators import combines
    from spinney.io.save_load import to_bytes

    if not combines(fitted):
        return str(fitted.model_.fingerprint)
    return hashlib.sha256(to_bytes(fitted)).hexdigest()


def text_features(model: Any) -> frozenset[str]:
    """Name the features that are text, read or as categories: no file may turn it into numbers."""
    from spinney.data.levels import LevelType

    schema = schema_of(model)
    features = zip(schema.names, schema.kinds, schema.levels, strict=True)
    return frozenset(
        name
        for name, kind, levels in features
        if kind is Kind.TEXT or (levels is not None and levels.type is LevelType.TEXT)
    )


def _expected(model: Any, forms: Mapping[str, str]) -> Expected:
    """Tell what a model knows of the columns of a file."""
    schema = schema_of(model)
    features = zip(schema.names, schema.kinds, strict=True)
    dates = frozenset(name for name, kind in features if kind in (Kind.DATE, Kind.DATETIME))
    known = {name: form for name, form in forms.items() if name in dates}
    return Expected(texts=text_features(model), dates=dates, forms=known)


def read_rows(model: Any, path: str, arguments: Any, voice: Any, forms: Mapping[str, str]) -> Any:
    """Read a file as the model wants it: the whole table, with its features in their own kinds.

    ``forms`` are those of dates, as the model learnt them.
    """
    expected = _expected(model, forms)
    reading = Reading.of(arguments)
    refuse_other_order(reading.dates, expected.forms)
    table = read_file(path, reading, voice, expected)
    schema = schema_of(model)
    missing = [name for name in schema.names if name not in table.column_names]
    if missing and schema.names_given:
        hints = "".join(nearest_names(name, table.column_names, most=1) for name in missing[:1])
        raise InvalidInput(
            f"{path}: {len(missing)} of the model's {len(schema.names)} features are "
            f"not there: {shorten(missing)}.{hints} The file has "
            f"{shorten(table.column_names, most=12)}."
        )
    for name in expected.texts & set(table.column_names):
        place = table.column_names.index(name)
        table = table.set_column(place, name, as_text(table.column(place)))
    return table


def features_of(model: Any, table: Any) -> Any:
    """Choose the columns that the model knows."""
    schema = schema_of(model)
    if schema.names_given:
        return table.select(list(schema.names))
    if table.num_columns < schema.n_features:
        raise InvalidInput(
            f"The model has {schema.n_features} features without names, and the file "
            f"{table.num_columns} columns."
        )
    return table.select(list(range(schema.n_features))).rename_columns(list(schema.names))


def is_classifier(model: Any) -> bool:
    """Tell whether a model predicts classes."""
    return bool(getattr(model, "_task", "") == "classification")


def refuse_offset(model: Any) -> None:
    """Refuse a model that needs an offset for each row: no command takes one."""
    if getattr(model, "_has_offset", False):
        raise InvalidInput(
            f"This {type(model).__name__} was fitted with offset=, which no command takes. In "
            "Python: spinney.load(MODEL).predict(X, offset=...)."
        )


def answers_of(model: Any, X: Any) -> FloatArray:
    """Ask for probabilities, (n_rows, n_classes), or numbers, (n_rows,)."""
    refuse_offset(model)
    if is_classifier(model):
        return np.asarray(model.predict_proba(X), np.float64)
    if getattr(model, "_task", "") not in ("regression", "ranking"):
        raise InvalidInput(f"A {type(model).__name__} predicts no target.")
    answers = np.asarray(model.predict(X), np.float64)
    if answers.ndim != 1:
        raise InvalidInput(f"The model predicts {answers.shape[1]} numbers per row, not one.")
    return answers


def read_test_rows(
    model: Any, path: str, arguments: Any, voice: Any, forms: Mapping[str, str]
) -> LearningProblem:
    """Read rows whose targets are known, to measure a model on."""
    table = read_rows(model, path, arguments, voice, forms)
    return test_rows_of(model, table, arguments, voice)


def test_rows_of(model: Any, table: Any, arguments: Any, voice: Any) -> LearningProblem:
    """Find features, target and weights of test rows in a table."""
    if getattr(model, "_task", "") == "ranking":
        raise InvalidInput(
            f"A {type(model).__name__} is measured on queries, which this command does not know. "
            "Use its score(X, y, qid=qid) in Python."
        )
    target = find_column(arguments.target, table.column_names, "--target")
    table, numbers = rows_with_target(table, target, voice)
    refuse_infinite(table.column(target), target, numbers)
    y = target_values(table.column(target), target)
    task = "classification" if is_classifier(model) else "regression"
    if task == "regression" and y.dtype.kind not in "iufb":
        raise InvalidInput(f"--target {target!r} holds text, but the model predicts numbers.")
    weights = read_weights(table, arguments.weight)
    return LearningProblem(features_of(model, table), y, task, weights, numbers)


def with_known_classes(model: Any, rows: LearningProblem, voice: Any) -> LearningProblem:
    """Leave out rows of classes that the model never met: about these it can only be wrong."""
    if not rows.is_classification:
        return rows
    known = {label_text(label) for label in model.classes_.tolist()}
    is_known = np.array([label_text(label) in known for label in rows.y.tolist()], bool)
    if is_known.all():
        return rows
    strange = sorted({label_text(label) for label in rows.y[~is_known].tolist()})
    voice.remark(
        f"{(~is_known).sum()} of {rows.n_rows} test rows are of classes that no training row has, "
        f"{shorten(strange)}: left out."
    )
    return rows.take(np.flatnonzero(is_known))


def with_codes(
    model: Any, rows: LearningProblem, target: str, voice: Any
) -> tuple[LearningProblem, AnyArray]:
    """Give rows that a model can be measured on, and their targets: numbers, or codes of classes.

    A target of which the model knows no class is another one.
    """
    known = with_known_classes(model, rows, voice)
    rows = known if known.n_rows else rows
    return rows, class_codes(model, rows.y, target) if rows.is_classification else rows.y


def class_codes(model: Any, y: AnyArray, target: str) -> AnyArray:
    """Give labels the numbers they have in the model; others are refused."""
    known = {label_text(value): code for code, value in enumerate(model.classes_.tolist())}
    codes = [known.get(label_text(value), -1) for value in y.tolist()]
    wrong = sorted({str(v) for v, code in zip(y.tolist(), codes, strict=True) if code < 0})
    if wrong:
        raise InvalidInput(
            f"--target {target!r} holds {shorten(wrong)}, which the model does not know. It knows "
            f"{shorten([str(value) for value in model.classes_.tolist()], most=10)}."
        )
    return np.array(codes, np.int64)
