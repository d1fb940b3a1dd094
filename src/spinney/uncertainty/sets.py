"""Sets of classes: by a threshold, adaptive, or adaptive with a price for long sets."""

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.errors import InvalidInput, InvalidParameter, nearest_names
from spinney.results import Result, read_only
from spinney.typing import AnyArray, BoolArray, FloatArray
from spinney.uncertainty.checks import (
    read_array,
    read_codes,
    read_level,
    read_probabilities,
    read_row_weights,
)
from spinney.uncertainty.quantiles import few_enough, quantile_of_groups

METHODS = ("aps", "raps", "lac")
"""How badly a class fits a row: by the classes that fit better, the same with a price for long
sets, by its probability alone."""

_GRID = 2.0**40
_TIE = 2.0**-52
"""What a place breaks ties by: all places together stay below a step of the grid."""
_MOST_PLACES = 4095
_FEW_CLASSES = 6


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PredictionSets(Result):
    """For each row a set of classes that holds its own with a probability.

    A set may be empty: no class fits the row as well as classes used to fit.

    Examples
    --------
    >>> import numpy as np
    >>> said = PredictionSets.of([[True, False], [True, True]], ["no", "yes"], 0.9)
    >>> said.sets(), said.coverage(["yes", "yes"]), said.size.tolist()
    ([['no'], ['no', 'yes']], 0.5, [1, 2])
    >>> print(said)
    Sets for 90 % of the classes of 2 rows, mean size 1.5
    set      size
    no          1
    no, yes     2
    """

    members: BoolArray
    """(n_rows, n_classes): whether the set of the row holds the class."""
    classes: AnyArray
    level: float
    """Share of the rows whose class the sets are to hold."""

    @classmethod
    def of(cls, members: Any, classes: Any, level: Any) -> "PredictionSets":
        """Join what is in the sets with the names of the classes."""
        inside, names = np.asarray(members, bool), np.asarray(classes)
        return cls(read_only(inside), read_only(names), float(level))

    def __len__(self) -> int:
        return len(self.members)

    @property
    def size(self) -> AnyArray:
        """How many classes each set holds."""
        sizes: AnyArray = self.members.sum(axis=1)
        return sizes

    @property
    def mean_size(self) -> float:
        """Mean size over rows."""
        return float(self.size.mean())

    def sets(self) -> list[list[Any]]:
        """List the classes of each row."""
        return [self.classes[row].tolist() for row in self.members]

    def covers(self, y: Any) -> BoolArray:
        """Tell for each row whether its set holds its class; one that is unknown is in no set."""
        labels = np.asarray(y)
        if labels.shape != (len(self),):
            raise InvalidInput(
                f"y has the shape {labels.shape}: expected one label for each of {len(self)} rows."
            )
        held: BoolArray = (self.members & (labels[:, np.newaxis] == self.classes)).any(axis=1)
        return held

    def coverage(self, y: Any, sample_weight: Any = None) -> float:
        """Give the share of rows whose set holds their class."""
        weights = read_row_weights(sample_weight, len(self))
        return float(np.average(self.covers(y), weights=weights))

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the set of each row, as text, and its size."""
        texts = [", ".join(map(str, some)) for some in self.sets()]
        return {"set": texts, "size": self.size.tolist()}

    def title(self) -> str:
        """Say in a line what the table shows."""
        return (
            f"Sets for {100 * self.level:g} % of the classes of {len(self)} rows, mean size "
            f"{self.mean_size:.4g}"
        )


@dataclass(frozen=True, slots=True)
class SetScore:
    """How badly a class fits a row, from the probabilities of all classes.

    "aps" adds up the probabilities of the classes that come before it, those that are likelier (of
    equals the first). So the likeliest class scores 0 and is in every set that one model makes
    without draws, and classes follow in their order until those before them hold too much. Classes
    for which nothing is left, of which votes of trees know many, all score 1; of them the one with
    fewer before it is less bad (by a millionth of a millionth).

    Coverage does not hang on how good a score is. Put the n calibration rows and a new one in the
    order of the scores of their own classes: if the n + 1 rows are exchangeable and the score is a
    function of a row and its class alone, all places are as likely, and the new one is among the
    ⌈level (n + 1)⌉ least with a probability of ``level`` at least. Where rows tie, the k-th
    smallest score of the first n still covers all that tie with it. So ties cost no coverage, they
    only make sets larger, and breaking them by a function of the row and the class gives smaller
    sets with the same promise.
    """

    method: str = "aps"
    penalty: float = 0.1
    """Of "raps": what each class beyond the first ``free`` costs."""
    free: int = 1
    including: bool = False
    """Of "aps" and "raps": whether a class counts its own probability as well, with nothing that
    breaks ties. Older files were calibrated so; then sets may be empty where a row is sure, and
    hold all classes where more than 1 - level of the calibration rows tie at 1."""

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            hint = nearest_names(str(self.method), METHODS)
            raise InvalidParameter(
                f"method={self.method!r}: expected one of {', '.join(map(repr, METHODS))}.{hint}"
            )
        if not _is_real(self.penalty) or not 0 <= self.penalty < float("inf"):
            raise InvalidParameter(f"penalty={self.penalty!r}: expected a number of at least 0.")
        if not _is_real(self.free) or self.free != int(self.free) or self.free < 0:
            raise InvalidParameter(f"free={self.free!r}: expected a whole number of at least 0.")
        if not isinstance(self.including, bool | np.bool_):
            raise InvalidParameter(f"including={self.including!r}: expected True or False.")

    def __call__(self, probabilities: FloatArray, draws: FloatArray | None = None) -> FloatArray:
        """Score all classes of all rows; the last axis is that of classes.

        With ``draws``, numbers from 0 to 1 for each row, a class counts that share of its own
        probability too: sets cover what they promise, and no more.
        """
        if self.method == "lac":
            return _on_grid(1.0 - probabilities)
        few = probabilities.shape[-1] <= _FEW_CLASSES
        mass, places = (_by_pairs if few else _by_order)(probabilities)
        if draws is not None:
            mass = mass + probabilities * draws[..., np.newaxis]
        elif self.including:
            mass = mass + probabilities
        if self.method == "raps":
            mass = mass + self.penalty * np.maximum(places - self.free, 0)
        if self.including:
            return _on_grid(mass)
        ties: FloatArray = _TIE * np.minimum(places - 1, _MOST_PLACES)
        return _on_grid(mass) + ties

    def of_labels(
        self, probabilities: FloatArray, codes: AnyArray, draws: FloatArray | None = None
    ) -> FloatArray:
        """Score the class each row has; (n_rows,)."""
        scores: FloatArray = self(probabilities, draws)[np.arange(len(codes)), codes]
        return scores


def set_scores(
    probabilities: Any,
    y: Any,
    *,
    method: str = "aps",
    penalty: float = 0.1,
    free: int = 1,
    draws: Any = None,
) -> FloatArray:
    """Score how badly the class of each row fits what was predicted.

    Parameters
    ----------
    probabilities : (n, n_classes) numbers
        Predictions for rows that were not learnt from.
    y : n integers
        The column of each row's class.
    method : {"aps", "raps", "lac"}
        "aps" adds up the probabilities of the classes that are likelier; "raps" adds ``penalty``
        for the class and each before it beyond the first ``free``; "lac" is 1 minus the probability
        of the class. ``SetScore`` says more.
    penalty, free : float, int
        Of "raps".
    draws : n numbers from 0 to 1, optional
        Randomised "aps" and "raps": a class counts that share of its own probability too.

    Returns
    -------
    (n,) array

    References
    ----------
    Sadinle, Lei & Wasserman (2019), JASA 114 (lac); Romano, Sesia & Candès (2020), NeurIPS (aps);
    Angelopoulos, Bates, Malik & Jordan (2021), ICLR (raps).

    Examples
    --------
    >>> set_scores([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]], [0, 2])
    array([0.  , 0.75])
    """
    given = read_probabilities(probabilities)
    codes = read_codes(y, len(given), given.shape[1])
    return SetScore(method, penalty, free).of_labels(given, codes, _read_draws(draws, len(given)))


def conformal_sets(
    probabilities: Any,
    scores: Any,
    level: Any,
    *,
    classes: Any = None,
    score: SetScore | None = None,
    score_classes: Any = None,
    draws: Any = None,
    sample_weight: Any = None,
) -> PredictionSets:
    """Put into each row's set the classes that fit as well as those of calibration rows did.

    Parameters
    ----------
    probabilities : (m, n_classes) numbers
        Predictions for new rows.
    scores : n numbers
        ``set_scores`` of calibration rows.
    level : float
        Coverage is at least this.
    classes : n_classes labels, optional
        Names of the classes; their numbers if not given.
    score : SetScore, optional
        How ``scores`` were made; "aps" if not given.
    score_classes : n integers, optional
        Classes of the calibration rows: coverage is then promised for each class by itself.
    draws : m numbers from 0 to 1, optional
        For scores that were made with draws.
    sample_weight : n numbers, optional
        Weights of the calibration rows; k counts as the row k times.

    Returns
    -------
    PredictionSets

    Examples
    --------
    >>> scores = set_scores([[0.7, 0.3], [0.6, 0.4], [0.4, 0.6]], [0, 0, 1])
    >>> conformal_sets([[0.5, 0.5], [0.9, 0.1]], scores, 0.75).sets()
    [[0], [0]]
    """
    given = read_probabilities(probabilities)
    known = read_array("scores", scores)
    weights = read_row_weights(sample_weight, len(known))
    n_classes = given.shape[1]
    codes = np.zeros(len(known), np.int64)
    if score_classes is not None:
        codes = read_codes(score_classes, len(known), n_classes)
    n_groups = n_classes if score_classes is not None else 1
    limits = quantile_of_groups(known, codes, n_groups, read_level(level), weights)
    own = (score or SetScore())(given, _read_draws(draws, len(given)))
    names = np.arange(n_classes) if classes is None else np.asarray(classes)
    if names.shape != (n_classes,):
        raise InvalidInput(
            f"classes has the shape {names.shape}: expected {n_classes} names, one for each column "
            "of probabilities."
        )
    return PredictionSets.of(own <= limits, names, level)


def plus_members(
    scores: FloatArray,
    left_out: FloatArray,
    level: Fraction,
    weights: FloatArray | None,
    of_class: AnyArray | None = None,
) -> BoolArray:
    """Give the sets of jackknife+ and CV+; booleans (m, n_classes).

    A class is left out where, of the training rows, too many scored lower than it does by the
    model that lacks the row (Romano, Sesia & Candès 2020). Coverage is at least 1 - 2 alpha.

    Parameters
    ----------
    scores : (n,) of the training rows, each by the model that lacks it
    left_out : (m, n, n_classes) of new rows by the same models
    level : 1 - alpha
    weights : (n,) or None
    of_class : (n,) classes of the training rows, to look at those of the same class only; or None
    """
    below = scores[np.newaxis, :, np.newaxis] < left_out
    n_classes = left_out.shape[2]
    members = np.empty((len(left_out), n_classes), bool)
    for code in range(n_classes):
        rows = slice(None) if of_class is None else of_class == code
        some = None if weights is None else weights[rows]
        there = below[:, rows, code]
        weight = there.sum(axis=1) if some is None else there @ some
        members[:, code] = few_enough(weight, level, some, there.shape[1])
    return members


def _by_order(shares: FloatArray) -> tuple[FloatArray, AnyArray]:
    """Add up the shares of the classes before each, from the largest; give its place too, from 1.

    Equal shares stand in the order of classes.
    """
    order = np.argsort(-shares, axis=-1, kind="stable")
    sums = shares * 0.0  # what is missing stays so
    np.cumsum(np.take_along_axis(shares, order, axis=-1)[..., :-1], axis=-1, out=sums[..., 1:])
    mass, places = np.empty_like(sums), np.empty(shares.shape, np.int64)
    np.put_along_axis(mass, order, sums, axis=-1)
    np.put_along_axis(places, order, np.arange(1, shares.shape[-1] + 1), axis=-1)
    return mass, places


def _by_pairs(shares: FloatArray) -> tuple[FloatArray, AnyArray]:
    """Do the same class by class, which for a few is faster than sorting each row."""
    mass = shares * 0.0  # in the same layout: classes may lie far apart, each in one piece
    places = np.ones_like(shares, dtype=np.int16)
    for own in range(shares.shape[-1]):
        for other in range(shares.shape[-1]):
            if other == own:
                continue
            ahead = shares[..., other] > shares[..., own]
            if other < own:
                ahead |= shares[..., other] == shares[..., own]
            mass[..., own] += np.where(ahead, shares[..., other], 0.0)
            places[..., own] += ahead
    return mass, places


def _on_grid(scores: FloatArray) -> FloatArray:
    """Round so that equals are equal: all classes together are 1, however they are added up."""
    return np.rint(scores * _GRID) / _GRID


def _is_real(value: Any) -> bool:
    is_bool = isinstance(value, bool | np.bool_)
    return isinstance(value, numbers.Real) and not is_bool and bool(np.isfinite(float(value)))


def _read_draws(draws: Any, n_rows: int) -> FloatArray | None:
    if draws is None:
        return None
    values = read_array("draws", draws)
    if len(values) != n_rows or values.min() < 0 or values.max() > 1:
        raise InvalidInput(f"draws: expected {n_rows} numbers from 0 to 1, one for each row.")
    return values
