"""Derivations of files: every part is checked against every other before it is believed."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from spinney.data.calendar import CalendarPart
from spinney.data.derivation import UNSEEN, Derivation, Derived, Rule, part_of
from spinney.data.levels import unpack_texts
from spinney.data.schema import FeatureSchema
from spinney.data.table import Kind
from spinney.data.texts import is_word
from spinney.errors import InvalidModel
from spinney.typing import AnyArray, IntArray

_BESIDES = 2
"""Entries of a table of numbers behind those of the levels: one for unseen ones, one for missing
ones, so that their codes are places from the end."""
_DATES = frozenset({Kind.DATE, Kind.DATETIME})
_ARRAYS = {
    "rule": "|u1",
    "first": "<i4",
    "second": "<i4",
    "number": "<i4",
    "table_start": "<i8",
    "tables": "<f8",
    "pairs": "<i4",
    "key_start": "<i8",
    "keys": "<i8",
}
_WORD_ARRAYS = {"word_offsets": "<u4", "word_text": "|u1"}


def read_derivation(schema: FeatureSchema, arrays: Mapping[str, AnyArray]) -> Derivation:
    """Rebuild a derivation from a file, believing nothing: InvalidModel if anything is off."""
    expected = _ARRAYS | (_WORD_ARRAYS if "word_text" in arrays else {})
    if set(arrays) != set(expected) or any(
        arrays[name].dtype != kind or arrays[name].ndim != (2 if name == "pairs" else 1)
        for name, kind in expected.items()
    ):
        raise InvalidModel("Derivation: parts are missing, unknown or of another type.")
    n = len(arrays["rule"])
    if n == 0 or any(len(arrays[name]) != n for name in ("first", "second", "number")):
        raise InvalidModel("Derivation: there is not one entry per derived feature.")
    keys = _read_keys(schema, arrays)
    tables = _pieces(arrays, "table_start", "tables", n)
    if not np.isfinite(arrays["tables"]).all():
        raise InvalidModel("Derivation: a number of a level is not finite.")
    words = iter(_read_words(arrays))
    features = []
    for place, table in enumerate(tables):
        rule, first, second, number = (
            int(arrays[name][place]) for name in ("rule", "first", "second", "number")
        )
        places = (first,) if second == -1 else (first, second)
        looks_up = rule in (Rule.TARGET, Rule.COUNT)
        word = next(words) if rule == Rule.WORD else ""
        feature = Derived(rule, places, number, table if looks_up else None, word)
        _check_feature(schema, feature, keys, len(table))
        features.append(feature)
    _check_together(features, keys)
    return Derivation(schema, features, keys)


def _read_words(arrays: Mapping[str, AnyArray]) -> list[str]:
    """Read the words that are counted, one for each feature whose rule counts one."""
    words = []
    if "word_text" in arrays:
        words = unpack_texts(arrays["word_offsets"], arrays["word_text"])
    n_counted = int((arrays["rule"] == Rule.WORD).sum())
    if len(words) != n_counted or not all(map(is_word, words)):
        raise InvalidModel("Derivation: the words that are counted are damaged.")
    return words


def _check_together(features: list[Derived], keys: Mapping[tuple[int, ...], IntArray]) -> None:
    """Refuse pairs that nothing looks up, and a word that is counted twice."""
    if {f.places for f in features if len(f.places) == 2 and f.table is not None} != set(keys):
        raise InvalidModel("Derivation: pairs of features that nothing is derived from.")
    counted = [(f.places, f.word) for f in features if f.rule == Rule.WORD]
    if len(set(counted)) < len(counted):
        raise InvalidModel("Derivation: a word is counted twice.")


def _check_feature(
    schema: FeatureSchema,
    feature: Derived,
    keys: Mapping[tuple[int, ...], IntArray],
    n_entries: int,
) -> None:
    """Refuse a feature that its rule, its places and its table tell different stories about."""
    rule, places = feature.rule, feature.places
    if not all(0 <= place < schema.n_features for place in places) or not _exists(rule):
        raise InvalidModel("Derivation: a rule or a feature that does not exist.")
    kinds = {schema.kinds[place] for place in places}
    if feature.table is None:
        n_places = 2 if rule == Rule.ELAPSED else 1
        fits = len(places) == n_places and n_entries == 0 and kinds <= _taken(rule)
    else:
        fits = kinds == {Kind.CATEGORICAL} and (len(places) == 1 or places in keys)
        if fits:
            fits = n_entries == _BESIDES + _n_known(schema, places, keys)
    if not fits or feature.number < 0 or (feature.number > 0 and rule != Rule.TARGET):
        raise InvalidModel("Derivation: a derived feature does not fit what it is made of.")


def _exists(rule: int) -> bool:
    return rule in set(Rule) or part_of(rule) is not None


def _taken(rule: int) -> frozenset[Kind]:
    """Give the kinds of features that a rule without a table is about."""
    if rule == Rule.COPY:
        return frozenset(Kind) - {Kind.TEXT}
    if rule == Rule.ELAPSED or isinstance(part_of(rule), CalendarPart):
        return _DATES
    return frozenset({Kind.TEXT})


def _n_known(
    schema: FeatureSchema, places: tuple[int, ...], keys: Mapping[tuple[int, ...], IntArray]
) -> int:
    if len(places) == 2:
        return len(keys[places])
    levels = schema.levels[places[0]]
    return 0 if levels is None else len(levels)


def _read_keys(
    schema: FeatureSchema, arrays: Mapping[str, AnyArray]
) -> dict[tuple[int, ...], IntArray]:
    pairs = arrays["pairs"]
    exist = (pairs >= 0) & (pairs < schema.n_features)
    if pairs.shape[1] != 2 or not exist.all():
        raise InvalidModel("Derivation: a pair of features that do not exist.")
    found: dict[tuple[int, ...], IntArray] = {}
    pieces = _pieces(arrays, "key_start", "keys", len(pairs))
    for (first, second), keys in zip(pairs.tolist(), pieces, strict=True):
        sizes = [_n_known(schema, (place,), {}) - UNSEEN for place in (first, second)]
        if (
            not first < second
            or (first, second) in found
            or np.any(keys[1:] <= keys[:-1])
            or (len(keys) and not 0 <= int(keys[0]) <= int(keys[-1]) < sizes[0] * sizes[1])
        ):
            raise InvalidModel("Derivation: the known pairs of levels are damaged.")
        found[first, second] = keys
    return found


def _pieces(arrays: Mapping[str, AnyArray], starts: str, values: str, n: int) -> list[AnyArray]:
    """Cut an array at its starts, of which there is one more than pieces."""
    start, whole = arrays[starts], arrays[values]
    spans = len(start) == n + 1 and start[0] == 0 and start[-1] == len(whole)
    if not spans or np.any(start[1:] < start[:-1]):
        raise InvalidModel(f"Derivation: {starts} does not divide {values}.")
    return [whole[a:b] for a, b in pairwise(start.tolist())]
