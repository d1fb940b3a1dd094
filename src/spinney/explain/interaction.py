"""Friedman's H: how much of what a model says needs two features together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from spinney.data.table import Table
from spinney.ensembles.parameters import Integer, check_parameters
from spinney.errors import InvalidParameter
from spinney.explain.bins import ForestBins
from spinney.explain.choosing import choose_answer, choose_feature, choose_features
from spinney.explain.dependence import row_weights
from spinney.explain.expectation import trees_of_output
from spinney.explain.leaf_rows import LeafRows, leaf_rows
from spinney.explain.reading import forest_of
from spinney.model import TreeForest
from spinney.model.tree import freeze
from spinney.randomness import RowBits, Stream, seed_from
from spinney.results import Result
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike

Pair: TypeAlias = tuple[int, int]
_ROUNDING = 1e-24
"""Variances below this share of the model's are sums of rounding errors."""


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
    rows, not quadratic. Two features that no path has together have exactly 0.

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
    forest = forest_of(fitted)
    answer = choose_answer(forest, output)
    bins = ForestBins(forest)
    singles, pairs = _questions(forest, bins, features)
    table = forest.conform(X, type(fitted).__name__)
    weights = row_weights(sample_weight, table.n_rows)
    table, weights = _some_rows(table, weights, max_rows, seed_from(random_state))
    parts = _Parts(weights / weights.sum(), wanted=None if pairs is None else frozenset(pairs))
    rows = bins.of_rows(table, bins.features)
    for values, tree in trees_of_output(forest, answer.position):
        for leaves in leaf_rows(values, tree, bins, rows, table.n_rows):
            parts.add(leaves)
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


@dataclass(slots=True, eq=False)
class _Parts:
    """Sums over leaves of what each feature and pair contributes at every row, not yet centred.

    With m(S) the share of rows that satisfy a leaf's conditions on the features S, and c(S) whether
    a row does, a leaf of value v on whose path the features are P adds to the partial dependence
    of features S: v c(S and P) m(P without S). Where P has one of two features only, their joint
    dependence is the single one, and there is nothing to add.
    """

    shares: FloatArray
    """Weights of rows, adding up to 1."""
    wanted: frozenset[Pair] | None
    """Pairs to look at; None: all."""
    whole: FloatArray = field(init=False)
    single: dict[int, FloatArray] = field(default_factory=dict)
    joint: dict[Pair, FloatArray] = field(default_factory=dict)
    """Joint dependence minus the two single ones, of leaves that have both features."""
    remainder: dict[int, FloatArray] = field(default_factory=dict)
    """The model minus the dependences on a feature, and on all others."""

    def __post_init__(self) -> None:
        self.whole = np.zeros(len(self.shares))

    def add(self, leaves: LeafRows) -> None:
        """Add some leaves of a tree."""
        reached, one_failed = leaves.n_failed == 0, leaves.n_failed == 1
        chance = self._share(reached)
        without = {}  # the chance of all conditions but those on one feature
        for feature, holds in leaves.satisfied.items():
            own = leaves.asked[feature]
            nearly = one_failed & ~holds
            without[feature] = chance + self._share(nearly)
            alone = _weighted(leaves.values * without[feature], holds, own)
            others = _weighted(leaves.values * self._share(holds), reached | nearly, own)
            here = _weighted(leaves.values, reached, own)
            _add(self.single, feature, alone)
            _add(self.remainder, feature, here - alone - others)
        self.whole += _weighted(leaves.values, reached, np.ones(len(chance), bool))
        self._add_pairs(leaves, chance, without)

    def _add_pairs(
        self, leaves: LeafRows, chance: FloatArray, without: Mapping[int, FloatArray]
    ) -> None:
        two_failed = leaves.n_failed == 2
        features = list(leaves.satisfied)
        for place, first in enumerate(features):
            for second in features[place + 1 :]:
                both = leaves.asked[first] & leaves.asked[second]
                pair = (first, second)
                if not both.any() or (self.wanted is not None and pair not in self.wanted):
                    continue
                a, b = leaves.satisfied[first][both], leaves.satisfied[second][both]
                v, m_a, m_b = leaves.values[both], without[first][both], without[second][both]
                m_ab = m_a + m_b - chance[both] + self._share(two_failed[both] & ~a & ~b)
                every = np.ones(len(v), bool)
                together = _weighted(v * m_ab, a & b, every)
                apart = _weighted(v * m_a, a, every) + _weighted(v * m_b, b, every)
                _add(self.joint, pair, together - apart)

    def overall(self, feature: int) -> tuple[float, float]:
        """Give H² of a feature with all others, and the size of the interaction."""
        return self._ratio(self.remainder.get(feature), self.whole)

    def pairwise(self, pair: Pair) -> tuple[float, float]:
        """Give H² of a pair, and the size of the interaction."""
        interaction = self.joint.get(pair)
        if interaction is None:
            return 0.0, 0.0
        first, second = pair
        return self._ratio(interaction, interaction + self.single[first] + self.single[second])

    def _ratio(self, part: FloatArray | None, whole: FloatArray) -> tuple[float, float]:
        below = self._variance(whole)
        if part is None or below <= _ROUNDING * self._variance(self.whole):
            return 0.0, 0.0
        above = self._variance(part)
        return above / below, float(np.sqrt(above))

    def _variance(self, values: FloatArray) -> float:
        centred = values - (self.shares * values).sum()
        return float((self.shares * centred**2).sum())

    def _share(self, chosen: AnyArray) -> FloatArray:
        shares: FloatArray = np.where(chosen, self.shares, 0.0).sum(axis=1)
        return shares


def _weighted(factors: FloatArray, chosen: AnyArray, leaves: AnyArray) -> FloatArray:
    """Add up the factors of some leaves at the rows that are chosen for each."""
    total: FloatArray = np.where(chosen[leaves], factors[leaves, np.newaxis], 0.0).sum(axis=0)
    return total


def _add(sums: dict[Any, FloatArray], key: Any, part: FloatArray) -> None:
    sums[key] = sums[key] + part if key in sums else part


def _questions(
    forest: TreeForest, bins: ForestBins, features: Any
) -> tuple[tuple[int, ...], list[Pair] | None]:
    """Give the features and the pairs that are asked about; None: all pairs that there are."""
    if features is None:
        return bins.features, None
    listed = features if isinstance(features, list | tuple) else []
    if listed and all(isinstance(item, list | tuple) and len(item) == 2 for item in listed):
        pairs = [_pair(*(choose_feature(forest, one) for one in item)) for item in listed]
        return tuple(sorted({feature for pair in pairs for feature in pair})), pairs
    singles = choose_features(forest, features, len(forest.schema.names))
    if len(singles) == 1:
        others = [feature for feature in bins.features if feature != singles[0]]
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
