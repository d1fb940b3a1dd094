"""Whether a forest may go on: new trees need the rows, and the draws, of those there are."""

import numpy as np

from spinney.data.binning import native_columns
from spinney.data.table import Table
from spinney.ensembles.forests.knowledge import Knowledge
from spinney.ensembles.forests.rows import ForestRows
from spinney.errors import InvalidInput, InvalidParameter
from spinney.model import TreeForest
from spinney.resampling.bags_recipe import BagRecipe
from spinney.typing import AnyArray

_ANEW = "or set warm_start=False to begin anew."


def check_goes_on(model: TreeForest, known: Knowledge, rows: ForestRows) -> None:
    """Refuse to add trees on other rows, or on rows drawn in another way.

    What is known of bags holds for all trees of a forest: with another draw the old ones would be
    said to have seen rows that they never saw.
    """
    reading, recipe = rows.reading, rows.recipe
    same_data = (
        reading.schema == model.schema
        and reading.target.same_as(model.target)
        and recipe.n_rows == known.recipe.n_rows
        and recipe.sampler == known.recipe.sampler
    )
    if same_data:
        check_same_draw(known.recipe, recipe, "the forest of an earlier fit, whose trees")
    same_rows = same_data and known.same_rows(Knowledge.of(rows))
    if not same_rows or not _first_tree_fits(model, rows):
        raise InvalidInput(
            "warm_start=True goes on with the forest of an earlier fit, but X, y, their "
            "weights, the number of rows or the sampler are not those it was grown with. Give the "
            f"same data, {_ANEW}"
        )


def check_same_draw(old: BagRecipe, new: BagRecipe, whose: str) -> None:
    """Refuse to draw rows in another way than before; ``whose`` bags were drawn is told."""
    goes_on = f"warm_start=True goes on with {whose}"
    if new.n_draws != old.n_draws:
        raise InvalidParameter(
            f"{goes_on} drew {old.n_draws} rows each; with the present max_samples and weights it "
            f"would be {new.n_draws}. Set max_samples as it was and give the same weights, {_ANEW}"
        )
    if new.sampler == "block" and new.block_length != old.block_length:
        raise InvalidParameter(
            f"{goes_on} drew blocks of {old.block_length} rows, not of {new.block_length}. Set "
            f"block_length={old.block_length}, {_ANEW}"
        )
    for name, what in _OF_ROWS.items():
        row = _first_other(getattr(old, name), getattr(new, name))
        if row is not None:
            raise InvalidInput(f"{goes_on} drew rows by other {what}{row}. Give the same, {_ANEW}")


_OF_ROWS = {
    "weights": "weights: sample_weight or class_weight changed",
    "labels": "groups, times or strata: groups, time or y changed",
    "classes": "class weights: class_weight or y changed",
}
"""Arrays of a recipe, and what users call them."""


def _first_other(old: AnyArray | None, new: AnyArray | None) -> str | None:
    """Say how often two arrays differ, and by which values first; None if they do not."""
    if old is None and new is None:
        return None
    if old is None or new is None:
        return " (there were none)" if old is None else " (there are none now)"
    if old.shape != new.shape:
        return f" (of shape {old.shape}, now {new.shape})"
    other = old != new
    if not other.any():
        return None
    n_rows = np.count_nonzero(other.reshape(len(old), -1).any(axis=1))
    return f" for {n_rows} rows (one from {old[other][0]:g} to {new[other][0]:g})"


def _first_tree_fits(model: TreeForest, rows: ForestRows) -> bool:
    seen = rows.recipe.bags().counts(range(1))[0] > 0
    return leaves_hold(model[:1], rows.reading.table, seen)


def leaves_hold(tree: TreeForest, table: Table, seen: AnyArray) -> bool:
    """Tell whether each leaf of one tree has as many of the rows that were seen as it had."""
    leaves = np.asarray(tree.native.leaf_ids(native_columns(table), 1))[:, 0]
    is_leaf = tree.arrays["right"] < 0
    held = np.bincount(leaves[seen], minlength=len(is_leaf))
    return np.array_equal(held[is_leaf], tree.arrays["count"][is_leaf])
