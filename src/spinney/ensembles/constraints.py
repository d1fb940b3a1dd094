"""Constraints on trees: which way a prediction may go, and which features may meet on a path."""

import itertools
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from spinney.data.schema import FeatureSchema
from spinney.data.table import Kind
from spinney.data.target import Target
from spinney.errors import InvalidInput, nearest_names, shorten

_SIGNS = (-1, 0, 1)


def monotone_signs(
    given: Any, schema: FeatureSchema, estimator_name: str = "The estimator"
) -> tuple[int, ...] | None:
    """Read ``monotonic_cst``: 1, -1 or 0 per feature, by position or by name.

    None where nothing is constrained.
    """
    if given is None:
        return None
    if isinstance(given, Mapping):
        signs = _signs_by_name(given, schema, estimator_name)
    else:
        signs = _signs_by_position(given, schema.n_features)
    for name, kind, sign in zip(schema.names, schema.kinds, signs, strict=True):
        if sign and kind is Kind.TEXT:
            raise InvalidInput(
                f"Texts have no order, so {name!r} can have no monotonic constraint. Set "
                f"monotonic_cst of {name!r} to 0."
            )
        if sign and kind is Kind.CATEGORICAL:
            raise InvalidInput(
                "Categorical features cannot have monotonic constraints: categories have no order. "
                f"Set monotonic_cst of {name!r} to 0."
            )
    return signs if any(signs) else None


def tree_directions(given: Any, schema: FeatureSchema, target: Target) -> tuple[int, ...]:
    """Read ``monotonic_cst`` for trees of one number or two classes; none where nothing is."""
    signs = monotone_signs(given, schema)
    if signs is None:
        return ()
    n_classes = 0 if target.classes is None else len(target.classes)
    if n_classes > 2:
        raise InvalidInput(
            "Monotonicity constraints are not supported with multiclass classification: y has "
            f"{n_classes} classes. Set monotonic_cst=None, or learn one class against the others."
        )
    if n_classes == 0 and target.n_outputs > 1:
        raise InvalidInput(
            "Monotonicity constraints are not supported with multiple outputs: y has "
            f"{target.n_targets}. Set monotonic_cst=None, or learn one output at a time."
        )
    return signs


def _signs_by_name(
    given: Mapping[Any, Any], schema: FeatureSchema, estimator_name: str
) -> tuple[int, ...]:
    if not schema.names_given:
        raise InvalidInput(
            f"{estimator_name} was not fitted on data with feature names. Pass monotonic_cst as an "
            "integer array instead."
        )
    unknown = sorted(str(name) for name in given if name not in schema.names)
    if unknown:
        shown = unknown[:5] + (["..."] if len(unknown) > 5 else [])
        raise InvalidInput(
            f"monotonic_cst contains {len(unknown)} unexpected feature names: {shown}."
            f"{nearest_names(unknown[0], schema.names)}"
        )
    for name, sign in given.items():
        if not _is_sign(sign):
            raise InvalidInput(f"monotonic_cst[{name!r}] must be either -1, 0 or 1. Got {sign!r}.")
    return tuple(int(given.get(name, 0)) for name in schema.names)


def _signs_by_position(given: Any, n_features: int) -> tuple[int, ...]:
    signs = np.asarray(given, dtype=object)
    wrong = [sign for sign in signs.ravel() if not _is_sign(sign)]
    if wrong:
        raise InvalidInput(
            "monotonic_cst must be an array-like of -1, 0 or 1. Observed values: "
            f"{sorted(set(map(str, signs.ravel())))}. Give one of these per feature."
        )
    if signs.shape != (n_features,):
        raise InvalidInput(
            f"monotonic_cst has shape {signs.shape} but the input data X has {n_features} "
            "features. Give one number per feature, or a dict from names to numbers."
        )
    return tuple(int(sign) for sign in signs)


def _is_sign(sign: Any) -> bool:
    return isinstance(sign, numbers.Real) and sign in _SIGNS


def interaction_groups(
    given: Any, n_features: int, names: Sequence[str] | None = None
) -> tuple[tuple[int, ...], ...] | None:
    """Read ``interaction_cst``: groups of features that may occur together on a path.

    Features are given by position or, if the table has ``names``, by name. Those that no group
    names form one more group.

    Examples
    --------
    >>> interaction_groups("no_interactions", 3)
    ((0,), (1,), (2,))
    >>> interaction_groups([{0, 2}], 4)
    ((0, 2), (1, 3))
    >>> interaction_groups([["age", "town"]], 3, ["age", "income", "town"])
    ((0, 2), (1,))
    """
    if given is None:
        return None
    everything = range(n_features)
    if isinstance(given, str):
        words = {"no_interactions": 1, "pairwise": 2}
        if given not in words:
            raise InvalidInput(
                f"interaction_cst={given!r}: expected None, 'pairwise', 'no_interactions' or a "
                f"sequence of groups of positions or names.{nearest_names(given, words)}"
            )
        return tuple(itertools.combinations(everything, min(words[given], n_features)))
    groups = [
        tuple(sorted({_position(feature, place, n_features, names) for feature in group}))
        for place, group in enumerate(_read_groups(given))
    ]
    rest = tuple(sorted(set(everything).difference(*groups)))
    return (*groups, rest) if rest else tuple(groups)


def _read_groups(given: Any) -> list[tuple[Any, ...]]:
    example = "Write [[0, 1], [2]], or [['age', 'income'], ['town']] if X has names, for example."
    try:
        groups = list(given)
    except TypeError:
        groups = [given]
    for place, group in enumerate(groups):
        # A text is a sequence too, of its letters: never what was meant.
        # NumPy's scalar arrays say that they could be gone through, too.
        is_one = isinstance(group, str | bytes) or getattr(group, "shape", None) == ()
        if is_one or not isinstance(group, Iterable):
            raise InvalidInput(
                "Interaction constraints must be a sequence of tuples or lists, got: "
                f"interaction_cst={given!r}, where group {place} is {group!r}. {example}"
            )
    return [tuple(group) for group in groups]


def _position(feature: Any, place: int, n_features: int, names: Sequence[str] | None) -> int:
    """Find one feature of group ``place``."""
    where = f"group {place} of interaction_cst"
    if isinstance(feature, str):
        if names is None:
            raise InvalidInput(
                f"Interaction constraints: {where} names {feature!r}, but X has no feature names. "
                "Give positions, or a table with names."
            )
        if feature not in names:
            raise InvalidInput(
                f"Interaction constraints: {where} names {feature!r}, which is no feature of X."
                f"{nearest_names(feature, names)} X has {shorten(names)}."
            )
        return names.index(feature)
    is_position = isinstance(feature, numbers.Integral) and not isinstance(feature, bool)
    if not is_position or not 0 <= int(feature) < n_features:
        raise InvalidInput(
            "Interaction constraints must consist of integer indices in [0, n_features - 1] = "
            f"[0, {n_features - 1}], specifying the position of features, or of their names; got "
            f"{feature!r} in {where}. Correct or remove it."
        )
    return int(feature)
