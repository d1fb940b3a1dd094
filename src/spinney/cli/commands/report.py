"""Write a report on a model to one HTML file that needs no network.

try:
  spinney report model.spn test.csv --target churned
  spinney report model.spn customers.csv --held-out -o churn.html

--held-out reports on the rows that spinney train held out of the same file, and compares them with
the rows it learnt from. The model file tells which ones, and what the target is called. Rows keep
the numbers they have in the file.
"""

import argparse
from typing import Any

from spinney.cli import arguments as reading
from spinney.cli.voice import Voice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of this command."""
    parser.add_argument("model", metavar="MODEL", help="a file that spinney train wrote")
    parser.add_argument("data", metavar="DATA", help="rows to report on, best those held out")
    reading.add_target_arguments(parser, known=True)
    parser.add_argument("--out", "-o", default="report.html", metavar="FILE", help="(report.html)")
    parser.add_argument("--train", metavar="FILE", help="what the model learnt from")
    parser.add_argument("--held-out", action="store_true", help="only rows that train held out")
    parser.add_argument("--title", help="of the page")
    parser.add_argument("--seed", type=reading.seed, default=0, help="decides all draws (0)")
    reading.add_reading_arguments(parser)


def run(arguments: argparse.Namespace, voice: Voice) -> None:
    """Load, read, write."""
    from pathlib import Path

    from spinney.cli.models import fingerprint_of, load_trained
    from spinney.cli.writing import check_apart, check_writable
    from spinney.progress import show_progress

    check_writable(arguments.out)
    read = {"MODEL": arguments.model, "DATA": arguments.data, "--train": arguments.train}
    check_apart({"--out": arguments.out}, read)
    trained = load_trained(arguments.model)
    with show_progress(0 if voice.is_quiet else 1):
        n_rows = _write(trained, arguments, voice)
    size = Path(arguments.out).stat().st_size
    voice.remark(f"report on {n_rows} rows written to {arguments.out} ({size} bytes)")
    answer = {"command": "report", "n_rows": n_rows, "out": arguments.out, "bytes": size}
    voice.document({**answer, "fingerprint": fingerprint_of(trained.fitted)})


def _write(trained: Any, arguments: argparse.Namespace, voice: Voice) -> int:
    """Read what the report is about, write it, and count its rows."""
    from spinney.cli.models import features_of, read_rows, test_rows_of
    from spinney.cli.provenance import mention_learnt_rows, split_again
    from spinney.report.subject import read_subject
    from spinney.report.writing import write_page

    model = trained.fitted
    table = read_rows(model, arguments.data, arguments, voice, trained.forms)
    arguments.target = _target(trained, table, arguments, voice)
    train: dict[str, Any] = {}
    if arguments.target is None:
        given: dict[str, Any] = {"X": features_of(model, table), "y": None}
    else:
        rows = test_rows_of(model, table, arguments, voice)
        if arguments.held_out:
            learnt, rows = split_again(trained, rows, arguments)
            train = _given(model, learnt, arguments, voice)
        else:
            mention_learnt_rows(trained, rows, voice)
        given = _given(model, rows, arguments, voice)
    if arguments.train is not None:
        train = _read_train(trained, arguments, voice)
    known = (
        {"train": (train["X"], train["y"]), "train_numbers": train["row_numbers"]} if train else {}
    )
    subject = read_subject(model, random_state=arguments.seed, **given, **known)
    write_page(subject, arguments.out, arguments.title)
    return int(subject.rows.n_rows)


def _target(trained: Any, table: Any, arguments: argparse.Namespace, voice: Voice) -> str | None:
    """Choose the target; without one nothing is said on performance."""
    from spinney.cli.provenance import choose_target, need_target

    if arguments.held_out:
        return need_target(arguments, trained.record, voice)
    known = trained.record
    if arguments.target is not None or (known and known.target in table.column_names):
        return choose_target(arguments, known, voice)
    where = f"{arguments.data} has no column {known.target!r}" if known else "no target is given"
    voice.remark(f"Nothing on performance, as {where}; --target COLUMN (-t) names what to predict.")
    return None


def _given(model: Any, rows: Any, arguments: argparse.Namespace, voice: Voice) -> dict[str, Any]:
    """Give rows as the report takes them: of classes that the model knows, in its own labels."""
    from spinney.cli.models import with_codes

    rows, y = with_codes(model, rows, arguments.target, voice)
    y = model.classes_[y] if rows.is_classification else y
    return {"X": rows.X, "y": y, "sample_weight": rows.weights, "row_numbers": rows.numbers}


def _read_train(trained: Any, arguments: argparse.Namespace, voice: Voice) -> dict[str, Any]:
    """Read another file that the model learnt from, with targets if there are some."""
    from spinney.cli.models import features_of, read_rows, test_rows_of

    table = read_rows(trained.fitted, arguments.train, arguments, voice, trained.forms)
    if arguments.target not in table.column_names:
        return {"X": features_of(trained.fitted, table), "y": None, "row_numbers": None}
    rows = test_rows_of(trained.fitted, table, arguments, voice)
    return _given(trained.fitted, rows, arguments, voice)
