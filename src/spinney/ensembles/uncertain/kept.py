"""What a calibrated ensemble keeps of the rows it was calibrated with: a score for each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.errors import InvalidModel
from spinney.model.model import State
from spinney.results import Result, read_only
from spinney.typing import AnyArray, FloatArray
from spinney.uncertainty.checks import read_level
from spinney.uncertainty.quantiles import quantile_of_groups
from spinney.uncertainty.sets import METHODS, SetScore

SOURCES = ("held_out", "out_of_bag")
_LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
_ARRAYS = {"scores": "<f8", "weights": "<f8", "codes": "<i4"}
_ADDING = ("aps", "raps")
_MARK = "including"
"""False in files whose scores are without the class's own probability; files of old lack it."""
_UNKNOWN = "the calibration of the estimator is missing parts, or has unknown ones"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Calibration(Result):
    """Scores of rows: how badly an ensemble predicts what it has not learnt from.

    Printing it shows which score is exceeded by how few.

    Examples
    --------
    >>> import numpy as np
    >>> kept = Calibration.held_out("residual", np.arange(99.0))
    >>> kept.quantile(0.9)
    89.0
    """

    source: str
    """Where the rows are from: "held_out", or "out_of_bag" for those of ``fit``."""
    method: str
    """"residual", "quantiles", or one of the scores of sets."""
    scores: FloatArray
    """Sorted; of rows of ``fit`` in their order, NaN where there is none."""
    weights: FloatArray | None = None
    codes: AnyArray | None = None
    """Classes of the rows, if coverage is promised for each class."""
    numbers: tuple[float, float] = (0.0, 0.0)
    """Of "quantiles": which ones; of "raps": the penalty, and how many classes are free."""
    including: bool = False
    """Whether classes count their own probability, as in older files; see ``SetScore``."""

    @classmethod
    def held_out(
        cls,
        method: str,
        scores: FloatArray,
        weights: FloatArray | None = None,
        codes: AnyArray | None = None,
        numbers: tuple[float, float] = (0.0, 0.0),
        *,
        including: bool = False,
    ) -> "Calibration":
        """Keep scores whose rows do not matter any more; sorted, and without those that count 0."""
        keys = [part for part in (codes, weights, scores) if part is not None]
        order = np.lexsort(keys)  # by scores; ties by the rest, so that no order of rows is told
        if weights is not None:
            order = order[weights[order] > 0]
        first, second, third = (
            None if part is None else read_only(part[order]) for part in (scores, weights, codes)
        )
        return cls("held_out", method, np.asarray(first), second, third, numbers, including)

    def __setstate__(self, state: Sequence[Any]) -> None:
        """Take back what was pickled; those of old do not tell whether classes count their own."""
        names = [field.name for field in fields(self)]
        values = dict(zip(names, state, strict=False))
        values.setdefault("including", values["method"] in _ADDING)
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def set_score(self) -> SetScore:
        """How classes are scored."""
        return SetScore(self.method, self.numbers[0], int(self.numbers[1]), self.including)

    def known(self) -> AnyArray:
        """Give the places of the rows that have a score, and count."""
        there = ~np.isnan(self.scores)
        if self.weights is not None:
            there &= self.weights > 0
        return np.flatnonzero(there)

    def quantile(self, level: Any) -> float:
        """Give the conformal quantile of all scores; infinite if there are too few."""
        return float(self.quantiles(read_level(level), None)[0])

    def quantiles(self, level: Fraction, n_classes: int | None) -> FloatArray:
        """Give the quantile of each class, or the one of all rows."""
        rows = self.known()
        codes = np.zeros(len(rows), np.int64)
        if self.codes is not None and n_classes is not None:
            codes = self.codes[rows]
        weights = None if self.weights is None else self.weights[rows]
        n_groups = n_classes if self.codes is not None and n_classes is not None else 1
        return quantile_of_groups(self.scores[rows], codes, n_groups, level, weights)

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give quantiles of the scores."""
        found = [self.quantile(level) for level in _LEVELS]
        return {"level": list(_LEVELS), "score": found}

    def title(self) -> str:
        """Say in a line what the table shows."""
        where = "held out" if self.source == "held_out" else "out of bag"
        return f"Calibrated by {self.method} with {len(self.known())} rows {where}"

    # files

    def to_state(self) -> State:
        """Take it apart into plain text and arrays."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        there = {
            name: np.asarray(array, _ARRAYS[name])
            for name, array in arrays.items()
            if array is not None
        }
        meta: dict[str, Any] = {
            "source": self.source,
            "method": self.method,
            "numbers": list(self.numbers),
        }
        if self.method in _ADDING and not self.including:
            meta[_MARK] = False
        return meta, there

    @classmethod
    def from_state(cls, meta: Any, arrays: Mapping[str, AnyArray]) -> "Calibration":
        """Take back what ``to_state`` gave, believing nothing."""
        scores = arrays.get("scores")
        if not _is_plain(meta) or scores is None or not set(arrays) <= set(_ARRAYS):
            raise InvalidModel(_UNKNOWN)
        weights, codes = arrays.get("weights"), arrays.get("codes")
        if (
            any(array.dtype != _ARRAYS[name] for name, array in arrays.items())
            or any(array.shape != scores.shape for array in arrays.values())
            or scores.ndim != 1
            or np.isinf(scores).any()
            or np.isnan(scores).all()
            or (meta["source"] == "held_out" and np.isnan(scores).any())
            or (weights is not None and not _are_weights(weights))
            or (codes is not None and codes.min(initial=0) < 0)
        ):
            raise InvalidModel(_UNKNOWN)
        own, counts, kinds = (
            None if part is None else read_only(part.copy()) for part in (scores, weights, codes)
        )
        first, second = meta["numbers"]
        numbers, method = (first, second), meta["method"]
        including = method in _ADDING and _MARK not in meta
        return cls(meta["source"], method, np.asarray(own), counts, kinds, numbers, including)


def _is_plain(meta: Any) -> bool:
    return (
        isinstance(meta, dict)
        and set(meta) - {_MARK} == {"source", "method", "numbers"}
        and (_MARK not in meta or (meta[_MARK] is False and meta["method"] in _ADDING))
        and meta["source"] in SOURCES
        and meta["method"] in ("residual", "quantiles", *METHODS)
        and isinstance(meta["numbers"], list)
        and len(meta["numbers"]) == 2
        and all(type(number) is float and math.isfinite(number) for number in meta["numbers"])
        and all(0.0 <= number <= 1e9 for number in meta["numbers"])
    )


def _are_weights(weights: FloatArray) -> bool:
    return bool(np.isfinite(weights).all() and (weights >= 0).all() and weights.any())
