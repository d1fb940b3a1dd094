"""Rank all families on a file by cross-validation, with intervals and times.

try:
  spinney compare customers.csv --target churned
  spinney compare prices.parquet --target price --models boosting,forest --folds 10
  spinney compare customers.csv --target churned --peers --time-limit 5m

Every learner has its defaults and sees the same folds. "constant" says the same of all rows. Unless
--models names some, those families are compared that differ most; --models all takes every one.
"""

import argparse
import time
from typing import Any

from spinney.cli import arguments as reading
from spinney.cli.families import FAMILIES, family_named
from spinney.cli.voice import Voice

_USUAL = tuple(family.name for family in FAMILIES.values() if family.is_compared)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of this command."""
    parser.add_argument("data", metavar="DATA", help="CSV (also .gz), Parquet, Arrow or Feather")
    reading.add_problem_arguments(parser)
    parser.add_argument(
        "--models",
        type=reading.names,
        default=[],
        metavar="FAMILIES",
        help=f"a,b,c, or all {len(FAMILIES)}: all (default: {len(_USUAL)} of them)",
    )
    parser.add_argument("--folds", type=_folds, default=5, metavar="N", help="(5)")
    parser.add_argument(
        "--peers", action="store_true", help="also LightGBM, XGBoost, CatBoost … if installed"
    )
    parser.add_argument(
        "--time-limit",
        type=reading.seconds,
        metavar="TIME",
        help="90, 90s, 5m; no fold starts later",
    )
    parser.add_argument(
        "--rows", type=reading.count, metavar="N", help="use so many rows at most, drawn by chance"
    )
    reading.add_reading_arguments(parser)


def _folds(text: str) -> int:
    number = reading.count(text)
    if number < 2:
        raise argparse.ArgumentTypeError("expected 2 folds or more")
    return number


def run(arguments: argparse.Namespace, voice: Voice) -> None:
    """Read, let everybody learn, rank."""
    from spinney.cli.contest import Contest
    from spinney.cli.files import Reading, read_file
    from spinney.cli.problem import expected_columns, read_problem
    from spinney.errors import InvalidInput
    from spinney.progress import show_progress

    begin = time.monotonic()
    limit = float("inf") if arguments.time_limit is None else arguments.time_limit
    names = _contenders(arguments, voice)
    table = read_file(arguments.data, Reading.of(arguments), voice, expected_columns(arguments))
    problem = _some_rows(read_problem(table, arguments, voice), arguments, voice)
    if problem.n_rows < 2 * arguments.folds:
        raise InvalidInput(
            f"--folds {arguments.folds}: {problem.n_rows} rows are too few. Use fewer folds."
        )
    contest = Contest(problem, arguments.folds, arguments.seed, begin + limit)
    with show_progress(0 if voice.is_quiet else 1):
        standings = contest.run(names)
    _tell(standings, contest.measure_of_rank(), problem, arguments, voice)


def _some_rows(problem: Any, arguments: argparse.Namespace, voice: Voice) -> Any:
    import numpy as np

    if arguments.rows is None or arguments.rows >= problem.n_rows:
        return problem
    rows = np.random.default_rng(arguments.seed).permutation(problem.n_rows)[: arguments.rows]
    voice.remark(f"{arguments.rows} of {problem.n_rows} rows, drawn by chance.")
    return problem.take(np.sort(rows))


def _contenders(arguments: argparse.Namespace, voice: Voice) -> list[str]:
    """Name who takes part: quick ones first, in case time is short."""
    if not arguments.models:
        names = ["constant", *_USUAL]
        voice.remark(f"{len(_USUAL)} of {len(FAMILIES)} families; --models all compares every one.")
    elif "all" in arguments.models:
        names = ["constant", *_USUAL, *(name for name in FAMILIES if name not in _USUAL)]
    else:
        names = [family_named(name).name for name in arguments.models]
    return names + (_peers(voice) if arguments.peers else [])


def _peers(voice: Voice) -> list[str]:
    import importlib.util

    from spinney.cli.peers import PEERS

    if importlib.util.find_spec("pandas") is None:
        voice.remark("--peers: the peers take their categories from pandas: pip install pandas.")
        return []
    absent = [name for name, peer in PEERS.items() if not peer.is_installed]
    if absent:
        voice.remark(f"Not installed, so not compared: {', '.join(absent)}.")
    return [name for name, peer in PEERS.items() if peer.is_installed]


def _tell(
    standings: list[Any], measure: str, problem: Any, arguments: argparse.Namespace, voice: Voice
) -> None:
    measured = [one for one in standings if one.measures]
    other = {"auc": "accuracy", "log_loss": "accuracy", "rmse": "r2"}[measure]
    rows = []
    for place, one in enumerate(measured, 1):
        own = one.measures[measure]
        behind = "best" if one.behind is None else _behind(one.behind)
        rows.append(
            (
                *(str(place), one.name, own.value, f"{own.low:.4g} to {own.high:.4g}", behind),
                *(
                    one.measures[other].value,
                    f"{one.fit_seconds:.2f}",
                    f"{one.predict_seconds:.2f}",
                ),
            )
        )
    voice.line(f"{problem.n_rows} rows, {problem.X.num_columns} features, {arguments.folds} folds")
    header = ("", "model", measure, "95 % interval", "behind the best", other, "fit s", "predict s")
    if rows:
        voice.table(header, rows)
    for one in standings:
        if one.problem is not None:
            voice.line(f"not ranked: {one.name}: {one.problem}")
    voice.document(
        {
            "command": "compare",
            "task": problem.task,
            "n_rows": problem.n_rows,
            "n_features": problem.X.num_columns,
            "folds": arguments.folds,
            "ranked_by": measure,
            "standings": [
                {
                    "model": one.name,
                    "measures": {name: m.as_dict() for name, m in one.measures.items()},
                    "behind": one.behind,
                    "fit_seconds": one.fit_seconds,
                    "predict_seconds": one.predict_seconds,
                    "problem": one.problem,
                }
                for one in standings
            ],
        }
    )


def _behind(interval: tuple[float, float]) -> str:
    low, high = interval
    return "level" if low <= 0.0 else f"{low:.2g} to {high:.2g}"
