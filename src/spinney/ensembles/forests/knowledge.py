"""What a forest knows beside its trees: which rows they were grown on."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.ensembles.forests.growing import CELLS_AT_ONCE, portions
from spinney.ensembles.forests.row_order import DIGEST_BYTES
from spinney.ensembles.forests.rows import ForestRows
from spinney.errors import InvalidModel
from spinney.model import TreeForest
from spinney.model.model import State
from spinney.model.packed import of_roots
from spinney.resampling.bags_recipe import BagRecipe
from spinney.typing import AnyArray, FloatArray

_DIGEST = re.compile(f"[0-9a-f]{{{2 * DIGEST_BYTES}}}")
_UNKNOWN = "what the estimator knows beside its model is missing or unknown"


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """How rows were drawn, and where they stood in what ``fit`` was given."""

    recipe: BagRecipe
    places: AnyArray | None
    """The place of each row of the recipe; None: its own."""
    n_given: int
    digest: str | None = None
    """Tells rows and weights from others; None: an old file does not tell."""

    @classmethod
    def of(cls, rows: ForestRows) -> "Knowledge":
        """Keep what is needed of the rows."""
        places = None if rows.places is None else rows.places.astype(np.int32)
        return cls(rows.recipe, places, rows.n_given, rows.digest)

    def same_rows(self, other: "Knowledge") -> bool:
        """Tell whether rows and weights are those of another; True if one of them is unknown."""
        return None in (self.digest, other.digest) or self.digest == other.digest

    def counts(self, trees: range) -> AnyArray:
        """Count how often trees saw each row of what was given; (n_trees, n_given)."""
        counts = self.recipe.bags().counts(trees)
        if self.places is None:
            return counts
        given = np.zeros((len(trees), self.n_given), np.uint32)
        given[:, self.places] = counts
        return given

    def samples(self, n_trees: int) -> list[AnyArray]:
        """List the rows of each tree, as often as it saw them."""
        numbers = np.arange(self.n_given, dtype=np.int32)
        at_once = max(1, CELLS_AT_ONCE // self.n_given)
        return [
            np.repeat(numbers, counts)
            for some in portions(range(n_trees), at_once)
            for counts in self.counts(some)
        ]

    def unseen(self, n_trees: int) -> AnyArray:
        """Say which trees did not see which rows: booleans (n_given, n_trees)."""
        unseen = np.empty((self.n_given, n_trees), bool)
        at_once = max(1, CELLS_AT_ONCE // self.n_given)
        for some in portions(range(n_trees), at_once):
            unseen[:, some.start : some.stop] = (self.counts(some) == 0).T
        return unseen

    def spread(self, answers: FloatArray) -> FloatArray:
        """Put answers for rows at their places in what was given; NaN where a row had no weight."""
        if self.places is None:
            return answers
        given = np.full((self.n_given, answers.shape[1]), np.nan)
        given[self.places] = answers
        return given

    def to_state(self) -> State:
        """Take it apart into plain text and arrays."""
        meta, arrays = self.recipe.to_state()
        if self.places is not None:
            arrays = arrays | {"places": self.places.astype("<i4")}
        told = {} if self.digest is None else {"rows": self.digest}
        return {"bags": meta, "n_given": self.n_given} | told, arrays

    @classmethod
    def from_state(
        cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], model: TreeForest
    ) -> "Knowledge":
        """Take back what ``to_state`` gave, believing nothing."""
        given = meta.get("n_given")
        digest = meta.get("rows")
        if (
            type(given) is not int
            or not isinstance(meta.get("bags"), dict)
            or not _is_digest(digest)
        ):
            raise InvalidModel(_UNKNOWN)
        others = {name: array for name, array in arrays.items() if name != "places"}
        recipe = BagRecipe.from_state(meta["bags"], others)
        places = arrays.get("places")
        if places is None:
            in_order = recipe.sampler in (None, "block")
            if given != recipe.n_rows or not in_order or not _fits(recipe, model):
                raise InvalidModel(_UNKNOWN)
            return cls(recipe, None, given, digest)
        if (
            places.dtype != "<i4"
            or places.shape != (recipe.n_rows,)
            or not recipe.n_rows <= given < 2**31
            or places.min() < 0
            or places.max() >= given
            or not (np.diff(np.sort(places)) > 0).all()
            or not _fits(recipe, model)
        ):
            raise InvalidModel(_UNKNOWN)
        return cls(recipe, places.copy(), given, digest)


def _is_digest(digest: Any) -> bool:
    return digest is None or (isinstance(digest, str) and bool(_DIGEST.fullmatch(digest)))


def _fits(recipe: BagRecipe, model: TreeForest) -> bool:
    """Tell whether the trees may have been grown on bags of that size.

    A file must not be able to ask for memory or time out of proportion to what it describes.
    """
    counts = of_roots(model.arrays, "count")
    if recipe.sampler is None:
        return bool((counts == recipe.n_rows).all())
    if recipe.sampler == "bootstrap" and recipe.classes is None:
        return bool((of_roots(model.arrays, "weight") == recipe.n_draws).all())
    return bool((counts <= recipe.n_rows).all()) and recipe.n_draws <= 2**32
