"""Groups and times of rows, handed on to those that divide rows inside another estimator."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import sklearn
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object

from spinney.typing import AnyArray

KEYS = ("groups", "time")
"""What ``fit`` of those that divide rows takes, one entry per row."""


def is_routed() -> bool:
    """Tell whether scikit-learn routes metadata."""
    return bool(sklearn.get_config()["enable_metadata_routing"])


def keys_wanted(member: Any) -> tuple[str, ...]:
    """Say which keys ``fit`` of a member takes: ours know, and a pipeline takes its last step's.

    Examples
    --------
    >>> from spinney import BaggingClassifier, StackingClassifier
    >>> keys_wanted(StackingClassifier()), keys_wanted(BaggingClassifier(sampler="group"))
    (('groups', 'time'), ('groups',))
    """
    if isinstance(member, type):
        return ()
    if isinstance(member, Pipeline):
        return () if is_routed() else keys_wanted(member.steps[-1][1])
    wanted = getattr(member, "_keys_wanted", None)
    return () if wanted is None else tuple(wanted())


def keys_for(member: Any, keys: Mapping[str, AnyArray | None]) -> dict[str, AnyArray]:
    """Give those keys that ``fit`` of a member takes, by the names that it has for them.

    Where a member takes none, and hides somebody who would, it is warned of.
    """
    there = _there(keys)
    wanted = keys_wanted(member)
    last, prefix = member, ""
    while isinstance(last, Pipeline):
        name, last = last.steps[-1]
        prefix += f"{name}__"
    if not getattr(member, "_hands_keys_on", hasattr(member, "_keys_wanted")):
        inside = list(_inside(last))
        for name in there:
            if name not in wanted:
                _warn_of_hidden(member, inside, name)
    return {f"{prefix}{name}": there[name] for name in wanted if name in there}


def warn_of_hidden_in(owner: Any, keys: Mapping[str, Any]) -> None:
    """Warn of keys that one who divides rows by them hands on to nobody inside; told by ``fit``."""
    inside = list(_inside(owner))[1:]
    for name in _there(keys):
        _warn_of_hidden(owner, inside, name)


def _there(keys: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values for name, values in keys.items() if values is not None}


def _inside(member: Any) -> Iterator[Any]:
    """Give an estimator, and all in it."""
    yield member
    if hasattr(member, "get_params") and not isinstance(member, type):
        yield from member.get_params(deep=True).values()


def _warn_of_hidden(member: Any, inside: Iterable[Any], name: str) -> None:
    """Warn of keys that a member hands on to nobody, though somebody in it divides rows."""
    hidden = next((one for one in inside if name in keys_wanted(one)), None)
    if hidden is None or (is_routed() and _has_said(hidden, name)):
        return
    who = type(hidden).__name__
    remedy = (
        f"Say with set_fit_request({name}=...) of {who} whether it is given them."
        if is_routed()
        else f"Take it without {type(member).__name__}, or let it divide no rows."
    )
    warnings.warn(
        f"{who} in {type(member).__name__} divides rows, and {type(member).__name__}.fit hands "
        f"{name} on to nobody: there rows are divided as if no {name} were given. {remedy}",
        UserWarning,
        stacklevel=3,
    )


def _has_said(hidden: Any, name: str) -> bool:
    """Tell whether somebody said for scikit-learn's routing that he takes a key, or does not."""
    routing = get_routing_for_object(hidden)
    own = getattr(routing, "_self_request", routing)
    return own is not None and own.fit.requests.get(name) is not None
