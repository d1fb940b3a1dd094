"""Bad files, bad things to save, bad command lines."""

import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.attacks.bad_inputs import LABELS, X4, add, bad, classify
from tests.attacks.mutations import Parts

Change = Callable[[Any], None]


def _load(data: bytes) -> Any:
    import spinney

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.spn"
        path.write_bytes(data)
        return spinney.load(path)


def _good(**parameters: Any) -> bytes:
    from spinney.io.save_load import to_bytes

    return to_bytes(classify(**parameters))


def _forged(change: Change, **parameters: Any) -> Any:
    """Load a file whose header was changed by someone who knows how to make checksums."""
    parts = Parts.of(_good(**parameters))
    table = parts.table
    change(table["meta"])
    return _load(parts.with_table(table).sealed())


def _put(value: Any, *road: str) -> Change:
    """Make a change that puts a value at a place of the header."""

    def change(meta: Any) -> None:
        for step in road[:-1]:
            meta = meta[step]
        meta[road[-1]] = value

    return change


CONTENTS: dict[str, tuple[Callable[[], bytes], str]] = {
    "empty": (lambda: b"", r"empty|0 bytes"),
    "one_byte": (lambda: b"\x89", r"1 byte|too short|not a Spinney|cut off"),
    "zeros": (lambda: bytes(4096), r"not a Spinney file|zero"),
    "truncated": (lambda: _good()[:-100], r"cut off"),
    "header_only": (lambda: _good()[:60], r"header|cut off|too short|bytes"),
    "trailing_bytes": (lambda: _good() + b"\n", r"bytes after its end"),
    "flipped_bit": (lambda: _flipped(_good()), r"checksum|digest|padding"),
    "pickle": (lambda: pickle.dumps(classify()), r"pickle.*run code"),
    "zip": (lambda: b"PK\x03\x04" + bytes(500), r"zip archive"),
    "gzip": (lambda: b"\x1f\x8b" + bytes(500), r"gzip"),
    "html": (lambda: b"<!doctype html>" + b" " * 200, r"HTML"),
    "copied_as_text": (lambda: _good().replace(b"\r\n", b"\n"), r"copied as text.*binary"),
    "newer_version": (lambda: _versioned(_latest() + 1), r"format version \d+.*[Uu]pgrade"),
    "version_zero": (lambda: _versioned(0), r"version 0"),
    "raw_model": (lambda: bytes(_raw_model()), r"not a saved estimator"),
}
HEADERS: dict[str, tuple[Change, str]] = {
    "class_unknown": (_put("NoSuchForest", "estimator"), r"holds a 'NoSuchForest'"),
    "class_of_scikit_learn": (_put("sklearn.svm.SVC", "estimator"), r"'sklearn\.svm\.SVC'"),
    "class_dunder": (_put("__getattr__", "estimator"), r"'__getattr__'"),
    "class_is_a_function": (_put("load", "estimator"), r"'load'"),
    "class_is_a_number": (_put(7, "estimator"), r"not a saved estimator"),
    "class_of_the_other_task": (_put("DecisionTreeRegressor", "estimator"), r"class_weight"),
    "parameter_unknown": (_put(1, "parameters", "max_dept"), r"'max_dept'.*'max_depth'"),
    "parameter_wrong": (_put(-3, "parameters", "max_depth"), r"max_depth=-3"),
    "parameter_wrong_seed": (_put("a", "parameters", "random_state"), r"random_state='a'"),
    "parameter_wrong_jobs": (_put("2", "parameters", "n_jobs"), r"n_jobs='2'"),
    "parameter_of_unknown_form": (
        _put({"$import": "os"}, "parameters", "random_state"),
        r"unknown form '\$import'",
    ),
    "parameters_missing": (_put([], "parameters"), r"not a saved estimator"),
    "model_kind_unknown": (_put("cloud", "model", "kind"), r"unknown kind of model: 'cloud'"),
    "policy_unknown": (_put("guess", "model", "policy", "unseen"), r"unseen='guess'"),
    "link_unknown": (_put("eval", "model", "output", "link"), r"outputs of the forest|'eval'"),
    "task_unknown": (_put("astrology", "model", "target", "task"), r"'astrology'"),
    "task_of_the_other_kind": (_put("regression", "model", "target", "task"), r"'regression'"),
    "schema_missing": (_put(None, "model", "schema"), r"schema"),
    "names_not_given": (_put(1, "model", "schema", "names_given"), r"names_given"),
    "outputs_too_many": (_put(3, "model", "target", "n_outputs"), r"n_outputs"),
}

for _name, (_make, _pattern) in CONTENTS.items():
    add(f"load_{_name}", lambda make=_make: _load(make()), _pattern)
for _name, (_change, _pattern) in HEADERS.items():
    add(f"load_header_{_name}", lambda change=_change: _forged(change), _pattern)


def _raw_model() -> bytes:
    return bytes(classify().model_.to_bytes())


def _flipped(data: bytes) -> bytes:
    return data[:-200] + bytes([data[-200] ^ 1]) + data[-199:]


def _versioned(version: int) -> bytes:
    from dataclasses import replace

    return replace(Parts.of(_good()), version=version).sealed()


def _latest() -> int:
    from spinney.model.sections import FORMAT_VERSION

    return FORMAT_VERSION


# Paths


@bad(r"No such file|no_such", raises="FileNotFoundError")
def load_missing_file() -> Any:
    import spinney

    return spinney.load("/tmp/no_such_folder/no_such.spn")  # noqa: S108


@bad(r"is a folder, not a model file")
def load_folder() -> Any:
    import spinney

    return spinney.load(tempfile.gettempdir())


@bad(r"is a pipe, socket or device")
def load_fifo() -> Any:
    import spinney

    with tempfile.TemporaryDirectory() as folder:
        os.mkfifo(Path(folder) / "pipe.spn")
        return spinney.load(Path(folder) / "pipe.spn")


@bad(r"is a pipe, socket or device")
def load_endless_device() -> Any:
    import spinney

    return spinney.load("/dev/zero")


@bad(r"folder does not exist.*no_such_folder|no_such_folder.*", raises="FileNotFoundError")
def save_into_a_missing_folder() -> Any:
    import spinney

    return spinney.save(classify(), "/tmp/no_such_folder/model.spn")  # noqa: S108


@bad(r"this is a folder", raises="IsADirectoryError")
def save_over_a_folder() -> Any:
    import spinney

    with tempfile.TemporaryDirectory() as folder:
        return spinney.save(classify(), folder)


# Things that have no place in a file


@bad(r"DecisionTreeClassifier is not fitted yet\. Call fit\(\)")
def save_unfitted() -> Any:
    import spinney

    return spinney.save(spinney.DecisionTreeClassifier(), "/tmp/never.spn")  # noqa: S108


@bad(r"not sklearn\..*DecisionTreeClassifier")
def save_an_estimator_of_scikit_learn_with_our_name() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    import spinney

    return spinney.save(DecisionTreeClassifier().fit(X4, LABELS), "/tmp/never.spn")  # noqa: S108


@bad(r"not sklearn.*Pipeline.*Of a pipeline, save the estimator inside")
def save_a_pipeline() -> Any:
    from sklearn.pipeline import make_pipeline

    import spinney

    return spinney.save(make_pipeline(classify()), "/tmp/never.spn")  # noqa: S108


@bad(r"Local|a subclass has no place")
def save_a_subclass() -> Any:
    import spinney

    class Local(spinney.DecisionTreeClassifier):
        pass

    return spinney.save(Local().fit(X4, LABELS), "/tmp/never.spn")  # noqa: S108


@bad(r"not builtins\.NoneType")
def save_nothing() -> Any:
    import spinney

    return spinney.save(None, "/tmp/never.spn")  # noqa: S108


@bad(r"class_weight is a|class_weight|Fraction")
def save_a_parameter_without_a_safe_form() -> Any:
    import spinney

    tree = classify()
    tree.set_params(class_weight=object())
    return spinney.save(tree, "/tmp/never.spn")  # noqa: S108


@bad(r"random_state draws from Foreign")
def save_a_foreign_bit_generator() -> Any:
    import spinney

    class Foreign(np.random.PCG64):
        pass

    tree = classify(random_state=np.random.Generator(Foreign(1)))
    return spinney.save(tree, "/tmp/never.spn")  # noqa: S108


# Pickles of ours that were tampered with


@bad(r"checksum|digest|cut off|contradict|padding")
def unpickle_damaged_bytes() -> Any:
    tree = classify()
    stream, inner = pickle.dumps(tree), tree.model_.to_bytes()
    return pickle.loads(stream.replace(inner, _flipped(inner)))


# The command line: argparse ends with exit status 2


def _run(*arguments: str) -> Any:
    import contextlib
    import io

    from spinney.cli.__main__ import main

    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            return main(arguments)
        except SystemExit as error:
            raise SystemExit(f"{error.code}: {said.getvalue()}") from error


for _name, _arguments, _pattern in (
    ("nothing", (), r"^2: .*COMMAND"),
    ("unknown_command", ("dmo",), r"^2: (?s:.*)'dmo'"),
    (
        "unknown_option",
        ("demo", "--sed", "1", "--x"),
        r"^2: spinney demo: .*--sed\. Did you mean '--seed'\?",
    ),
    ("seed_is_text", ("demo", "--seed", "one"), r"^2: (?s:.*)--seed(?s:.*)'one'"),
    ("seed_is_a_fraction", ("demo", "--seed", "1.5"), r"^2: (?s:.*)--seed(?s:.*)'1.5'"),
    ("seed_is_negative", ("demo", "--seed", "-1"), r"^2: (?s:.*)--seed|seed"),
):
    add(f"command_line_{_name}", lambda a=_arguments: _run(*a), _pattern, raises="SystemExit")
