"""What the functions of this package give: a table with its target, or a few named numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spinney.errors import InvalidParameter, nearest_names, shorten
from spinney.results import Result, format_table, read_only
from spinney.typing import AnyArray, FloatArray

_MOST_FEATURES = 6
"""Features that are printed; ``to_frame()`` has them all."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dataset(Result):
    """A table with its target, and what is known about them."""

    name: str
    X: AnyArray
    """(n_rows, n_features)."""
    y: AnyArray
    """(n_rows,): labels or numbers."""
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...] = ()
    """What the labels stand for, in increasing order of the labels; empty: nothing to say."""
    sample_weight: FloatArray | None = None
    """(n_rows,): the share of the whole that a row stands for; None: all rows count alike."""
    clean_y: AnyArray | None = None
    """(n_rows,): the target before noise was added to it; None: nobody knows."""
    bayes_error: float | None = None
    """The least error any rule can have on new rows: share of wrong labels, or mean squared error.

    It is exact (or computed to all digits shown by the documentation); None: not known.
    """
    source: str = ""
    """Where the recipe comes from."""

    def __post_init__(self) -> None:
        for name in ("X", "y", "sample_weight", "clean_y"):
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, read_only(array))

    def __len__(self) -> int:
        return len(self.y)

    def title(self) -> str:
        """Say in a line what the table shows."""
        n_rows, n_features = self.X.shape
        what = f"{self.name}: {_several(n_rows, 'row')}, {_several(n_features, 'feature')}"
        known = self.bayes_error is not None
        return f"{what}; no rule errs less than {self.bayes_error:.4g}" if known else what

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the features, the target and the weights as named columns."""
        columns = dict(zip(self.feature_names, self.X.T.tolist(), strict=True))
        rest = {"y": self.y, "clean_y": self.clean_y, "sample_weight": self.sample_weight}
        return columns | {name: a.tolist() for name, a in rest.items() if a is not None}

    def __str__(self) -> str:
        hidden = self.feature_names[_MOST_FEATURES:]
        shown = {name: c for name, c in self.columns().items() if name not in hidden}
        note = f" (the first {_MOST_FEATURES} features shown)" if hidden else ""
        return f"{self.title()}{note}\n{format_table(shown)}"

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sample(Result):
    """A few named columns of equal length, none of them a target."""

    name: str
    names: tuple[str, ...]
    arrays: tuple[AnyArray, ...]
    """One array per name."""
    source: str = ""
    """Where the numbers were published."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "arrays", tuple(map(read_only, self.arrays)))

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __getitem__(self, name: str) -> AnyArray:
        if name not in self.names:
            raise InvalidParameter(
                f"{self.name} has no column {name!r}: expected one of {shorten(self.names)}."
                f"{nearest_names(str(name), self.names)}"
            )
        return self.arrays[self.names.index(name)]

    def title(self) -> str:
        """Say in a line what the table shows."""
        return f"{self.name}: {_several(len(self), 'row')}"

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the columns by their names."""
        return {name: a.tolist() for name, a in zip(self.names, self.arrays, strict=True)}


def number_features(n_features: int) -> tuple[str, ...]:
    """Name features as estimators name the columns of an array.

    Examples
    --------
    >>> number_features(3)
    ('x0', 'x1', 'x2')
    """
    return tuple(f"x{place}" for place in range(n_features))


def _several(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
