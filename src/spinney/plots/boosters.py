"""What figures read from a fitted booster."""

import dataclasses
import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from spinney.errors import InvalidInput, InvalidParameter
from spinney.model.member_sum import MemberSum
from spinney.theory.checks import label_array, margin_array, trace_of, weight_array
from spinney.theory.trace import TRACE_ARRAYS, Trace
from spinney.typing import FloatArray, TableLike


def read_trace(given: Any) -> Trace:
    """Give the trace of a fitted booster, or the one that was given."""
    return given if isinstance(given, Trace) and len(given) else trace_of(given)


def read_distributions(fitted: Any) -> FloatArray:
    """Give the weights of rows in all rounds; (n_rounds + 1, n_rows)."""
    kept = read_trace(fitted).distributions
    if kept is None:
        raise InvalidInput(
            "The weights of the rows were not kept, only the numbers of each round: expected a "
            "booster that was fitted with store_weights=True. Fit it again."
        )
    return kept


def read_rounds(rounds: Any) -> list[int]:
    """Read numbers of rounds, which count from 1."""
    given = list(rounds) if isinstance(rounds, Iterable) else [rounds]
    for number in given:
        whole = isinstance(number, numbers.Integral) and not isinstance(number, bool)
        if not whole or number < 1:
            raise InvalidParameter(
                f"rounds holds {number!r}: expected whole numbers, 1 for the first round."
            )
    if not given:
        raise InvalidParameter("rounds is empty: expected at least one round, such as rounds=(1,).")
    return [int(number) for number in given]


def signed_weights(fitted: Any) -> FloatArray:
    """Give the weights of members in the sum; negative for one that was turned round."""
    model = fitted.model_
    weights: FloatArray = (
        model.weights if isinstance(model, MemberSum) else model.arrays["tree_weight"]
    )
    return weights


def margins_after(fitted: Any, n_rounds: int, X: TableLike, y: Any) -> FloatArray:
    """Give the margins that the booster of the first rounds has; (n_rows,)."""
    trace, model = read_trace(fitted), fitted.model_
    members_per_round = max(len(model) // len(trace), 1)
    earlier = object.__new__(type(fitted))
    vars(earlier).update(vars(fitted))
    earlier.model_ = model[: n_rounds * members_per_round]
    first = {name: getattr(trace, name)[:n_rounds] for name in TRACE_ARRAYS}
    earlier.trace_ = dataclasses.replace(trace, **first)
    return margin_array(earlier.margins(X, y))


def errors_by_round(fitted: Any, X: TableLike, y: Any, sample_weight: Any = None) -> FloatArray:
    """Give the share of rows, by weight, that the vote after each round gets wrong."""
    stages = list(fitted.staged_predict(X))
    labels = label_array(y, len(stages[0]))
    weights = weight_array(sample_weight, len(labels))
    errors = [float(weights[said != labels].sum()) for said in stages]
    # A round may have added a member for each class.
    members_per_round = max(len(errors) // len(read_trace(fitted)), 1)
    return np.array(errors[members_per_round - 1 :: members_per_round])
