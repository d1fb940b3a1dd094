"""Training sets that differ, and the points at which models fitted to them are compared."""

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.utils import _safe_indexing

from spinney import datasets
from spinney.data.keys import read_codes
from spinney.datasets import Dataset
from spinney.errors import (
    InvalidInput,
    InvalidInputType,
    InvalidParameter,
    SpinneyError,
    nearest_names,
    shorten,
)
from spinney.randomness import Stream, random_bits
from spinney.theory.checks import count
from spinney.typing import AnyArray, BoolArray, IntArray, TableLike


class Points(NamedTuple):
    """Where models are compared."""

    X: TableLike
    y: Any
    """(n_points,) or (n_targets, n_points)."""
    truth: AnyArray | None = None
    """(n_points,): y without its noise; None: nobody knows."""
    noise: float = 0.0
    """Variance of the noise on the truth."""

    @property
    def n_points(self) -> int:
        """How many there are."""
        return int(np.shape(self.y)[-1])


class TrainingSet(NamedTuple):
    """Rows to fit a model to, and the points it is then asked about."""

    X: TableLike
    y: Any
    asked: IntArray
    groups: IntArray | None = None
    """Of the rows, as codes, for estimators that divide them once more."""


class SetSource(Protocol):
    """Draws training sets."""

    def points(self, seed: int) -> Points:
        """Give the points at which models are compared."""

    def training_sets(self, n_sets: int, seed: int, *, labels: bool) -> Iterator[TrainingSet]:
        """Draw the training sets; ``labels``: the target holds labels."""


@dataclass(frozen=True, slots=True, eq=False)
class FreshSets:
    """Sets drawn anew from where the data come from; models are compared on rows of none of them.

    Parameters
    ----------
    sampler : str or function
        A recipe of ``spinney.datasets`` by its name, "moons" for ``make_moons``; or a function that
        is called with ``n_rows`` and ``random_state`` and gives a ``Dataset`` or a pair X, y.
    n_rows : int
        Rows of a training set.
    n_test : int
        Points at which models are compared.
    options : dict
        More arguments of the sampler.
    test : pair X, y, optional
        The points instead; y may be (n_targets, n_points), whose scatter is the noise.

    Examples
    --------
    >>> fresh = FreshSets("friedman", n_rows=100, n_test=500, options={"number": 1})
    >>> fresh.points(seed=0).X.shape, fresh.points(seed=0).noise
    ((500, 10), 1.0)
    """

    sampler: str | Callable[..., Any]
    n_rows: int = 200
    n_test: int = 1000
    options: Mapping[str, Any] = field(default_factory=dict)
    test: Any = None

    def __post_init__(self) -> None:
        count("n_rows", self.n_rows)
        count("n_test", self.n_test)
        _sampler_of(self.sampler)

    def points(self, seed: int) -> Points:
        """Draw the points, or give those of ``test``; with the truth, where the recipe knows it."""
        if self.test is not None:
            X, y = _pair(self.test, "test")
            return Points(X, y)
        drawn = self._draw(self.n_test, seed, 0)
        if isinstance(drawn, Dataset):
            is_number = np.asarray(drawn.y).dtype.kind == "f"
            if is_number and drawn.clean_y is not None and drawn.bayes_error is not None:
                return Points(drawn.X, drawn.y, drawn.clean_y, drawn.bayes_error)
        return Points(*_pair(drawn, "sampler"))

    def training_sets(self, n_sets: int, seed: int, *, labels: bool) -> Iterator[TrainingSet]:
        """Draw each set by itself."""
        del labels
        asked = np.arange(self.points(seed).n_points)
        for number in range(1, n_sets + 1):
            yield TrainingSet(*_pair(self._draw(self.n_rows, seed, number), "sampler"), asked)

    def _draw(self, n_rows: int, seed: int, number: int) -> Any:
        sampler = _sampler_of(self.sampler)
        return sampler(n_rows=n_rows, random_state=set_seed(seed, number), **self.options)


@dataclass(frozen=True, slots=True, eq=False)
class BootstrapSets:
    """Sets of as many rows, drawn with replacement; a model is asked about rows it did not see.

    A row is out of a set with a chance of (1 - 1/n)^n, about 0.37.

    Parameters
    ----------
    X, y : table and target
    groups : labels, optional
        One for each row; groups are drawn as a whole, and none is both seen and asked about.

    Examples
    --------
    >>> import numpy as np
    >>> sets = BootstrapSets(np.arange(4.0)[:, None], [0.0, 1.0, 2.0, 3.0])
    >>> one = next(sets.training_sets(1, seed=0, labels=False))
    >>> one.y, one.asked.tolist()
    ([0.0, 0.0, 1.0, 2.0], [3])
    """

    X: TableLike
    y: Any
    groups: Any = None

    def points(self, seed: int) -> Points:
        """Give all rows."""
        del seed
        _rows_of(self.X, self.y)
        return Points(self.X, self.y)

    def training_sets(self, n_sets: int, seed: int, *, labels: bool) -> Iterator[TrainingSet]:
        """Draw rows, or groups of rows."""
        del labels
        n_rows = _rows_of(self.X, self.y)
        groups = None if self.groups is None else _group_codes(self.groups, n_rows)
        units = np.arange(n_rows) if groups is None else groups
        sizes = np.bincount(units)
        order, starts = np.argsort(units, kind="stable"), np.cumsum(sizes) - sizes
        for number in range(1, n_sets + 1):
            rng = np.random.default_rng(random_bits(seed, Stream.ROWS, number))
            drawn = np.sort(rng.integers(0, len(sizes), size=len(sizes)))
            # The rows of one unit after those of the other: its start, and steps from there.
            steps = np.arange(sizes[drawn].sum()) - np.repeat(
                np.cumsum(sizes[drawn]) - sizes[drawn], sizes[drawn]
            )
            rows = order[np.repeat(starts[drawn], sizes[drawn]) + steps]
            unseen = np.ones(n_rows, bool)
            unseen[rows] = False
            if unseen.any():
                yield _part(self.X, self.y, rows, np.flatnonzero(unseen), groups)


@dataclass(frozen=True, slots=True, eq=False)
class FoldSets:
    """All rows but a fold, again and again; a model is asked about the fold it did not see.

    Parameters
    ----------
    X, y : table and target
    cv : int, splitter or pairs of indices
        A number of folds, drawn anew for each of ``n_sets`` repetitions, with classes in like
        shares; or one of scikit-learn's splitters, or pairs of training and test rows, which are
        gone through once: they should test every row several times, as RepeatedKFold does. Of rows
        that are tested once ``bias_variance`` cannot tell variance from bias.
    groups : labels, optional
        One for each row; no group is divided.

    References
    ----------
    Webb (2000), MultiBoosting, Machine Learning 40, for repeated cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> sets = FoldSets(np.arange(4.0)[:, None], [0.0, 1.0, 2.0, 3.0], cv=[([0, 1, 2], [3])])
    >>> one = next(sets.training_sets(1, seed=0, labels=False))
    >>> one.y, one.asked.tolist()
    ([0.0, 1.0, 2.0], [3])
    """

    X: TableLike
    y: Any
    cv: Any = 10
    groups: Any = None

    def points(self, seed: int) -> Points:
        """Give all rows."""
        del seed
        _rows_of(self.X, self.y)
        return Points(self.X, self.y)

    def training_sets(self, n_sets: int, seed: int, *, labels: bool) -> Iterator[TrainingSet]:
        """Go through the folds."""
        n_rows = _rows_of(self.X, self.y)
        groups = None if self.groups is None else _group_codes(self.groups, n_rows)
        for splits in self._rounds(n_sets, seed, groups, labels=labels):
            for train, test in splits:
                rows, asked = _checked(train, test, n_rows)
                if groups is not None:
                    _check_groups(groups, rows, asked)
                yield _part(self.X, self.y, rows, asked, groups)

    def times_asked(self) -> IntArray | None:
        """Count how often each row is tested by folds that are gone through once.

        None: nobody can tell before, of folds that are drawn or come one by one.
        """
        can_repeat = hasattr(self.cv, "split") or isinstance(self.cv, list | tuple)
        if isinstance(self.cv, str) or not can_repeat:
            return None
        n_rows = _rows_of(self.X, self.y)
        groups = None if self.groups is None else _group_codes(self.groups, n_rows)
        times = np.zeros(n_rows, np.int64)
        for train, test in next(self._rounds(1, 0, groups, labels=False)):
            times[_checked(train, test, n_rows)[1]] += 1
        return times

    def _rounds(
        self, n_sets: int, seed: int, groups: IntArray | None, *, labels: bool
    ) -> Iterator[Any]:
        given = not isinstance(self.cv, str)  # which has a split of its own
        if given and hasattr(self.cv, "split"):
            yield self._split(groups)
        elif given and hasattr(self.cv, "__iter__"):
            yield self.cv
        else:
            n_folds = count("cv", self.cv, 2)
            for number in range(1, n_sets + 1):
                folds = _folds(n_folds, set_seed(seed, number), groups, labels=labels)
                yield folds.split(self.X, self.y, groups)

    def _split(self, groups: IntArray | None) -> list[Any]:
        try:
            with warnings.catch_warnings():
                # Folds are checked, whether or not their maker looked at groups.
                warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
                return list(self.cv.split(self.X, self.y, groups))
        except (TypeError, ValueError) as problem:
            if groups is None and "groups" in str(problem):
                raise InvalidInput(
                    f"{self.cv!r} divides rows by groups, and there are none. Give groups to "
                    "FoldSets, one label per row, or use a splitter that needs none."
                ) from problem
            if isinstance(problem, SpinneyError | TypeError):
                raise
            raise InvalidInput(
                f"{self.cv!r} cannot divide these {np.shape(self.y)[0]} rows: {problem} Give cv "
                "another splitter, or a number of folds."
            ) from problem


def set_seed(seed: int, number: int) -> int:
    """Give the seed of a training set: 32 bits, which is what scikit-learn takes."""
    return random_bits(seed, Stream.ROWS, number) >> 32


def _folds(n_folds: int, seed: int, groups: IntArray | None, *, labels: bool) -> Any:
    from sklearn import model_selection as ms  # noqa: PLC0415 - slow to load, for few only

    if groups is None:
        kind = ms.StratifiedKFold if labels else ms.KFold
    else:
        kind = ms.StratifiedGroupKFold if labels else ms.GroupKFold
    return kind(n_folds, shuffle=True, random_state=seed)


def _sampler_of(sampler: Any) -> Callable[..., Any]:
    if callable(sampler):
        return sampler  # type: ignore[no-any-return]
    if not isinstance(sampler, str):
        raise InvalidInputType(
            f"sampler is a {type(sampler).__name__}: expected the name of a recipe of "
            "spinney.datasets, or a function of n_rows and random_state."
        )
    recipes = {
        name.removeprefix("make_"): getattr(datasets, name)
        for name in datasets.__all__
        if name.startswith("make_")
    }
    known = [name for name, make in recipes.items() if _takes_rows(make)]
    if sampler not in known:
        raise InvalidParameter(
            f"sampler={sampler!r}: expected one of {shorten(known, most=20)}, or a function of "
            f"n_rows and random_state.{nearest_names(sampler, known)}"
        )
    return recipes[sampler]  # type: ignore[no-any-return]


def _takes_rows(make: Callable[..., Any]) -> bool:
    return {"n_rows", "random_state"} <= set(inspect.signature(make).parameters)


def _pair(drawn: Any, whose: str) -> tuple[TableLike, Any]:
    if isinstance(drawn, Dataset):
        return drawn.X, drawn.y
    if isinstance(drawn, tuple | list) and len(drawn) == 2:
        return drawn[0], drawn[1]
    raise InvalidInputType(
        f"{whose} gave a {type(drawn).__name__}: expected a Dataset or a pair X, y."
    )


def _rows_of(X: TableLike, y: Any) -> int:
    shape = np.shape(y)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if len(shape) != 1 or shape[0] != n_rows or n_rows < 2:
        raise InvalidInput(
            f"X has {n_rows} rows and y the shape {shape}: expected one target for each row, and "
            "at least two rows."
        )
    return int(n_rows)


def _group_codes(groups: Any, n_rows: int) -> IntArray:
    codes = read_codes(groups, n_rows, "groups")
    if not codes.max():
        raise InvalidInput(
            f"All rows are of the group {np.asarray(groups)[0]!r}, so that none is left to ask "
            "about: expected two groups or more."
        )
    return codes


def _part(
    X: TableLike, y: Any, rows: IntArray, asked: IntArray, groups: IntArray | None
) -> TrainingSet:
    own = None if groups is None else groups[rows]
    return TrainingSet(_safe_indexing(X, rows), _safe_indexing(y, rows), asked, own)


def _check_groups(groups: IntArray, rows: IntArray, asked: IntArray) -> None:
    """Refuse a fold that divides a group, whoever made it."""
    divided = np.isin(groups[asked], groups[rows])
    if divided.any():
        raise InvalidInput(
            f"A fold of cv divides a group: it tests on row {int(asked[divided.argmax()])} and "
            "learns from others of its group. Use a splitter that keeps groups whole, such as "
            "scikit-learn's GroupKFold, a number of folds, or leave groups out."
        )


def _checked(train: Any, test: Any, n_rows: int) -> tuple[IntArray, IntArray]:
    """Read the rows of a fold; none may be both seen and asked about, or asked about twice."""
    parts: list[IntArray] = []
    for name, rows in (("training", train), ("test", test)):
        numbers = np.asarray(rows)
        part = np.flatnonzero(numbers) if numbers.dtype.kind == "b" else numbers
        if part.ndim != 1 or part.dtype.kind not in "iu" or not len(part):
            raise InvalidInput(
                f"The {name} part of a fold is {part.dtype} of the shape {part.shape}: expected "
                "numbers of rows, at least one."
            )
        if part.min() < 0 or part.max() >= n_rows:
            raise InvalidInput(
                f"The {name} part of a fold has the rows {part.min()} to {part.max()}: expected "
                f"numbers from 0 to {n_rows - 1}."
            )
        parts.append(part.astype(np.int64))
    counts = np.bincount(parts[1], minlength=n_rows)
    seen: BoolArray = np.bincount(parts[0], minlength=n_rows) > 0
    if (counts > 1).any():
        raise InvalidInput(
            f"A fold tests row {int((counts > 1).argmax())} twice: expected each row once in the "
            "test part of a fold."
        )
    if (seen & (counts > 0)).any():
        raise InvalidInput(
            f"Row {int((seen & (counts > 0)).argmax())} is in both parts of a fold: expected test "
            "rows that the model does not see."
        )
    return parts[0], parts[1]
