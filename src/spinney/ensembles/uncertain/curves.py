"""From scores of classes to calibrated probabilities: a curve for each class, or one for all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.ensembles.uncertain.members import decisions_said, has_probabilities, shares_said
from spinney.errors import InvalidInput
from spinney.typing import AnyArray, FloatArray
from spinney.uncertainty.calibration.isotonic import isotonic_curve
from spinney.uncertainty.calibration.logistic import beta_curve, platt_curve
from spinney.uncertainty.calibration.temperature import temperature_curve
from spinney.uncertainty.calibration.venn_abers import VennAbers, merge_folds

METHODS = ("platt", "isotonic", "beta", "venn_abers", "temperature")
_FITTERS: dict[str, Any] = {
    "platt": platt_curve,
    "isotonic": isotonic_curve,
    "beta": beta_curve,
    "venn_abers": VennAbers.of,
}
_LEAST_SHARE = 1e-5
"""Shares are kept this far from 0 and 1 before logarithms: none of a few trees is not never."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassCurves:
    """Curves of one method; of two classes that of the second."""

    curves: tuple[Any, ...]
    n_classes: int
    joint: bool
    """Whether one curve takes the scores of all classes."""

    @classmethod
    def fitted(
        cls, method: str, scores: FloatArray, codes: AnyArray, weights: FloatArray | None
    ) -> "ClassCurves":
        """Fit the curves to scores (n_rows, n_classes) and the classes of the rows."""
        n_classes = scores.shape[1]
        if method == "temperature":
            curve = temperature_curve(scores, codes, sample_weight=weights)
            return cls((curve,), n_classes, joint=True)
        fit = _FITTERS[method]
        curves = tuple(
            fit(scores[:, code], codes == code, sample_weight=weights)
            for code in _classes_with_curves(n_classes)
        )
        return cls(curves, n_classes, joint=False)

    def shares(self, scores: FloatArray) -> FloatArray:
        """Give probabilities; (n_rows, n_classes), rows add up to 1."""
        if self.joint:
            return np.asarray(self.curves[0](scores))
        return self._complete(
            [
                curve(scores[:, code])
                for code, curve in zip(
                    _classes_with_curves(self.n_classes), self.curves, strict=True
                )
            ]
        )

    def bounds(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give lower and upper probabilities of Venn-Abers; (n_rows, n_classes) each."""
        pairs = [
            curve.bounds(scores[:, code])
            for code, curve in zip(_classes_with_curves(self.n_classes), self.curves, strict=True)
        ]
        if self.n_classes == 1:
            return np.ones((len(scores), 1)), np.ones((len(scores), 1))
        if self.n_classes == 2:
            ((low, high),) = pairs
            return np.column_stack([1 - high, low]), np.column_stack([1 - low, high])
        return np.column_stack([p[0] for p in pairs]), np.column_stack([p[1] for p in pairs])

    def _complete(self, columns: Sequence[FloatArray]) -> FloatArray:
        return complete(columns, self.n_classes)


def complete(columns: Sequence[FloatArray], n_classes: int) -> FloatArray:
    """Make rows of probabilities that add up to 1 of one column per curve."""
    if n_classes == 1:
        return np.ones((len(columns[0]), 1))
    if n_classes == 2:
        return np.column_stack([1.0 - columns[0], columns[0]])
    shares = np.column_stack(list(columns))
    totals = shares.sum(axis=1, keepdims=True)
    even = np.full_like(shares, 1.0 / n_classes)
    divided: FloatArray = np.divide(shares, totals, out=even, where=totals > 0)
    return divided


def merged(method: str, said: Sequence[tuple[ClassCurves, FloatArray]]) -> FloatArray:
    """Join what members say: their mean, or for Venn-Abers geometric means of both ends."""
    if len(said) == 1:
        curves, scores = said[0]
        return curves.shares(scores)
    if method != "venn_abers":
        means: FloatArray = np.mean([curves.shares(scores) for curves, scores in said], axis=0)
        return means
    n_classes = said[0][0].n_classes
    pairs = [curves.bounds(scores) for curves, scores in said]
    columns = [
        merge_folds([(low[:, code], high[:, code]) for low, high in pairs])
        for code in _classes_with_curves(n_classes)
    ]
    return complete(columns, n_classes)


def raw_scores(method: str, member: Any, X: Any, classes: AnyArray) -> FloatArray:
    """Ask a fitted classifier for what a method makes probabilities of; (n_rows, n_classes)."""
    if has_probabilities(member):
        shares = shares_said(member, X, classes)
        if method not in ("platt", "temperature"):
            return shares
        inside = np.clip(shares, _LEAST_SHARE, 1.0 - _LEAST_SHARE)
        return np.log(inside) - (np.log1p(-inside) if method == "platt" else 0.0)
    if method == "beta":
        raise InvalidInput(
            f"{type(member).__name__} has no predict_proba, and method='beta' makes probabilities "
            "of probabilities. Use method='platt' or 'isotonic'."
        )
    return decisions_said(member, X, classes)


def _classes_with_curves(n_classes: int) -> range:
    """Name the classes that have a curve: of two the second, which tells the first."""
    return range(n_classes) if n_classes != 2 else range(1, 2)
