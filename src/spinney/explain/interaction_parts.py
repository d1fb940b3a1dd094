"""What H-statistics are made of: dependences of a model on features and pairs, at every row."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from spinney.data.table import Table
from spinney.errors import InvalidParameter
from spinney.explain.choosing import Answer
from spinney.explain.dependence import with_value
from spinney.explain.leaf_rows import LeafRows
from spinney.explain.reading import Askable
from spinney.typing import AnyArray, FloatArray, IntArray

Pair: TypeAlias = tuple[int, int]
_ROUNDING = 1e-24
"""Variances below this share of the model's are sums of rounding errors."""
_MOST_ANSWERS = 200_000_000
"""Rows that a model is asked about for one table of statistics."""


@dataclass(slots=True, eq=False)
class Parts:
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


def parts_by_asking(
    forest: Askable,
    table: Table,
    shares: FloatArray,
    answer: Answer,
    questions: tuple[Iterable[int], Iterable[Pair]],
) -> Parts:
    """Ask a model about every row with every value of a feature, and of a pair; by definition.

    Parameters
    ----------
    forest : the model
    table : rows that conform
    shares : their weights, adding up to 1
    answer : the output
    questions : features and pairs
    """
    pairs = list(questions[1])
    singles = sorted({*questions[0], *itertools.chain.from_iterable(pairs)})
    values = {f: _distinct(table, (f,)) for f in singles}
    both = {pair: _distinct(table, pair) for pair in pairs}
    n_asked = sum(len(first) for first, _ in (*values.values(), *both.values())) * table.n_rows
    if n_asked > _MOST_ANSWERS:
        raise InvalidParameter(
            f"This model is no sum of trees over the features and would be asked about {n_asked:,} "
            f"rows, more than {_MOST_ANSWERS:,}. Give fewer features, or a smaller max_rows than "
            f"the {table.n_rows} rows there are."
        )
    parts = Parts(shares, wanted=frozenset(pairs))
    parts.whole = answer.of_rows(forest, table, 1)
    for feature, (first, place) in values.items():
        answers = _answers(forest, table, (feature,), first, answer)
        chances = np.bincount(place, shares)
        alone = (answers * shares).sum(axis=1)[place]
        others = (answers * chances[:, np.newaxis]).sum(axis=0)
        parts.single[feature] = alone
        parts.remainder[feature] = parts.whole - alone - others
    for pair, (first, place) in both.items():
        together = (_answers(forest, table, pair, first, answer) * shares).sum(axis=1)[place]
        parts.joint[pair] = together - parts.single[pair[0]] - parts.single[pair[1]]
    return parts


def _distinct(table: Table, features: tuple[int, ...]) -> tuple[IntArray, IntArray]:
    """Give the first row with each combination of values, and which one every row has."""
    columns = [table.columns[f].dense(table.n_rows).astype(np.float64) for f in features]
    places = [np.unique(column, return_inverse=True)[1] for column in columns]
    _, first, place = np.unique(
        np.column_stack(places), axis=0, return_index=True, return_inverse=True
    )
    return first, place.reshape(-1)


def _answers(
    forest: Askable, table: Table, features: tuple[int, ...], rows: IntArray, answer: Answer
) -> FloatArray:
    """Give what is said of all rows with the values some row has; (n_rows chosen, n_rows)."""
    answers = np.empty((len(rows), table.n_rows))
    for number, row in enumerate(rows.tolist()):
        asked = table
        for feature in features:
            column = table.columns[feature]
            column = replace(column, values=column.dense(table.n_rows), rows=None)
            asked = with_value(asked, feature, column, row)
        answers[number] = answer.of_rows(forest, asked, 1)
    return answers
