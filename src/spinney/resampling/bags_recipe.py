"""What bags are drawn by: enough to draw them again, now or from a file."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from spinney.errors import InvalidModel
from spinney.resampling.bags import Bags, Bootstrap
from spinney.resampling.bags_drawn import (
    BalancedBootstrap,
    BayesianBootstrap,
    BlockBootstrap,
    ClassBalancedBags,
    GroupBootstrap,
    StratifiedBootstrap,
    Subsample,
    WeighedBags,
)
from spinney.resampling.bags_repeated import Pasting, PoissonBags, repetitions
from spinney.typing import AnyArray, FloatArray

SAMPLERS = (
    *("bootstrap", "subsample", "bayesian", "balanced", "stratified", "block", "group"),
    "poisson",
)
"""Ways to draw the rows of a tree."""
_KNOWN = (*SAMPLERS, "pasting")
"""Those of all ensembles: "pasting" is "subsample" that knows repetitions of rows."""
MOST_DRAWS = 2**31 - 1
"""Draws of one tree: more would take it minutes."""
_ARRAYS = {"weights": "<f8", "labels": "<i4", "classes": "<i4"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BagRecipe:
    """How bags are drawn.

    Examples
    --------
    >>> bags = BagRecipe(n_rows=5, seed=1, sampler="subsample", n_draws=2).bags()
    >>> int(bags.counts(range(1)).sum())
    2
    """

    n_rows: int
    seed: int
    sampler: str | None = None
    """One of ``SAMPLERS``, or "pasting"; None: every tree sees every row once."""
    n_draws: int = 0
    """For "bootstrap", "subsample" and "pasting"."""
    block_length: int = 1
    """For "block"."""
    weights: AnyArray | None = None
    """Weights of rows that bags know of. With None for the sampler the trees know them."""
    labels: AnyArray | None = None
    """Strata or groups as codes, or times as ranks."""
    classes: AnyArray | None = None
    """Codes of classes, of several labels (n_rows, n_labels), where trees weigh them the same."""

    def bags(self) -> Bags:
        """Make the bags."""
        repeats = repetitions(self.weights) if self.sampler in ("poisson", "pasting") else None
        bags = self._drawn(repeats)
        drawn_by_weight = self.sampler in ("bootstrap", "bayesian") or repeats is not None
        if self.weights is not None and not drawn_by_weight:
            bags = WeighedBags(bags, self.weights)
        return bags if self.classes is None else ClassBalancedBags(bags, self.classes)

    def _drawn(self, repeats: AnyArray | None) -> Bags:
        n, seed = self.n_rows, self.seed
        labels = np.zeros(n, np.int32) if self.labels is None else self.labels
        if self.sampler == "bootstrap":
            return Bootstrap(n, self.n_draws, seed=seed, weights=self.weights)
        if self.sampler == "subsample":
            return Subsample(n, self.n_draws, seed=seed)
        if self.sampler == "bayesian":
            return BayesianBootstrap(n, seed=seed, weights=self.weights)
        if self.sampler == "balanced":
            return BalancedBootstrap(n, seed=seed)
        if self.sampler == "stratified":
            return StratifiedBootstrap(labels, seed=seed)
        if self.sampler == "block":
            return BlockBootstrap(n, self.block_length, seed=seed, times=self.labels)
        if self.sampler == "group":
            return GroupBootstrap(labels, seed=seed)
        if self.sampler == "poisson":
            return PoissonBags(n, seed=seed, repeats=repeats)
        if self.sampler == "pasting":
            return Pasting(n, self.n_draws, seed=seed, repeats=repeats)
        return Bags(n)

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Take the recipe apart into plain text and arrays."""
        meta = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _ARRAYS}
        kept = {name: getattr(self, name) for name in _ARRAYS}
        arrays = {
            name: np.ascontiguousarray(array, _ARRAYS[name])
            for name, array in kept.items()
            if array is not None
        }
        return meta, arrays

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> "BagRecipe":
        """Take back what ``to_state`` gave, believing nothing."""
        numbers = {"n_rows", "seed", "n_draws", "block_length"}
        if (
            set(meta) != numbers | {"sampler"}
            or any(type(meta[name]) is not int or meta[name] < 0 for name in numbers)
            or not (meta["sampler"] is None or meta["sampler"] in _KNOWN)
            or not 1 <= meta["n_rows"] < 2**31
            or not 0 <= meta["seed"] < 2**64
            or not 0 <= meta["n_draws"] < 2**40
            or meta["block_length"] < 1
            or any(not _is_sound(name, array, meta["n_rows"]) for name, array in arrays.items())
        ):
            raise InvalidModel("how the rows of trees were drawn is missing or unknown")
        parts: dict[str, Any] = {name: array.copy() for name, array in arrays.items()}
        return cls(**meta, **parts)


def unless_ones(weights: FloatArray | None) -> FloatArray | None:
    """Give weights that bags need to know: rows that weigh 1 each are rows without weights.

    Examples
    --------
    >>> unless_ones(np.ones(2)) is None
    True
    """
    return None if weights is None or (weights == 1).all() else weights


def _is_sound(name: str, array: AnyArray, n_rows: int) -> bool:
    several = name == "classes" and array.ndim == 2 and array.shape[1] > 1
    shape = array.shape[:1] if several else array.shape
    if name not in _ARRAYS or array.dtype != _ARRAYS[name] or shape != (n_rows,):
        return False
    if name == "weights":
        return bool((np.isfinite(array) & (array > 0)).all())
    return bool(((array >= 0) & (array < n_rows)).all())
