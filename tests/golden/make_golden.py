"""Write the golden files of this format version: models that every later Spinney must read.

    python -m tests.golden.make_golden

For each kind of ``tests/attacks/model_kinds.py`` the script writes ``v<version>/<kind>.spn`` in the
version that holds it, and beside it ``<kind>.json`` with the input rows and what the model
answered, every number as exact hexadecimal text. A file that exists is never touched: golden files
are history. A new version gets a new folder.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from tests.attacks.model_kinds import KINDS, file_of, models_of, rows_for

import spinney
from spinney.data.table import Kind, Table
from spinney.model import Model
from spinney.model.forest import trees_of
from spinney.model.sections import unpack

FOLDER = Path(__file__).parent
LEVEL = 0.8
"""Of the sets that calibrated classifiers give."""


def expected_of(made: Any) -> dict[str, Any]:
    """Ask a model about 16 rows and write down everything exactly."""
    schema = models(made)[0].schema
    rows = rows_for(schema)
    answer: dict[str, Any] = {
        "library": spinney.__version__,
        "fingerprint": fingerprint(made),
        "names_given": schema.names_given,
        "columns": columns_of(rows),
        "predictions": hexadecimal(predictions(made, rows)),
    }
    if isinstance(made, Model):
        return answer
    predicted = made.predict(rows)
    answer["estimator"] = type(made).__name__
    answer["predict_dtype"] = predicted.dtype.str
    numeric = predicted.dtype.kind == "f"
    answer["predict"] = hexadecimal(predicted) if numeric else predicted.tolist()
    answer["leaves"] = leaves_of(made, rows)
    if hasattr(made, "calibration_") and hasattr(made, "predict_set"):
        answer["sets"] = made.predict_set(rows, LEVEL).sets()
    return answer


def models(made: Any) -> list[Model]:
    """Give the models in a file: one, or those of the members of a committee."""
    return [made] if isinstance(made, Model) else models_of(made)


def fingerprint(made: Any) -> str:
    """Give the fingerprints of the models."""
    return " ".join(model.fingerprint for model in models(made))


def predictions(made: Any, rows: Table) -> Any:
    """Ask the model; of a committee, which has none, what its members say.

    A linear final estimator is not asked: the last bit of its sums is the machine's.
    """
    if isinstance(made, Model) or hasattr(made, "model_"):
        return models(made)[0].predictions(rows)
    return made.transform(rows) if hasattr(made, "transform") else made.decision_function(rows)


def leaves_of(made: Any, rows: Table) -> Any:
    """Number the leaves of rows: of the one tree, or of each of several; None: no such numbers."""
    if not hasattr(made, "model_"):
        return None
    if trees_of(made.model_) is not None:
        return made.apply(rows).tolist()
    forest = getattr(made.model_, "members", made.model_)  # those of a program
    forest = getattr(forest, "trees", forest)  # and of models with more than trees
    return forest.leaf_ids(rows).tolist() if hasattr(forest, "leaf_ids") else None


def hexadecimal(numbers: Any) -> Any:
    """Floats as text without rounding; nested lists stay nested."""
    if isinstance(numbers, np.ndarray):
        return hexadecimal(numbers.tolist())
    return [hexadecimal(n) for n in numbers] if isinstance(numbers, list) else float(numbers).hex()


def columns_of(rows: Table) -> list[dict[str, Any]]:
    """Describe columns in words that do not change: categories as their values, not codes."""
    described = []
    for column in rows.columns:
        entry: dict[str, Any] = {"name": column.name, "kind": str(column.kind)}
        if column.kind in (Kind.CATEGORICAL, Kind.TEXT):
            levels = [*column.levels.values, None]
            entry["values"] = [levels[code] for code in column.values]
        else:
            entry["values"] = hexadecimal(column.values)
            entry["timezone_aware"] = column.timezone_aware
        described.append(entry)
    return described


def main() -> None:
    """Write what is not there yet."""
    for kind, make in KINDS.items():
        data = file_of(kind)
        path = FOLDER / f"v{unpack(data).format_version}" / f"{kind}.spn"
        path.parent.mkdir(exist_ok=True)
        if path.exists():
            sys.stdout.write(f"kept     {path.name}\n")
            continue
        path.write_bytes(data)
        text = json.dumps(expected_of(make()), indent=1, ensure_ascii=False) + "\n"
        path.with_suffix(".json").write_text(text, encoding="utf-8")
        sys.stdout.write(f"written  {path.name}: {path.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
