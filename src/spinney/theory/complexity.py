"""How rich a class of base learners is: Rademacher complexity, exactly or bounded.

A class is given as ``("stumps", n_features)``, ``("trees", n_features, n_leaves)`` or
``("finite", n_hypotheses)``. Base learners answer -1 or 1, or numbers in between (which adds
nothing: those are mixtures).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from spinney.errors import InvalidParameter
from spinney.randomness import RowBits, Stream, seed_from
from spinney.results import Result, read_only
from spinney.theory.checks import count, inside, number_array
from spinney.typing import AnyArray, FloatArray, IntArray, RandomState

HypothesisClass: TypeAlias = tuple[Any, ...]
"""A word and the sizes that belong to it."""
_SIZES = {"stumps": ("n_features",), "trees": ("n_features", "n_leaves"), "finite": ("n",)}
_SIGNS_AT_ONCE = 500_000
"""Few enough to stay in a cache, many enough to forget what a call costs."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Complexity(Result):
    """A number that the Rademacher complexity of a class does not exceed."""

    method: str
    """"rademacher", "massart" or "vc"."""
    value: float
    n_rows: int
    failure: float = 0.0
    """Chance, over the drawn signs, that the complexity does exceed ``value``."""
    draws: FloatArray | None = None
    """Largest correlation of the class with each drawn row of signs; their mean is the estimate.

    None: the value bounds the complexity of every sample of this size, not only of these rows.
    """

    def __post_init__(self) -> None:
        if self.draws is not None:
            object.__setattr__(self, "draws", read_only(self.draws))

    @property
    def of_sample(self) -> bool:
        """Whether the number is about these rows only."""
        return self.draws is not None

    @property
    def estimate(self) -> float:
        """The mean of the draws, without slack; without draws the value."""
        return self.value if self.draws is None else float(self.draws.mean())

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the numbers in one row."""
        names = ("method", "value", "estimate", "n_rows", "failure")
        return {name: [getattr(self, name)] for name in names}

    def title(self) -> str:
        """Say in a line what the table shows."""
        about = "these rows" if self.of_sample else "any rows"
        return f"Rademacher complexity, of {about}, is at most {self.value:.4g}"


def stump_rademacher(
    X: Any, *, n_draws: int = 200, failure: float = 0.01, random_state: RandomState = 0
) -> Complexity:
    """Estimate the empirical Rademacher complexity of decision stumps, exactly for each draw.

    For signs drawn at random the best stump is found exactly, among all features, cuts between
    different values, and both polarities: sorted once, a draw costs n_rows times n_features.
    The mean of the draws exceeds its expectation, or falls short of it, by more than
    sqrt(2 ln(1 / failure) / (n_draws n_rows)) with chance ``failure`` (McDiarmid).

    Parameters
    ----------
    X : numbers of shape (n_rows, n_features), none missing
    n_draws : int
    failure : float in (0, 1)
        Chance that the value, the mean plus the slack, is too small.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    Complexity

    References
    ----------
    Bartlett, Mendelson (2002), Rademacher and Gaussian complexities, JMLR 3.

    Examples
    --------
    >>> found = stump_rademacher([[1.0], [2.0], [3.0], [4.0]], n_draws=1000)
    >>> 0.7 < found.estimate < found.value < 0.9
    True
    """
    table = number_array("X", X, n_axes=2, remedy="Stumps here have no way for missing values.")
    n_rows = len(table)
    sorts = sorted_features(table)

    chunks = _drawn_signs(n_rows, n_draws, random_state)
    draws = np.concatenate([best_stumps(signs, sorts) for signs in chunks])
    return _estimated(draws / n_rows, n_rows, failure)


def matrix_rademacher(
    answers: Any, *, n_draws: int = 200, failure: float = 0.01, random_state: RandomState = 0
) -> Complexity:
    """Estimate the empirical Rademacher complexity of hypotheses that are listed one by one.

    Parameters
    ----------
    answers : numbers in [-1, 1] of shape (n_rows, n_hypotheses)
        What each hypothesis says of each row. Opposites count only if they are listed.
    n_draws : int
    failure : float in (0, 1)
    random_state : int, Generator, RandomState or None

    Returns
    -------
    Complexity

    Examples
    --------
    >>> matrix_rademacher([[1.0, -1.0], [1.0, -1.0]], n_draws=400).estimate
    0.5...
    """
    table = number_array("answers", answers, n_axes=2, low=-1.0, high=1.0)
    n_rows = len(table)
    chunks = _drawn_signs(n_rows, n_draws, random_state)
    draws = np.concatenate([(signs.astype(np.float64) @ table).max(axis=1) for signs in chunks])
    return _estimated(draws / n_rows, n_rows, failure)


def massart_complexity(hypotheses: HypothesisClass, n_rows: int) -> Complexity:
    """Bound the Rademacher complexity by how many answers a class can give: sqrt(2 ln Π / n).

    Parameters
    ----------
    hypotheses : ("stumps", n_features), ("trees", n_features, n_leaves) or ("finite", n)
    n_rows : int

    Examples
    --------
    >>> round(massart_complexity(("stumps", 10), 2000).value, 4)
    0.1029
    """
    logs = log_growth(hypotheses, n_rows)
    return Complexity("massart", math.sqrt(2.0 * logs / n_rows), n_rows)


def vc_complexity(hypotheses: HypothesisClass, n_rows: int) -> Complexity:
    """Bound the Rademacher complexity by the VC dimension d: sqrt(2 d ln(e n / d) / n).

    Parameters
    ----------
    hypotheses : ("stumps", n_features), ("trees", n_features, n_leaves) or ("finite", n)
    n_rows : int

    Examples
    --------
    >>> round(vc_complexity(("stumps", 10), 2000).value, 4)
    0.2021
    """
    n, d = count("n_rows", n_rows), vc_dimension(hypotheses)
    # Sauer's lemma speaks of more rows than d; fewer may have all answers.
    logs = d * (1.0 + math.log(n / d)) if n > d else n * math.log(2.0)
    return Complexity("vc", math.sqrt(2.0 * logs / n), n)


def log_growth(hypotheses: HypothesisClass, n_rows: int) -> float:
    """Bound the logarithm of the number of different answers a class gives on ``n_rows`` rows.

    Stumps: a cut in one of the gaps of a feature, either way up, or none. Trees: a shape, of
    which there are Catalan's number, a feature and a cut (or none) for each node, a sign for each
    leaf; fewer leaves are among them.

    Examples
    --------
    >>> round(math.exp(log_growth(("stumps", 2), 200)))
    798
    """
    word, *sizes = _read_class(hypotheses)
    n = count("n_rows", n_rows)
    if word == "finite":
        logs = math.log(sizes[0])
    elif word == "stumps":
        logs = math.log(2 * sizes[0] * (n - 1) + 2)
    else:
        features, leaves = sizes
        inner = leaves - 1
        catalan = math.lgamma(2 * inner + 1) - math.lgamma(inner + 1) - math.lgamma(inner + 2)
        logs = inner * math.log(features * n) + catalan + leaves * math.log(2.0)
    return min(logs, n * math.log(2.0))


def vc_dimension(hypotheses: HypothesisClass) -> int:
    """Bound the VC dimension: the most rows whose 2^d labellings the growth does not rule out.

    Examples
    --------
    >>> vc_dimension(("stumps", 1)), vc_dimension(("stumps", 10)), vc_dimension(("finite", 8))
    (2, 6, 3)
    """
    _read_class(hypotheses)

    def shattered(d: int) -> bool:
        return log_growth(hypotheses, d) >= d * math.log(2.0) * (1.0 - 1e-12)

    high = 2
    while shattered(high):
        high *= 2
    low = high // 2
    while high - low > 1:  # the growth is concave in d: once too small, it stays so
        middle = (low + high) // 2
        low, high = (middle, high) if shattered(middle) else (low, middle)
    return low


def _read_class(hypotheses: Any) -> tuple[Any, ...]:
    match hypotheses:
        case (str(word), *sizes) if word in _SIZES and len(sizes) == len(_SIZES[word]):
            named = zip(_SIZES[word], sizes, strict=True)
            return (word, *(count(f"{name} of {word!r}", size) for name, size in named))
    raise InvalidParameter(
        f"hypotheses={hypotheses!r}: expected ('stumps', n_features), "
        "('trees', n_features, n_leaves) or ('finite', n_hypotheses)."
    )


def sorted_features(table: FloatArray) -> list[tuple[IntArray, IntArray]]:
    """Give the order of the rows in each feature, and after how many of them one may cut."""
    orders = [np.argsort(column, kind="stable") for column in table.T]
    columns = [column[order] for column, order in zip(table.T, orders, strict=True)]
    cuts = [np.flatnonzero(column[1:] > column[:-1]) for column in columns]
    return list(zip(orders, cuts, strict=True))


def best_stumps(signs: AnyArray, sorts: list[tuple[IntArray, IntArray]]) -> IntArray:
    """Give, for each row of signs, the largest sum of sign times answer over all stumps."""
    best: IntArray = np.max([_best_cut(signs, *sort) for sort in sorts], axis=0)
    return best


def _best_cut(signs: AnyArray, order: IntArray, cuts: IntArray) -> IntArray:
    """Do so over the stumps of one feature."""
    left = np.cumsum(np.take(signs, order, axis=1), axis=1, dtype=np.int32)
    total = left[:, -1].astype(np.int64)
    if len(cuts) < left.shape[1] - 1:
        left = left[:, cuts]  # the last of all rows is no cut, but the same as no cut at all
    high, low = left.max(axis=1, initial=0), left.min(axis=1, initial=0)
    best: IntArray = np.maximum(total - 2 * low, 2 * high - total)
    return best


def _drawn_signs(n_rows: int, n_draws: int, random_state: RandomState) -> Iterator[AnyArray]:
    """Draw rows of -1 and 1, in chunks that fit into memory; each by its own number."""
    seed, n = seed_from(random_state), count("n_draws", n_draws)
    bits = RowBits(n_rows)

    def row(draw: int) -> AnyArray:
        drawn = bits(seed, Stream.ROWS, range(draw * n_rows, (draw + 1) * n_rows))
        return ((drawn >> np.uint64(63)).astype(np.int8) << 1) - np.int8(1)

    step = max(1, _SIGNS_AT_ONCE // n_rows)
    for start in range(0, n, step):
        yield np.stack([row(draw) for draw in range(start, min(start + step, n))])


def _estimated(draws: FloatArray, n_rows: int, failure: float) -> Complexity:
    chance = inside("failure", failure, 0.0, 1.0)
    value = float(draws.mean()) + sampling_slack(len(draws), n_rows, chance)
    return Complexity("rademacher", value, n_rows, chance, draws)


def sampling_slack(n_draws: int, n_rows: int, failure: float) -> float:
    """Give what the mean of draws may fall short by, but for a chance of ``failure``.

    Examples
    --------
    >>> round(sampling_slack(200, 2000, 0.01), 4)
    0.0048
    """
    return math.sqrt(-2.0 * math.log(failure) / (n_draws * n_rows))
