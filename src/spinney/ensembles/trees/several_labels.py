"""Trees and forests of several labels per row, each of classes of its own.

The outputs of their leaves are the shares of the classes of the first label, then those of the
second, and so on; a split gains what it gains for each label, added up.
"""

from typing import Any

import numpy as np

from spinney.data.target import Target
from spinney.ensembles.label_answers import LabelAnswers
from spinney.trees.impurity import IMPURITIES
from spinney.typing import AnyArray, FloatArray


class SeveralLabels(LabelAnswers):
    """A tree or forest whose rows may have several labels; ``y`` is then (n_rows, n_labels)."""

    _check_fitted: Any
    get_params: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of scikit-learn's classifiers
        takes = self.get_params(deep=False)["monotonic_cst"] is None
        tags.classifier_tags.multi_label = tags.target_tags.multi_output = takes
        return tags

    @property
    def n_classes_(self) -> Any:
        """How many classes there are; of several labels a list."""
        self._check_fitted()
        if self.model_.target.label_classes is None:
            return len(self.classes_)
        return [len(classes) for classes in self.classes_]


def mean_impurity(target: Target, values: FloatArray, criterion: str) -> FloatArray:
    """Give the impurity of the classes of each node; of several labels the mean over them."""
    spans = target.spans() or [slice(None)]
    of_labels = [IMPURITIES[criterion](values[:, span]) for span in spans]
    return np.asarray(np.mean(of_labels, axis=0))


def label_codes(y: AnyArray, target: Target) -> AnyArray:
    """Give the codes of labels, (n_rows, n_labels), from them or from a 1 among zeros for each.

    Examples
    --------
    >>> target = Target.multi_classification((np.array(["ash", "fir"]), np.arange(3)))
    >>> label_codes(np.array([[0.0, 1.0, 0.0, 0.0, 1.0]]), target)
    array([[1, 2]])
    """
    if target.label_classes is None:
        return y.reshape(-1, 1).astype(np.int64)
    return np.column_stack([y[:, span].argmax(axis=1) for span in target.spans()])


def n_classes_of(target: Target) -> list[int]:
    """Count the classes of each label."""
    if target.label_classes is None:
        return [target.n_outputs]
    return [len(classes) for classes in target.label_classes]


def has_classes(target: Target) -> bool:
    """Tell whether rows have labels, one or several."""
    return target.classes is not None or target.label_classes is not None
