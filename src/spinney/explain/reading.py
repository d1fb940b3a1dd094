"""What every explanation begins with: the forest behind a fitted estimator, and its words."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from spinney.errors import InvalidInputType
from spinney.model import Model, TreeForest
from spinney.model.isolation import IsolationTrees
from spinney.model.leaf_rows import LeafRowForest
from spinney.model.links import BINARY_LINKS


def model_of(fitted: Any) -> Model | None:
    """Give the frozen model of a fitted estimator, or the model itself; None if there is none."""
    if not isinstance(fitted, Model) and hasattr(fitted, "__sklearn_is_fitted__"):
        check_is_fitted(fitted)
    model = fitted if isinstance(fitted, Model) else getattr(fitted, "model_", None)
    return model if isinstance(model, Model) else None


def forest_of(fitted: Any) -> TreeForest:
    """Give the trees of a fitted estimator, or of a frozen model.

    Of an isolation forest these add up to the mean path length, of a quantile forest to the mean.
    """
    model = model_of(fitted)
    if isinstance(model, IsolationTrees | LeafRowForest):
        model = model.trees
    if isinstance(model, TreeForest):
        return model
    if model is not None:
        raise InvalidInputType(
            f"The model of this {type(fitted).__name__} is no sum of Spinney's own trees, so it "
            "cannot be taken apart into them. Pass an estimator that is one, such as gradient "
            "boosting or a forest; permutation_importance takes any estimator of Spinney."
        )
    raise InvalidInputType(
        f"A {type(fitted).__name__} has no trees to explain. Pass a fitted estimator of Spinney "
        "that is made of trees, or its model_."
    )


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
    if target.task == "unsupervised" and forest.output.aggregate == "mean":
        return ("mean path length",)
    if target.output_names is not None:
        return target.output_names
    n_outputs = len(forest.arrays["baseline"])
    return ("prediction",) if n_outputs == 1 else tuple(f"output {k}" for k in range(n_outputs))
