"""Say what is in a model file, without running anything.

try:
  spinney inspect model.spn
  spinney inspect model.spn --json | jq .parameters
"""

import argparse
from typing import Any

from spinney.cli import arguments as reading
from spinney.cli.voice import Voice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of this command."""
    parser.add_argument("model", metavar="MODEL", help="a file that spinney train wrote")
    parser.add_argument("--top", type=reading.count, default=40, help="features to show (40)")
    parser.add_argument("--sections", action="store_true", help="also the arrays of the file")


def run(arguments: argparse.Namespace, voice: Voice) -> None:
    """Check the container, read its header and its arrays, tell."""
    from spinney.cli.contents import describe

    found = describe(arguments.model)
    voice.document({"command": "inspect", **found})
    if voice.as_json:
        return
    for key in ("file", "bytes", "format", "library", "estimator", "task", "fingerprint"):
        voice.line(f"{key:12} {found[key]}")
    if found["classes"] is not None:
        some = ", ".join(map(str, found["classes"][:10]))
        more = "" if len(found["classes"]) <= 10 else ", …"
        voice.line(f"{'classes':12} {len(found['classes'])}: {some}{more}")
    if found["trees"] is not None:
        trees = found["trees"]
        voice.line(
            f"{'trees':12} {trees['count']}, {trees['leaves']} leaves, deepest {trees['depth']}"
        )
    if found["calibration"] is not None:
        voice.line(f"{'calibration':12} {found['calibration']}")
    if found["training"] is not None:
        voice.line(f"{'training':12} {_training(found['training'])}")
    voice.line()
    changed = {n: v for n, v in found["parameters"].items() if n in found["changed_parameters"]}
    if changed:
        voice.table(("parameter", "value"), [(name, str(value)) for name, value in changed.items()])
    voice.line(f"{len(found['parameters']) - len(changed)} parameters have their defaults\n")
    rows = [(one["name"], one["kind"], _levels(one)) for one in found["features"]]
    voice.table(("feature", "kind", "categories"), rows, most=arguments.top)
    if arguments.sections:
        voice.line()
        parts = [(s["name"], s["dtype"], str(s["shape"]), s["bytes"]) for s in found["sections"]]
        voice.table(("section", "type", "shape", "bytes"), parts)


def _levels(feature: dict[str, Any]) -> str:
    levels = feature["categories"]
    if levels is None:
        return ""
    some = ", ".join(map(str, levels[:4]))
    return f"{len(levels)}: {some}{', …' if len(levels) > 4 else ''}"


def _training(record: dict[str, Any]) -> str:
    """Tell what train did, on one line."""
    parts = [f"target {record['target']!r}", f"{record['n_rows']} rows", f"seed {record['seed']}"]
    if record["n_held_out"]:
        after = ", then learnt too" if record["is_refitted"] else ""
        parts.append(f"{record['n_held_out']} held out{after}")
    return ", ".join(parts)
