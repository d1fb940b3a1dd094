"""An estimator as a page: what was changed, what was learnt."""

import inspect
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from spinney.errors import SpinneyError
from spinney.markup import Html, card, code, facts, fold, joined, note
from spinney.model import Model, TreeForest
from spinney.model.overview import features_html, model_facts
from spinney.model.tree_html import tree_html
from spinney.trees.words import TreeWords

_SCORES = {
    "validation_score_": "validation score",
    "oob_score_": "score out of bag",
}
_FITTED = "Fitted"
_DEEPEST = 4
"""Estimators within estimators that are unfolded one by one; deeper ones are a line of code."""


def estimator_html(estimator: Any) -> str:
    """Show an estimator: parameters that differ from their defaults first, then what it learnt."""
    return card(type(estimator).__name__, *_parts(estimator, 0), mark=_state(estimator))


def _parts(estimator: Any, level: int) -> list[str]:
    changed, others = _parameters(estimator, level)
    parts = [facts(changed) if changed else note("All parameters have their defaults.")]
    if others:
        title = f"{len(others)} parameter{'' if len(others) == 1 else 's'} as by default"
        parts.append(fold(title, facts(others)))
    model = getattr(estimator, "model_", None)
    if isinstance(model, Model):
        learnt = learnt_facts(estimator)
        parts.append(fold("what was learnt", facts(learnt), is_open=level == 0))
        parts.append(features_html(model.schema))
        if isinstance(model, TreeForest) and len(model) == 1 and hasattr(estimator, "tree_"):
            parts.append(fold("the tree", tree_html(TreeWords.of(model))))
    return parts


def learnt_facts(estimator: Any) -> dict[str, Any]:
    """Say what a fitted estimator knows: sizes, scores, and which model it is."""
    model = estimator.model_
    found: dict[str, Any] = {}
    rounds = _number_of_rounds(estimator)
    if rounds is not None:
        found["rounds"] = rounds
    found |= model_facts(model)
    fingerprint = found.pop("fingerprint", None)
    for name, words in _SCORES.items():
        score = getattr(estimator, name, None)
        if score is not None and np.size(score):
            found[words] = f"{float(np.ravel(score)[-1]):.6g}"
    reason = getattr(getattr(estimator, "trace_", None), "stop_reason", None)
    if isinstance(reason, str):
        found["ended because"] = reason
    return found if fingerprint is None else found | {"fingerprint": fingerprint}


def _number_of_rounds(estimator: Any) -> int | None:
    rounds = getattr(estimator, "n_iter_", None)
    if rounds is None:
        trace = getattr(estimator, "trace_", None)
        rounds = None if trace is None else len(trace)
    return None if rounds is None else int(rounds)


def _parameters(estimator: Any, level: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give the parameters that differ from their defaults, and the others."""
    signature = inspect.signature(type(estimator).__init__).parameters
    changed: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for name, value in estimator.get_params(deep=False).items():
        default = signature[name].default if name in signature else inspect.Parameter.empty
        (others if _is_same(value, default) else changed)[name] = _shown(value, level)
    return changed, others


def _is_same(value: Any, default: Any) -> bool:
    """Tell whether a value is written as the default is; arrays are not asked for equality."""
    return value is default or (type(value) is type(default) and repr(value) == repr(default))


def _shown(value: Any, level: int) -> Html:
    """Write a value; estimators, also in lists of names and estimators, as cards that unfold."""
    if isinstance(value, BaseEstimator) and level < _DEEPEST:
        return Html(fold(type(value).__name__, *_parts(value, level + 1), mark=_inner_state(value)))
    if isinstance(value, list | tuple) and any(_is_named_estimator(one) for one in value):
        return joined(_named(one, level) for one in value)
    return code(repr(value))


def _named(one: Any, level: int) -> Html:
    if not _is_named_estimator(one) or level >= _DEEPEST:
        return code(repr(one))
    name, estimator = one
    title = f"{name}: {type(estimator).__name__}"
    return Html(fold(title, *_parts(estimator, level + 1), mark=_inner_state(estimator)))


def _is_named_estimator(one: Any) -> bool:
    return isinstance(one, tuple) and len(one) == 2 and isinstance(one[1], BaseEstimator)


def _inner_state(estimator: Any) -> str:
    """Mark a parameter that is fitted; of others copies are fitted, so that they say nothing."""
    state = _state(estimator)
    return state if state == _FITTED else ""


def _state(estimator: Any) -> str:
    from sklearn.exceptions import NotFittedError  # noqa: PLC0415 - beside the next one
    from sklearn.utils.validation import check_is_fitted  # noqa: PLC0415 - shown only

    try:
        check_is_fitted(estimator)
    except (NotFittedError, TypeError, SpinneyError):
        return "Not fitted"
    return _FITTED
