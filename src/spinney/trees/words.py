"""Nodes of trees in words: questions, answers, and the values of features as people write them."""

import datetime as dt
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data.table import Kind
from spinney.errors import InvalidParameter
from spinney.model import TreeForest
from spinney.model.tree import Tree
from spinney.typing import AnyArray

_DAY = 86_400
_MOST_DIGITS = 17
"""So many tell every float64 from all others."""


def check_limits(where: str, *, max_depth: Any, digits: Any) -> None:
    """Refuse levels and digits that are no whole numbers, or none that can be told.

    Examples
    --------
    >>> check_limits("to_text", max_depth=None, digits=0)
    Traceback (most recent call last):
    ...
    spinney.errors.InvalidParameter: digits=0 of to_text: expected an integer from 1 to 17.
    """
    if not (_is_whole(digits) and 1 <= digits <= _MOST_DIGITS):
        raise InvalidParameter(
            f"digits={digits!r} of {where}: expected an integer from 1 to {_MOST_DIGITS}."
        )
    if max_depth is not None and not (_is_whole(max_depth) and max_depth >= 0):
        raise InvalidParameter(
            f"max_depth={max_depth!r} of {where}: expected an integer of at least 0, or None for "
            "all levels."
        )


def _is_whole(given: Any) -> bool:
    return isinstance(given, numbers.Integral) and not isinstance(given, bool)


@dataclass(frozen=True, slots=True, eq=False)
class TreeWords:
    """One tree of a forest, and how to talk about it."""

    forest: TreeForest
    tree: Tree
    digits: int = 4
    """Significant digits of numbers."""

    @classmethod
    def of(cls, forest: TreeForest, t: int = 0, *, digits: int = 4) -> "TreeWords":
        """Take a tree of a forest."""
        return cls(forest, forest[t], digits)

    def question(self, node: int) -> str:
        """Ask what the rows that go left answer with yes."""
        feature = int(self.tree.feature[node])
        name = self.forest.schema.names[feature]
        missing = bool(self.tree.missing_left[node])
        if self.tree.category_set[node] >= 0:
            levels = self.forest.schema.levels[feature]
            assert levels is not None  # noqa: S101 - only categories have sets
            left = left_levels(self.forest, self.tree, node)
            names = [str(levels.values[code]) for code in np.flatnonzero(left)]
            if not names:
                return f"{name} is missing"
            return f"{name} in {{{listed(names)}}}{' or missing' if missing else ''}"
        threshold = float(self.tree.threshold[node])
        if threshold == np.inf:
            return f"{name} is not missing"
        at_most = f"{name} <= {self.number(threshold, feature)}"
        return f"{at_most} or missing" if missing else at_most

    def number(self, value: float, feature: int) -> str:
        """Write a value of a feature as a person would."""
        kind = self.forest.schema.kinds[feature]
        if not np.isfinite(value) or kind in (Kind.NUMERIC, Kind.BOOLEAN, Kind.CATEGORICAL):
            return f"{value:.{self.digits}g}"
        if kind is Kind.DURATION:
            return str(dt.timedelta(seconds=value))
        if kind is Kind.DATE:
            return str(np.datetime64(int(value // _DAY), "D"))
        return str(np.datetime64(round(value), "s")).replace("T", " ")

    @property
    def tells_shares(self) -> bool:
        """Whether values are shares of classes; what boosting adds up are raw scores."""
        return self.forest.target.has_classes and self.forest.output.link == "identity"

    def answer(self, node: int) -> str:
        """Say what a node predicts: a class with its share, or numbers."""
        value = self.tree.values[node]
        classes, several = self.forest.target.classes, self.forest.target.label_classes
        if self.tells_shares and classes is not None:
            likeliest = int(value.argmax())
            return f"{classes[likeliest]} ({value[likeliest]:.0%})"
        if self.tells_shares and several is not None:
            parts = [value[span] for span in self.forest.target.spans()]
            pairs = zip(several, parts, strict=True)
            return ", ".join(f"{of[own.argmax()]} ({own.max():.0%})" for of, own in pairs)
        return ", ".join(f"{number:.{self.digits}g}" for number in value)

    def rows(self, node: int) -> str:
        """Say how many rows a node has, and their weight where it differs."""
        count, weight = int(self.tree.count[node]), float(self.tree.weight[node])
        told = f"{count} row{'' if count == 1 else 's'}"
        return told if weight == count else f"{told}, weight {weight:.{self.digits}g}"


def left_levels(forest: TreeForest, tree: Tree, node: int) -> AnyArray:
    """Say which categories of its feature a node sends left; (n_levels,) of truth values."""
    feature = int(tree.feature[node])
    first, last = forest.arrays["category_start"][feature : feature + 2]
    bins = forest.arrays["category_bins"][first:last]
    bits = np.unpackbits(tree.category_sets[tree.category_set[node]], bitorder="little")
    chosen: AnyArray = bits[bins].astype(bool)
    return chosen


def listed(names: list[str], most: int = 8) -> str:
    """Join names, leaving some away where there are many."""
    if len(names) <= most:
        return ", ".join(names)
    return ", ".join(names[: most - 1]) + f", … {len(names) - most + 1} more"
