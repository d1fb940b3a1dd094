"""From what one member says of a row to what it adds to the scores of an ensemble.

A member knows the classes by their shares: those of a leaf, its probabilities, or a single 1 for
the label it predicts. A form turns them into numbers that are summed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import softmax

from spinney.errors import InvalidInput
from spinney.model.elementary import log_of
from spinney.typing import AnyArray, FloatArray

LEAST_SHARE = 1e-5
"""Shares are kept this far from 0 and 1 before a logarithm is taken of them."""


@dataclass(frozen=True, slots=True)
class Form:
    """How shares of classes, (n, n_classes), become scores."""

    scores: Callable[[FloatArray], FloatArray]
    """(n, n_classes) to (n, n_scores)."""
    shares: Callable[[FloatArray], FloatArray]
    """Back from scores to shares, as far as the scores tell them."""
    asks_for_shares: bool
    """Whether probabilities are asked for, or labels are enough."""
    takes_labels: bool = True
    """Whether labels may stand in for probabilities; not where logarithms are taken of them."""


def _signs(shares: FloatArray) -> FloatArray:
    return np.where(shares[:, 1:] > shares[:, :1], 1.0, -1.0)


def _one_hot(shares: FloatArray) -> FloatArray:
    return _rows_of_ones(shares.argmax(axis=1), shares.shape[1])


def _rows_of_ones(places: AnyArray, n_classes: int) -> FloatArray:
    ones: FloatArray = np.eye(n_classes)[places]
    return ones


def _votes(shares: FloatArray) -> FloatArray:
    n_classes = shares.shape[1]
    votes = (n_classes * _one_hot(shares) - 1) / (n_classes - 1)
    return np.asarray(votes)


def _class_signs(shares: FloatArray) -> FloatArray:
    return 2 * _one_hot(shares) - 1


def _confidence(shares: FloatArray) -> FloatArray:
    return shares[:, 1:] - shares[:, :1]


def _half_log_odds(shares: FloatArray) -> FloatArray:
    second = np.clip(shares[:, 1:], LEAST_SHARE, 1 - LEAST_SHARE)
    return 0.5 * log_of(second / (1 - second))


def _log_shares(shares: FloatArray) -> FloatArray:
    logs = log_of(np.clip(shares, LEAST_SHARE, 1.0))
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


def _same(shares: FloatArray) -> FloatArray:
    return shares


def _from_difference(scores: FloatArray) -> FloatArray:
    return np.hstack([1 - scores, 1 + scores]) / 2


def _from_votes(votes: FloatArray) -> FloatArray:
    n_classes = votes.shape[1]
    return np.asarray((votes * (n_classes - 1) + 1) / n_classes)


def _from_class_signs(signs: FloatArray) -> FloatArray:
    yes = signs > 0
    return np.asarray(yes / np.maximum(yes.sum(axis=1, keepdims=True), 1))


FORMS = {
    "signs": Form(_signs, _from_difference, asks_for_shares=False),
    "one_hot": Form(_one_hot, _same, asks_for_shares=False),
    "votes": Form(_votes, _from_votes, asks_for_shares=False),
    "class_signs": Form(_class_signs, _from_class_signs, asks_for_shares=False),
    "shares": Form(_same, _same, asks_for_shares=True),
    "confidence": Form(_confidence, _from_difference, asks_for_shares=True),
    "half_log_odds": Form(
        _half_log_odds,
        lambda scores: _from_difference(np.tanh(scores)),
        asks_for_shares=True,
        takes_labels=False,
    ),
    "log_shares": Form(
        _log_shares,
        lambda scores: np.asarray(softmax(scores, axis=1)),
        asks_for_shares=True,
        takes_labels=False,
    ),
}
"""Of two classes: -1 or 1; the difference of shares; half the log-odds. Of any number: 1 for the
label; 1 for it and numbers that sum to -1 for the others; 1 for it and -1 for each other; the
shares; their centred logarithms."""


def check_width(X: Any, wanted: int, estimator_name: str) -> None:
    """Refuse a table with another number of columns; the rest is the members' affair."""
    shape = np.shape(X) if not hasattr(X, "shape") else X.shape
    if len(shape) == 2 and shape[1] != wanted:
        raise InvalidInput(
            f"X has {shape[1]} features, but {estimator_name} is expecting {wanted} features as "
            "input."
        )


def count_rows(X: Any) -> int:
    """Count the rows of a table of any kind."""
    for name in ("shape", "n_rows"):
        if hasattr(X, name):
            return int(np.ravel(getattr(X, name))[0])
    return len(X) if hasattr(X, "__len__") else len(np.asarray(X))


def check_rows(member: Any, said: AnyArray, X: Any, method: str = "predict") -> None:
    """Refuse what is not an answer for each row."""
    n_rows = count_rows(X)
    if said.ndim == 0 or len(said) != n_rows:
        raise InvalidInput(
            f"{type(member).__name__}.{method} gave an array of shape {said.shape} for {n_rows} "
            "rows; expected an answer for each row. Correct the member, or leave it out."
        )


def as_members_take(X: Any) -> Any:
    """Give a table the form that scikit-learn's estimators expect: no lists, rows of sparse ones.

    Lists of texts stay what they are; a pipeline may begin with a reader of texts.
    """
    if issparse(X):
        return X if X.format in ("csr", "csc") else X.tocsr()
    is_texts = isinstance(X, list) and len(X) > 0 and isinstance(X[0], str)
    return np.asarray(X) if isinstance(X, list) and not is_texts else X


def member_answers(
    member: Any, X: Any, classes: AnyArray, form: str, given: Mapping[str, Any] | None = None
) -> FloatArray:
    """Ask a fitted scikit-learn estimator about rows; (n_rows, n_scores).

    ``form`` is one of ``FORMS``, or "values" for a regressor; ``given`` is what the method that is
    asked takes beside the rows.
    """
    X = as_members_take(X)
    if form == "values":
        return _values(member, X)
    asked = FORMS[form]
    if not asked.takes_labels and not hasattr(member, "predict_proba"):
        raise InvalidInput(
            f"{type(member).__name__} has no predict_proba, and this booster adds logarithms of "
            "probabilities. Give another base learner, or boost its labels (variant='discrete')."
        )
    if asked.asks_for_shares:
        return asked.scores(_shares(member, X, classes, given or {}))
    return asked.scores(_labels(member, X, classes, given or {}))


def _values(member: Any, X: Any) -> FloatArray:
    values = np.asarray(member.predict(X), np.float64)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InvalidInput(
            f"{type(member).__name__}.predict gave an array of shape {values.shape} with "
            f"{np.count_nonzero(~np.isfinite(values))} numbers that are not finite; expected one "
            "finite number per row."
        )
    return values[:, np.newaxis]


def _labels(member: Any, X: Any, classes: AnyArray, given: Mapping[str, Any]) -> FloatArray:
    labels = np.asarray(member.predict(X, **given))
    if labels.ndim != 1:
        raise InvalidInput(
            f"{type(member).__name__}.predict gave an array of shape {labels.shape}; expected one "
            "label per row."
        )
    places = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    odd = np.flatnonzero(classes[places] != labels)
    if len(odd):
        raise InvalidInput(
            f"{type(member).__name__}.predict gave {labels[odd[:1]].tolist()[0]!r} for row "
            f"{odd[0]}, which is no class of y: {classes[:10].tolist()}. A base learner must "
            "predict labels it was trained on."
        )
    return _rows_of_ones(places, len(classes))


def _shares(member: Any, X: Any, classes: AnyArray, given: Mapping[str, Any]) -> FloatArray:
    if not hasattr(member, "predict_proba"):
        return _labels(member, X, classes, given)
    said = np.asarray(member.predict_proba(X, **given), np.float64)
    places = _places(member, said, classes)
    if places is None or said.min(initial=0.0) < 0 or not (abs(said.sum(axis=1) - 1) < 1e-3).all():
        raise _no_shares(member, "predict_proba", said, classes)
    shares = np.zeros((len(said), len(classes)))
    shares[:, places] = said
    return shares


def log_shares(
    member: Any, X: Any, classes: AnyArray, given: Mapping[str, Any] | None = None
) -> FloatArray:
    """Ask for logarithms of probabilities; -inf of classes that the member does not know.

    They tell apart what ``predict_proba`` rounds to 0.
    """
    with np.errstate(divide="ignore"):  # the logarithm of 0 is what it is
        said = np.asarray(member.predict_log_proba(as_members_take(X), **(given or {})), np.float64)
    places = _places(member, said, classes)
    if places is None or np.isnan(said).any():
        raise _no_shares(member, "predict_log_proba", said, classes)
    logarithms = np.full((len(said), len(classes)), -np.inf)
    logarithms[:, places] = said
    return logarithms


def _places(member: Any, said: FloatArray, classes: AnyArray) -> AnyArray | None:
    """Find the member's columns among the classes; None: they are not those."""
    known = np.asarray(getattr(member, "classes_", classes))
    places: AnyArray = np.searchsorted(classes, known).clip(max=len(classes) - 1)
    fits = said.ndim == 2 and said.shape[1] == len(known) and (classes[places] == known).all()
    return places if fits else None


def _no_shares(member: Any, method: str, said: FloatArray, classes: AnyArray) -> InvalidInput:
    known = np.asarray(getattr(member, "classes_", classes))
    what = "probabilities" if method == "predict_proba" else "logarithms of probabilities"
    return InvalidInput(
        f"{type(member).__name__}.{method} gave an array of shape {said.shape} for the classes "
        f"{known[:10].tolist()}; expected {what} of {classes[:10].tolist()} that sum to 1."
    )
