"""The rows a forest is grown on, and how its trees draw them."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data.keys import read_codes
from spinney.data.sources.sparse import is_sparse
from spinney.data.sources.vector import read_vector
from spinney.data.weights import read_weights
from spinney.ensembles.fitting import IntakeSettings, Reading, read_rows
from spinney.ensembles.forests.row_order import (
    MOST_COLUMNS,
    groups_by_content,
    order_of_keys,
    row_keys,
    rows_digest,
    taken,
    target_keys,
)
from spinney.ensembles.trees.growing import check_criterion
from spinney.ensembles.trees.several_labels import has_classes, label_codes
from spinney.ensembles.weak.checks import check_means
from spinney.errors import InvalidInput, InvalidParameter, nearest_names
from spinney.resampling.bags_recipe import MOST_DRAWS, BagRecipe, unless_ones
from spinney.resampling.bags_repeated import repetitions
from spinney.resampling.keys import read_ranks
from spinney.typing import AnyArray, FloatArray, TableLike

_SUBSAMPLE = 0.632
"""Default share of a subsample: the share of rows that a bootstrap draws at least once."""
UNSIZED = ("bayesian", "balanced", "stratified", "block", "group", "poisson")
"""Samplers whose bags have a size of their own."""


@dataclass(frozen=True, slots=True, eq=False)
class ForestRows:
    """What ``fit`` was given, in the order in which rows are drawn."""

    reading: Reading
    recipe: BagRecipe
    tree_weights: FloatArray | None
    """Weights that trees count rows by; None: bags know them, or all are 1."""
    row_weights: FloatArray | None
    """Weights of rows, without those of classes."""
    places: AnyArray | None
    """The place of each row in what was given; None: its own."""
    n_given: int
    digest: str
    """Tells these rows and their weights from others."""

    @property
    def total(self) -> float:
        """Mean weight of the rows of a tree, in all."""
        size = self.recipe.bags().size
        if self.tree_weights is None:
            return size
        return size * self.reading.total_weight / len(self.reading.y)


def read_forest_rows(
    given: tuple[TableLike, Any, Any, Any, Any],
    settings: IntakeSettings,
    params: Mapping[str, Any],
    seed: int,
) -> ForestRows:
    """Read a table, its target, weights, groups and times, and decide how rows are drawn."""
    X, y, sample_weight, groups, time = given
    sampler = resolved_sampler(params)
    _check_class_weight(params.get("class_weight"))
    balances = params.get("class_weight") == "balanced_subsample"
    if balances:  # each tree by its own rows, or, if all trees have the same, at once
        settings = dataclasses.replace(settings, class_weight=None if sampler else "balanced")
    _refuse_sparse_labels(y, settings)
    reading = read_rows(X, y, sample_weight, settings)
    check_criterion(reading, params["criterion"])
    check_means(reading.y, settings.estimator_name)
    n_given = len(reading.y) if reading.kept is None else len(read_vector(y, "y"))
    row_weights = read_weights(sample_weight, n_given)
    places = reading.kept
    if row_weights is not None and places is not None:
        row_weights = row_weights[places]
    labels = _labels(sampler, (groups, time), reading, n_given)
    keys = None if sampler in (None, "block") else row_keys(reading.table, reading.y)
    digest = digest_of(reading, keys, in_order=sampler == "block")
    if keys is not None:
        order = order_of_keys(keys, reading.weights)
        reading = taken(reading, order)
        places = order if places is None else places[order]
        row_weights = None if row_weights is None else row_weights[order]
        if labels is not None:
            labels = (groups_by_content(labels, keys) if sampler == "group" else labels)[order]
    by_trees = sampler is None or (sampler == "subsample" and not balances)
    recipe = BagRecipe(
        n_rows=len(reading.y),
        seed=seed,
        sampler=sampler,
        n_draws=_n_draws(sampler, params["max_samples"], len(reading.y), row_weights),
        block_length=block_length(params, sampler, len(reading.y), labels),
        weights=None if by_trees else unless_ones(reading.weights),
        labels=labels,
        classes=_codes(reading) if balances and sampler else None,
    )
    tree_weights = reading.weights if by_trees else None
    return ForestRows(reading, recipe, tree_weights, row_weights, places, n_given, digest)


def digest_of(reading: Reading, keys: AnyArray | None, *, in_order: bool) -> str:
    """Tell the rows that were read from others; by their keys, if these are known already."""
    if keys is None:
        few = len(reading.schema.names) <= MOST_COLUMNS
        keys = row_keys(reading.table, reading.y) if few else target_keys(reading.y)
    return rows_digest(keys, reading.weights, in_order=in_order)


def _refuse_sparse_labels(y: Any, settings: IntakeSettings) -> None:
    if settings.several_labels and is_sparse(y) and y.shape[1] > 1:
        raise InvalidInput(
            "sparse multilabel-indicator for y is not supported. Give a dense array of labels, for "
            "instance y.toarray()."
        )


def _check_class_weight(given: Any) -> None:
    """Refuse what is neither a word that forests know, nor weights of classes."""
    words = ("balanced", "balanced_subsample")
    is_word = isinstance(given, str) and given in words
    if given is None or is_word or isinstance(given, Mapping | list | tuple):
        return
    raise InvalidInput(
        f"class_weight={given!r}: expected None, 'balanced', 'balanced_subsample', a dict from "
        "class to weight, or a list of dicts, one for each column of y."
        + (nearest_names(given, words) if isinstance(given, str) else "")
    )


def resolved_sampler(params: Mapping[str, Any]) -> str | None:
    """Say how rows are drawn: as ``sampler`` says, else as ``bootstrap`` says."""
    sampler: str | None = params["sampler"]
    if sampler is None:
        sampler = "bootstrap" if params["bootstrap"] else None
    if params["max_samples"] is not None and sampler is None:
        raise InvalidParameter(
            "`max_sample` cannot be set if `bootstrap=False`. Either switch to `bootstrap=True` "
            "or set `max_sample=None`."
        )
    if params["max_samples"] is not None and sampler in UNSIZED:
        raise InvalidParameter(
            f"max_samples={params['max_samples']!r} with sampler={sampler!r}: how many rows such a "
            "bag has is not a choice. Set max_samples=None, or use 'bootstrap' or 'subsample'."
        )
    return sampler


def _n_draws(
    sampler: str | None, max_samples: float | None, n_rows: int, row_weights: FloatArray | None
) -> int:
    """Count the draws of a tree; whole weights are repetitions."""
    if sampler not in ("bootstrap", "subsample"):
        return 0
    total = n_rows
    repeats = repetitions(row_weights) if sampler == "bootstrap" else None
    if repeats is not None:
        total = int(repeats.sum())
    if max_samples is None:
        return total if sampler == "bootstrap" else max(1, int(_SUBSAMPLE * n_rows))
    is_share = isinstance(max_samples, float | np.floating)
    n_draws = max(1, int(max_samples * total)) if is_share else int(max_samples)
    check_draws(max_samples, n_draws)
    if sampler == "subsample" and n_draws > n_rows:
        raise InvalidParameter(
            f"max_samples={max_samples!r} with sampler='subsample' asks for {n_draws} of {n_rows} "
            "rows without replacement. Ask for fewer, or use sampler='bootstrap'."
        )
    return n_draws


def check_draws(max_samples: Any, n_draws: int) -> None:
    """Refuse more draws than any tree can make."""
    if n_draws > MOST_DRAWS:
        raise InvalidParameter(
            f"max_samples={max_samples!r} asks for {n_draws} rows per tree or member, and at most "
            f"{MOST_DRAWS} can be drawn. Ask for fewer; a float is a share of the rows there are."
        )


def block_length(
    params: Mapping[str, Any], sampler: Any, n_rows: int, labels: AnyArray | None
) -> int:
    """Give the length of blocks: what was asked for, or the cube root of the number of times."""
    by_time = labels is not None and isinstance(sampler, str) and sampler == "block"
    n_times = int(labels.max()) + 1 if by_time else n_rows  # type: ignore[union-attr]
    length: int = params["block_length"] or max(1, round(n_times ** (1 / 3)))
    if isinstance(sampler, str) and sampler == "block" and length >= max(2, n_times):
        raise InvalidParameter(
            f"block_length={length!r} with {n_times} {'times' if by_time else 'rows'}: each bag "
            "would be all of them. Give a number below that, or None for its cube root, "
            f"{max(1, round(n_times ** (1 / 3)))}."
        )
    return length


def _labels(
    sampler: str | None, keys: tuple[Any, Any], reading: Reading, n_given: int
) -> AnyArray | None:
    """Give the strata or groups of rows as codes, or times as ranks."""
    check_keys(sampler, *keys)
    if sampler == "stratified":
        if not has_classes(reading.target):
            raise InvalidParameter(
                "sampler='stratified' draws within classes, and numbers have none. Use 'group' "
                "with groups, or 'bootstrap'."
            )
        return _strata(_codes(reading))
    return key_codes(keys, n_given, reading.kept)


def _codes(reading: Reading) -> AnyArray:
    """Give the codes of labels: (n_rows,), of several (n_rows, n_labels)."""
    codes = label_codes(reading.y, reading.target).astype(np.int32)
    return codes[:, 0] if codes.shape[1] == 1 else codes


def _strata(codes: AnyArray) -> AnyArray:
    """Give rows with the same labels the same code."""
    if codes.ndim == 1:
        return codes
    found: AnyArray = np.unique(codes, axis=0, return_inverse=True)[1]
    return found.reshape(-1).astype(np.int32)


def keys_of_sampler(sampler: Any) -> tuple[str, ...]:
    """Say which keys of rows are drawn by.

    Examples
    --------
    >>> keys_of_sampler("group"), keys_of_sampler("bootstrap")
    (('groups',), ())
    """
    drawn_by = {"group": "groups", "block": "time"}
    return (drawn_by[sampler],) if isinstance(sampler, str) and sampler in drawn_by else ()


def check_keys(sampler: str | None, groups: Any, time: Any) -> None:
    """Refuse groups and times that nobody looks at, and a sampler of groups without them."""
    if time is not None and sampler != "block":
        raise InvalidInput(
            f"time decides which rows follow each other in the blocks of sampler='block', and the "
            f"sampler is {sampler!r}. Set sampler='block', or leave time out."
        )
    if (sampler == "group") != (groups is not None):
        raise InvalidInput(
            "sampler='group' and groups go together: give groups to fit, one label per row, and "
            "set sampler='group'."
        )


def key_codes(keys: tuple[Any, Any], n_given: int, kept: AnyArray | None) -> AnyArray | None:
    """Give groups or times of the rows that are kept (None: all) as codes from 0 on."""
    groups, time = keys
    if groups is None and time is None:
        return None
    labels = read_codes(groups, n_given, "groups") if time is None else read_ranks(time, n_given)
    own = labels if kept is None else labels[kept]
    codes: AnyArray = np.unique(own, return_inverse=True)[1].astype(np.int32)
    return codes
