"""Trees and forests of several labels per row, each of classes of its own.

A label is a 1 among zeros, and the Gini impurity of labels is the sum of the variances of these
numbers: such trees grow as trees of several numbers do, and their leaves are shares of classes.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from spinney.data.label_columns import refuse_several
from spinney.data.target import Target
from spinney.errors import InvalidParameter
from spinney.trees.impurity import IMPURITIES
from spinney.typing import AnyArray, FloatArray

_OF_ONE_LABEL: Mapping[str, tuple[str, ...]] = {
    "voting": ("hard",),
    "sampler": ("stratified",),
    "class_weight": ("balanced_subsample",),
}
"""Words of parameters that are about the classes of one label."""


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
        params = self.get_params(deep=False)
        takes = params["criterion"] == "gini" and params["monotonic_cst"] is None
        takes = takes and not any(_is_of_one_label(params, name) for name in _OF_ONE_LABEL)
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


def mean_gini(target: Target, values: FloatArray) -> FloatArray:
    """Give the mean over labels of the Gini impurity of each node."""
    of_labels = [IMPURITIES["gini"](values[:, span]) for span in target.spans()]
    return np.asarray(np.mean(of_labels, axis=0))


def _is_of_one_label(params: Mapping[str, Any], name: str) -> bool:
    given = params.get(name)
    return isinstance(given, str) and given in _OF_ONE_LABEL[name]


def growing_parameters(params: Mapping[str, Any], target: Target) -> Mapping[str, Any]:
    """Give the parameters by which trees of this target grow; refuse what it has no meaning for."""
    if target.label_classes is None:
        return params
    n_labels = len(target.label_classes)
    for name in _OF_ONE_LABEL:
        if _is_of_one_label(params, name):
            raise InvalidParameter(
                f"{name}={params[name]!r} is about the classes of one label, but y has {n_labels} "
                f"columns. Leave {name} as it is by default, or fit a model for each column."
            )
    if params["criterion"] != "gini":
        raise InvalidParameter(
            f"criterion={params['criterion']!r} is offered for one label, but y has {n_labels} "
            "columns. Use 'gini', or fit a model for each column."
        )
    return {**params, "criterion": "squared_error"}
