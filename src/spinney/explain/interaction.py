"""Friedman's H: how much of what a model says needs two features together."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from spinney.data.table import Table
from spinney.ensembles.parameters import Integer, check_parameters
from spinney.errors import InvalidParameter
from spinney.explain.bins import ForestBins
from spinney.explain.choosing import (
    choose_answer,
    choose_feature,
    choose_features,
    used_features,
)
from spinney.explain.dependence import row_weights
from spinney.explain.expectation import trees_of_output
from spinney.explain.interaction_parts import Pair, Parts, parts_by_asking
from spinney.explain.leaf_rows import leaf_rows
from spinney.explain.reading import Askable, AskedModel, InputForest, askable_of
from spinney.model import TreeForest
from spinney.model.tree import freeze
from spinney.randomness import RowBits, Stream, seed_from
from spinney.results import Result
from spinney.typing import FloatArray, RandomState, TableLike


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Interactions(Result):
    """H² of single features with all others, and of pairs.

    H² is the share of a variance that interaction makes up; beside it stands the size of the
    interaction, its standard deviation in units of the raw score. A large share of next to nothing
    is next to nothing.
    """

    feature_names: tuple[str, ...]
    overall: FloatArray
    """H² of each feature with all others together."""
    overall_sizes: FloatArray
    pairs: tuple[tuple[str, str], ...]
    pairwise: FloatArray
    """H² of each pair."""
    pairwise_sizes: FloatArray
    output_name: str
    n_rows: int
    """Rows the statistics were computed on."""

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the whole answer as named columns, the largest interaction first."""
        values = np.concatenate([self.overall, self.pairwise])
        sizes = np.concatenate([self.overall_sizes, self.pairwise_sizes])
        names = [*((name, "all others") for name in self.feature_names), *self.pairs]
        order = np.argsort(-sizes, kind="stable")
        return {
            "feature": [names[place][0] for place in order],
            "with": [names[place][1] for place in order],
            "h_squared": values[order].tolist(),
            "size": sizes[order].tolist(),
        }

    def title(self) -> str:
        """Say in a line what the table shows."""
        return f"Interactions in {self.output_name} (raw): Friedman's H² on {self.n_rows} rows"


def h_statistic(
    fitted: Any,
    X: TableLike,
    features: Any = None,
    *,
    output: str | int | None = None,
    sample_weight: Any = None,
    max_rows: int = 1000,
    random_state: RandomState = None,
) -> Interactions:
    """Measure interactions by Friedman's H², between 0 and, but for odd samples, 1.

    Of a pair: the share of the variance of their joint partial dependence that is not the sum of
    the two single ones. Of one feature with all others: the share of the variance of the model
    that is neither its own partial dependence nor that of the others. All are those of raw scores,
    over the rows of ``X``, and exact: the trees give dependences at all rows in time linear in the
    rows, not quadratic. Two features that no path has together have exactly 0. Models that are no
    sum of trees over single features (medians, rotations, statistics of pairs of categories) are
    asked about every row with the values of every other, which takes far longer.

    A statistic whose variance is zero (features without any effect) is given as 0.

    Parameters
    ----------
    fitted : estimator or model
    X : table
    features : None, feature, features, or pairs of features
        None: all features the model uses, and all pairs that some path has together; pairs that
        are not listed have 0. One feature: it with every other. Several: every pair of them.
    output : name or position, optional
        Which output of several.
    sample_weight : numbers, optional
        Weights of rows.
    max_rows : int
        Larger tables are represented by this many rows, drawn by ``random_state``.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    Interactions

    References
    ----------
    Friedman, Popescu (2008), Predictive learning via rule ensembles, Annals of Applied Statistics
    2, section 8.1.

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> tree = DecisionTreeRegressor().fit(X, [0.0, 0.0, 0.0, 1.0])
    >>> print(h_statistic(tree, X))
    Interactions in prediction (raw): Friedman's H² on 4 rows
    feature  with        h_squared  size
    x0       all others     0.3333  0.25
    x1       all others     0.3333  0.25
    x0       x1             0.3333  0.25
    """
    check_parameters("h_statistic", {"max_rows": max_rows}, {"max_rows": Integer(2)})
    forest = askable_of(fitted)
    answer = choose_answer(forest, output, of=fitted)
    used = _used(forest)
    singles, pairs = _questions(forest, used, features)
    table = forest.conform(X, type(fitted).__name__)
    weights = row_weights(sample_weight, table.n_rows)
    table, weights = _some_rows(table, weights, max_rows, seed_from(random_state))
    shares = weights / weights.sum()
    if _has_paths_of_features(forest):
        wanted = None if pairs is None else frozenset(pairs)
        parts = _parts_of_leaves(forest, table, Parts(shares, wanted), answer.position)
    else:
        every = itertools.combinations(used, 2) if pairs is None else pairs
        parts = parts_by_asking(forest, table, shares, answer, (singles, every))
    asked = sorted(parts.joint) if pairs is None else list(dict.fromkeys(pairs))
    overall = [parts.overall(feature) for feature in singles]
    pairwise = [parts.pairwise(pair) for pair in asked]
    names = forest.schema.names
    return Interactions(
        tuple(names[feature] for feature in singles),
        *_columns(overall),
        tuple((names[first], names[second]) for first, second in asked),
        *_columns(pairwise),
        answer.name,
        table.n_rows,
    )


def _used(forest: TreeForest | AskedModel) -> tuple[int, ...]:
    """Find the features that some split looks at; all, where splits do not tell."""
    if isinstance(forest, TreeForest):
        return used_features(forest)
    if isinstance(forest, InputForest):
        derived = forest.model.derivation.features
        seen = used_features(forest.model.forest)
        return tuple(sorted({place for number in seen for place in derived[number].places}))
    return tuple(range(forest.schema.n_features))


def _has_paths_of_features(forest: TreeForest | AskedModel) -> TypeGuard[TreeForest | InputForest]:
    """Tell whether every condition on a path is one on a single feature of the user."""
    if isinstance(forest, InputForest):
        derived = forest.model.derivation.features
        return all(len(derived[n].places) == 1 for n in used_features(forest.model.forest))
    return isinstance(forest, TreeForest)


def _parts_of_leaves(
    forest: TreeForest | InputForest, table: Table, parts: Parts, output: int
) -> Parts:
    """Add up what all leaves contribute; conditions on what is derived are those of the feature."""
    owner = None
    if isinstance(forest, InputForest):
        derivation = forest.model.derivation
        trees, table = forest.model.forest, derivation.of_table(table)
        owner = [feature.places[0] for feature in derivation.features]
    else:
        trees = forest
    bins = ForestBins(trees)
    rows = bins.of_rows(table, bins.features)
    for values, tree in trees_of_output(trees, output):
        for leaves in leaf_rows(values, tree, bins, rows, table.n_rows, owner=owner):
            parts.add(leaves)
    return parts


def _questions(
    forest: Askable, used: tuple[int, ...], features: Any
) -> tuple[tuple[int, ...], list[Pair] | None]:
    """Give the features and the pairs that are asked about; None: all pairs that there are."""
    if features is None:
        return used, None
    listed = features if isinstance(features, list | tuple) else []
    if listed and all(isinstance(item, list | tuple) and len(item) == 2 for item in listed):
        pairs = [_pair(*(choose_feature(forest, one) for one in item)) for item in listed]
        return tuple(sorted({feature for pair in pairs for feature in pair})), pairs
    singles = choose_features(forest, features, len(forest.schema.names))
    if len(singles) == 1:
        others = [feature for feature in used if feature != singles[0]]
        return singles, [_pair(singles[0], other) for other in others]
    pairs = [_pair(a, b) for place, a in enumerate(singles) for b in singles[place + 1 :]]
    return singles, pairs


def _pair(first: int, second: int) -> Pair:
    if first == second:
        raise InvalidParameter(
            f"features: the pair ({first}, {second}) is one feature twice. Give two different ones."
        )
    return min(first, second), max(first, second)


def _some_rows(table: Table, weights: FloatArray, most: int, seed: int) -> tuple[Table, FloatArray]:
    """Draw rows of positive weight if there are too many, each by its own number."""
    rows = np.flatnonzero(weights)
    if len(rows) > most:
        bits = RowBits(table.n_rows)(seed, Stream.ROWS, range(table.n_rows))[rows]
        rows = np.sort(rows[np.argsort(bits, kind="stable")[:most]])
    return (table, weights) if len(rows) == table.n_rows else (table.take(rows), weights[rows])


def _columns(found: Sequence[tuple[float, float]]) -> tuple[FloatArray, FloatArray]:
    numbers = np.array(found, np.float64).reshape(-1, 2)
    return freeze(numbers[:, 0].copy()), freeze(numbers[:, 1].copy())
