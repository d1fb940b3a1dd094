"""Measure a model on rows of known targets, with bootstrap intervals.

try:
  spinney evaluate model.spn test.csv --target churned
  spinney evaluate model.spn customers.csv --held-out

--held-out looks only at the rows that spinney train held out of the same file. The model file tells
which ones, and what the target is called.
"""

import argparse
from typing import Any

from spinney.cli import arguments as reading
from spinney.cli.voice import Voice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of this command."""
    parser.add_argument("model", metavar="MODEL", help="a file that spinney train wrote")
    parser.add_argument("data", metavar="DATA", help="rows of known targets")
    reading.add_target_arguments(parser, known=True)
    parser.add_argument("--held-out", action="store_true", help="only rows that train held out")
    parser.add_argument("--seed", type=reading.seed, help="of the resamples (default: of training)")
    parser.add_argument("--level", type=reading.level, default=0.95, help="of the intervals (0.95)")
    parser.add_argument(
        "--resamples",
        type=reading.count,
        metavar="N",
        help="(default: up to 999, fewer for many rows)",
    )
    reading.add_reading_arguments(parser)


def run(arguments: argparse.Namespace, voice: Voice) -> None:
    """Load, read, predict, measure."""
    from spinney.cli.measures import Scored
    from spinney.cli.models import answers_of, fingerprint_of, load_trained, with_codes
    from spinney.progress import show_progress

    trained = load_trained(arguments.model)
    model, rows = trained.fitted, _rows(trained, arguments, voice)
    test, y = with_codes(model, rows, arguments.target, voice)
    with show_progress(0 if voice.is_quiet else 1):
        scored = Scored(y, answers_of(model, test.X), test.weights)
        n_resamples = arguments.resamples or scored.usual_resamples()
        measured = scored.intervals(
            level=arguments.level, n_resamples=n_resamples, seed=arguments.seed
        )
    percent = f"{100 * arguments.level:g} %"
    header = (f"on {test.n_rows} rows", "value", f"{percent} interval")
    voice.table(header, [(m.name, m.value, f"{m.low:.4g} to {m.high:.4g}") for m in measured])
    coverage = _coverage(model, test, arguments, voice)
    voice.document(
        {
            "command": "evaluate",
            "task": test.task,
            "n_rows": test.n_rows,
            "level": arguments.level,
            "n_resamples": n_resamples,
            "measures": {one.name: one.as_dict() for one in measured},
            "coverage": coverage,
            "fingerprint": fingerprint_of(model),
        }
    )


def _rows(trained: Any, arguments: argparse.Namespace, voice: Voice) -> Any:
    """Read the rows to measure on."""
    from spinney.cli.models import read_test_rows
    from spinney.cli.provenance import mention_learnt_rows, need_target, split_again

    arguments.target = need_target(arguments, trained.record, voice)
    if arguments.seed is None:
        arguments.seed = 0 if trained.record is None else trained.record.seed
    rows = read_test_rows(trained.fitted, arguments.data, arguments, voice, trained.forms)
    if arguments.held_out:
        return split_again(trained, rows, arguments)[1]
    mention_learnt_rows(trained, rows, voice)
    return rows


def _coverage(
    model: Any, test: Any, arguments: argparse.Namespace, voice: Voice
) -> dict[str, float] | None:
    """Say how many targets the model's own intervals or sets hold, if it was calibrated.

    If the rows that ``train`` held out calibrated them, the share on these is what it was set to.
    """
    calibration = getattr(model, "calibration_", None)
    if calibration is None:
        return None
    if test.is_classification:
        found = model.predict_set(test.X, 0.9)
        size = float(found.size.mean())
        what = f"sets at 90 % hold the class of {{:.1f}} % of the rows; {size:.2f} classes each"
        share = float(found.coverage(test.y.astype(model.classes_.dtype)))
    else:
        found = model.predict_interval(test.X, 0.9)
        size = float(found.width.mean())
        what = f"intervals at 90 % hold the target of {{:.1f}} % of the rows; {size:.4g} wide"
        share = float(found.coverage(test.y))
    is_known = arguments.held_out and calibration.source == "held_out"
    known = "; these rows calibrated them, others may differ" if is_known else ""
    voice.line("\n" + what.format(100 * share) + known)
    return {"level": 0.9, "share": share, "mean_size": size}
