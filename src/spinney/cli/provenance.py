"""Where a model comes from: what ``train`` did, and how other commands find its rows again."""

import hashlib
from typing import Any

import numpy as np

from spinney.cli.dates import forms_of
from spinney.cli.models import Trained, features_of, schema_of
from spinney.cli.problem import LearningProblem, label_text
from spinney.cli.splitting import hold_out
from spinney.errors import InvalidInput
from spinney.io.training_record import TrainingRecord

_ROWS_OF_DIGEST = 1000
"""Rows whose features are part of the digest, at even steps; targets are, of all rows."""


def record_training(
    arguments: Any, fitted: Any, problem: LearningProblem, n_held_out: int
) -> TrainingRecord:
    """Write down what was done to learn from a table."""
    return TrainingRecord(
        target=arguments.target,
        n_rows=problem.n_rows,
        digest=digest_of(fitted, problem),
        seed=arguments.seed,
        test_share=float(arguments.test_share) if n_held_out else 0.0,
        n_held_out=n_held_out,
        has_test_file=arguments.test is not None,
        is_refitted=arguments.refit,
        dates=forms_of(problem.X.schema),
    )


def digest_of(fitted: Any, rows: LearningProblem) -> str:
    """Give 64 hexadecimal digits that tell a table, in its order, from others.

    Features are compared as the model reads them, so that a table is the same in every format.
    """
    digest = hashlib.sha256(f"{rows.n_rows} rows\n".encode())
    if rows.is_classification:
        digest.update("\n".join(label_text(value) for value in rows.y.tolist()).encode())
    else:
        digest.update(np.asarray(rows.y, "<f8").tobytes())
    n_some = min(rows.n_rows, _ROWS_OF_DIGEST)
    some = np.unique(np.linspace(0, rows.n_rows - 1, n_some).astype(np.int64))
    table = schema_of(fitted).conform(features_of(fitted, rows.X.take(some)))
    for column in table.columns:
        values = np.asarray(column.dense(len(some)), "<f8")
        digest.update(np.where(np.isnan(values), np.nan, values).tobytes())
    return digest.hexdigest()


def choose_target(arguments: Any, record: TrainingRecord | None, voice: Any) -> str | None:
    """Take the target that is asked for, or else the one that the model learnt; and say so."""
    if arguments.target is not None or record is None:
        target: str | None = arguments.target
        return target
    voice.remark(f"The target is {record.target!r}, as in training; --target to override.")
    return record.target


def need_target(arguments: Any, record: TrainingRecord | None, voice: Any) -> str:
    """Do so, or say that there is none."""
    target = choose_target(arguments, record, voice)
    if target is None:
        raise InvalidInput(
            f"{arguments.model} does not tell what its target is called. Add --target COLUMN."
        )
    return target


def split_again(
    trained: Trained, rows: LearningProblem, arguments: Any
) -> tuple[LearningProblem, LearningProblem]:
    """Divide the table of ``train`` as it did: rows learnt from, and rows held out."""
    record = trained.record
    why_not = _nothing_held_out(record, arguments.model)
    if record is None or why_not is not None:
        raise InvalidInput(f"--held-out: {why_not}")
    _refuse_other_table(trained.fitted, record, rows, arguments.data)
    learnt, held = hold_out(rows, record.test_share, record.seed)
    if held is None or held.n_rows != record.n_held_out:
        raise InvalidInput(
            f"--held-out: {arguments.model} tells of {record.n_held_out} rows held out, which a "
            f"share of {record.test_share:g} does not give. Train it again."
        )
    return learnt, held


def learnt_rows(trained: Trained, rows: LearningProblem, arguments: Any) -> LearningProblem:
    """Choose the rows that a model learnt from; all of them if its file does not tell."""
    record = trained.record
    if record is None:
        return rows
    _refuse_other_table(trained.fitted, record, rows, arguments.data)
    if record.is_refitted:
        return rows
    return hold_out(rows, record.test_share, record.seed)[0]


def mention_learnt_rows(trained: Trained, rows: LearningProblem, voice: Any) -> None:
    """Say so if a model is to be measured on rows that it learnt from."""
    record = trained.record
    if record is None or record.n_rows != rows.n_rows:
        return
    if record.digest != digest_of(trained.fitted, rows):
        return
    if record.n_held_out and not record.is_refitted:
        n_learnt = record.n_rows - record.n_held_out
        known, remedy = f"{n_learnt} of these {record.n_rows} rows", "--held-out takes the others."
    else:
        known, remedy = "all of these rows", "Rows of another file would tell more."
    voice.remark(f"The model learnt from {known}, so it looks better here than it is. {remedy}")


def _nothing_held_out(record: TrainingRecord | None, model: str) -> str | None:
    """Say why there are no rows that were held out, and what to do; None if there are."""
    if record is None:
        return (
            f"{model} does not tell which rows it learnt from, as spinney train did not write it. "
            "Give a file of rows that it has not seen, without --held-out."
        )
    if record.is_refitted:
        return (
            f"{model} was trained with --refit, so it learnt from all {record.n_rows} rows after "
            "it was measured. Give a file of other rows, or train without --refit."
        )
    if record.has_test_file:
        return (
            f"{model} was trained with --test and learnt from all {record.n_rows} rows of its "
            "table. Give the file of --test, without --held-out."
        )
    if not record.n_held_out:
        return (
            f"{model} was trained with --test-share 0: no rows were held out. Give a file of other "
            "rows, or train with --test-share 0.2."
        )
    return None


def _refuse_other_table(
    fitted: Any, record: TrainingRecord, rows: LearningProblem, path: str
) -> None:
    if rows.n_rows != record.n_rows:
        raise InvalidInput(
            f"{path}: {rows.n_rows} rows with a target, but the model was trained from a table "
            f"with {record.n_rows}. Give the file that it was trained from."
        )
    if digest_of(fitted, rows) != record.digest:
        raise InvalidInput(
            f"{path}: not the table that the model was trained from; values differ, or the order "
            "of the rows. Give that file, with the same options for reading it."
        )
