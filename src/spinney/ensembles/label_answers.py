"""What classifiers whose rows may have several labels answer, each of classes of its own."""

from typing import Any, ClassVar

import numpy as np

from spinney.data.label_columns import refuse_several
from spinney.data.sources.vector import column_vectors
from spinney.data.target import Target
from spinney.data.weights import read_weights
from spinney.errors import InvalidInput
from spinney.typing import AnyArray, FloatArray


class LabelAnswers:
    """A classifier whose rows may have several labels; ``y`` is then (n_rows, n_labels)."""

    _several_labels: ClassVar[bool] = True
    _task: ClassVar[str]
    predict: Any
    model_: Any
    classes_: Any

    def _learns(self, target: Target) -> bool:
        is_several = target.task == "multi_classification"
        return self._several_labels if is_several else target.task == self._task

    def _adopt(self, model: Any) -> None:
        super()._adopt(model)  # type: ignore[misc]  # of Estimator
        if model.target.label_classes is not None:
            self.classes_ = list(model.target.label_classes)

    def _by_label(self, shares: FloatArray) -> Any:
        """Give shares of classes as they are; of several labels a list of them."""
        if self.model_.target.label_classes is None:
            return shares
        return [np.ascontiguousarray(shares[:, span]) for span in self.model_.target.spans()]

    def _likeliest(self, shares: Any) -> AnyArray:
        """Give the label of the largest share, or of several labels each; ties to the first."""
        if not isinstance(shares, list):
            labels: AnyArray = self.classes_[shares.argmax(axis=1)]
            return labels
        return joined_labels(
            [of[own.argmax(axis=1)] for of, own in zip(self.classes_, shares, strict=True)]
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Give the accuracy: of several labels the share of rows that have all of them right."""
        model = getattr(self, "model_", None)
        if model is None or model.target.label_classes is None:
            return float(super().score(X, y, sample_weight))  # type: ignore[misc]
        return share_right(self.predict(X), y, sample_weight)

    def _refuse_several(self, what: str) -> None:
        """Refuse what is defined for one label only."""
        refuse_several(self.model_.target, what)


def share_right(said: AnyArray, y: Any, sample_weight: Any) -> float:
    """Give the share of rows that have all of their labels right, by weight."""
    given = column_vectors(y, "y")
    if given is None or (len(given[0]), len(given)) != said.shape:
        raise InvalidInput(
            f"y has the shape {np.shape(y)}: expected {said.shape}, a column for each label."
        )
    is_right = np.all([own == of for own, of in zip(said.T, given, strict=True)], axis=0)
    weights = read_weights(sample_weight, len(said))
    return float(np.average(is_right, weights=weights))


def logarithms(shares: Any) -> Any:
    """Give the logarithm of shares; -inf where a class has none."""
    with np.errstate(divide="ignore"):
        return [np.log(own) for own in shares] if isinstance(shares, list) else np.log(shares)


def joined_labels(columns: list[AnyArray]) -> AnyArray:
    """Put labels side by side; in one type that has them all as they are, else as objects.

    Examples
    --------
    >>> joined_labels([np.array(["ash"]), np.array([3])])
    array([['ash', 3]], dtype=object)
    >>> joined_labels([np.array([1], np.uint8), np.array([True])])
    array([[1, 1]], dtype=uint8)
    """
    kinds = {column.dtype.kind for column in columns}
    # Of uint64 beside int64 the one type would be a float, which does not have all of either.
    are_whole = kinds <= set("biu") and np.result_type(*columns).kind in "biu"
    if len(kinds) == 1 or are_whole:
        return np.column_stack(columns)
    return np.column_stack([column.astype(object) for column in columns])
