"""How good an ensemble is after each round, or with each member more."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.results import Result, read_only
from spinney.theory.checks import choice, label_array, number_array, weight_array
from spinney.typing import AnyArray, FloatArray, IntArray

_LEAST_SHARE = 1e-15
_SCORES = ("train_score_", "validation_score_")
MEASURES = ("error", "log_loss", "squared_error", "absolute_error")
"""What may be measured of rows: the first two of classes, the others of numbers."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LearningCurve(Result):
    """A number per round and part of the rows; the smaller the better, unless it is a score.

    Examples
    --------
    >>> steps, losses = np.arange(3), np.array([[0.9, 0.5, 0.4], [0.9, 0.6, 0.7]])
    >>> curve = LearningCurve(steps, ("training", "validation"), losses, "loss", "round")
    >>> curve.best("validation")
    1
    >>> print(curve)
    Loss after each round; best round of validation: 1
    round  training  validation
        0       0.9         0.9
        1       0.5         0.6
        2       0.4         0.7
    """

    steps: IntArray
    """Rounds or members so far; 0 is before the first."""
    names: tuple[str, ...]
    """Of the parts of the rows."""
    values: FloatArray
    """(n_names, n_steps); NaN where nothing was measured."""
    measure: str
    """What is measured, in words."""
    step: str
    """What is counted: "round" or "member"."""
    more_is_better: bool = False

    def __post_init__(self) -> None:
        for name in ("steps", "values"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def curve(self, name: str) -> FloatArray:
        """Give the numbers of one part; (n_steps,)."""
        if name not in self.names:
            raise InvalidParameter(f"name={name!r}: expected one of {', '.join(self.names)}.")
        numbers: FloatArray = self.values[self.names.index(name)]
        return numbers

    def best(self, name: str | None = None) -> int | None:
        """Give the step with the best number, the first of equals; as a default of the last part.

        None where nothing was measured.
        """
        numbers = self.curve(self.names[-1] if name is None else name)
        if np.isnan(numbers).all():
            return None
        place = np.nanargmax(numbers) if self.more_is_better else np.nanargmin(numbers)
        return int(self.steps[place])

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give a line for each step."""
        parts = {name: self.curve(name).tolist() for name in self.names}
        step = self.step
        while step in parts:
            step += "_"
        return {step: self.steps.tolist(), **parts}

    def title(self) -> str:
        """Say in a line what the table shows."""
        measure = self.measure[:1].upper() + self.measure[1:]
        return (
            f"{measure} after each {self.step}; best {self.step} of {self.names[-1]}: {self.best()}"
        )


def learning_curve(
    fitted: Any, parts: Mapping[str, Any] | None = None, *, measure: str | None = None
) -> LearningCurve:
    """Tell how good a fitted booster was after each round.

    Parameters
    ----------
    fitted : booster
    parts : mapping from names to (X, y) or (X, y, sample_weight), optional
        Rows to ask it about after each round. None: what it wrote down while it was fitted, which
        gradient boosting does with ``early_stopping=True``, and functional boosting always.
    measure : {"error", "log_loss", "squared_error", "absolute_error"}, optional
        What to measure of ``parts``: the share of wrong labels, minus the mean logarithm of the
        probability of the right one, the mean squared or absolute distance. As a default the error
        of classifiers and the squared error of regressors.

    Returns
    -------
    LearningCurve

    Examples
    --------
    >>> from spinney import AdaBoostClassifier
    >>> from spinney.datasets import make_toy10
    >>> data = make_toy10()
    >>> fitted = AdaBoostClassifier(n_estimators=3).fit(data.X, data.y)
    >>> print(learning_curve(fitted, {"training": (data.X, data.y)}))
    Share of wrong rows after each round; best round of training: 3
    round  training
        1       0.3
        2       0.3
        3         0
    """
    if parts is None:
        return _written_down(fitted, measure)
    if not isinstance(parts, Mapping) or not parts:
        raise InvalidInputType(
            f"parts is a {type(parts).__name__}: expected a mapping from names to rows, at least "
            "one, such as {'test': (X, y)}."
        )
    is_classifier = hasattr(fitted, "classes_")
    chosen = ("error" if is_classifier else "squared_error") if measure is None else measure
    choice("measure", chosen, MEASURES)
    if is_classifier != (chosen in MEASURES[:2]):
        raise InvalidParameter(
            f"measure={measure!r} of a {type(fitted).__name__}: expected one of "
            f"{', '.join(map(repr, MEASURES[:2] if is_classifier else MEASURES[2:]))}."
        )
    curves = [list(_staged(fitted, name, rows, chosen)) for name, rows in parts.items()]
    words = {"error": "share of wrong rows", "log_loss": "log loss"}
    return LearningCurve(
        np.arange(1, len(curves[0]) + 1),
        tuple(map(str, parts)),
        np.array(curves),
        words.get(chosen, f"mean {chosen.replace('_', ' ')}"),
        "round",
    )


def out_of_bag_curve(fitted: Any) -> LearningCurve:
    """Tell how good the first members of a bagged ensemble are on rows they did not see.

    Parameters
    ----------
    fitted : forest or bagging ensemble
        Fitted with ``oob_score=True``, which gives it ``oob_curve_``.

    Returns
    -------
    LearningCurve
        Of accuracy, or R²; NaN as long as every member saw every row.

    Examples
    --------
    >>> from spinney import RandomForestClassifier
    >>> from spinney.datasets import make_toy10
    >>> data = make_toy10()
    >>> forest = RandomForestClassifier(20, oob_score=True, random_state=0).fit(data.X, data.y)
    >>> out_of_bag_curve(forest).values.shape
    (1, 20)
    """
    scores = getattr(fitted, "oob_curve_", None)
    if scores is None:
        raise InvalidInputType(
            f"{type(fitted).__name__} has no oob_curve_: expected a forest or a bagging ensemble "
            "that was fitted with oob_score=True. Set it, and fit again."
        )
    measure = "accuracy" if hasattr(fitted, "classes_") else "R²"
    values = np.array(scores, np.float64)[np.newaxis]
    steps = np.arange(1, values.shape[1] + 1)
    return LearningCurve(steps, ("out of bag",), values, measure, "member", more_is_better=True)


def _written_down(fitted: Any, measure: str | None) -> LearningCurve:
    if measure is not None:
        raise InvalidParameter(
            f"measure={measure!r} without parts: what was written down was measured already. Pass "
            "parts, or leave measure out."
        )
    scores = [np.asarray(getattr(fitted, name, ())) for name in _SCORES]
    if not len(scores[0]):
        raise InvalidInput(
            f"{type(fitted).__name__} wrote down no scores of its rounds: expected a gradient "
            "booster that was fitted with early_stopping=True. Fit it so, or pass parts."
        )
    is_loss = getattr(fitted, "scoring", "loss") == "loss"
    names = ("training", "validation") if len(scores[1]) else ("training",)
    values = np.stack(scores[: len(names)])
    return LearningCurve(
        np.arange(len(scores[0])),
        names,
        -values if is_loss else values,
        "loss" if is_loss else _scorer_name(fitted.scoring),
        "round",
        more_is_better=not is_loss,
    )


def _scorer_name(scoring: Any) -> str:
    if scoring is None:
        return "score"
    return scoring if isinstance(scoring, str) else str(getattr(scoring, "__name__", "score"))


def _staged(fitted: Any, name: str, rows: Any, measure: str) -> Iterator[float]:
    """Measure what a booster says of some rows after each round."""
    if not isinstance(rows, tuple | list) or len(rows) not in (2, 3):
        raise InvalidInputType(
            f"parts[{name!r}] is a {type(rows).__name__}: expected (X, y) or (X, y, sample_weight)."
        )
    X, y, sample_weight = (*rows, None)[:3]
    method = "staged_predict_proba" if measure == "log_loss" else "staged_predict"
    ask = getattr(fitted, method, None)
    if ask is None:
        raise InvalidInputType(
            f"{type(fitted).__name__} has no {method}: expected a fitted booster. Of forests and "
            "bags draw out_of_bag_curve."
        )
    cost: Callable[[AnyArray], FloatArray] | None = None
    for said in ask(X):
        if cost is None:
            cost = _cost(measure, fitted, y, len(said))
            weights = weight_array(sample_weight, len(said))
        yield float((weights * cost(said)).sum())


def _cost(measure: str, fitted: Any, y: Any, n_rows: int) -> Callable[[AnyArray], FloatArray]:
    """Give what each row costs, by what is said of it."""
    if measure in MEASURES[2:]:
        targets = number_array("y", y)
        if len(targets) != n_rows:
            raise InvalidInput(f"y has {len(targets)} numbers: expected {n_rows}, one for a row.")
        power = 2 if measure == "squared_error" else 1
        return lambda said: np.abs(np.asarray(said) - targets) ** power
    labels = label_array(y, n_rows)
    if measure == "error":
        return lambda said: (np.asarray(said) != labels).astype(np.float64)
    known = {label: code for code, label in enumerate(fitted.classes_.tolist())}
    strange = [label for label in labels.tolist() if label not in known]
    if strange:
        raise InvalidInput(
            f"y has the label {strange[0]!r}, of which {type(fitted).__name__} knows no "
            "probability. Give labels it was trained on."
        )
    codes = np.array([known[label] for label in labels.tolist()], np.int64)
    rows = np.arange(n_rows)
    return lambda said: -np.log(np.maximum(said[rows, codes], _LEAST_SHARE))
