"""Whether rows are those that a certificate was made of."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import InvalidInput
from spinney.theory.checks import label_array, weight_array
from spinney.theory.complexity import stump_rademacher
from spinney.theory.evidence import Evidence
from spinney.theory.fingerprints import (
    difference,
    joined_prints,
    label_prints,
    order_of,
    row_prints,
)
from spinney.typing import AnyArray, FloatArray, TableLike


@dataclass(frozen=True, slots=True)
class RowComparison:
    """What came of comparing rows with evidence."""

    faults: list[str]
    same_rows: bool
    drawn_anew: bool


def compare_rows(
    evidence: Evidence, X: TableLike | None, y: Any, sample_weight: Any
) -> RowComparison:
    """Compare rows with the evidence, and draw signs for them anew."""
    if X is None:
        if y is not None or sample_weight is not None:
            raise InvalidInput(
                "There are labels or weights, but no rows: expected X as well. Give verify(X, y), "
                "or nothing."
            )
        return RowComparison([], same_rows=False, drawn_anew=False)
    made_of, faults, order = evidence.rows, list[str](), None
    if made_of is not None:
        faults, order = _row_faults(evidence, made_of, X, (y, sample_weight))
    drawn_anew = evidence.draws is not None and (made_of is None or order is not None)
    if drawn_anew and not faults and not _draws_are(evidence, X, order):
        faults = ["the correlations with drawn signs are not those of X"]
    return RowComparison(faults, made_of is not None, drawn_anew)


def plain_numbers(X: TableLike) -> FloatArray | None:
    """Read the table if it has nothing but finite numbers."""
    try:
        table = np.asarray(X)
    except TypeError:  # columns of kinds that no array has together, such as numbers and dates
        return None
    plain = table.dtype.kind in "biuf" and table.ndim == 2 and np.isfinite(table).all()
    return table.astype(np.float64) if plain else None


def _row_faults(
    evidence: Evidence, made_of: AnyArray, X: TableLike, others: tuple[Any, Any]
) -> tuple[list[str], AnyArray | None]:
    """Say how rows differ, and in which order they are those of the evidence."""
    prints, (y, sample_weight) = row_prints(X), others
    if prints is None:
        return ["other rows: X cannot be read as a table"], None
    order, weights = order_of(made_of, prints), weight_array(sample_weight, len(prints))
    counted = weights > 0.0
    found = difference(made_of, evidence.weights, prints[counted], weights[counted])
    if not found and y is not None and evidence.labels is not None:
        made_of = joined_prints(made_of, evidence.labels)
        prints = joined_prints(prints, label_prints(label_array(y, len(prints))))
        found = difference(made_of, evidence.weights, prints[counted], weights[counted])
        found = found and f"labels differ: with its label, {found}"
    return [f"other rows: {found}"] if found else [], order


def _draws_are(evidence: Evidence, X: TableLike, order: AnyArray | None) -> bool:
    table, draws = plain_numbers(X), evidence.draws
    if table is None or draws is None:
        return False
    rows = table if order is None else table[order]
    found = stump_rademacher(rows, n_draws=len(draws), random_state=evidence.seed)
    return found.draws is not None and np.array_equal(found.draws, draws)
