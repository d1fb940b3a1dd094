"""What every explanation begins with: the forest behind a fitted estimator, and its words."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from spinney.errors import InvalidInputType
from spinney.model import Model, TreeForest
from spinney.model.links import BINARY_LINKS


def forest_of(fitted: Any) -> TreeForest:
    """Give the trees of a fitted estimator, or of a frozen model."""
    if not isinstance(fitted, Model) and hasattr(fitted, "__sklearn_is_fitted__"):
        check_is_fitted(fitted)
    model = fitted if isinstance(fitted, Model) else getattr(fitted, "model_", None)
    if not isinstance(model, TreeForest):
        what = type(fitted if model is None else model).__name__
        raise InvalidInputType(
            f"A {what} has no trees to explain. Pass a fitted estimator of Spinney that is made "
            "of trees, or its model_."
        )
    return model


def raw_output_names(fitted: Any) -> tuple[str, ...]:
    """Name the raw scores of a model: what its trees add up to, before the link.

    Two classes have one raw score, for the second class; more classes have one each.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import GradientBoostingClassifier
    >>> X = np.arange(60.0).reshape(-1, 1)
    >>> fitted = GradientBoostingClassifier(max_iter=2).fit(X, np.where(X[:, 0] < 30, "a", "b"))
    >>> raw_output_names(fitted)
    ('b',)
    """
    forest = forest_of(fitted)
    target = forest.target
    if target.classes is not None:
        classes = [str(label) for label in target.classes]
        return tuple(classes[-1:] if forest.output.link in BINARY_LINKS else classes)
    if target.output_names is not None:
        return target.output_names
    n_outputs = len(forest.arrays["baseline"])
    return ("prediction",) if n_outputs == 1 else tuple(f"output {k}" for k in range(n_outputs))
