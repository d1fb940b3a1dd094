# ruff: noqa: PD011 - results have values of their own
"""Models that explanations are tried on."""

from itertools import pairwise

import numpy as np
import pandas as pd

from spinney import DecisionTreeRegressor, GradientBoostingClassifier, GradientBoostingRegressor
from spinney.model import TreeForest
from spinney.model.forest import Output, join_trees

LEVELS = ("ash", "elm", "oak", "yew")


def mixed_frame(n=150, seed=0):
    """Two numbers and a category with missing values, and a boolean."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n).round(),
            "income": rng.gamma(2.0, 1.0, n).round(2),
            "tree": pd.Categorical(rng.choice(LEVELS, n)),
            "member": rng.random(n) < 0.5,
        }
    )
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    frame.loc[rng.random(n) < 0.1, "tree"] = None
    score = (
        frame["age"] / 10
        + frame["income"].fillna(5) * frame["member"]
        + frame["tree"].isin(["elm", "yew"]) * 2.0
    )
    return frame, score.to_numpy() + rng.normal(0, 0.1, n)


def boosted(**params):
    """A boosted regressor on the mixed frame."""
    frame, y = mixed_frame()
    params = {"max_iter": 12, "max_leaf_nodes": 8, "min_samples_leaf": 5, **params}
    return GradientBoostingRegressor(**params).fit(frame, y), frame, y


def classified(n_classes=2):
    """A boosted classifier on the mixed frame, with classes named by letters."""
    frame, y = mixed_frame()
    cuts = np.quantile(y, np.arange(1, n_classes) / n_classes)
    labels = np.array(list("abcdef"))[np.searchsorted(cuts, y)]
    params = {"max_iter": 6, "max_leaf_nodes": 6, "min_samples_leaf": 5}
    return GradientBoostingClassifier(**params).fit(frame, labels), frame, labels


def mean_of_vectors():
    """Trees of two outputs each, averaged with unequal weights on top of a baseline."""
    frame, y = mixed_frame()
    targets = np.column_stack([y, -2 * y + frame["age"]])
    first, second = (
        DecisionTreeRegressor(max_leaf_nodes=9, max_features=2, random_state=seed)
        .fit(frame, targets)
        .model_
        for seed in (0, 1)
    )
    arrays = dict(first.arrays) | join_trees([first[0], second[0]], width=2)
    arrays["tree_weight"] = np.array([1.0, 0.5])
    arrays["tree_output"] = np.full(2, -1, np.int32)
    arrays["baseline"] = np.array([0.25, -1.0])
    output = Output(aggregate="mean")
    return TreeForest(first.schema, first.target, arrays, output=output, policy=first.policy), frame


def plain_rows(model, frame):
    """Rows of numbers and codes, as the slow twins take them, and the bins of the codes."""
    table = model.schema.conform(frame)
    columns = [column.values.tolist() for column in table.columns]
    starts = model.arrays["category_start"].tolist()
    bins = {
        place: model.arrays["category_bins"][first:last]
        for place, (first, last) in enumerate(pairwise(starts))
    }
    return list(zip(*columns, strict=True)), bins
