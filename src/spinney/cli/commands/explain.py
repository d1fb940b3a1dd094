"""Say which features matter, how, or why one row gets its prediction.

try:
  spinney explain model.spn                                  gains of the splits
  spinney explain model.spn test.csv                         mean absolute Shapley values
  spinney explain model.spn test.csv --target churned        what is lost without each feature
  spinney explain model.spn test.csv --row 17                one prediction, feature by feature
  spinney explain model.spn --feature age                    partial dependence
  spinney explain model.spn test.csv --feature town          over rows; levels by frequency

Rows are counted from 0, the first one below the names.
"""

import argparse
from typing import Any

from spinney.cli import arguments as reading
from spinney.cli.voice import Voice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of this command."""
    parser.add_argument("model", metavar="MODEL", help="a file that spinney train wrote")
    parser.add_argument("data", nargs="?", metavar="DATA", help="rows, best those held out")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--row", type=int, metavar="NUMBER", help="explain this row of DATA")
    what.add_argument("--feature", metavar="NAME", help="partial dependence on this feature")
    parser.add_argument("--target", "-t", metavar="COLUMN", help="importance by permutation")
    parser.add_argument("--weight", metavar="COLUMN", help="how often each row counts")
    parser.add_argument("--output", metavar="CLASS", help="of several classes, the one to explain")
    parser.add_argument("--repeats", type=reading.count, default=5, help="shuffles (5)")
    parser.add_argument("--top", type=reading.count, default=20, help="lines to show (20)")
    parser.add_argument("--seed", type=reading.seed, default=0, help="decides all draws (0)")
    reading.add_reading_arguments(parser)


def run(arguments: argparse.Namespace, voice: Voice) -> None:
    """Load, choose the explanation that the arguments ask for, and tell it."""
    from spinney.cli.models import load_trained
    from spinney.errors import InvalidInput
    from spinney.progress import show_progress

    needs = "--row" if arguments.row is not None else "--target" if arguments.target else None
    if arguments.data is None and needs:
        raise InvalidInput(f"{needs} needs rows: spinney explain {arguments.model} DATA {needs} …")
    trained = load_trained(arguments.model)
    if _output(trained.fitted, arguments) is not None and arguments.row == arguments.feature:
        raise InvalidInput(
            "--output chooses the class of --row or of --feature, and importances are those of all "
            "classes. Leave it away, or add one of the two."
        )
    with show_progress(0 if voice.is_quiet else 1):
        if arguments.row is not None:
            _explain_row(trained, arguments, voice)
        elif arguments.feature is not None:
            _explain_feature(trained, arguments, voice)
        else:
            _explain_all(trained, arguments, voice)


def _explain_row(trained: Any, arguments: argparse.Namespace, voice: Voice) -> None:
    from spinney.cli.models import features_of, read_rows
    from spinney.errors import InvalidInput
    from spinney.explain import explain_row

    model = trained.fitted
    X = features_of(model, read_rows(model, arguments.data, arguments, voice, trained.forms))
    if not 0 <= arguments.row < X.num_rows:
        raise InvalidInput(f"--row {arguments.row}: the file has rows 0 to {X.num_rows - 1}.")
    found = explain_row(model, X.slice(arguments.row, 1), output=_output(model, arguments))
    voice.line(found.title())
    columns = found.columns()
    voice.table(list(columns), list(zip(*columns.values(), strict=True)), most=arguments.top + 1)
    features = zip(found.feature_names, found.feature_values, found.contributions, strict=True)
    voice.document(
        {
            "command": "explain",
            "what": "row",
            "row": arguments.row,
            "output": found.prediction_name,
            "prediction": found.prediction,
            "raw_score": found.raw_score,
            "scale": found.scale,
            "base": found.base,
            "features": [
                {"feature": name, "value": value, "contribution": float(number)}
                for name, value, number in features
            ],
        }
    )


def _explain_feature(trained: Any, arguments: argparse.Namespace, voice: Voice) -> None:
    from spinney.cli.models import features_of, is_classifier, read_rows, schema_of
    from spinney.cli.problem import find_feature
    from spinney.data.table import Kind
    from spinney.errors import InvalidInput

    model = trained.fitted
    schema = schema_of(model)
    name = find_feature(arguments.feature, list(schema.names), "--feature")
    if schema.kinds[schema.names.index(name)] is Kind.TEXT:
        raise InvalidInput(
            f"--feature {name!r}: this is text, and there is no end of texts to ask about. Ask "
            f"about one row of a file: spinney explain {arguments.model} DATA --row 0"
        )
    X = None
    if arguments.data is not None:
        X = features_of(model, read_rows(model, arguments.data, arguments, voice, trained.forms))
    scale = "prediction" if is_classifier(model) and X is not None else "raw"
    output = _output(model, arguments)
    if output is None and is_classifier(model) and len(model.classes_) > 2:
        output = model.classes_.tolist()[0]
    most = max(arguments.top, 50)
    grid = None if X is None else _frequent_levels(model, name, X, most, voice)
    asked = {"scale": scale, "output": output, "grid": grid}
    found = _dependence(model, name, X, arguments, asked)
    columns = found.columns()
    voice.line(found.title())
    rows = list(zip(*columns.values(), strict=True))
    voice.table(list(columns), [_spelled(row) for row in rows], most=most)
    voice.document(
        {
            "command": "explain",
            "what": "feature",
            "feature": name,
            "output": found.output_name,
            "scale": found.scale,
            "points": [{"value": value, "dependence": number} for value, number in rows],
        }
    )


def _dependence(
    model: Any, name: str, X: Any, arguments: argparse.Namespace, asked: dict[str, Any]
) -> Any:
    from spinney.errors import InvalidInput, InvalidParameter
    from spinney.explain import partial_dependence

    try:
        return partial_dependence(model, name, X, **asked)
    except InvalidParameter as problem:
        if X is not None or not str(problem).startswith("X=None"):
            raise
        raise InvalidInput(
            f"--feature {name!r}: this model tells its dependence on it only over rows. Give some: "
            f"spinney explain {arguments.model} DATA --feature {name!r}"
        ) from problem


def _frequent_levels(model: Any, name: str, X: Any, most: int, voice: Voice) -> list[Any] | None:
    """Choose the levels that most rows have, if there are more than are shown; None: all."""
    from collections import Counter

    from spinney.cli.models import schema_of

    schema = schema_of(model)
    levels = schema.levels[schema.names.index(name)]
    if levels is None or len(levels) <= most:
        return None
    known = {*levels.values, None}
    counts = Counter(value for value in X.column(name).to_pylist() if value in known)
    if len(counts) > most:
        voice.remark(f"{name}: the {most} most frequent of {len(counts)} levels; --top N for more.")
    return [value for value, _ in counts.most_common(most)] or None


def _spelled(row: tuple[Any, ...]) -> list[Any]:
    is_missing = row[0] is None or row[0] != row[0]
    return ["missing" if is_missing else row[0], *row[1:]]


def _output(model: Any, arguments: argparse.Namespace) -> Any:
    """Find the class that is meant, in the type the model has it."""
    if arguments.output is None:
        return None
    from spinney.cli.models import is_classifier
    from spinney.errors import InvalidInput, nearest_names, shorten

    if not is_classifier(model):
        raise InvalidInput("--output chooses among classes, and this model predicts numbers.")
    by_text = {str(label): label for label in model.classes_.tolist()}
    if arguments.output not in by_text:
        hint = nearest_names(arguments.output, by_text)
        raise InvalidInput(
            f"--output {arguments.output!r}: no class of the model.{hint} It has "
            f"{shorten(list(by_text), most=12)}."
        )
    return by_text[arguments.output]


def _explain_all(trained: Any, arguments: argparse.Namespace, voice: Voice) -> None:
    found = _importances(trained, arguments, voice)
    columns = found.columns()
    voice.line(found.title())
    rows = list(zip(*columns.values(), strict=True))
    voice.table([name.replace("_", " ") for name in columns], rows, most=arguments.top)
    voice.document(
        {
            "command": "explain",
            "what": "importance",
            "kind": found.kind,
            "features": [dict(zip(columns, row, strict=True)) for row in rows],
        }
    )


def _importances(trained: Any, arguments: argparse.Namespace, voice: Voice) -> Any:
    """Choose the importance that the data at hand allows."""
    from spinney.cli.models import features_of, read_rows, read_test_rows, with_codes
    from spinney.explain import gain_importance, permutation_importance, shap_importance

    model = trained.fitted
    if arguments.data is None:
        return gain_importance(model)
    if arguments.target is None:
        X = features_of(model, read_rows(model, arguments.data, arguments, voice, trained.forms))
        return shap_importance(model, X)
    test = read_test_rows(model, arguments.data, arguments, voice, trained.forms)
    test, y = with_codes(model, test, arguments.target, voice)
    if test.is_classification:
        y = model.classes_[y]
    return permutation_importance(
        model,
        test.X,
        y,
        n_repeats=arguments.repeats,
        sample_weight=test.weights,
        random_state=arguments.seed,
    )
