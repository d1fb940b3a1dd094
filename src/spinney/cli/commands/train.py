"""Learn from a file, measure on rows held out, and save the model.

try:
  spinney train customers.csv --target churned
  spinney train prices.parquet --target price --model forest --out prices.spn
  spinney train claims.csv --target cost --set loss=poisson --set max_iter=500
"""

import argparse
import time
from pathlib import Path
from typing import Any

from spinney.cli import arguments as reading
from spinney.cli.families import FAMILIES, Family, family_named
from spinney.cli.voice import Voice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of this command."""
    parser.add_argument("data", metavar="DATA", help="CSV (also .gz), Parquet, Arrow or Feather")
    reading.add_problem_arguments(parser)
    parser.add_argument(
        "--model", "-m", default="boosting", metavar="FAMILY", help=", ".join(FAMILIES)
    )
    parser.add_argument(
        "--out", "-o", metavar="FILE", help="where the model goes (default: model.spn)"
    )
    parser.add_argument(
        "--set",
        dest="settings",
        type=reading.setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the estimator; can be repeated",
    )
    reading.add_split_arguments(parser)
    parser.add_argument("--test", metavar="FILE", help="rows to measure on, instead of a share")
    parser.add_argument("--test-out", metavar="FILE", help="write the rows held out to a file")
    parser.add_argument(
        "--refit", action="store_true", help="after measuring, learn from all rows anew"
    )
    reading.add_reading_arguments(parser)


def run(arguments: argparse.Namespace, voice: Voice) -> None:
    """Read, fit, measure, save."""
    from spinney.cli.splitting import hold_out
    from spinney.progress import show_progress

    family = family_named(arguments.model)
    out = _place_of_model(arguments, family, voice)
    _check_outputs(arguments, out)
    problem = _read(arguments, voice)
    estimator = family.make(problem.task, arguments.settings, arguments.seed)
    train, test = problem, None
    if arguments.test is None:
        train, test = hold_out(problem, arguments.test_share, arguments.seed)
    n_held_out = 0 if test is None else test.n_rows
    start = time.perf_counter()
    with show_progress(0 if voice.is_quiet else 1):
        fit(estimator, train)
        seconds = time.perf_counter() - start
        test = _tested(estimator, problem, test, arguments, voice)
        measured = [] if test is None else _measured(estimator, test, arguments)
        if test is not None and not arguments.refit:
            calibrate(estimator, test)
        if arguments.refit:
            fit(estimator, problem)
    if out is not None:
        _save(estimator, problem, n_held_out, arguments, out)
    if test is not None and arguments.test_out:
        _write_rows(test, arguments.target, arguments.test_out)
    _tell(arguments, voice, (family, estimator, train, test, measured, seconds, out))


def _check_outputs(arguments: argparse.Namespace, out: str | None) -> None:
    """Refuse what cannot be written before anything is learnt."""
    from spinney.cli.writing import check_apart, check_ending, check_writable
    from spinney.errors import InvalidInput

    if out is not None:
        check_writable(out)
    if arguments.test_out is not None:
        check_ending(arguments.test_out)
        if arguments.test is None and not arguments.test_share:
            raise InvalidInput(
                f"--test-out {arguments.test_out}: with --test-share 0 no rows are held out. Leave "
                "one of the two away."
            )
    check_apart(
        {"--out": out, "--test-out": arguments.test_out},
        {"DATA": arguments.data, "--test": arguments.test},
    )


def _read(arguments: argparse.Namespace, voice: Voice) -> Any:
    from spinney.cli.files import Reading, read_file
    from spinney.cli.problem import expected_columns, read_problem

    table = read_file(arguments.data, Reading.of(arguments), voice, expected_columns(arguments))
    return read_problem(table, arguments, voice)


def _save(
    estimator: Any, problem: Any, n_held_out: int, arguments: argparse.Namespace, out: str
) -> None:
    """Write the model, and how it came to be."""
    from spinney.cli.provenance import record_training
    from spinney.io.atomic import write_atomically
    from spinney.io.save_load import to_bytes

    record = record_training(arguments, estimator, problem, n_held_out)
    write_atomically(out, to_bytes(estimator, record))


def fit(estimator: Any, problem: Any) -> None:
    """Fit on all rows of a problem."""
    given = {} if problem.weights is None else {"sample_weight": problem.weights}
    estimator.fit(problem.X, problem.y, **given)


def calibrate(estimator: Any, test: Any) -> None:
    """Let a model learn from rows it has not seen how far off it is, if it can."""
    if hasattr(estimator, "calibrate") and not getattr(estimator, "calibration_", None):
        how = {"method": "lac"} if test.is_classification else {}  # the smallest sets
        estimator.calibrate(test.X, test.y, test.weights, **how)


def _place_of_model(arguments: argparse.Namespace, family: Family, voice: Voice) -> str | None:
    """Say where the model is to be saved; None if it cannot be."""
    from spinney.errors import CannotSave

    if family.has_file:
        out: str = arguments.out or "model.spn"
        return out
    if arguments.out:
        raise CannotSave(
            f"--out {arguments.out}: a model of the family {family.name} has members of any kind, "
            "which have no safe form in a file. Leave --out away to measure it only, or choose "
            "another family."
        )
    voice.remark(f"{family.name}: measured only; such a model has no safe form in a file.")
    return None


def _tested(
    estimator: Any, problem: Any, test: Any, arguments: argparse.Namespace, voice: Voice
) -> Any:
    """Give the rows to measure on; None if there are none."""
    from spinney.cli.dates import forms_of
    from spinney.cli.models import read_test_rows, with_known_classes

    if arguments.test is not None:
        forms = forms_of(problem.X.schema)
        test = read_test_rows(estimator, arguments.test, arguments, voice, forms)
    if test is None:
        return None
    test = with_known_classes(estimator, test, voice)
    return test if test.n_rows else None


def _measured(estimator: Any, test: Any, arguments: argparse.Namespace) -> list[Any]:
    from spinney.cli.measures import Scored
    from spinney.cli.models import answers_of, class_codes

    said = answers_of(estimator, test.X)
    y = class_codes(estimator, test.y, arguments.target) if test.is_classification else test.y
    return Scored(y, said, test.weights).intervals(seed=arguments.seed)


def _write_rows(test: Any, target: str, path: str) -> None:
    import pyarrow as pa

    from spinney.cli.writing import write_table

    write_table(test.X.append_column(target, pa.array(test.y.tolist())), path)


def _tell(arguments: argparse.Namespace, voice: Voice, done: tuple[Any, ...]) -> None:
    """Say what was learnt, how well, and what to do next."""
    from spinney.cli.models import fingerprint_of

    family, estimator, train, test, measured, seconds, out = done
    size = None if out is None else Path(out).stat().st_size
    voice.document(
        {
            "command": "train",
            "task": train.task,
            "family": family.name,
            "estimator": type(estimator).__name__,
            "target": arguments.target,
            "features": list(train.X.column_names),
            "n_train": train.n_rows,
            "n_test": 0 if test is None else test.n_rows,
            "seconds": seconds,
            "measures": {one.name: one.as_dict() for one in measured},
            "fingerprint": fingerprint_of(estimator) if out is not None else None,
            "out": out,
            "bytes": size,
        }
    )
    if voice.is_quiet:
        return
    voice.line(
        f"{type(estimator).__name__}: {train.n_rows} rows, {train.X.num_columns} features, "
        f"{seconds:.2f} s"
    )
    if measured:
        voice.line()
        header = (f"on {test.n_rows} rows held out", "value", "95 % interval")
        rows = [(m.name, m.value, f"{m.low:.4g} to {m.high:.4g}") for m in measured]
        voice.table(header, rows)
    if out is not None:
        voice.line(f"\nsaved {out} ({size} bytes); next: spinney predict {out} NEW_DATA")
