"""Where values of a feature stand on an axis: numbers, dates, levels, and missing beside them."""

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.plots.canvas import Axes, plain
from spinney.typing import AnyArray, BoolArray, FloatArray

_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """Values as places on an axis."""

    places: FloatArray
    """Of each value; of missing ones to the right of all others."""
    missing: BoolArray
    kind: str
    """"numbers", "dates", "days" or "levels"."""
    levels: tuple[str, ...] = ()

    @classmethod
    def of(cls, values: AnyArray) -> "Positions":
        """Place values in the user's terms, as results of ``spinney.explain`` hold them."""
        if values.dtype.kind == "O":
            return cls._of_levels(values)
        if values.dtype.kind == "M":
            missing, kind = np.isnat(values), "dates"
            numbers = (values - np.datetime64(0, "us")) / _DAY
        elif values.dtype.kind == "m":
            missing, kind = np.isnat(values), "days"
            numbers = values / _DAY
        else:
            numbers, kind = values.astype(np.float64), "numbers"
            missing = np.isnan(numbers)
        known = numbers[~missing & np.isfinite(numbers)]
        numbers = np.clip(numbers, *_finite_ends(known))
        return cls(np.where(missing, _beside(known), numbers), missing, kind)

    @classmethod
    def _of_levels(cls, values: AnyArray) -> "Positions":
        given = values.tolist()
        missing = np.array([value is None for value in given], bool)
        different = list(dict.fromkeys(value for value in given if value is not None))
        with contextlib.suppress(TypeError):  # text and numbers have no order
            different = sorted(different)
        number = {value: place for place, value in enumerate(different)}
        places = [number.get(value, len(different)) for value in given]
        return cls(np.array(places, float), missing, "levels", tuple(map(str, different)))

    @property
    def is_levels(self) -> bool:
        """Whether values have places but no distances."""
        return self.kind == "levels"

    @property
    def missing_place(self) -> float:
        """Where missing values stand."""
        return float(self.places[self.missing][0])

    def label(self, name: Any) -> str:
        """Write the name of the feature below its axis."""
        return f"{plain(name)} (days)" if self.kind == "days" else plain(name)

    def mark(self, axis: Any) -> None:
        """Write levels, dates and "missing" at an axis."""
        if self.kind == "dates":
            axis.axis_date()
        if self.is_levels:
            texts = [plain(level, 20) for level in self.levels]
            places = list(range(len(texts)))
            if self.missing.any():
                texts, places = [*texts, "missing"], [*places, len(texts)]
            crowded = sum(map(len, texts)) > 40 and axis.axis_name == "x"
            look = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
            axis.set_ticks(places, texts, **look)

    def mark_missing(self, ax: Axes) -> None:
        """Set apart, on the axis across, the strip where missing values stand."""
        if self.missing.any() and not self.is_levels:
            here = self.missing_place
            left, right = ax.get_xlim()
            ax.set_xlim(left, right)
            if not self.missing.all():
                last = float(self.places[~self.missing].max())
                ax.set_xticks([tick for tick in ax.get_xticks() if left <= tick <= last])
                ax.axvline((here + last) / 2.0, color="#BBBBBB", linewidth=0.8)
            else:
                ax.set_xticks([])
            ax.annotate(
                "missing",
                (here, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize="small",
                color="#555555",
            )


def _finite_ends(known: FloatArray) -> tuple[float, float]:
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)


def _beside(known: FloatArray) -> float:
    low, high = _finite_ends(known)
    return high + 0.12 * ((high - low) or 1.0)
