"""Model files and the tables they are asked about."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from spinney.cli.files import Reading, _similar, read_file
from spinney.cli.problem import LearningProblem, as_text, find_column, read_weights, target_values
from spinney.data.label_columns import refuse_several
from spinney.errors import InvalidInput, nearest_names, shorten
from spinney.typing import AnyArray, FloatArray


def load_model(path: str) -> Any:
    """Open a model file; a name that does not exist is met with similar ones."""
    import spinney

    place = Path(path)
    if not place.exists():
        raise InvalidInput(f"{path}: there is no such file.{_similar(place)}")
    fitted = spinney.load(path)
    if hasattr(fitted, "model_"):
        refuse_several(fitted.model_.target, "The command line")
    return fitted


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
    from spinney.io.save_load import to_bytes

    if hasattr(fitted, "model_"):
        return str(fitted.model_.fingerprint)
    return hashlib.sha256(to_bytes(fitted)).hexdigest()


def text_features(model: Any) -> frozenset[str]:
    """Name the features whose categories are text, which no file may turn into numbers."""
    from spinney.data.levels import LevelType

    schema = schema_of(model)
    pairs = zip(schema.names, schema.levels, strict=True)
    return frozenset(
        name for name, levels in pairs if levels is not None and levels.type is LevelType.TEXT
    )


def read_rows(model: Any, path: str, arguments: Any, voice: Any) -> Any:
    """Read a file as the model wants it: the whole table, with its features in their own kinds."""
    texts = text_features(model)
    table = read_file(path, Reading.of(arguments), voice, texts)
    schema = schema_of(model)
    missing = [name for name in schema.names if name not in table.column_names]
    if missing and schema.names_given:
        hints = "".join(nearest_names(name, table.column_names, most=1) for name in missing[:1])
        raise InvalidInput(
            f"{path}: {len(missing)} of the model's {len(schema.names)} features are "
            f"not there: {shorten(missing)}.{hints} The file has "
            f"{shorten(table.column_names, most=12)}."
        )
    for name in texts & set(table.column_names):
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


def answers_of(model: Any, X: Any) -> FloatArray:
    """Ask for probabilities, (n_rows, n_classes), or numbers, (n_rows,)."""
    if is_classifier(model):
        return np.asarray(model.predict_proba(X), np.float64)
    if getattr(model, "_task", "") not in ("regression", "ranking"):
        raise InvalidInput(f"A {type(model).__name__} predicts no target.")
    answers = np.asarray(model.predict(X), np.float64)
    if answers.ndim != 1:
        raise InvalidInput(f"The model predicts {answers.shape[1]} numbers per row, not one.")
    return answers


def read_test_rows(model: Any, path: str, arguments: Any, voice: Any) -> LearningProblem:
    """Read rows whose targets are known, to measure a model on."""
    import pyarrow.compute as pc

    if getattr(model, "_task", "") == "ranking":
        raise InvalidInput(
            f"A {type(model).__name__} is measured on queries, which this command does not know. "
            "Use its score(X, y, qid=qid) in Python."
        )
    table = read_rows(model, path, arguments, voice)
    target = find_column(arguments.target, table.column_names, "--target")
    known = pc.is_valid(table.column(target))
    n_known = pc.sum(known).as_py() or 0
    if not n_known:
        raise InvalidInput(f"--target {target!r}: all its values are missing.")
    if n_known < table.num_rows:
        voice.remark(f"{table.num_rows - n_known} rows have no {target!r}: left out.")
        table = table.filter(known)
    y = target_values(table.column(target), target)
    task = "classification" if is_classifier(model) else "regression"
    if task == "regression" and y.dtype.kind not in "iufb":
        raise InvalidInput(f"--target {target!r} holds text, but the model predicts numbers.")
    weights = read_weights(table, arguments.weight)
    return LearningProblem(features_of(model, table), y, task, weights)


def class_codes(model: Any, y: AnyArray, target: str) -> AnyArray:
    """Give labels the numbers they have in the model; others are refused."""
    known = {_label(value): code for code, value in enumerate(model.classes_.tolist())}
    codes = [known.get(_label(value), -1) for value in y.tolist()]
    wrong = sorted({str(v) for v, code in zip(y.tolist(), codes, strict=True) if code < 0})
    if wrong:
        raise InvalidInput(
            f"--target {target!r} holds {shorten(wrong)}, which the model does not know. It knows "
            f"{shorten([str(value) for value in model.classes_.tolist()], most=10)}."
        )
    return np.array(codes, np.int64)


def _label(value: Any) -> str:
    """Write a label so that 1, 1.0 and "1" are one, as files may have it either way."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
