"""A sum of cubic splines of one feature each."""

import functools
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from spinney.data.schema import FeatureSchema
from spinney.data.table import Table
from spinney.data.target import Target
from spinney.errors import InvalidModel
from spinney.model.componentwise import FeatureSum, numbers_of
from spinney.model.model import Policy
from spinney.model.natural_splines import NaturalSplines
from spinney.typing import AnyArray, FloatArray, IntArray

SPLINE_ARRAYS = {
    "feature": "<i4",
    "coefficient": "<f8",
    "knot_start": "<i8",
    "knot": "<f8",
    "start": "<f8",
}
"""Arrays of the model, and their types in a file."""
MOST_KNOTS = 1000
"""Knots of a feature in a file."""


class SplineSum(FeatureSum):
    """``start + sum over members of spline(x[feature])``; missing: no term.

    The knots of feature j are ``knot[knot_start[j] : knot_start[j + 1]]``, none if no member may
    have it. Members have a coefficient for each knot of their feature, one member behind another;
    ``NaturalSplines`` says what they mean.
    """

    kind: ClassVar[str] = "splines"
    _section: ClassVar[str] = "splines"

    def __init__(
        self,
        schema: FeatureSchema,
        target: Target,
        arrays: Mapping[str, AnyArray],
        *,
        policy: Policy,
    ) -> None:
        super().__init__(schema, target, arrays, policy=policy)
        n_knots = self._count_knots()
        widths = n_knots[self.arrays["feature"]]
        if not (widths >= 2).all():
            raise InvalidModel("a spline is of a feature without knots")
        self._ends: IntArray = np.append(0, np.cumsum(widths))
        if self.arrays["coefficient"].shape != (int(self._ends[-1]),):
            raise InvalidModel("the parts of a sum of splines have different lengths")
        if not all(self._splines(int(place)).are_proper for place in np.flatnonzero(n_knots)):
            raise InvalidModel("the knots of a feature must increase")

    def _count_knots(self) -> IntArray:
        starts, knots = self.arrays["knot_start"], self.arrays["knot"]
        if starts.shape != (len(self.schema.names) + 1,) or knots.ndim != 1:
            raise InvalidModel("the parts of a sum of splines have different lengths")
        is_within = int(starts.min()) == starts[0] == 0 and int(starts.max()) == len(knots)
        n_knots: IntArray = np.diff(starts)
        if not is_within or starts[-1] != len(knots) or (n_knots < 0).any():
            raise InvalidModel("the knots of features must stand one behind another")
        if (n_knots == 1).any() or (n_knots > MOST_KNOTS).any():
            raise InvalidModel(f"a feature must have no knots, or from 2 to {MOST_KNOTS}")
        return n_knots

    def _splines(self, feature: int) -> NaturalSplines:
        starts = self.arrays["knot_start"]
        return NaturalSplines(self.arrays["knot"][starts[feature] : starts[feature + 1]])

    def __getitem__(self, index: Any) -> Any:
        chosen = range(len(self))[index]
        if not isinstance(chosen, range):
            return int(self.arrays["feature"][chosen]), self._coefficients(chosen)
        parts = [self._coefficients(place) for place in chosen]
        coefficients = np.concatenate([np.empty(0), *parts])
        return self._with({"feature": self.arrays["feature"][index], "coefficient": coefficients})

    def _coefficients(self, place: int) -> FloatArray:
        some: FloatArray = self.arrays["coefficient"][self._ends[place] : self._ends[place + 1]]
        return some

    def part(self, table: Table, feature: int, coefficients: FloatArray) -> FloatArray:
        """Give what the spline of one feature adds to each row of a table that conforms."""
        splines = self._splines(feature)
        values = splines.values(coefficients[:, np.newaxis], numbers_of(table, feature))
        return values[:, 0]

    @functools.cached_property
    def sums(self) -> dict[int, FloatArray]:
        """One spline for each feature that members have: the sum of theirs."""
        sums: dict[int, FloatArray] = {}
        with np.errstate(over="ignore", invalid="ignore"):
            for place, feature in enumerate(self.arrays["feature"].tolist()):
                sums[feature] = sums.get(feature, 0.0) + self._coefficients(place)
        return dict(sorted(sums.items()))
