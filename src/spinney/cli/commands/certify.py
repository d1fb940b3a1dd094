"""Prove what a model promises: for all rows, or for the rows a booster learnt from.

try:
  spinney certify model.spn                              what holds for all rows
  spinney certify model.spn --monotonic income=1 --bounds 0:1
  spinney certify ada.spn customers.csv --out proof.json

Without DATA claims about all rows are proved, or refuted by rows. With DATA, the file that the
model was trained from, bounds of the theory of boosting are computed and checked on the rows that
it learnt from. A claim you ask for that is not proved ends with status 1.
"""

import argparse
from typing import Any

from spinney.cli import arguments as reading
from spinney.cli.voice import Voice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of this command."""
    parser.add_argument("model", metavar="MODEL", help="a file that spinney train wrote")
    parser.add_argument("data", nargs="?", metavar="DATA", help="what it was trained from")
    claims = parser.add_argument_group("claims about all rows")
    claims.add_argument(
        "--monotonic",
        type=_sign,
        action="append",
        default=[],
        metavar="FEATURE=SIGN",
        help="the prediction never falls (1) or never rises (-1) with it; can be repeated",
    )
    claims.add_argument(
        "--bounds", type=_bounds, metavar="LOW:HIGH", help="no prediction is outside; 0: or :1 too"
    )
    reading.add_columns_argument(claims, "--unused", "features that do not matter: a,b,c")
    claims.add_argument("--budget", type=reading.count, help="how long to search for a proof")
    rows = parser.add_argument_group("bounds of boosting, with DATA")
    rows.add_argument(
        "--target", "-t", metavar="COLUMN", help="what the model predicts (default: as in training)"
    )
    rows.add_argument("--weight", metavar="COLUMN", help="the weights it was trained with")
    rows.add_argument("--delta", type=reading.level, default=0.05, help="chance to be wrong (0.05)")
    rows.add_argument("--out", "-o", metavar="FILE", help="write the certificate as JSON")
    reading.add_reading_arguments(parser)


def _sign(text: str) -> tuple[str, int]:
    name, _, sign = text.rpartition("=")
    if not name or sign not in ("1", "+1", "-1"):
        raise argparse.ArgumentTypeError(f"{text!r}: expected FEATURE=1 or FEATURE=-1")
    return name, int(sign)


def _bounds(text: str) -> tuple[float | None, float | None]:
    low, colon, high = text.partition(":")
    try:
        if not colon:
            low = "no bound"
        return (float(low) if low else None), (float(high) if high else None)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r}: expected LOW:HIGH, such as 0:1 or 0:"
        ) from None


def run(arguments: argparse.Namespace, voice: Voice) -> int:
    """Load, and prove."""
    from spinney.cli.models import load_trained
    from spinney.cli.writing import check_apart, check_writable
    from spinney.errors import InvalidInput
    from spinney.progress import show_progress

    for name in ("target", "out") if arguments.data is None else ():
        if getattr(arguments, name) is not None:
            raise InvalidInput(
                f"--{name} is for bounds of boosting, which need the rows the model learnt from: "
                f"spinney certify {arguments.model} DATA --{name} …"
            )
    if arguments.out:
        check_writable(arguments.out)
        check_apart({"--out": arguments.out}, {"MODEL": arguments.model, "DATA": arguments.data})
    trained = load_trained(arguments.model)
    with show_progress(0 if voice.is_quiet else 1):
        if arguments.data is not None:
            return _certify_rows(trained, arguments, voice)
        return _certify_all(trained.fitted, arguments, voice)


def _certify_all(model: Any, arguments: argparse.Namespace, voice: Voice) -> int:
    from spinney.cli.models import fingerprint_of, schema_of
    from spinney.cli.problem import find_feature, find_features
    from spinney.cli.wording import in_command_words
    from spinney.explain import verify

    names = list(schema_of(model).names)
    asked: dict[str, Any] = {}
    if arguments.monotonic:
        asked["monotonic"] = {
            find_feature(name, names, "--monotonic"): sign for name, sign in arguments.monotonic
        }
    if arguments.unused:
        asked["unused"] = find_features(arguments.unused, names, "--unused")
    if arguments.bounds is not None:
        asked["bounds"] = arguments.bounds
    claims_asked = bool(asked)
    if arguments.budget is not None:
        asked["budget"] = arguments.budget
    found = verify(model, **asked)
    voice.line(found.title())
    for claim in found.claims:
        evidence = in_command_words(claim.evidence)
        voice.line(f"  {claim.verdict:9}  {claim.statement}: {evidence}")
        for row in claim.counter_example or ():
            voice.line(f"             row: {row}")
    voice.document(
        {
            "command": "certify",
            "what": "all rows",
            "holds": found.holds,
            "claims": [
                {
                    "statement": claim.statement,
                    "verdict": claim.verdict,
                    "evidence": claim.evidence,
                    "features": claim.features,
                    "counter_example": claim.counter_example,
                    "predictions": claim.predictions,
                    "bounds": claim.bounds,
                }
                for claim in found.claims
            ],
            "fingerprint": fingerprint_of(model),
        }
    )
    return 1 if claims_asked and not found.holds else 0


def _certify_rows(trained: Any, arguments: argparse.Namespace, voice: Voice) -> int:
    import json

    from spinney.cli.models import class_codes, fingerprint_of, read_test_rows
    from spinney.cli.provenance import learnt_rows, need_target
    from spinney.cli.voice import plain
    from spinney.errors import InvalidInput
    from spinney.io.atomic import write_atomically
    from spinney.theory import certify

    model = trained.fitted
    if not hasattr(model, "margins") or not hasattr(model, "complexity_class"):
        raise InvalidInput(
            f"A {type(model).__name__} has no margins to certify: that is for AdaBoost and its kin "
            "(--model adaboost, margin-boost, robust-boost). Without DATA, spinney certify proves "
            "claims about all rows."
        )
    arguments.target = need_target(arguments, trained.record, voice)
    rows = read_test_rows(model, arguments.data, arguments, voice, trained.forms)
    train = learnt_rows(trained, rows, arguments)
    y = model.classes_[class_codes(model, train.y, arguments.target)]
    found = certify(
        model, _plain_table(train.X), y, delta=arguments.delta, sample_weight=train.weights
    )
    voice.line(found.title())
    columns = found.columns()
    voice.table(list(columns), list(zip(*columns.values(), strict=True)))
    for note in found.notes:
        voice.line(f"Not stated: {note}")
    if arguments.out:
        text = json.dumps(plain(found.to_dict()), allow_nan=False)
        write_atomically(arguments.out, text.encode())
        voice.remark(f"certificate written to {arguments.out}")
    document = {"command": "certify", "what": "boosting", "n_rows": train.n_rows}
    document |= {
        "training_error": found.training_error,
        "min_margin": found.min_margin,
        "statements": [statement.to_dict() for statement in found.statements],
        "notes": found.notes,
        "out": arguments.out,
        "fingerprint": fingerprint_of(model),
    }
    voice.document(document)
    return 0


def _plain_table(X: Any) -> Any:
    """Give numbers as an array, for which the theory says more; other tables as they are."""
    import numpy as np
    import pyarrow as pa

    def is_number(field: Any) -> bool:
        return bool(pa.types.is_integer(field.type) or pa.types.is_floating(field.type))

    if not all(map(is_number, X.schema)) or any(
        X.column(i).null_count for i in range(X.num_columns)
    ):
        return X
    return np.column_stack(
        [X.column(i).to_numpy().astype(np.float64) for i in range(X.num_columns)]
    )
