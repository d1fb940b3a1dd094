"""What "auto" becomes: a few rules by rows, features and what ``fit`` was given.

Whoever gives ``max_iter`` has decided, and everything else that is "auto" is what is usual then.
Otherwise rounds are chosen by rows that were not learnt from, and the other settings are those of
a slow, sampled, shrunken sum that needs such a choice. The numbers were chosen on real tables:
docs/development/decisions/0024-what-the-default-does.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.data.keys import read_codes
from spinney.ensembles.fitting import Reading
from spinney.ensembles.gradient.fold_curve import Pace
from spinney.ensembles.gradient.given import Given, holds_rows_out, stops_by_folds
from spinney.ensembles.gradient.rules import AUTO, AUTOMATIC, AUTOMATIC_RULES
from spinney.errors import InvalidInput, InvalidModel
from spinney.resampling.folds import most_folds
from spinney.resampling.keys import read_ranks
from spinney.resampling.row_sampling import CHOOSING_SAMPLERS
from spinney.results import Result
from spinney.typing import IntArray

FEWEST_ROWS = 100
"""Below this many rows a fold tests so few that rounds would be chosen by chance."""
MOST_FOLDED, MOST_FOLDED_TREES = 5_000, 20_000
"""Up to so many rows, and rows times trees per round, five folds; beyond, one part of the rows is
enough to choose rounds by, and takes a quarter of the time."""
N_FOLDS = 5
"""Folds that choose rounds; of a large table, one of them."""
RIVALS: Sequence[Mapping[str, Any]] = (
    {"max_leaf_nodes": 8, "max_features": 0.34},
    {"max_leaf_nodes": 31, "max_features": 0.6},
    {"max_leaf_nodes": 100, "max_features": 0.6},
)
"""Trees for noise, and trees for more and more detail: folds tell how far a table needs to go."""
MOST_ROUNDS, MOST_TREES, FEWEST_ROUNDS = 500, 1_000, 200
"""Folds take no more rounds than the first, no more trees than the second, unless the rounds are
fewer than the last."""
FOLD_RATE = 0.1
"""Learning rate of folds, where that of the model is smaller: they need a fraction of the time."""
FURTHER = 1.25
"""So many times as far from all rows, by short steps, as from some of them, by long ones."""

USUAL: Mapping[str, Any] = {
    "max_iter": 100,
    "learning_rate": 0.1,
    "max_leaf_nodes": 31,
    "min_samples_leaf": 20,
    "l2_regularization": 0.0,
    "subsample": 1.0,
    "max_features": 1.0,
    "cv": N_FOLDS,
    "n_iter_no_change": 10,
}
"""What other libraries do: nothing is drawn, so that a weight is a repetition to the last bit."""
_SLOW: Mapping[str, Any] = {
    "max_iter": 2_000,
    "learning_rate": 0.025,
    "max_leaf_nodes": 16,
    "min_samples_leaf": 5,
    "l2_regularization": 1.0,
    "subsample": 0.75,
    "max_features": 0.4,
    "cv": N_FOLDS,
    "n_iter_no_change": 20,
}
_WATCHED: Mapping[str, Any] = {**_SLOW, "learning_rate": 0.05, "n_iter_no_change": 40}
_FEW: Mapping[str, Any] = {
    **USUAL,
    "learning_rate": 0.05,
    "max_leaf_nodes": 8,
    "min_samples_leaf": 5,
    "l2_regularization": 1.0,
}
SCHEMES: Mapping[str, str] = {
    "given": "rounds are not chosen, so the others are what is usual",
    "few": "few rows: no folds and no draws, small slow trees",
    "folds": "folds choose the rounds, which are then learnt from all rows",
    "part": "a part of the rows chooses the rounds, which are then learnt from all rows",
    "watched": "rows that are held out choose the rounds",
}
"""What decides the number of rounds, by name."""


_VALUES = {"given": USUAL, "few": _FEW, "folds": _SLOW, "part": _SLOW, "watched": _WATCHED}


@dataclass(frozen=True, slots=True)
class AutomaticSettings(Result):
    """What the parameters that were "auto" became."""

    scheme: str
    """What decided the number of rounds, a key of ``SCHEMES``."""
    n_rows: int
    """Rows that were learnt from, as often as whole weights repeat them."""
    n_features: int
    values: Mapping[str, Any]
    """By parameter; of ``max_iter`` the rounds there are."""

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give parameters and values."""
        return {
            "parameter": list(self.values),
            "value": [_told(value) for value in self.values.values()],
        }

    def title(self) -> str:
        """Say what decided."""
        return f"{self.n_rows} rows, {self.n_features} features: {SCHEMES[self.scheme]}"

    def with_values(self, values: Mapping[str, Any]) -> "AutomaticSettings":
        """Tell what was chosen later, of parameters that are chosen."""
        known = {name: values.get(name, value) for name, value in self.values.items()}
        return replace(self, values=known)

    def rivals(self, *, has_statistics: bool = False) -> list[dict[str, Any]]:
        """Give the sizes of trees that folds are to choose from; one entry if it is given.

        Statistics of many levels are weak one by one, and the smallest trees do not join them.
        """
        if self.scheme not in ("folds", "part") or "max_leaf_nodes" not in self.values:
            return [{}]
        sizes = RIVALS[1:] if has_statistics else RIVALS
        return [{name: rival[name] for name in rival if name in self.values} for rival in sizes]

    def pace(self, learning_rate: float) -> Pace:
        """Say how folds go: as given, or with steps that are no shorter than ``FOLD_RATE``."""
        if self.scheme not in ("folds", "part"):
            return Pace()
        return Pace(max(FOLD_RATE / learning_rate, 1.0), FURTHER)

    def to_state(self) -> dict[str, Any]:
        """Give what a file keeps."""
        values = dict(self.values)
        sizes = {"rows": self.n_rows, "features": self.n_features}
        return {"scheme": self.scheme, **sizes, "values": values}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "AutomaticSettings":
        """Take back what a file kept, believing nothing."""
        types = {"scheme": str, "rows": int, "features": int, "values": dict}
        if (
            {name: type(value) for name, value in state.items()} != types
            or state["scheme"] not in SCHEMES
            or min(state["rows"], state["features"]) < 0
            or not all(_may_be(name, value) for name, value in state["values"].items())
        ):
            raise InvalidModel("what parameters that were 'auto' became is missing or unknown")
        return cls(state["scheme"], state["rows"], state["features"], state["values"])

    def applied(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Put values in place of every "auto" that there is still."""
        found = dict(params)
        for name, value in self.values.items():
            if is_auto(found.get(name)):
                found[name] = value
        return found


NOTHING_CHOSEN = AutomaticSettings("given", 0, 0, {})
"""Of estimators whose parameters are all given."""


def is_auto(value: Any) -> bool:
    """Tell whether a parameter is to be chosen."""
    return isinstance(value, str) and value == AUTO


def _may_be(name: str, value: Any) -> bool:
    """Tell whether a parameter may have become this."""
    if name not in AUTOMATIC or is_auto(value) or isinstance(value, list | dict):
        return False
    return type(value) is int if name == "cv" else AUTOMATIC_RULES[name].accepts(value)


def choose_settings(
    params: Mapping[str, Any], given: Given, reading: Reading, n_outputs: int
) -> AutomaticSettings:
    """Choose a value for every parameter that is "auto"."""
    n_rows, n_features = counted_rows(reading), reading.schema.n_features
    scheme = _scheme(params, given, n_rows, n_outputs, is_scattered=_is_scattered(reading))
    values = dict(_VALUES[scheme])
    stops = {"folds": "cv", "part": "part", "watched": True}
    values["early_stopping"] = stops.get(scheme, given.X_val is not None)
    if scheme in ("folds", "part"):
        values["max_iter"] = max(min(MOST_ROUNDS, MOST_TREES // n_outputs), FEWEST_ROUNDS)
        if is_auto(params["cv"]):
            values["cv"] = _folds_there_are(given, reading)
    if n_rows < FEWEST_ROWS:
        values["subsample"] = 1.0  # too few to leave some out, and weights stay repetitions
    if params["sampler"] in CHOOSING_SAMPLERS:
        values["subsample"] = _SLOW["subsample"]  # whoever names such a sampler wants a share
    chosen = {name: values[name] for name in AUTOMATIC if is_auto(params[name])}
    return AutomaticSettings(scheme, n_rows, n_features, chosen)


def may_divide_rows(params: Mapping[str, Any]) -> bool:
    """Tell whether rows may be divided to choose the number of rounds, by groups or times."""
    if stops_by_folds(params) or holds_rows_out(params):
        return True
    return is_auto(params["early_stopping"]) and _chooses_rounds(params)


def _chooses_rounds(params: Mapping[str, Any]) -> bool:
    wish = params["early_stopping"]
    return bool(is_auto(params["max_iter"]) and not params["warm_start"] and wish)


def _folds_there_are(given: Given, reading: Reading) -> int:
    """Give the usual number of folds, or fewer where groups or times do not make so many."""
    groups, time = given.fold_keys(reading)
    n_rows = len(reading.y)
    if groups is not None:
        groups = read_codes(groups, n_rows, "groups")
        _check_several(groups, "groups")
    if time is not None:
        time = read_ranks(time, n_rows)
        _check_several(time, "time")
    return most_folds(N_FOLDS, groups, time)


def _check_several(codes: IntArray, name: str) -> None:
    if not codes.any():
        raise InvalidInput(
            f"{name} has the same entry in all {len(codes)} rows, so no fold can test what it has "
            f"not learnt from. Leave {name} out, or set early_stopping=False."
        )


def counted_rows(reading: Reading) -> int:
    """Count rows as often as whole weights repeat them; other weights repeat nothing."""
    weights = reading.weights
    if weights is None or (weights % 1.0 != 0.0).any():
        return len(reading.y)
    return int(reading.total_weight)


def _is_scattered(reading: Reading) -> bool:
    """Tell whether no class has enough rows for every fold to have one."""
    if reading.target.classes is None:
        return False
    return int(np.bincount(reading.y.astype(np.int64).reshape(-1)).max()) < N_FOLDS


def _scheme(
    params: Mapping[str, Any], given: Given, n_rows: int, n_outputs: int, *, is_scattered: bool
) -> str:
    wish = params["early_stopping"]
    if not _chooses_rounds(params):
        return "given"
    if given.X_val is not None or not isinstance(wish, str):
        return "watched"
    if wish == "part":
        return "part"
    if wish == "cv" or not is_auto(params["cv"]):
        return "folds"
    is_large = n_rows > MOST_FOLDED or n_rows * n_outputs > MOST_FOLDED_TREES
    if given.groups is not None or given.time is not None:
        return "part" if is_large else "folds"
    if n_rows < FEWEST_ROWS or is_scattered:
        return "few"
    return "part" if is_large else "folds"


def _told(value: Any) -> str:
    if value is None:
        return "no limit"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
