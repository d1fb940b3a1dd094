"""Trees of ours as base learners: which are grown exactly, and members as estimators."""

from typing import Any

import numpy as np

from spinney.data.target import Target
from spinney.ensembles.trees.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from spinney.ensembles.weak.learners import ROOT_ONLY
from spinney.model import TreeForest
from spinney.model.answers import FORMS
from spinney.model.forest import Output
from spinney.trees.settings import TreeSettings

DEFAULT_DEPTH = 3
"""Of a tree that fits numbers, if the user gives no base learner."""
_CRITERIA = {
    "gini": "squared",
    "squared_error": "squared",
    "friedman_mse": "squared",
    "error": "error",
    "misclassification": "error",
    "exponential": "exponential",
    "dkm": "exponential",
}
"""Names of criteria, and what exact trees call them; those of others are fitted anew."""
_FREE = {
    "splitter": "best",
    "max_features": None,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "min_weight_fraction_leaf": 0.0,
    "min_impurity_decrease": 0.0,
    "ccp_alpha": 0.0,
    "monotonic_cst": None,
    "class_weight": None,
}
"""Parameters of a tree that leave it to grow on any weights."""


def exact_tree_plan(estimator: Any) -> tuple[TreeSettings, str] | None:
    """Say how a base tree grows on rows that are sorted once; None for any other base learner.

    A tree of ours with limits on its leaves counts their weight, which boosting changes; it is
    fitted anew in every round like a foreign learner.
    """
    if estimator is None:
        return ROOT_ONLY, "squared"
    if type(estimator) not in (DecisionTreeClassifier, DecisionTreeRegressor):
        return None
    estimator._check_parameters()  # noqa: SLF001 - fit, which would do it, is never called
    tree = estimator.get_params(deep=False)
    if any(tree.get(name, free) != free for name, free in _FREE.items()):
        return None
    if tree["criterion"] not in _CRITERIA or tree["search"] not in ("exact", "adaptive"):
        return None
    settings = TreeSettings(
        max_depth=tree["max_depth"],
        max_leaf_nodes=tree["max_leaf_nodes"],
        min_samples_split=0.0,
        min_samples_leaf=0.0,
    )
    return settings, _CRITERIA[tree["criterion"]]


def most_leaves(estimator: Any) -> int | None:
    """Say how many leaves a tree of ours may have, whatever it is grown on; None: any number."""
    if estimator is None:
        return 2
    if exact_tree_plan(estimator) is None:
        return None
    tree = estimator.get_params(deep=False)
    limits = [tree["max_leaf_nodes"], tree["max_depth"] and 2 ** tree["max_depth"]]
    return min((limit for limit in limits if limit), default=None)


def member_estimator(forest: TreeForest, t: int, form: str) -> Any:
    """Make a fitted tree estimator of one member of a forest of votes."""
    one = forest[t : t + 1]
    arrays = dict(one.arrays)
    arrays["tree_weight"] = np.ones(1)
    is_value = form == "values"
    if not is_value:
        arrays["values"] = FORMS[form].shares(arrays["values"])
    arrays["tree_output"] = np.full(1, -1, np.int32)
    arrays["baseline"] = np.zeros(arrays["values"].shape[1])
    target = Target.regression() if is_value else forest.target
    kind = DecisionTreeRegressor if is_value else DecisionTreeClassifier
    estimator = kind(max_depth=one[0].depth or None, random_state=t)
    output = Output(link="identity", aggregate="mean")
    estimator._adopt(  # noqa: SLF001 - the door by which a model becomes an estimator
        TreeForest(forest.schema, target, arrays, output=output, policy=forest.policy)
    )
    return estimator
