"""Trees and forests of several labels per row, each of classes of its own.

A label is a 1 among zeros, and the Gini impurity of labels is the sum of the variances of these
numbers: such trees grow as trees of several numbers do, and their leaves are shares of classes.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from spinney.data.target import Target
from spinney.ensembles.label_answers import LabelAnswers
from spinney.errors import InvalidParameter
from spinney.trees.impurity import IMPURITIES
from spinney.typing import FloatArray

_OF_ONE_LABEL: Mapping[str, tuple[str, ...]] = {
    "voting": ("hard",),
    "sampler": ("stratified",),
    "class_weight": ("balanced_subsample",),
}
"""Words of parameters that are about the classes of one label."""


class SeveralLabels(LabelAnswers):
    """A tree or forest whose rows may have several labels; ``y`` is then (n_rows, n_labels)."""

    _check_fitted: Any
    get_params: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of scikit-learn's classifiers
        params = self.get_params(deep=False)
        takes = params["criterion"] == "gini" and params["monotonic_cst"] is None
        takes = takes and not any(_is_of_one_label(params, name) for name in _OF_ONE_LABEL)
        tags.classifier_tags.multi_label = tags.target_tags.multi_output = takes
        return tags

    @property
    def n_classes_(self) -> Any:
        """How many classes there are; of several labels a list."""
        self._check_fitted()
        if self.model_.target.label_classes is None:
            return len(self.classes_)
        return [len(classes) for classes in self.classes_]


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
