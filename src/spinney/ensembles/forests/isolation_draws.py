"""Which rows and features isolation trees were given: enough to draw them again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data.table import Table
from spinney.ensembles.forests.warm_start import leaves_hold
from spinney.errors import InvalidModel
from spinney.model.isolation import Isolation, IsolationTrees
from spinney.model.model import State
from spinney.randomness import Stream, random_bits
from spinney.resampling.tickets import draw_tickets, rows_of_tickets
from spinney.typing import AnyArray

_UNKNOWN = "how the rows of isolation trees were drawn is missing or unknown"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IsolationDraws:
    """How each tree draws a few rows, by their tickets, and some features.

    Examples
    --------
    >>> draws = IsolationDraws(seed=0, sample_size=2, n_rows=9, n_tickets=9, n_features=1)
    >>> [len(rows) for rows in draws.samples(3)], draws.features(0, 1).tolist()
    ([2, 2, 2], [0])
    """

    seed: int
    sample_size: int
    n_rows: int
    n_tickets: int
    n_features: int
    """Features drawn for each tree."""
    replace: bool = False
    last_ticket: AnyArray | None = None
    """Where the tickets of each row end; None: one each."""
    kept: AnyArray | None = None
    """Numbers of the rows in what was given; None: all of them."""

    def rows(self, trees: range) -> AnyArray:
        """Give the rows of each tree, among those with a weight; (n_trees, sample_size)."""
        drawn = draw_tickets(
            self.n_tickets, self.sample_size, seed=self.seed, trees=trees, replace=self.replace
        )
        return rows_of_tickets(drawn, self.last_ticket)

    def features(self, tree: int, n_there: int) -> AnyArray:
        """Give the features of one tree, increasing."""
        if self.n_features == n_there:
            return np.arange(n_there)
        seed = random_bits(self.seed, Stream.FEATURES, tree)
        draws = draw_tickets(n_there, self.n_features, seed=seed, trees=range(1), replace=False)
        return np.sort(draws[0])

    def samples(self, n_trees: int) -> list[AnyArray]:
        """List the rows of each tree by their numbers in what was given, as often as drawn."""
        drawn = [np.sort(self.rows(range(tree, tree + 1))[0]) for tree in range(n_trees)]
        return drawn if self.kept is None else [self.kept[rows] for rows in drawn]

    def goes_on(self, before: "IsolationDraws | None", model: Isolation, table: Table) -> bool:
        """Tell whether the trees that are there drew from the same table in the same way.

        Trees split by planes do not tell how many rows their leaves have: of them it is not known.
        """
        if before is None or not isinstance(model, IsolationTrees):
            return False
        same = all(
            getattr(self, name) == getattr(before, name)
            for name in ("seed", "sample_size", "n_rows", "n_tickets", "n_features", "replace")
        )
        arrays = ((self.last_ticket, before.last_ticket), (self.kept, before.kept))
        if not same or not all(_same(one, two) for one, two in arrays):
            return False
        seen = np.zeros(self.n_rows, bool)
        seen[self.rows(range(1))[0]] = True
        return leaves_hold(model.trees[:1], table, seen)

    def to_state(self) -> State:
        """Take apart what the model and the seed do not tell."""
        meta = {
            "n_rows": self.n_rows,
            "n_tickets": self.n_tickets,
            "n_features": self.n_features,
            "replace": self.replace,
        }
        arrays = {"last_ticket": self.last_ticket, "kept": self.kept}
        return meta, {
            name: np.ascontiguousarray(array, "<i8")
            for name, array in arrays.items()
            if array is not None
        }

    @classmethod
    def from_state(
        cls, meta: Any, arrays: Mapping[str, AnyArray], model: Isolation, seed: int
    ) -> "IsolationDraws":
        """Take back what ``to_state`` gave, believing nothing."""
        numbers = ("n_rows", "n_tickets", "n_features")
        if (
            not isinstance(meta, dict)
            or set(meta) != {*numbers, "replace"}
            or any(type(meta[name]) is not int for name in numbers)
            or type(meta["replace"]) is not bool
            or not 1 <= meta["n_rows"] <= meta["n_tickets"] < 2**53
            or not 1 <= meta["n_features"] <= model.schema.n_features
            or not model.sample_size < 2**31
            or (not meta["replace"] and model.sample_size > meta["n_tickets"])
            or not set(arrays) <= {"last_ticket", "kept"}
            or any(not _increases(array, meta["n_rows"]) for array in arrays.values())
            or not _fits(model)
        ):
            raise InvalidModel(_UNKNOWN)
        last = arrays.get("last_ticket")
        n_told = meta["n_rows"] if last is None else int(last[-1])
        if n_told != meta["n_tickets"]:
            raise InvalidModel(_UNKNOWN)
        parts: dict[str, Any] = {name: array.copy() for name, array in arrays.items()}
        return cls(seed=seed, sample_size=model.sample_size, **meta, **parts)


def _same(one: AnyArray | None, two: AnyArray | None) -> bool:
    if one is None or two is None:
        return one is two
    return np.array_equal(one, two)


def _increases(array: AnyArray, n_rows: int) -> bool:
    if array.dtype != "<i8" or array.shape != (n_rows,):
        return False
    return bool(array[0] >= 0 and (np.diff(array) > 0).all())


def _fits(model: Isolation) -> bool:
    """Tell whether trees have as many rows as are drawn, so that a file asks for no more room."""
    if not isinstance(model, IsolationTrees):
        return True
    arrays = model.trees.arrays
    return bool((arrays["weight"][arrays["tree_start"][:-1]] == model.sample_size).all())
