"""Groups and times of rows, handed on to those that divide rows inside another estimator."""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from sklearn.pipeline import Pipeline

from spinney.ensembles.routing import is_routed
from spinney.typing import AnyArray

KEYS = ("groups", "time")
"""What ``fit`` of those that divide rows takes, one entry per row."""


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
    there = {name: values for name, values in keys.items() if values is not None}
    wanted = keys_wanted(member)
    last, prefix = member, ""
    while isinstance(last, Pipeline):
        name, last = last.steps[-1]
        prefix += f"{name}__"
    if not is_routed():
        _warn_of_hidden(last, [name for name in there if name not in wanted])
    return {f"{prefix}{name}": there[name] for name in wanted if name in there}


def _warn_of_hidden(member: Any, lost: Iterable[str]) -> None:
    """Warn of keys that a member hands on to nobody, though somebody in it divides rows."""
    if hasattr(member, "_keys_wanted") or not hasattr(member, "get_params"):
        return
    inside = member.get_params(deep=True).values()
    for name in lost:
        hidden = next((one for one in inside if name in keys_wanted(one)), None)
        if hidden is not None:
            warnings.warn(
                f"{type(hidden).__name__} in {type(member).__name__} divides rows, and "
                f"{type(member).__name__}.fit hands {name} on to nobody: there rows are divided as "
                f"if no {name} were given. Take it without {type(member).__name__}, or let it "
                "divide no rows.",
                UserWarning,
                stacklevel=3,
            )
