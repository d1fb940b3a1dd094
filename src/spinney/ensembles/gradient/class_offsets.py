"""What boosted classifiers tell from raw scores and an offset."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from spinney.ensembles.class_scores import ClassScores
from spinney.typing import AnyArray, FloatArray, TableLike


class OffsetClassScores(ClassScores):
    """Predictions that take an offset of raw scores: n numbers, or (n, n_classes) of more than two.

    After a fit with ``offset`` it has to be given here too.
    """

    def decision_function(self, X: TableLike, offset: Any = None) -> FloatArray:
        """Raw scores: (n_rows,) for one or two classes, (n_rows, n_classes) for more."""
        return self._decisions(self._raw_scores(X, offset), None)

    def predict_proba(self, X: TableLike, offset: Any = None) -> FloatArray:
        """Probability of each class; (n_rows, n_classes)."""
        probabilities: FloatArray = self._predictions(X, offset)
        return probabilities

    def predict_log_proba(self, X: TableLike, offset: Any = None) -> FloatArray:
        """Logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):  # minus infinity is what it is
            return np.log(self.predict_proba(X, offset))

    def predict(self, X: TableLike, offset: Any = None) -> AnyArray:
        """Likeliest class of each row; ties go to the first of ``classes_``."""
        return self._likeliest(self.predict_proba(X, offset))

    def staged_decision_function(self, X: TableLike, offset: Any = None) -> Iterator[FloatArray]:
        """Give what ``decision_function`` would say after each round."""
        for n_rounds, scores in enumerate(self._staged_scores(X, offset), 1):
            yield self._decisions(scores, n_rounds)

    def staged_predict_proba(self, X: TableLike, offset: Any = None) -> Iterator[FloatArray]:
        """Give what ``predict_proba`` would say after each round."""
        for scores in self._staged_scores(X, offset):
            yield self._through_link(scores)

    def staged_predict(self, X: TableLike, offset: Any = None) -> Iterator[AnyArray]:
        """Give what ``predict`` would say after each round."""
        for probabilities in self.staged_predict_proba(X, offset):
            yield self._likeliest(probabilities)
