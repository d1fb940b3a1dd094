"""What classifiers tell from raw scores, whoever found them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from spinney.typing import AnyArray, FloatArray, TableLike


class ClassScores(ClassifierMixin):
    """Predictions of an estimator whose raw scores are one per class, or one for two classes.

    The estimator has ``classes_``, ``_predictions``, ``_raw_scores``, ``_staged_scores`` and
    ``_through_link``.
    """

    classes_: AnyArray
    _predictions: Any
    _raw_scores: Any
    _staged_scores: Any
    _through_link: Any

    def decision_function(self, X: TableLike) -> FloatArray:
        """Raw scores: (n_rows,) for one or two classes, (n_rows, n_classes) for more."""
        return self._decisions(self._raw_scores(X), None)

    def predict_proba(self, X: TableLike) -> FloatArray:
        """Probability of each class; (n_rows, n_classes)."""
        probabilities: FloatArray = self._predictions(X)
        return probabilities

    def predict_log_proba(self, X: TableLike) -> FloatArray:
        """Logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):  # minus infinity is what it is
            return np.log(self.predict_proba(X))

    def predict(self, X: TableLike) -> AnyArray:
        """Likeliest class of each row; ties go to the first of ``classes_``."""
        return self._likeliest(self.predict_proba(X))

    def staged_decision_function(self, X: TableLike) -> Iterator[FloatArray]:
        """Give what ``decision_function`` would say after each round."""
        for n_rounds, scores in enumerate(self._staged_scores(X), 1):
            yield self._decisions(scores, n_rounds)

    def staged_predict_proba(self, X: TableLike) -> Iterator[FloatArray]:
        """Give what ``predict_proba`` would say after each round."""
        for scores in self._staged_scores(X):
            yield self._through_link(scores)

    def staged_predict(self, X: TableLike) -> Iterator[AnyArray]:
        """Give what ``predict`` would say after each round."""
        for probabilities in self.staged_predict_proba(X):
            yield self._likeliest(probabilities)

    def _decisions(self, scores: FloatArray, n_rounds: int | None) -> FloatArray:  # noqa: ARG002
        """Give what is told of raw scores after so many rounds; None: after all."""
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _likeliest(self, probabilities: FloatArray) -> AnyArray:
        labels: AnyArray = self.classes_[probabilities.argmax(axis=1)]
        return labels
