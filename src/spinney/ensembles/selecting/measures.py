"""What a mean of members is worth: scores, of which more is better."""

import abc
import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names

from spinney.data.fixed_point import exact_total
from spinney.errors import InvalidInput, InvalidParameter
from spinney.typing import AnyArray, FloatArray

_SUITABLE = {
    "classes": "'accuracy', 'neg_log_loss' or 'roc_auc_ovr'",
    "numbers": "'neg_mean_squared_error' or 'r2'",
}
TIE = 1e-12
"""Scores that agree to this share of the best one are ties: rounding must not choose a member."""


@dataclass(frozen=True, slots=True)
class Metric:
    """How scikit-learn names what is measured."""

    none: str
    """What None stands for."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        if not isinstance(value, str):
            return value is None or callable(value)
        return value in get_scorer_names()

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        return (
            f"None for {self.none!r}, the name of a scorer (sklearn.metrics.get_scorer_names()), "
            "or a callable (estimator, X, y)"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What members say of some rows, and the truth."""

    predictions: FloatArray
    """(n_members, n_rows, n_outputs): probabilities of classes, or one number."""
    y: FloatArray
    """(n_rows,): codes of classes, or numbers."""
    weights: FloatArray | None
    """(n_rows,), positive; None: all 1."""
    classes: AnyArray | None
    """None for numbers."""

    def __post_init__(self) -> None:
        if self.weights is not None and (self.weights == 1).all():
            object.__setattr__(self, "weights", None)

    @property
    def n_members(self) -> int:
        """How many members were asked."""
        return len(self.predictions)

    @property
    def total(self) -> float:
        """Rows, counting repetitions."""
        return float(len(self.y)) if self.weights is None else exact_total(self.weights)

    def truth(self) -> FloatArray:
        """Give what perfect members would say; (n_rows, n_outputs)."""
        if self.classes is None:
            return self.y[:, np.newaxis]
        ones = np.zeros((len(self.y), len(self.classes)))
        ones[np.arange(len(ones)), self.y.astype(np.int64)] = 1.0
        return ones


class Climb(abc.ABC):
    """A committee that grows: every member counts as often as it was added."""

    def __init__(self, candidates: AnyArray) -> None:
        self.candidates = candidates
        """Numbers of the members that may be added."""
        self.size = 0
        """Members so far, counting repetitions."""

    @abc.abstractmethod
    def scores(self) -> FloatArray:
        """Score the committee with each of the candidates added.

        One that cannot be the best, nor tie with it, may be given as minus infinity.
        """

    @abc.abstractmethod
    def add(self, member: int) -> float:
        """Add a member, and score the committee."""


class Measure(abc.ABC):
    """A metric, on rows that are known from the start."""

    @abc.abstractmethod
    def score(self, prediction: FloatArray) -> float:
        """Score one prediction; (n_rows, n_outputs)."""

    @abc.abstractmethod
    def climb(self, candidates: AnyArray) -> Climb:
        """Begin with a committee of nobody."""

    def alone(self) -> FloatArray:
        """Score each member by itself."""
        return np.array([self.score(one) for one in self.answers.predictions])

    def __init__(self, answers: Answers) -> None:
        self.answers = answers

    @property
    def n_members(self) -> int:
        """How many members there are."""
        return self.answers.n_members


class ScorerMeasure(Measure):
    """Any scorer of scikit-learn: a candidate costs a call."""

    def __init__(self, answers: Answers, scoring: Any) -> None:
        super().__init__(answers)
        self._scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
        self._name = scoring if isinstance(scoring, str) else repr(scoring)
        classes = answers.classes
        self._voice = _NumberVoice() if classes is None else _ClassVoice(classes)
        self._y = answers.y if classes is None else classes[answers.y.astype(np.int64)]
        self._given = {} if answers.weights is None else {"sample_weight": answers.weights}
        if self._given and not _takes_weights(self._scorer):
            raise InvalidParameter(
                f"scoring={self._name} takes no sample_weight, but weights were given to fit. "
                "Give a scorer with the parameter sample_weight, or fit without weights."
            )

    def score(self, prediction: FloatArray) -> float:
        """Ask the scorer."""
        try:
            score = self._scorer(self._voice, prediction, self._y, **self._given)
        except (TypeError, ValueError) as error:
            what = "numbers" if self.answers.classes is None else "classes"
            some = self._y[:1].tolist()[0]
            raise InvalidParameter(
                f"scoring={self._name} cannot judge {what} such as {some!r}: {error}. Give a "
                f"metric of {what}, such as {_SUITABLE[what]}, or None."
            ) from error
        try:
            number = float(score)
        except (TypeError, ValueError):
            number = float("nan")
        if not np.isfinite(number):
            raise InvalidInput(
                f"scoring={self._name} gave {score!r} for the rows to select on; expected a finite "
                "number. Give a metric that is defined for them, or more rows."
            )
        return number

    def climb(self, candidates: AnyArray) -> "ScorerClimb":
        """Begin with a committee of nobody."""
        return ScorerClimb(self, candidates)


class ScorerClimb(Climb):
    """The sum of what was said so far."""

    def __init__(self, measure: ScorerMeasure, candidates: AnyArray) -> None:
        super().__init__(candidates)
        self._measure = measure
        self._sum = np.zeros(measure.answers.predictions.shape[1:])

    def scores(self) -> FloatArray:
        """Ask the scorer about each candidate."""
        said, seats = self._measure.answers.predictions, self.size + 1
        means = ((self._sum + said[member]) / seats for member in self.candidates)
        return np.array([self._measure.score(mean) for mean in means])

    def add(self, member: int) -> float:
        """Add a member, and score the committee."""
        self._sum += self._measure.answers.predictions[member]
        self.size += 1
        return self._measure.score(self._sum / self.size)


def _takes_weights(scorer: Any) -> bool:
    parameters = inspect.signature(scorer).parameters.values()
    return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)


class _ClassVoice(ClassifierMixin, BaseEstimator):
    """Says what it is given: scorers ask an estimator, and here the answers are known."""

    def __init__(self, classes: AnyArray) -> None:
        self.classes = classes
        self.classes_ = classes

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """Give the probabilities back."""
        return X

    def predict(self, X: FloatArray) -> AnyArray:
        """Give the likeliest class; the first of several."""
        labels: AnyArray = self.classes_[X.argmax(axis=1)]
        return labels


class _NumberVoice(RegressorMixin, BaseEstimator):
    """Says the numbers it is given."""

    def predict(self, X: FloatArray) -> FloatArray:
        """Give the numbers back."""
        return X[:, 0]


def first_best(scores: FloatArray) -> int:
    """Find the best score; of ties the first.

    Examples
    --------
    >>> first_best(np.array([0.1, 0.7, 0.7 + 1e-15]))
    1
    """
    best = float(scores.max())
    return int(np.argmax(scores >= best - TIE * abs(best)))
