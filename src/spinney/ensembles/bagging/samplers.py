"""How members draw rows: names, sizes, and samplers of the user's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from spinney.ensembles.forests.rows import UNSIZED, block_length, check_draws
from spinney.errors import CannotSave, InvalidInput, InvalidParameter
from spinney.resampling.bags import Bags
from spinney.resampling.bags_drawn import DrawnBags, WeighedBags
from spinney.resampling.bags_recipe import SAMPLERS as FOREST_SAMPLERS
from spinney.resampling.bags_recipe import BagRecipe, unless_ones
from spinney.resampling.bags_repeated import repetitions
from spinney.typing import AnyArray, FloatArray

SAMPLERS = (*FOREST_SAMPLERS, "m_out_of_n")
SUBSAMPLE = 0.632
"""Default share of "subsample": the share of rows that a bootstrap draws at least once."""
MOST_ROWS = 64
"""How many times the rows of the table a user's own bag may hold."""
IN_PLACE = (None, "block")
"""Samplers that leave rows where they stand; others draw from an order that content decides."""
VARYING = ("group", "poisson")
"""Samplers whose bags differ in size."""


@runtime_checkable
class Sampler(Protocol):
    """A sampler of your own: any object with this method may be given as ``sampler``."""

    def draw(self, n_rows: int, member: int, seed: int) -> AnyArray:
        """Say how often a member counts each row.

        Parameters
        ----------
        n_rows : rows of some weight, in the order in which ``fit`` was given them
        member : its number, from 0 on
        seed : of the ensemble, below 2**64; the answer must depend on these three alone

        Returns
        -------
        ndarray
            (n_rows,) whole numbers of at least 0, not all of them 0.
        """
        ...


class OwnBags(DrawnBags):
    """Bags that a sampler of the user's draws."""

    def __init__(self, n_rows: int, sampler: Sampler, *, seed: int) -> None:
        super().__init__(n_rows, seed=seed)
        self._sampler = sampler

    @property
    def most(self) -> int:
        """As many as are allowed."""
        return MOST_ROWS * self.n_rows

    def count(self, tree: int) -> AnyArray:
        """Ask the sampler, and believe nothing."""
        drawn = np.asarray(self._sampler.draw(self.n_rows, tree, self._seed))
        name = type(self._sampler).__name__
        if drawn.shape != (self.n_rows,) or drawn.dtype.kind not in "biuf":
            raise InvalidInput(
                f"{name}.draw gave an array of shape {drawn.shape} and type {drawn.dtype} for "
                f"member {tree}: expected {self.n_rows} whole numbers, one per row."
            )
        numbers = drawn.astype(np.float64)
        total = float(numbers.sum())
        if not ((numbers >= 0) & (numbers == np.rint(numbers))).all() or not 0 < total <= self.most:
            raise InvalidInput(
                f"{name}.draw gave counts from {numbers.min():g} to {numbers.max():g} that add up "
                f"to {total:g} for member {tree}: expected whole numbers of at least 0 that add up "
                f"to something between 1 and {self.most}, {MOST_ROWS} times the rows there are."
            )
        return drawn.astype(np.uint32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OwnRecipe(BagRecipe):
    """Bags of a user's sampler: drawn again now, but not from a file."""

    own: Sampler

    def bags(self) -> Bags:
        """Make the bags."""
        bags = OwnBags(self.n_rows, self.own, seed=self.seed)
        return bags if self.weights is None else WeighedBags(bags, self.weights)

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Refuse: a file holds no code."""
        raise CannotSave(
            f"sampler is of class {type(self.own).__name__}, which has no safe form in a file. Use "
            "a sampler by name to save the model, or keep this one with pickle or joblib."
        )


@dataclass(frozen=True, slots=True, eq=False)
class RowsToDraw:
    """Rows of some weight, in the order in which they are drawn."""

    n_rows: int
    weights: FloatArray | None
    labels: AnyArray | None
    """Strata or groups as codes, or times as ranks."""


def sampler_of(params: Mapping[str, Any]) -> Any:
    """Say how rows are drawn: None for all of them once, a name, or a user's sampler."""
    sampler, max_samples = params["sampler"], params["max_samples"]
    if sampler is None:
        sampler = "bootstrap" if params["bootstrap"] else "pasting"
    if sampler == "m_out_of_n":
        if max_samples is None:
            raise InvalidParameter(
                "sampler='m_out_of_n' draws max_samples rows with replacement, but max_samples is "
                "None. Set it to a number of rows, or to a share below 1."
            )
        return "bootstrap"
    if max_samples is not None and (sampler in UNSIZED or not isinstance(sampler, str)):
        name = sampler if isinstance(sampler, str) else type(sampler).__name__
        raise InvalidParameter(
            f"max_samples={max_samples!r} with sampler={name!r}: how many rows such a bag has is "
            "not a choice. Set max_samples=None, or use 'bootstrap' or 'subsample'."
        )
    return sampler


def recipe_of(params: Mapping[str, Any], rows: RowsToDraw, seed: int) -> tuple[BagRecipe, bool]:
    """Say how bags are drawn, and whether members must be told the weights of rows.

    Weights that are whole numbers are repetitions: rows are drawn as if they stood there so often.
    Of others a bootstrap makes chances; without replacement every row has the same chance, and
    members weigh what they got.
    """
    sampler, n, weights = sampler_of(params), rows.n_rows, unless_ones(rows.weights)
    if not isinstance(sampler, str):
        return OwnRecipe(n_rows=n, seed=seed, weights=weights, own=sampler), False
    repeats = repetitions(weights)
    without = sampler in ("pasting", "subsample")
    n_draws = 0
    if without or sampler == "bootstrap":
        total = n if repeats is None else int(repeats.sum())
        n_draws = _n_draws(sampler, params["max_samples"], total)
    told = without and repeats is None and weights is not None
    if without:
        takes_all = n_draws == n and repeats is None
        sampler = None if takes_all else "pasting"
    recipe = BagRecipe(
        n_rows=n,
        seed=seed,
        sampler=sampler,
        n_draws=n_draws if sampler in ("bootstrap", "pasting") else 0,
        block_length=block_length(params, sampler, n, rows.labels),
        weights=None if told or sampler is None else weights,
        labels=rows.labels,
    )
    return recipe, told


def _n_draws(sampler: str, max_samples: float | None, total: int) -> int:
    """Count the draws of a member, of so many rows with repetitions."""
    if max_samples is None:
        return max(1, int(SUBSAMPLE * total)) if sampler == "subsample" else total
    is_share = isinstance(max_samples, float | np.floating)
    n_draws = max(1, int(max_samples * total)) if is_share else int(max_samples)
    check_draws(max_samples, n_draws)
    if sampler != "bootstrap" and n_draws > total:
        raise InvalidParameter(
            f"Effective max_samples={n_draws} must be <= n_samples={total} to be able to sample "
            "without replacement. Ask for fewer rows, or set bootstrap=True."
        )
    return n_draws


def weights_of_bags(bags: Bags, members: range) -> AnyArray:
    """Give what each row weighs in each bag; (n_members, n_rows)."""
    given = bags.given(members)
    if not given.size:  # native code would have drawn them
        given = bags.counts(members)
    return given if bags.unit == 1 else given / bags.unit
