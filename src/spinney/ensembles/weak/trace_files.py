"""The trace of a booster in a file, and back."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from spinney.errors import InvalidModel
from spinney.model.model import State
from spinney.theory.trace import TRACE_ARRAYS, RoundNumbers, Trace
from spinney.typing import AnyArray


def trace_state(trace: Trace) -> State:
    """Give the trace as plain text and arrays."""
    arrays = {name: np.array(getattr(trace, name)) for name in TRACE_ARRAYS}
    if trace.distributions is not None:
        arrays["distributions"] = np.array(trace.distributions)
    return {"stop_reason": trace.stop_reason}, arrays


def trace_from(meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Trace:
    """Take back what ``trace_state`` gave, believing nothing."""
    names = set(arrays) - {"distributions"}
    kept = arrays.get("distributions")
    if (
        set(meta) != {"stop_reason"}
        or not isinstance(meta["stop_reason"], str)
        or names != set(TRACE_ARRAYS)
        or any(array.dtype != "<f8" for array in arrays.values())
        or any(arrays[name].ndim != 1 for name in names)
        or len({len(arrays[name]) for name in names}) != 1
        or not (np.isfinite(arrays["alphas"]).all() and (arrays["alphas"] >= 0).all())
        or (kept is not None and (kept.ndim != 2 or len(kept) != len(arrays["alphas"]) + 1))
    ):
        raise InvalidModel("what the estimator knows beside its model is missing or unknown")
    parts = {name: array.copy() for name, array in arrays.items()}
    return Trace(**parts, stop_reason=meta["stop_reason"])


def check_round_numbers(
    kind: type[RoundNumbers],
    parts: Mapping[str, type],
    meta: Mapping[str, Any],
    arrays: Mapping[str, AnyArray],
    n_rounds: int,
) -> None:
    """Refuse what is no trace of so many rounds."""
    if (
        {name: type(value) for name, value in meta.items()} != parts
        or set(arrays) != set(kind.ARRAYS)
        or any(array.dtype != "<f8" or array.ndim != 1 for array in arrays.values())
        or any(len(array) != n_rounds for array in arrays.values())
    ):
        raise InvalidModel("what the estimator knows beside its model is missing or unknown")
