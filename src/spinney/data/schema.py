"""FeatureSchema: what a model learnt about its features, and the check at predict time."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.data.categorical import apply_categorical_features
from spinney.data.compatibility import conform_column
from spinney.data.intake import read_table
from spinney.data.levels import (
    MOST_BYTES,
    Levels,
    LevelType,
    check_packed,
    pack_texts,
    unpack_texts,
)
from spinney.data.matching import match_by_name
from spinney.data.sources.frame import without_unknown_columns
from spinney.data.table import Column, Kind, Table, made_up_names
from spinney.errors import InvalidInput, InvalidModel, InvalidParameter
from spinney.typing import AnyArray, TableLike

_NUMBERS = frozenset({Kind.NUMERIC, Kind.BOOLEAN})
# The numbers of kinds, time zones and level types in files: add at the end, never change.
_KINDS = (
    *(Kind.NUMERIC, Kind.BOOLEAN, Kind.CATEGORICAL),
    *(Kind.DATE, Kind.DATETIME, Kind.DURATION),
    Kind.TEXT,
)
CATEGORICAL_CODE = _KINDS.index(Kind.CATEGORICAL)
_AWARE = (None, False, True)
_ARRAYS = {"kinds", "timezone_aware", "level_types", "level_counts"} | {
    f"{what}_{part}" for what in ("name", "level") for part in ("offsets", "text")
}
_LEVEL_TYPES = (None, LevelType.TEXT, LevelType.NUMBER, LevelType.BOOLEAN)


@dataclass(frozen=True, slots=True)
class FeatureSchema:
    """The names, kinds and levels of a model's features.

    ``levels`` has an entry per feature, None unless the feature is categorical;
    ``timezone_aware`` likewise, None unless it is a datetime.

    Examples
    --------
    >>> table = read_table([[1.0, "red"], [2.0, "blue"]])
    >>> schema, table = FeatureSchema.learn(table)
    >>> schema.conform([[5.0, "green"]]).columns[1].values
    array([-1], dtype=int32)
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    levels: tuple[Levels | None, ...]
    timezone_aware: tuple[bool | None, ...]
    names_given: bool

    @classmethod
    def learn(
        cls, table: Table, categorical_features: Any = "from_dtype"
    ) -> tuple["FeatureSchema", Table]:
        """Learn the schema of a training table; returns it with the table recoded to it."""
        columns = apply_categorical_features(table, categorical_features)
        if any(new is not old for new, old in zip(columns, table.columns, strict=True)):
            table = Table(table.n_rows, columns, names_given=table.names_given)
        schema = cls(
            table.names,
            tuple(column.kind for column in table.columns),
            tuple(column.levels for column in table.columns),
            tuple(column.timezone_aware for column in table.columns),
            table.names_given,
        )
        return schema, table

    @classmethod
    def of_names(cls, names: tuple[str, ...], *, names_given: bool) -> "FeatureSchema":
        """Describe features of which nothing but the names is known, as if they were numbers."""
        nothing = (None,) * len(names)
        return cls(names, (Kind.NUMERIC,) * len(names), nothing, nothing, names_given)

    def with_texts(self, places: Sequence[int]) -> "FeatureSchema":
        """Describe the same features, some categorical ones as texts, which have no levels."""
        kinds = [Kind.TEXT if p in places else kind for p, kind in enumerate(self.kinds)]
        levels = [None if p in places else levels for p, levels in enumerate(self.levels)]
        return replace(self, kinds=tuple(kinds), levels=tuple(levels))

    @property
    def n_features(self) -> int:
        """How many features the model has."""
        return len(self.names)

    def feature_names_in(self) -> AnyArray | None:
        """Give scikit-learn's ``feature_names_in_``; None when fitted without names."""
        return np.array(self.names, dtype=object) if self.names_given else None

    def conform(
        self,
        X: TableLike,
        *,
        unseen: str = "missing",
        extra: str = "error",
        estimator_name: str = "the model",
        unseen_code: int = -1,
    ) -> Table:
        """Bring a table to predict on into the shape of the training table.

        Features are matched by name if both tables have names, else by position. Categories are
        recoded to the model's levels; ``unseen`` says what becomes of those that are not among
        them, ``extra`` what becomes of columns the model does not know. Unseen categories that are
        let in get the code ``unseen_code``; every negative one means missing to trees.
        """
        if unseen not in {"missing", "error"} or extra not in {"error", "ignore"}:
            raise InvalidParameter(
                f"unseen={unseen!r}, extra={extra!r}: expected unseen='missing' or 'error', and "
                "extra='error' or 'ignore'."
            )
        if extra == "ignore" and self.names_given:
            X = without_unknown_columns(X, self.names)
        table = read_table(X)
        columns = self._matched(table, extra, estimator_name)
        if columns is None:
            if table.matrix is not None and set(self.kinds) <= _NUMBERS:
                return table  # nothing to recode: hand the whole matrix over
            columns = table.columns
        conformed = [
            conform_column(
                column, self.feature(place), table.n_rows, unseen=unseen, unseen_code=unseen_code
            )
            for place, column in enumerate(columns)
        ]
        return Table(table.n_rows, conformed, names_given=self.names_given)

    def _matched(self, table: Table, extra: str, estimator_name: str) -> Sequence[Column] | None:
        """Give the columns in the order of the features; None if they already are."""
        if self.names_given and table.names_given:
            if table.names == self.names:
                return None
            return match_by_name(table, self.names, ignore_extra=extra == "ignore")
        if table.n_features != self.n_features:
            raise InvalidInput(
                f"X has {table.n_features} features, but {estimator_name} is expecting "
                f"{self.n_features} features as input. Pass the columns used in fit."
            )
        if self.names_given:
            _warn(
                f"X does not have valid feature names, but {estimator_name} was fitted with "
                "feature names"
            )
        elif table.names_given:
            _check_picked_columns(table.names, estimator_name)
            _warn(f"X has feature names, but {estimator_name} was fitted without feature names")
        return None

    def feature(self, place: int) -> Column:
        """Describe one feature as a column without values."""
        return Column(
            self.names[place],
            self.kinds[place],
            np.empty(0),
            self.levels[place],
            timezone_aware=self.timezone_aware[place],
        )

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Give the schema as plain JSON values and arrays, for a model file.

        What there is per feature is in arrays, because the header of a file is bounded.
        """
        present = [levels for levels in self.levels if levels is not None]
        counts = [0 if levels is None else len(levels) for levels in self.levels]
        name_offsets, name_text = pack_texts(self.names if self.names_given else ())
        level_offsets, level_text = _joined(present)
        types = [None if levels is None else levels.type for levels in self.levels]
        arrays = {
            "kinds": _numbered(self.kinds, _KINDS),
            "timezone_aware": _numbered(self.timezone_aware, _AWARE),
            "level_types": _numbered(types, _LEVEL_TYPES),
            "name_offsets": name_offsets,
            "name_text": name_text,
            "level_counts": np.array(counts, np.uint32),
            "level_offsets": level_offsets,
            "level_text": level_text,
        }
        return {"names_given": self.names_given}, arrays

    @classmethod
    def from_state(
        cls,
        meta: Mapping[str, Any],
        arrays: Mapping[str, AnyArray],
        *,
        may_have_texts: bool = False,
    ) -> "FeatureSchema":
        """Rebuild a schema from a file, believing nothing: InvalidModel if anything is off.

        Only a model that derives features may have texts: no tree splits on one.
        """
        if not isinstance(meta, Mapping) or set(meta) != {"names_given"} or set(arrays) != _ARRAYS:
            raise InvalidModel("Schema: parts are missing or unknown.")
        given = meta["names_given"]
        if not isinstance(given, bool):
            raise InvalidModel("Schema: names_given is not true or false.")
        kinds = _read_numbered(arrays, "kinds", _KINDS)
        if not kinds:
            raise InvalidModel("Schema: no features.")
        if Kind.TEXT in kinds and not may_have_texts:
            raise InvalidModel("Schema: a text, in a model that reads none.")
        levels = _read_levels(arrays, kinds)
        aware = _read_aware(arrays, kinds)
        names = _read_names(arrays, given=given, n_features=len(kinds))
        return cls(names, kinds, levels, aware, given)


def _check_picked_columns(names: Sequence[str], estimator_name: str) -> None:
    """Refuse columns labelled by number in another order than the 0, 1, 2, … of training."""
    if sorted(names) == sorted(map(str, range(len(names)))):
        raise InvalidInput(
            f"X has its columns in the order {', '.join(names[:10])}, but {estimator_name} was "
            "fitted on columns 0, 1, 2, … Pass them in that order."
        )


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)


def _joined(levels: Sequence[Levels]) -> tuple[AnyArray, AnyArray]:
    """Lay the storage of several features end to end."""
    sizes = [len(one.text) for one in levels]
    starts = np.cumsum([0, *sizes])
    if starts[-1] > MOST_BYTES:
        raise InvalidInput(f"The categories of X take {starts[-1]} bytes; a model holds 4 GiB.")
    shifted = [one.offsets[:-1] + start for one, start in zip(levels, starts, strict=False)]
    offsets = np.concatenate([*shifted, starts[-1:]]).astype(np.uint32)
    text = np.concatenate([one.text for one in levels] or [np.empty(0, np.uint8)])
    return offsets, text


def _numbered(values: Sequence[Any], known: Sequence[Any]) -> AnyArray:
    return np.array([known.index(value) for value in values], np.uint8)


def _read_numbered(
    arrays: Mapping[str, AnyArray], key: str, known: Sequence[Any]
) -> tuple[Any, ...]:
    numbers = _array(arrays, key)
    if numbers.dtype != np.uint8 or numbers.max(initial=0) >= len(known):
        raise InvalidModel(f"Schema: {key} holds a number that stands for nothing.")
    return tuple(known[number] for number in numbers.tolist())


def _array(arrays: Mapping[str, AnyArray], key: str) -> AnyArray:
    value = arrays.get(key)
    if not isinstance(value, np.ndarray) or value.ndim != 1:
        raise InvalidModel(f"Schema: {key} is not a vector.")
    return value


def _read_aware(arrays: Mapping[str, AnyArray], kinds: tuple[Kind, ...]) -> tuple[bool | None, ...]:
    aware = _read_numbered(arrays, "timezone_aware", _AWARE)
    if len(aware) != len(kinds):
        raise InvalidModel("Schema: timezone_aware does not have one entry per feature.")
    for kind, value in zip(kinds, aware, strict=True):
        if (kind is Kind.DATETIME) != isinstance(value, bool):
            raise InvalidModel("Schema: timezone_aware contradicts the kinds.")
    return aware


def _read_names(arrays: Mapping[str, AnyArray], *, given: bool, n_features: int) -> tuple[str, ...]:
    names = unpack_texts(_array(arrays, "name_offsets"), _array(arrays, "name_text"))
    if not given:
        if names:
            raise InvalidModel("Schema: names where there should be none.")
        return made_up_names(n_features)
    if len(names) != n_features or len(set(names)) != n_features:
        raise InvalidModel("Schema: the names are not one per feature, or not all different.")
    return tuple(names)


def _read_levels(
    arrays: Mapping[str, AnyArray], kinds: tuple[Kind, ...]
) -> tuple[Levels | None, ...]:
    types = _read_numbered(arrays, "level_types", _LEVEL_TYPES)
    counts = _array(arrays, "level_counts")
    offsets, text = _array(arrays, "level_offsets"), _array(arrays, "level_text")
    check_packed(offsets, text)
    if counts.dtype != np.uint32 or not len(types) == len(counts) == len(kinds):
        raise InvalidModel("Schema: level_types and level_counts must have one entry per feature.")
    ends = np.cumsum(counts, dtype=np.uint64).tolist()
    if ends[-1] != len(offsets) - 1:
        raise InvalidModel("Schema: level_counts contradict level_offsets.")
    levels: list[Levels | None] = []
    for kind, level_type, count, end in zip(kinds, types, counts.tolist(), ends, strict=True):
        if (kind is Kind.CATEGORICAL) != (level_type is not None):
            raise InvalidModel("Schema: level_types contradict the kinds.")
        if level_type is None:
            if count:
                raise InvalidModel("Schema: a feature that is not categorical has levels.")
            levels.append(None)
            continue
        own = offsets[end - count : end + 1]
        levels.append(Levels.from_storage(level_type, own - own[0], text[own[0] : own[-1]]))
    return tuple(levels)
