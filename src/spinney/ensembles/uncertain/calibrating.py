"""``calibrate``, ``predict_interval`` and ``predict_set``: of every ensemble."""

import copy
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from spinney.data.label_columns import refuse_several
from spinney.data.target import read_numbers
from spinney.data.weights import read_weights
from spinney.ensembles.uncertain.kept import Calibration
from spinney.errors import InvalidInput, InvalidModel, InvalidParameter, NotCalibrated
from spinney.model.model import State
from spinney.typing import AnyArray, FloatArray, TableLike
from spinney.uncertainty.checks import read_level
from spinney.uncertainty.intervals import PredictionIntervals
from spinney.uncertainty.sets import PredictionSets, SetScore

CALIBRATION = "calibration/"
"""What arrays of a calibration are called by in a file, before their own names."""


def _predicts_a_target(estimator: Any) -> bool:
    return estimator._task in ("classification", "regression")  # noqa: SLF001 - of this mixin


def _predicts_numbers(estimator: Any) -> bool:
    return bool(estimator._task == "regression")  # noqa: SLF001


def _predicts_classes(estimator: Any) -> bool:
    return bool(estimator._task == "classification")  # noqa: SLF001


class Calibratable:
    """An estimator that can learn from further rows how far off it is.

    What it keeps is a score per row, ``calibration_``; a new ``fit`` forgets it.
    """

    _task: ClassVar[str]
    _has_quantiles: ClassVar[bool] = False
    _check_fitted: Any
    _attributes: Any
    _adopt_attributes: Any
    predict: Any
    predict_proba: Any
    classes_: AnyArray
    calibration_: Calibration
    _calibrated_with: dict[str, Any]
    """What ``_followed`` names, as it was then."""

    @available_if(_predicts_a_target)  # type: ignore[untyped-decorator]
    def calibrate(
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        *,
        method: str | SetScore | None = None,
        by_class: bool = False,
        quantiles: tuple[float, float] | None = None,
    ) -> Self:
        """Learn how far off predictions are, from rows that ``fit`` has not seen.

        Intervals and sets then hold the targets of as many new rows as they are asked to, whatever
        the ensemble and the data are, if the rows given here and the new ones come from the same
        source. Rows that ``fit`` saw would promise too much.

        Parameters
        ----------
        X : table of n rows
        y : n numbers or labels
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent.
        method : {"aps", "raps", "lac"}, SetScore or None
            Of classifiers: "aps" (None) adds up the probabilities of the classes that are likelier,
            so that sets are large where a row is hard, and always hold the likeliest class; "raps"
            adds a price for long sets (which, says ``spinney.uncertainty.SetScore("raps", penalty,
            free)``); "lac" looks at the class's own probability: the smallest sets, some empty.
        by_class : bool
            Of classifiers: whether coverage is promised for each class by itself.
        quantiles : two floats or None
            Of a quantile forest: between which quantiles, moved as far as need be, intervals are;
            None for 0.05 and 0.95. Coverage is promised for any.

        Returns
        -------
        self
        """
        self._check_fitted()
        self._refuse_several_labels("A calibration")
        how = self._score_of_sets(method, by_class, quantiles)
        if how is None:
            self._keep(self._calibrated_numbers(X, y, sample_weight, quantiles))
            return self
        shares = self._set_shares(X)
        codes = self._class_codes(y, len(shares))
        kept = Calibration.held_out(
            how.method,
            how.of_labels(shares, codes),
            read_counts(sample_weight, len(shares)),
            codes.astype(np.int32) if by_class else None,
            (float(how.penalty), float(how.free)),
            including=bool(how.including),
        )
        self._keep(kept)
        return self

    @available_if(_predicts_numbers)  # type: ignore[untyped-decorator]
    def predict_interval(self, X: TableLike, level: float = 0.9) -> PredictionIntervals:
        """Give for each row an interval that holds its target with a probability.

        Parameters
        ----------
        X : table
        level : float
            Share of the rows whose target is to be in its interval. With n calibration rows and a
            level above n / (n + 1) intervals are infinite: so few rows cannot promise so much.

        Returns
        -------
        PredictionIntervals
            ``prediction``, ``lower``, ``upper``; with ``width``, ``coverage(y)``, ``to_frame()``.
        """
        share = read_level(level)
        return self._intervals(X, share, self._kept())

    @available_if(_predicts_classes)  # type: ignore[untyped-decorator]
    def predict_set(self, X: TableLike, level: float = 0.9) -> PredictionSets:
        """Give for each row a set of classes that holds its own with a probability.

        Parameters
        ----------
        X : table
        level : float
            Share of the rows whose class is to be in its set.

        Returns
        -------
        PredictionSets
            ``members``, (n_rows, n_classes) booleans; with ``sets()``, ``size``, ``coverage(y)``
            and ``to_frame()``. Sets by "lac" may be empty: no class fits as well as classes used
            to fit.
        """
        self._refuse_several_labels("A set of classes")
        share = read_level(level)
        members = self._set_members(X, share, self._kept())
        return PredictionSets.of(members, self.classes_, share)

    # what subclasses may do otherwise

    def _followed(self) -> tuple[str, ...]:
        """Name the parameters that predictions follow when they are changed after ``fit``."""
        return ()

    def _intervals(self, X: TableLike, level: Fraction, kept: Calibration) -> PredictionIntervals:
        centre = self._centres(X)
        reach = kept.quantiles(level, None)[0]
        return PredictionIntervals.of(centre, centre - reach, centre + reach, level)

    def _set_members(self, X: TableLike, level: Fraction, kept: Calibration) -> AnyArray:
        scores = kept.set_score(self._set_shares(X))
        members: AnyArray = scores <= kept.quantiles(level, scores.shape[1])
        return members

    def _set_shares(self, X: TableLike) -> FloatArray:
        """Give what sets are made of; (n_rows, n_classes)."""
        if not hasattr(self, "predict_proba"):
            raise InvalidParameter(
                f"This {type(self).__name__} gives no probabilities, and sets are made of them. "
                "Set it up to give some, by a final estimator with predict_proba, or put a "
                "CalibratedClassifier around it."
            )
        shares: FloatArray = self.predict_proba(X)
        return shares

    def _calibrated_numbers(
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any,
        quantiles: Any,  # noqa: ARG002 - quantile forests look at it
    ) -> Calibration:
        centre = self._centres(X)
        targets = self._numbers(y, len(centre))
        weights = read_counts(sample_weight, len(centre))
        return Calibration.held_out("residual", np.abs(targets - centre), weights)

    def _check_calibration(self, kept: Calibration) -> None:
        """Refuse what a file says if it does not fit this estimator."""
        methods = ("aps", "raps", "lac") if self._task == "classification" else ("residual",)
        too_many = kept.codes is not None and (
            self._task != "classification" or kept.codes.max(initial=0) >= len(self.classes_)
        )
        if kept.method not in methods or kept.source != "held_out" or too_many:
            raise InvalidModel("the calibration is not one of this estimator")

    def _how_to_calibrate(self) -> str:
        """Say what to do, as the end of an error."""
        return "Call calibrate(X, y) first, with rows that fit has not seen."

    # parts

    def _refuse_several_labels(self, what: str) -> None:
        if hasattr(self, "model_"):
            refuse_several(self.model_.target, what)

    def _kept(self) -> Calibration:
        self._check_fitted()
        kept: Calibration | None = getattr(self, "calibration_", None)
        if kept is None:
            raise NotCalibrated(
                f"This {type(self).__name__} has not been calibrated since it was fitted, so it "
                f"does not know how far off it is. {self._how_to_calibrate()}"
            )
        changed = self._changed_since()
        if changed is not None:
            raise NotCalibrated(
                f"{changed}={getattr(self, changed)!r} of this {type(self).__name__} has changed "
                "since it was calibrated, and with it what it predicts: how far off it is now is "
                "not known. Call calibrate(X, y) again, or change it back."
            )
        return kept

    def _keep(self, kept: Calibration) -> None:
        """Keep a calibration, and what predictions followed meanwhile."""
        now = {name: copy.deepcopy(getattr(self, name, None)) for name in self._followed()}
        self.calibration_, self._calibrated_with = kept, now

    def _changed_since(self) -> str | None:
        """Name a parameter that predictions follow and that is not what it was; None: all are."""
        known: dict[str, Any] = getattr(self, "_calibrated_with", {})
        now: dict[str, Any] = {name: getattr(self, name, None) for name in known}
        return next((name for name in known if not np.array_equal(known[name], now[name])), None)

    def _centres(self, X: TableLike) -> FloatArray:
        centre = np.asarray(self.predict(X), np.float64)
        if centre.ndim != 1:
            raise InvalidInput(
                f"{type(self).__name__} predicts {centre.shape[1]} numbers per row, and intervals "
                "are for one. Fit an estimator for each."
            )
        return centre

    def _numbers(self, y: Any, n_rows: int) -> FloatArray:
        return read_numbers(y, n_rows, type(self).__name__, multi_output=False)

    def _class_codes(self, y: Any, n_rows: int) -> AnyArray:
        labels = np.asarray(y)
        if labels.shape != (n_rows,):
            raise InvalidInput(
                f"y has the shape {labels.shape}: expected ({n_rows},), a label for each row of X."
            )
        return codes_of(labels, self.classes_)

    def _score_of_sets(self, method: Any, by_class: Any, quantiles: Any) -> SetScore | None:
        """Read how sets are scored; None for numbers, which know nothing of it."""
        is_classifier = self._task == "classification"
        if quantiles is not None and not self._has_quantiles:
            raise InvalidParameter(
                f"quantiles={quantiles!r}: a {type(self).__name__} predicts no quantiles. Leave it "
                "out, or use QuantileForestRegressor."
            )
        if is_classifier:
            return read_set_score("aps" if method is None else method)
        if method is not None or by_class:
            raise InvalidParameter(
                f"method={method!r}, by_class={by_class!r}: these are for classifiers, and a "
                f"{type(self).__name__} predicts numbers. Leave them out."
            )
        return None

    # files

    def _forget_calibration(self) -> None:
        for name in ("calibration_", "_calibrated_with"):
            self.__dict__.pop(name, None)

    def _all_attributes(self) -> State:
        """Give ``_attributes`` and the calibration, for a file."""
        meta, arrays = self._attributes()
        kept: Calibration | None = getattr(self, "calibration_", None)
        if kept is None or self._changed_since() is not None:
            return meta, arrays
        own, own_arrays = kept.to_state()
        named = {f"{CALIBRATION}{name}": array for name, array in own_arrays.items()}
        return {**meta, "calibration": own}, {**arrays, **named}

    def _adopt_all_attributes(
        self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]
    ) -> None:
        """Take back what ``_all_attributes`` gave, believing nothing."""
        own = {name: array for name, array in arrays.items() if name.startswith(CALIBRATION)}
        others = {name: array for name, array in arrays.items() if name not in own}
        rest = {name: value for name, value in meta.items() if name != "calibration"}
        self._adopt_attributes(rest, others)
        if "calibration" in meta or own:
            below = {name.removeprefix(CALIBRATION): array for name, array in own.items()}
            kept = Calibration.from_state(meta.get("calibration"), below)
            self._check_calibration(kept)
            self._keep(kept)


def read_set_score(method: Any) -> SetScore:
    """Read how sets are scored: a word, or a score with its numbers."""
    return method if isinstance(method, SetScore) else SetScore(method)


def codes_of(labels: AnyArray, classes: AnyArray) -> AnyArray:
    """Give labels as places among classes; one that is none of them is refused."""
    try:
        codes = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    except TypeError:  # text among numbers
        codes = np.zeros(len(labels), np.int64)
    odd = np.flatnonzero(classes[codes] != labels)
    if len(odd):
        raise InvalidInput(
            f"y holds {labels[odd[:1]].tolist()[0]!r} at row {odd[0]}, which is no class the "
            f"estimator was fitted on: {classes[:10].tolist()}. Fit it with rows of that class, or "
            "leave the row out."
        )
    return np.asarray(codes)


def read_counts(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Read weights of rows; None where all are 1."""
    weights = read_weights(sample_weight, n_rows)
    return None if weights is None or bool((weights == 1.0).all()) else weights
