"""Measure a model on rows of known targets, with bootstrap intervals.

try:
  spinney evaluate model.spn test.csv --target churned
  spinney evaluate model.spn customers.csv --target churned --held-out

--held-out looks only at the rows that spinney train held out of the same file, by the same
--test-share and --seed.
"""

import argparse
from typing import Any

from spinney.cli import arguments as reading
from spinney.cli.voice import Voice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of this command."""
    parser.add_argument("model", metavar="MODEL", help="a file that spinney train wrote")
    parser.add_argument("data", metavar="DATA", help="rows of known targets")
    reading.add_target_arguments(parser)
    parser.add_argument("--held-out", action="store_true", help="only rows that train held out")
    reading.add_split_arguments(parser)
    parser.add_argument("--seed", type=reading.seed, default=0, help="decides all draws (0)")
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
    from spinney.cli.models import (
        answers_of,
        class_codes,
        fingerprint_of,
        load_model,
        read_test_rows,
    )
    from spinney.progress import show_progress

    model = load_model(arguments.model)
    test = read_test_rows(model, arguments.data, arguments, voice)
    if arguments.held_out:
        test = _held_out(test, arguments)
    y = class_codes(model, test.y, arguments.target) if test.is_classification else test.y
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


def _held_out(test: Any, arguments: argparse.Namespace) -> Any:
    from spinney.cli.splitting import hold_out
    from spinney.errors import InvalidInput

    held = hold_out(test, arguments.test_share, arguments.seed)[1]
    if held is None:
        raise InvalidInput("--held-out with --test-share 0: no rows were held out.")
    return held


def _coverage(
    model: Any, test: Any, arguments: argparse.Namespace, voice: Voice
) -> dict[str, float] | None:
    """Say how many targets the model's own intervals or sets hold, if it was calibrated.

    Rows that ``train`` held out calibrated them, so on these the share is what it was set to.
    """
    if getattr(model, "calibration_", None) is None:
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
    known = "; these rows calibrated them, others may differ" if arguments.held_out else ""
    voice.line("\n" + what.format(100 * share) + known)
    return {"level": 0.9, "share": share, "mean_size": size}
