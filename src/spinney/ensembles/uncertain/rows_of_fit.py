"""Whether rows are those that ``fit`` was given, each where it stood."""

from typing import Any, NoReturn

import numpy as np

from spinney.data.intake import read_table
from spinney.data.schema import FeatureSchema
from spinney.data.table import Table
from spinney.data.target import read_numbers
from spinney.data.weights import read_weights
from spinney.ensembles.fitting import IntakeSettings, read_target
from spinney.ensembles.forests.row_order import MOST_COLUMNS, row_keys, rows_digest, target_keys
from spinney.errors import InvalidInput, SpinneyError
from spinney.model.answers import as_members_take
from spinney.model.leaf_rows import LeafRowForest
from spinney.model.median import MedianForest
from spinney.model.member_bag import MemberBag
from spinney.resampling.bags_recipe import BagRecipe
from spinney.typing import AnyArray, FloatArray, TableLike

_REMEDY = (
    "What is out of bag is known of the rows of fit, each where it stood there: give X, y and "
    "sample_weight as fit was given them. For rows that fit has not seen there is calibrate(X, y)."
)


def refuse_other_rows(fitted: Any, X: TableLike, y: Any, sample_weight: Any) -> None:
    """Refuse rows that are not those of ``fit``, or stand in another order.

    ``fit`` has kept a digest of what the rows hold, their targets and weights, and in which order
    draws took them. Bags from old files, which keep no digest, are believed.
    """
    known = fitted._known  # noqa: SLF001 - what all bags keep
    if known.digest is None:
        return
    name = type(fitted).__name__
    read = _read_by_members if isinstance(fitted.model_, MemberBag) else _read_by_trees
    found, weights, is_in_order = read(fitted, X, y, sample_weight)
    there = np.arange(len(found)) if weights is None else np.flatnonzero(weights)
    own = None if weights is None else weights[there]
    if rows_digest(found[there], own, in_order=is_in_order) != known.digest:
        raise InvalidInput(
            f"These are not the rows, targets and weights that this {name} was fitted on"
            f"{', or they stand in another order' if is_in_order else ''}"
            f"{_or_class_weight(fitted)}. {_REMEDY}"
        )
    if not is_in_order and known.places is not None:
        ordered = found[known.places]
        at = np.flatnonzero(ordered[1:] < ordered[:-1])
        if len(at):
            raise InvalidInput(
                f"The rows are those that this {name} was fitted on, but stand in another order "
                f"(row {int(known.places[at[0] + 1])} is not where it was). {_REMEDY}"
            )


def _or_class_weight(fitted: Any) -> str:
    """Say that class weights are weights, of those that have some."""
    params = fitted.get_params(deep=False)
    if "class_weight" not in params:
        return ""
    return f", or class_weight, now {params['class_weight']!r}, was another one then"


def refuse_another_order(fitted: Any, X: TableLike, y: Any) -> None:
    """Refuse rows that are not in the order of draws that ``fit`` has kept; of any weights.

    For questions about rows out of bags that are not told weights, which the digest is of too.
    """
    known = getattr(fitted, "_known", None)
    if known is None or known.digest is None or known.places is None:
        return
    read = _read_by_members if isinstance(fitted.model_, MemberBag) else _read_by_trees
    counts = np.zeros(known.n_given)
    counts[known.places] = 1.0  # the others weighed nothing, and may be of classes nobody knows
    found, _, is_in_order = read(fitted, X, y, counts)
    ordered = found[known.places]
    if not is_in_order and (ordered[1:] < ordered[:-1]).any():
        raise InvalidInput(
            f"These are not the rows and targets that this {type(fitted).__name__} was fitted on, "
            "or they stand in another order. What is out of bag is known of the rows of fit, each "
            "where it stood there: give X and y as fit was given them."
        )


def refuse_misplaced(name: str, row: int) -> NoReturn:
    """Refuse a table whose row is not where trees put it in ``fit``."""
    raise InvalidInput(
        f"Row {row} of X does not fall where it did when this {name} was fitted on it: the rows "
        f"are others, or stand in another order. {_REMEDY}"
    )


def refuse_other_targets(
    model: LeafRowForest, y: FloatArray, weights: FloatArray | None, name: str
) -> None:
    """Refuse targets and weights that are not those whose rows a model keeps."""
    place, kept = model.arrays["place"], model.arrays["weight"]
    there = place >= 0
    own = np.ones(len(y)) if weights is None else weights
    odd = there != (own > 0)
    if (kept != 1.0).any():  # else bags knew them, and trees count rows alike
        odd[there] |= own[there] != kept[place[there]]
    _refuse_odd(name, "weight", odd)
    odd = np.zeros(len(y), bool)
    odd[there] = y[there] != model.arrays["target"][place[there]]
    _refuse_odd(name, "target", odd)


def _refuse_odd(name: str, what: str, odd: AnyArray) -> None:
    if odd.any():
        raise InvalidInput(
            f"The {what} of row {int(odd.argmax())} is not the one this {name} was fitted on. "
            f"{_REMEDY}"
        )


def _read_by_trees(
    fitted: Any, X: TableLike, y: Any, sample_weight: Any
) -> tuple[AnyArray, FloatArray | None, bool]:
    """Give keys and weights of rows, and whether the digest is of rows in their order."""
    model, known, name = fitted.model_, fitted._known, type(fitted).__name__  # noqa: SLF001
    class_weight = fitted.get_params(deep=False).get("class_weight")
    if isinstance(class_weight, str) and class_weight == "balanced_subsample":
        class_weight = None  # each tree has its own
    settings = IntakeSettings(
        estimator_name=name, task=model.target.task, class_weight=class_weight, keeps_classes=True
    )
    given = read_weights(sample_weight, known.n_given)
    _, numbers, weights = read_target(y, known.n_given, given, settings)
    forest = model.trees if isinstance(model, MedianForest) else model
    in_order = _is_drawn_in_place(known.recipe)
    if in_order and len(forest.schema.names) > MOST_COLUMNS:
        return target_keys(numbers), weights, in_order
    return row_keys(forest.conform(X, name), numbers), weights, in_order


def _read_by_members(
    fitted: Any, X: TableLike, y: Any, sample_weight: Any
) -> tuple[AnyArray, FloatArray | None, bool]:
    """Do the same; rows are drawn by what stands in them if we can read it."""
    known, schema = fitted._known, fitted.model_.schema  # noqa: SLF001
    weights = read_weights(sample_weight, known.n_given)
    if fitted._task == "classification":  # noqa: SLF001
        numbers = fitted._class_codes(y, known.n_given).astype(float)  # noqa: SLF001
    else:
        numbers = read_numbers(y, known.n_given, type(fitted).__name__)
    if len(schema.names) > MOST_COLUMNS:
        return target_keys(numbers), weights, True
    try:
        keys = row_keys(_in_order_of(schema, read_table(as_members_take(X))), numbers)
    except SpinneyError:
        return target_keys(numbers), weights, True
    return keys, weights, _is_drawn_in_place(known.recipe)


def _is_drawn_in_place(recipe: BagRecipe) -> bool:
    """Tell whether rows were drawn by where they stand; a user's sampler knows nothing else."""
    return recipe.sampler == "block" or type(recipe) is not BagRecipe


def _in_order_of(schema: FeatureSchema, table: Table) -> Table:
    """Put columns into the order they had in ``fit``, where both have names."""
    by_name = {column.name: column for column in table.columns}
    if not schema.names_given or set(by_name) != set(schema.names):
        return table
    return Table(table.n_rows, [by_name[name] for name in schema.names], names_given=True)
