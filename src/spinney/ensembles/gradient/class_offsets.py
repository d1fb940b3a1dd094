"""What boosted classifiers tell from raw scores and an offset."""

from collections.abc import Iterator
from typing import Any

from sklearn.utils.metaestimators import available_if

from spinney.ensembles.class_scores import ClassScores
from spinney.ensembles.label_answers import LabelAnswers, logarithms, share_right
from spinney.typing import AnyArray, FloatArray, TableLike


def _has_one_label(classifier: Any) -> bool:
    """Tell whether there are scores to decide by; scikit-learn asks by ``hasattr``.

    There an estimator has either ``decision_function`` or a list of probabilities, one per label.
    """
    model = getattr(classifier, "model_", None)
    if model is not None and model.target.label_classes is not None:
        raise AttributeError(
            "Raw scores are to decide by where a row has one label, but the model predicts "
            f"{model.target.n_targets}. Take predict_proba, which has an entry for each; of two "
            "classes the raw score is log(p / (1 - p))."
        )
    return True


class OffsetClassScores(LabelAnswers, ClassScores):
    """Predictions that take an offset of raw scores: n numbers, or (n, n_classes) of more than two.

    Of several labels those of all side by side: one for two classes, one per class for any other
    number. After a fit with ``offset`` it has to be given here too.
    """

    @available_if(_has_one_label)  # type: ignore[untyped-decorator]
    def decision_function(self, X: TableLike, offset: Any = None) -> FloatArray:
        """Raw scores: (n_rows,) for one or two classes, (n_rows, n_classes) for more.

        Not of several labels, as in all classifiers whose probabilities are a list.
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

    def score(
        self, X: TableLike, y: Any, sample_weight: Any = None, *, offset: Any = None
    ) -> float:
        """Give the accuracy: of several labels the share of rows that have all of them right.

        ``offset`` is that of ``predict``.
        """
        if offset is None:
            return super().score(X, y, sample_weight)
        said = self.predict(X, offset)
        if said.ndim > 1:
            return share_right(said, y, sample_weight)
        from sklearn.metrics import accuracy_score  # noqa: PLC0415 - 0.1 s, for few only

        return float(accuracy_score(y, said, sample_weight=sample_weight))

    @available_if(_has_one_label)  # type: ignore[untyped-decorator]
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
