"""How good predictions are, with the intervals that resampling the rows gives."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.resampling import DrawRows, bootstrap
from spinney.typing import AnyArray, FloatArray

LARGER_IS_BETTER: Mapping[str, bool] = {
    "accuracy": True,
    "balanced_accuracy": True,
    "auc": True,
    "log_loss": False,
    "brier": False,
    "r2": True,
    "rmse": False,
    "mae": False,
}
"""Every measure there is."""
_LEAST = 1e-15
_DRAWN_ROWS = 20_000_000
"""Rows that all resamples together draw at most, unless a number of resamples is asked for."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure with its interval."""

    name: str
    value: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        """Give it for JSON."""
        return {"value": self.value, "low": self.low, "high": self.high}


class Scored:
    """Rows of known targets and what was said of them, ready to be measured and resampled.

    Parameters
    ----------
    y : codes of the classes, or numbers
    said : (n_rows, n_classes) probabilities, or numbers
    weights : how often rows count; None: once
    """

    def __init__(self, y: AnyArray, said: FloatArray, weights: FloatArray | None = None) -> None:
        self.n_rows = len(y)
        self.weights = np.ones(len(y)) if weights is None else weights
        self.names: tuple[str, ...]
        self._arrays: tuple[AnyArray, ...]
        if said.ndim == 2:
            self._read_classes(y.astype(np.int64), said)
        else:
            self.names = ("r2", "rmse", "mae")
            self._arrays = (y.astype(np.float64), said.astype(np.float64))

    def _read_classes(self, codes: AnyArray, said: FloatArray) -> None:
        is_right = (said.argmax(axis=1) == codes).astype(np.float64)
        own = said[np.arange(len(codes)), codes]
        loss = -np.log(np.clip(own, _LEAST, 1.0))
        wanted = np.eye(said.shape[1])[codes]
        brier = ((said - wanted) ** 2).sum(axis=1)
        if said.shape[1] == 2:
            brier = brier / 2
        self._strata = codes
        self.names = ("accuracy", "log_loss", "brier", "balanced_accuracy")
        ranks = np.zeros(len(codes), np.int64)
        present = np.unique(codes)
        if said.shape[1] == 2 and len(present) == 2:
            self.names += ("auc",)
            ranks = np.unique(said[:, 1], return_inverse=True)[1]
        self._arrays = (is_right, loss, brier, codes, ranks)

    def values(self) -> dict[str, float]:
        """Measure all rows."""
        found = self._statistic(*self._arrays, self.weights)
        return dict(zip(self.names, found.tolist(), strict=True))

    def intervals(
        self, *, level: float = 0.95, n_resamples: int | None = None, seed: int = 0
    ) -> list[Measured]:
        """Measure all rows, and resamples of them.

        Of classes as many rows are drawn as there are, since some measures need every class.
        """
        return self.resampled(level=level, n_resamples=n_resamples, seed=seed)[0]

    def resampled(
        self, *, level: float = 0.95, n_resamples: int | None = None, seed: int = 0
    ) -> tuple[list[Measured], dict[str, FloatArray]]:
        """Measure resamples too; with one seed those of two models are of the same rows."""
        draw: Any = "rows"
        if len(self.names) > 3:
            draw = DrawRows(strata=self._strata)
        if n_resamples is None:
            n_resamples = self.usual_resamples()
        found = bootstrap(
            self._statistic,
            *self._arrays,
            self.weights,
            draw=draw,
            method="percentile",
            level=level,
            n_resamples=n_resamples,
            random_state=seed,
        )
        rows = zip(self.names, found.estimate, found.low, found.high, strict=True)
        measured = [
            Measured(name, float(v), float(low), float(high)) for name, v, low, high in rows
        ]
        return measured, dict(zip(self.names, found.distribution.T, strict=True))

    def usual_resamples(self) -> int:
        """Say how many resamples are drawn unless a number is asked for."""
        return int(min(999, max(199, _DRAWN_ROWS // self.n_rows)))

    def _statistic(self, *arrays: AnyArray) -> FloatArray:
        *parts, weights = arrays
        total = weights.sum() or 1.0
        if len(parts) == 2:
            return _of_numbers(parts[0], parts[1], weights, total)
        is_right, loss, brier, codes, ranks = parts
        means = [float((weights * part).sum() / total) for part in (is_right, loss, brier)]
        per_class = np.bincount(codes, weights)
        right = np.bincount(codes, weights * is_right)
        means.append(float((right[per_class > 0] / per_class[per_class > 0]).mean()))
        if "auc" in self.names:
            means.append(_area(ranks, codes, weights))
        return np.array(means)


def _of_numbers(y: FloatArray, said: FloatArray, weights: FloatArray, total: float) -> FloatArray:
    off = y - said
    squares = float((weights * off**2).sum())
    spread = float((weights * (y - (weights * y).sum() / total) ** 2).sum())
    r2 = 1.0 - squares / spread if spread > 0 else float(squares == 0.0)
    return np.array([r2, np.sqrt(squares / total), (weights * np.abs(off)).sum() / total])


def _area(ranks: AnyArray, codes: AnyArray, weights: FloatArray) -> float:
    """Give the area under the ROC curve from the ranks of scores; ties count half."""
    n_ranks = int(ranks.max()) + 1
    of_first = np.bincount(ranks, weights * (codes == 0), minlength=n_ranks)
    of_second = np.bincount(ranks, weights * (codes == 1), minlength=n_ranks)
    below = np.cumsum(of_first) - of_first
    pairs = of_first.sum() * of_second.sum()
    return float((of_second * (below + of_first / 2)).sum() / pairs) if pairs else 0.5
