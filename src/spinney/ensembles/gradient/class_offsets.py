"""What boosted classifiers tell from raw scores and an offset."""

from collections.abc import Iterator
from typing import Any

from spinney.ensembles.class_scores import ClassScores
from spinney.ensembles.label_answers import LabelAnswers, logarithms
from spinney.typing import AnyArray, FloatArray, TableLike


class OffsetClassScores(LabelAnswers, ClassScores):
    """Predictions that take an offset of raw scores: n numbers, or (n, n_classes) of more than two.

    Of several labels (n, n_scores), as ``decision_function`` has them. After a fit with ``offset``
    it has to be given here too.
    """

    def decision_function(self, X: TableLike, offset: Any = None) -> FloatArray:
        """Raw scores: (n_rows,) for one or two classes, (n_rows, n_classes) for more.

        Of several labels those of all stand side by side: one for a label of two classes, one per
        class for any other.
        """
        return self._decisions(self._raw_scores(X, offset), None)

    def predict_proba(self, X: TableLike, offset: Any = None) -> Any:
        """Probability of each class; (n_rows, n_classes), of several labels a list of these."""
        return self._by_label(self._predictions(X, offset))

    def predict_log_proba(self, X: TableLike, offset: Any = None) -> Any:
        """Logarithm of ``predict_proba``."""
        return logarithms(self.predict_proba(X, offset))

    def predict(self, X: TableLike, offset: Any = None) -> AnyArray:
        """Likeliest class of each row; ties go to the first of ``classes_``.

        Of several labels (n_rows, n_labels).
        """
        return self._likeliest(self.predict_proba(X, offset))

    def staged_decision_function(self, X: TableLike, offset: Any = None) -> Iterator[FloatArray]:
        """Give what ``decision_function`` would say after each round."""
        for n_rounds, scores in enumerate(self._staged_scores(X, offset), 1):
            yield self._decisions(scores, n_rounds)

    def staged_predict_proba(self, X: TableLike, offset: Any = None) -> Iterator[Any]:
        """Give what ``predict_proba`` would say after each round."""
        for scores in self._staged_scores(X, offset):
            yield self._by_label(self._through_link(scores))

    def staged_predict(self, X: TableLike, offset: Any = None) -> Iterator[AnyArray]:
        """Give what ``predict`` would say after each round."""
        for probabilities in self.staged_predict_proba(X, offset):
            yield self._likeliest(probabilities)
