"""What one call of ``fit`` was given."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data.label_columns import rarest_classes
from spinney.data.row_keys import KEYS
from spinney.ensembles.fitting import IntakeSettings, Reading, read_rows
from spinney.ensembles.gradient.offsets import read_offset, same_presence
from spinney.ensembles.gradient.plan import policy_of
from spinney.ensembles.gradient.rows import (
    BoostingRows,
    HeldOut,
    draw_held_out,
    held_out_by_keys,
    read_held_out,
)
from spinney.errors import InvalidInput, InvalidParameter
from spinney.losses import Loss
from spinney.resampling.folds import Fold, read_folds
from spinney.resampling.keys import read_codes, read_ranks
from spinney.resampling.splitters import Folds
from spinney.typing import AnyArray, FloatArray, TableLike

AUTO_STOPPING_ROWS = 10_000
"""``early_stopping="auto"`` stops early on tables with more rows."""


def stops_by_folds(params: Mapping[str, Any]) -> bool:
    """Tell whether folds decide how many rounds there are."""
    wish = params["early_stopping"]
    return isinstance(wish, str) and wish in ("cv", "part")


def holds_rows_out(params: Mapping[str, Any]) -> bool:
    """Tell whether rounds are measured on rows of X that are not learnt from."""
    return params["early_stopping"] is True and params["validation_fraction"] is not None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Given:
    """The arguments of ``fit``, as they came."""

    X: TableLike
    y: Any
    sample_weight: Any = None
    offset: Any = None
    X_val: TableLike = None
    y_val: Any = None
    sample_weight_val: Any = None
    offset_val: Any = None
    groups: Any = None
    time: Any = None

    def check(self, params: Mapping[str, Any]) -> None:
        """Refuse arguments that contradict each other or the parameters."""
        if (self.X_val is None) != (self.y_val is None):
            here, missing = ("y_val", "X_val") if self.X_val is None else ("X_val", "y_val")
            raise InvalidInput(f"{here} is provided, but {missing} was not provided. Give both.")
        if self.X_val is None and self.sample_weight_val is not None:
            raise InvalidInput(
                "sample_weight_val is provided, but X_val and y_val are not. Give them."
            )
        same_presence(self.offset, self.offset_val, has_table=self.X_val is not None)
        by_folds = stops_by_folds(params)
        for name in KEYS:
            if getattr(self, name) is not None and not by_folds:
                self._check_key(name, params)
        if by_folds and self.X_val is not None:
            raise InvalidInput(
                "X_val and y_val are given, but early_stopping='cv' measures rounds on folds of X. "
                "Leave them out, or set early_stopping=True."
            )
        if by_folds and params["warm_start"]:
            raise InvalidParameter(
                "warm_start=True with early_stopping='cv': folds choose the number of rounds from "
                "the first one on, so there is nothing to go on with. Set one of them to False."
            )

    def _check_key(self, name: str, params: Mapping[str, Any]) -> None:
        """Refuse groups and times where no rows are divided, or rows only once by both."""
        if self.X_val is not None:
            raise InvalidInput(
                f"{name} is given, but so are X_val and y_val, and then no rows of X are divided. "
                f"Leave {name} out, or X_val and y_val."
            )
        if not holds_rows_out(params):
            fraction = " with validation_fraction=None" if params["early_stopping"] else ""
            raise InvalidInput(
                f"{name} is given, but early_stopping={params['early_stopping']!r}{fraction} "
                f"divides no rows. Leave {name} out, or set early_stopping='cv'."
            )
        if self.groups is not None and self.time is not None:
            raise InvalidInput(
                "groups and time are given, but early_stopping=True holds out the latest rows, "
                "which would divide groups. Leave one of them out, or set early_stopping='cv', "
                "whose folds know both."
            )

    def read(self, settings: IntakeSettings) -> Reading:
        """Read the training rows."""
        return read_rows(self.X, self.y, self.sample_weight, settings)

    def loss_over(
        self,
        loss: Loss,
        rows: BoostingRows,  # noqa: ARG002 - losses that compare rows look at all of them
        n_threads: int,  # noqa: ARG002
    ) -> Loss:
        """Give the loss of these rows: most losses know each row by itself."""
        return loss

    def offset_of(self, reading: Reading, n_outputs: int) -> FloatArray | None:
        """Read the offset of the rows that were kept."""
        if self.offset is None:
            return None
        offset = read_offset(self.offset, reading.n_given, n_outputs)
        return offset if reading.kept is None else np.asfortranarray(offset[reading.kept])

    def held_out(
        self,
        params: Mapping[str, Any],
        reading: Reading,
        seed: int,
        settings: IntakeSettings,
        n_outputs: int,
    ) -> tuple[bool, AnyArray | HeldOut | None]:
        """Tell whether to stop early, and give the rows that decide when, if they do not train."""
        wish = params["early_stopping"]
        if self.X_val is not None:
            if not wish:
                raise InvalidInput(
                    "X_val and y_val are passed to fit while at the same time early_stopping is "
                    "False. Nothing would look at them: set early_stopping to True or 'auto'."
                )
            rows = (self.X_val, self.y_val, self.sample_weight_val)
            held_out = read_held_out(rows, reading, policy_of(params), settings)
            if self.offset_val is not None:
                n_rows = len(held_out.y)
                offset = read_offset(self.offset_val, n_rows, n_outputs, "offset_val")
                held_out = HeldOut(held_out.table, held_out.y, held_out.weights, offset)
            return True, held_out
        if stops_by_folds(params):
            return True, None
        stops = len(reading.y) > AUTO_STOPPING_ROWS if wish == "auto" else bool(wish)
        if not stops or params["validation_fraction"] is None:
            return stops, None
        return stops, self.drawn(reading, params["validation_fraction"], seed)

    def drawn(self, reading: Reading, fraction: float, seed: int) -> AnyArray:
        """Draw the rows to validate on: whole groups, with time the latest rows."""
        groups, time = self.fold_keys(reading)
        if groups is None and time is None:
            return draw_held_out(reading, fraction, seed)
        return held_out_by_keys(reading, fraction, seed, groups=groups, time=time)

    def validation_rows(self, params: Mapping[str, Any], *, stops: bool) -> str | None:
        """Say how rows to validate on were found, a key of ``VALIDATION_ROWS``; None: are none."""
        if self.X_val is not None:
            return "given"
        if not stops or stops_by_folds(params) or params["validation_fraction"] is None:
            return None
        return "drawn" if self.groups is None and self.time is None else "by_keys"

    def folds(self, params: Mapping[str, Any], reading: Reading, seed: int) -> list[Fold]:
        """Divide the rows that were kept: by time, by groups, or by the seed, classes evenly.

        Of several labels the rare classes. If a part is enough, it is what one fold tests; in time,
        the last one.
        """
        cv, target = params["cv"], reading.target
        y: AnyArray = reading.y.reshape(len(reading.y), -1)[:, 0]
        if target.label_classes is not None:
            y = rarest_classes(reading.y)
        groups, time = self.fold_keys(reading)
        if time is None and isinstance(cv, int | np.integer) and cv >= 2:
            # Where the rarest classes of all rows are too rare, there is nothing to divide evenly.
            is_even = target.label_classes is None or np.bincount(y).max() >= cv
            stratified = target.has_classes and bool(is_even)
            cv = Folds(int(cv), stratified=stratified, random_state=seed)
        mask = None
        if reading.kept is not None:
            mask = np.zeros(reading.n_given, bool)
            mask[reading.kept] = True
        folds = read_folds(cv, y, groups=groups, time=time, kept=mask)
        if params["early_stopping"] == "part":
            return folds[:1] if time is None else folds[-1:]
        return folds

    def fold_keys(self, reading: Reading) -> tuple[Any, Any]:
        """Give groups and times of the rows that were kept."""
        return (
            self._kept(self.groups, reading, "groups"),
            self._kept(self.time, reading, "time"),
        )

    @staticmethod
    def _kept(labels: Any, reading: Reading, what: str) -> Any:
        if labels is None or reading.kept is None:
            return labels
        read = read_ranks if what == "time" else read_codes
        return read(labels, reading.n_given, what)[reading.kept]
