"""How differently the members of a committee err."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import InvalidInputType
from spinney.results import Result, read_only
from spinney.theory.checks import weight_array
from spinney.theory.votes import check_members, read_votes
from spinney.typing import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Diversity(Result):
    """Measures of diversity, of each pair of members and of all together.

    Of two members a is the share of rows both get right, b and c that of rows only one does, d that
    of rows neither does. A measure that divides by 0 is nan; means are of the pairs that have one.
    The diagonals compare a member with itself and count in no mean.
    """

    accuracies: FloatArray
    """(n_members,): share of rows a member gets right."""
    both_right: FloatArray
    """(n_members, n_members): a."""
    both_wrong: FloatArray
    """(n_members, n_members): d, the double fault."""
    right_shares: FloatArray
    """(n_rows,): share of members that get a row right."""
    shares: FloatArray
    """(n_rows,): how much each row counts; they add up to 1."""

    def __post_init__(self) -> None:
        for name in ("accuracies", "both_right", "both_wrong", "right_shares", "shares"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def n_members(self) -> int:
        """How many members there are."""
        return len(self.accuracies)

    @property
    def accuracy(self) -> float:
        """Mean of the members'."""
        return float(self.accuracies.mean())

    @property
    def disagreements(self) -> FloatArray:
        """B + c: share of rows that one of two gets right and the other does not."""
        found: FloatArray = np.maximum(1.0 - self.both_right - self.both_wrong, 0.0)
        return found

    @property
    def q_statistics(self) -> FloatArray:
        """Yule's Q, (ad - bc) / (ad + bc): 0 of independent members, below it of complementary."""
        aligned, crossed = self._products()
        return _ratio(aligned - crossed, aligned + crossed)

    @property
    def correlations(self) -> FloatArray:
        """Correlation of being right, (ad - bc) over the root of the product of all margins."""
        aligned, crossed = self._products()
        spread = self.accuracies * (1.0 - self.accuracies)
        return _ratio(aligned - crossed, np.sqrt(np.outer(spread, spread)))

    @property
    def kappas(self) -> FloatArray:
        """Agreement beyond chance of two members, 2 (ad - bc) / ((a+b)(b+d) + (a+c)(c+d))."""
        aligned, crossed = self._products()
        right, wrong = self.accuracies, 1.0 - self.accuracies
        chance = np.outer(right, wrong)
        return _ratio(2.0 * (aligned - crossed), chance + chance.T)

    @property
    def disagreement(self) -> float:
        """Mean over pairs."""
        return _pair_mean(self.disagreements)

    @property
    def double_fault(self) -> float:
        """Mean over pairs."""
        return _pair_mean(self.both_wrong)

    @property
    def q_statistic(self) -> float:
        """Mean over pairs."""
        return _pair_mean(self.q_statistics)

    @property
    def correlation(self) -> float:
        """Mean over pairs."""
        return _pair_mean(self.correlations)

    @property
    def kohavi_wolpert(self) -> float:
        """Variance of being right among members, the mean of rows; (M-1)/2M of the disagreement."""
        return self._mean(self.right_shares * (1.0 - self.right_shares))

    @property
    def kappa(self) -> float:
        """Interrater agreement beyond chance: 1 - disagreement / (2 p (1 - p)), p the accuracy."""
        by_chance = 2.0 * self.accuracy * (1.0 - self.accuracy)
        return 1.0 - self.disagreement / by_chance if by_chance > 0.0 else math.nan

    @property
    def entropy(self) -> float:
        """From 0, where members say the same, to 1, where each row divides them in half."""
        n = self.n_members
        lesser = np.minimum(self.right_shares, 1.0 - self.right_shares)
        return self._mean(lesser * n / (n - math.ceil(n / 2)))

    @property
    def difficulty(self) -> float:
        """θ: variance of the share of members that get a row right; p (1 - p) - Kohavi-Wolpert."""
        return self._mean((self.right_shares - self._mean(self.right_shares)) ** 2)

    @property
    def generalised(self) -> float:
        """1 - p(2)/p(1): chances that two members drawn are wrong, and that one is; nan: none."""
        once = 1.0 - self.accuracy
        return 1.0 - self.double_fault / once if once > 0.0 else math.nan

    @property
    def coincident_failure(self) -> float:
        """1 where never more than one member is wrong; 0 where all are or none, of each row."""
        n = self.n_members
        some = self.right_shares < 1.0
        failing = float(self.shares[some].sum())
        if not failing > 0.0:
            return 0.0
        apart = self.right_shares[some] * n / (n - 1)
        return float(apart @ self.shares[some]) / failing

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the overall measures as named columns."""
        shown = {
            "accuracy of the members": (self.accuracy, ""),
            "Q statistic": (self.q_statistic, "less"),
            "correlation": (self.correlation, "less"),
            "disagreement": (self.disagreement, "more"),
            "double fault": (self.double_fault, "less"),
            "Kohavi-Wolpert variance": (self.kohavi_wolpert, "more"),
            "interrater kappa": (self.kappa, "less"),
            "entropy": (self.entropy, "more"),
            "difficulty": (self.difficulty, "less"),
            "generalised diversity": (self.generalised, "more"),
            "coincident failure": (self.coincident_failure, "more"),
        }
        values, ways = zip(*shown.values(), strict=True)
        return {"measure": list(shown), "value": list(values), "diverse is": list(ways)}

    def title(self) -> str:
        """Say in a line what the table shows."""
        return f"Diversity of {self.n_members} members on {len(self.shares)} rows"

    def _products(self) -> tuple[FloatArray, FloatArray]:
        """Give ad and bc."""
        only = np.maximum(self.accuracies[:, np.newaxis] - self.both_right, 0.0)
        return self.both_right * self.both_wrong, only * only.T

    def _mean(self, numbers: FloatArray) -> float:
        return float(numbers @ self.shares)


def diversity(votes: Any, y: Any = None, *, sample_weight: Any = None) -> Diversity:
    """Measure how differently members err.

    Parameters
    ----------
    votes : (n_members, n_rows) labels, or booleans without y
        What members say; without y: whether they are right. Two members at least.
    y : (n_rows,) labels, optional
        The right labels.
    sample_weight : (n_rows,) numbers, optional
        How often each row counts.

    Returns
    -------
    Diversity

    References
    ----------
    Kuncheva and Whitaker (2003), Measures of diversity in classifier ensembles and their
    relationship with the ensemble accuracy, Machine Learning 51.

    Examples
    --------
    >>> rights = [[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0]]
    >>> print(diversity([[bool(right) for right in member] for member in rights]))
    Diversity of 3 members on 4 rows
    measure                     value  diverse is
    accuracy of the members       0.5
    Q statistic                     0  less
    correlation                     0  less
    disagreement                  0.5  more
    double fault                 0.25  less
    Kohavi-Wolpert variance    0.1667  more
    interrater kappa                0  less
    entropy                      0.75  more
    difficulty                0.08333  less
    generalised diversity         0.5  more
    coincident failure           0.75  more
    """
    right = _rights(votes, y)
    shares = weight_array(sample_weight, right.shape[1])
    # Rows are counted and then divided: whole numbers are exact, so that 1 is 1 and none is none.
    weights = np.ones(len(shares)) if sample_weight is None else np.asarray(sample_weight, float)
    hits = right.astype(np.float64)
    both_right, both_wrong = (_shares_of_both(one, weights) for one in (hits, 1.0 - hits))
    return Diversity(
        accuracies=both_right.diagonal().copy(),
        both_right=both_right,
        both_wrong=both_wrong,
        right_shares=hits.mean(axis=0),
        shares=shares,
    )


def _rights(votes: Any, y: Any) -> BoolArray:
    """Say which votes are right."""
    if y is not None:
        _, said, right = read_votes(votes, y, least=2)
        hits: BoolArray = said == right
        return hits
    rights = np.asarray(votes)
    check_members("votes", rights.shape, least=2)
    if rights.dtype.kind != "b":
        raise InvalidInputType(
            f"votes holds {rights.dtype} and there is no y: expected booleans, True where a member "
            "is right. Give the right labels as y, or votes == y."
        )
    return rights


def _shares_of_both(hits: FloatArray, weights: FloatArray) -> FloatArray:
    """Give for each pair of members the share of rows that both hit."""
    both: FloatArray = (hits * weights) @ hits.T
    shares: FloatArray = (both + both.T) / (2.0 * weights.sum())
    return shares


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Divide; nan by 0."""
    found = np.full_like(above, math.nan)
    np.divide(above, below, out=found, where=below > 0.0)
    return found


def _pair_mean(matrix: FloatArray) -> float:
    """Give the mean of the pairs of two members that have a number."""
    pairs = matrix[np.triu_indices(len(matrix), 1)]
    known = pairs[~np.isnan(pairs)]
    return float(known.mean()) if len(known) else math.nan
