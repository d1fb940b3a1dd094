"""Trees and forests of several labels per row, each of classes of its own.

The outputs of their leaves are the shares of the classes of the first label, then those of the
second, and so on; a split gains what it gains for each label, added up.
"""

from typing import Any, ClassVar

import numpy as np

from spinney.data.label_columns import refuse_several
from spinney.data.target import Target
from spinney.trees.impurity import IMPURITIES
from spinney.typing import AnyArray, FloatArray


class SeveralLabels:
    """A classifier whose rows may have several labels; ``y`` is then (n_rows, n_labels)."""

    _several_labels: ClassVar[bool] = True
    _task: ClassVar[str]
    _check_fitted: Any
    _predictions: Any
    get_params: Any
    model_: Any
    classes_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of scikit-learn's classifiers
        takes = self.get_params(deep=False)["monotonic_cst"] is None
        tags.classifier_tags.multi_label = tags.target_tags.multi_output = takes
        return tags

    def _learns(self, target: Target) -> bool:
        return target.task in (self._task, "multi_classification")

    def _adopt(self, model: Any) -> None:
        super()._adopt(model)  # type: ignore[misc]  # of Estimator
        if model.target.label_classes is not None:
            self.classes_ = list(model.target.label_classes)

    @property
    def n_classes_(self) -> Any:
        """How many classes there are; of several labels a list."""
        self._check_fitted()
        if self.model_.target.label_classes is None:
            return len(self.classes_)
        return [len(classes) for classes in self.classes_]

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

    def _refuse_several(self, what: str) -> None:
        """Refuse what is defined for one label only."""
        refuse_several(self.model_.target, what)


def logarithms(shares: Any) -> Any:
    """Give the logarithm of shares; -inf where a class has none."""
    with np.errstate(divide="ignore"):
        return [np.log(own) for own in shares] if isinstance(shares, list) else np.log(shares)


def joined_labels(columns: list[AnyArray]) -> AnyArray:
    """Put labels side by side; in their own type if it is one, else as objects.

    Examples
    --------
    >>> joined_labels([np.array(["ash"]), np.array([3])])
    array([['ash', 3]], dtype=object)
    """
    if len({column.dtype.kind for column in columns}) == 1:
        return np.column_stack(columns)
    return np.column_stack([column.astype(object) for column in columns])


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
