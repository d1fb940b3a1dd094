"""Write a report on a model to one HTML file that needs no network.

try:
  spinney report model.spn test.csv --target churned
  spinney report model.spn customers.csv --target churned --held-out -o churn.html

--held-out reports on the rows that spinney train held out of the same file, by the same
--test-share and --seed, and compares them with the rows it learnt from.
"""

import argparse
from typing import Any

from spinney.cli import arguments as reading
from spinney.cli.voice import Voice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of this command."""
    parser.add_argument("model", metavar="MODEL", help="a file that spinney train wrote")
    parser.add_argument("data", metavar="DATA", help="rows to report on, best those held out")
    parser.add_argument(
        "--target", "-t", metavar="COLUMN", help="without it, nothing on performance"
    )
    parser.add_argument("--weight", metavar="COLUMN", help="how often each row counts")
    parser.add_argument("--out", "-o", default="report.html", metavar="FILE", help="(report.html)")
    parser.add_argument("--train", metavar="FILE", help="what the model learnt from")
    parser.add_argument("--held-out", action="store_true", help="only rows that train held out")
    parser.add_argument("--title", help="of the page")
    reading.add_split_arguments(parser)
    parser.add_argument("--seed", type=reading.seed, default=0, help="decides all draws (0)")
    reading.add_reading_arguments(parser)


def run(arguments: argparse.Namespace, voice: Voice) -> None:
    """Load, read, write."""
    from pathlib import Path

    from spinney.cli.models import fingerprint_of, load_model
    from spinney.cli.writing import check_writable
    from spinney.errors import InvalidInput
    from spinney.progress import show_progress
    from spinney.report import write_report

    if arguments.held_out and arguments.target is None:
        raise InvalidInput("--held-out needs --target: rows are held out of every class its share.")
    check_writable(arguments.out)
    model = load_model(arguments.model)
    X, y, weights, train = _rows(model, arguments, voice)
    with show_progress(0 if voice.is_quiet else 1):
        write_report(
            model,
            X,
            y,
            arguments.out,
            train=train,
            sample_weight=weights,
            title=arguments.title,
            random_state=arguments.seed,
        )
    size = Path(arguments.out).stat().st_size
    voice.remark(f"report on {X.num_rows} rows written to {arguments.out} ({size} bytes)")
    answer = {"command": "report", "n_rows": X.num_rows, "out": arguments.out, "bytes": size}
    voice.document({**answer, "fingerprint": fingerprint_of(model)})


def _rows(model: Any, arguments: argparse.Namespace, voice: Voice) -> tuple[Any, ...]:
    """Give rows to report on, their targets and weights, and rows that were learnt from."""
    from spinney.cli.models import features_of, read_rows, read_test_rows
    from spinney.cli.splitting import hold_out

    train = None
    if arguments.train is not None and arguments.target is None:
        train = features_of(model, read_rows(model, arguments.train, arguments, voice))
    elif arguments.train is not None:
        learnt = read_test_rows(model, arguments.train, arguments, voice)
        train = (learnt.X, _labels(model, learnt, arguments.target))
    if arguments.target is None:
        return (
            features_of(model, read_rows(model, arguments.data, arguments, voice)),
            None,
            None,
            train,
        )
    rows = read_test_rows(model, arguments.data, arguments, voice)
    if arguments.held_out:
        learnt, held = hold_out(rows, arguments.test_share, arguments.seed)
        train = train or (learnt.X, _labels(model, learnt, arguments.target))
        rows = held or rows
    return rows.X, _labels(model, rows, arguments.target), rows.weights, train


def _labels(model: Any, rows: Any, target: str) -> Any:
    """Give targets as the model has them."""
    from spinney.cli.models import class_codes

    return model.classes_[class_codes(model, rows.y, target)] if rows.is_classification else rows.y
