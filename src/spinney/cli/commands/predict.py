"""Say what a model predicts for the rows of a file.

try:
  spinney predict model.spn new.csv                       CSV on stdout
  spinney predict model.spn new.parquet -o answers.parquet
  spinney predict prices.spn new.csv --interval 0.9 --keep id
"""

import argparse
from typing import Any

from spinney.cli import arguments as reading
from spinney.cli.voice import Voice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of this command."""
    parser.add_argument("model", metavar="MODEL", help="a file that spinney train wrote")
    parser.add_argument("data", metavar="DATA", help="rows to predict; - for CSV on stdin")
    parser.add_argument(
        "--out", "-o", default="-", metavar="FILE", help="CSV, Parquet, Arrow (default: stdout)"
    )
    reading.add_columns_argument(parser, "--keep", "columns to copy: a,b,c")
    parser.add_argument(
        "--interval",
        type=reading.level,
        metavar="LEVEL",
        help="add intervals (or sets of classes) that hold so many of the targets, such as 0.9",
    )
    parser.add_argument("--labels-only", action="store_true", help="no probabilities of classes")
    reading.add_reading_arguments(parser)


def run(arguments: argparse.Namespace, voice: Voice) -> None:
    """Load, read, predict, write."""
    from spinney.cli.models import features_of, load_trained, read_rows
    from spinney.cli.problem import find_columns
    from spinney.cli.writing import check_apart, check_ending, write_table
    from spinney.progress import show_progress

    if arguments.out != "-":
        check_ending(arguments.out)
    check_apart({"--out": arguments.out}, {"MODEL": arguments.model, "DATA": arguments.data})
    trained = load_trained(arguments.model)
    model = trained.fitted
    table = read_rows(model, arguments.data, arguments, voice, trained.forms)
    kept = find_columns(arguments.keep, table.column_names, "--keep")
    with show_progress(0 if voice.is_quiet else 1):
        columns = _columns(model, features_of(model, table), arguments)
    import pyarrow as pa

    found = pa.table({**{name: table.column(name) for name in kept}, **columns})
    if arguments.out != "-":
        write_table(found, arguments.out)
        voice.remark(f"{found.num_rows} rows written to {arguments.out}")
    answer: dict[str, Any] = {"command": "predict", "n_rows": found.num_rows}
    answer |= {
        "columns": found.column_names,
        "out": None if arguments.out == "-" else arguments.out,
    }
    if arguments.out == "-":
        if voice.as_json:
            answer["predictions"] = found.to_pylist()
        else:
            write_table(found, "-")
    voice.document(answer)


def _n_numbers(model: Any) -> int:
    """Count the numbers that a model predicts of a row; a committee predicts one."""
    target = getattr(getattr(model, "model_", None), "target", None)
    return 1 if target is None else int(target.n_outputs)


def _several(model: Any, numbers: Any, arguments: argparse.Namespace) -> dict[str, Any]:
    """Give a column for each quantile, or each number that the model predicts of a row."""
    from spinney.errors import InvalidInput
    from spinney.explain import raw_output_names

    if arguments.interval is not None:
        raise InvalidInput(
            f"--interval: the model predicts {numbers.shape[1]} numbers per row, and intervals "
            "are put around one. Leave it out."
        )
    names = raw_output_names(model)
    return {f"prediction {name}": of for name, of in zip(names, numbers.T, strict=True)}


def _columns(model: Any, X: Any, arguments: argparse.Namespace) -> dict[str, Any]:
    """Give predictions, probabilities and intervals as columns."""
    import numpy as np

    from spinney.cli.models import answers_of, is_classifier, refuse_offset
    from spinney.errors import InvalidInput

    refuse_offset(model)
    task = getattr(model, "_task", "")
    if task == "ranking" and arguments.interval is not None:
        raise InvalidInput(
            f"--interval: scores of a {type(model).__name__} have no intervals. Leave it out."
        )
    if task not in ("classification", "regression", "ranking"):
        if not hasattr(model, "score_samples"):
            answers_of(model, X)  # says what is wrong
        return {"prediction": model.predict(X), "score": model.score_samples(X)}
    if task == "regression" and _n_numbers(model) > 1:
        return _several(model, np.asarray(model.predict(X), np.float64), arguments)
    said = answers_of(model, X)
    if not is_classifier(model):
        if arguments.interval is None:
            return {"prediction": said}
        found = model.predict_interval(X, arguments.interval)
        return {"prediction": said, "lower": found.lower, "upper": found.upper}
    labels = np.asarray(model.predict(X))
    columns: dict[str, Any] = {"prediction": labels.tolist()}
    if not arguments.labels_only:
        for place, label in enumerate(model.classes_.tolist()):
            columns[f"probability_{label}"] = said[:, place]
    if arguments.interval is not None:
        sets = model.predict_set(X, arguments.interval).sets()
        columns["set"] = ["|".join(map(str, one)) for one in sets]
    return columns
