"""Trees of LightGBM, as our arrays, are explained as LightGBM explains them."""

import lightgbm
import numpy as np
import pytest
from tests.reference.random_forest import tree_of

from spinney.data.intake import read_table
from spinney.data.schema import FeatureSchema
from spinney.data.target import Target
from spinney.explain import shap_values
from spinney.model import Policy, TreeForest
from spinney.model.forest import Output, TreeSum, join_trees


def our_tree(structure):
    nodes, values = [], []

    def add(part):
        node = len(nodes)
        if "leaf_value" in part:
            nodes.append([-1, 0.0, -1, 0, -1, float(part["leaf_count"])])
            values.append([part["leaf_value"]])
            return
        count = float(part["internal_count"])
        nodes.append([part["split_feature"], part["threshold"], -1, 0, -1, count])
        values.append([0.0])
        add(part["left_child"])
        nodes[node][2] = len(nodes)
        add(part["right_child"])

    add(structure)
    return tree_of(nodes, [], np.array(values))


def our_forest(booster, X, n_outputs):
    structures = [tree["tree_structure"] for tree in booster.dump_model()["tree_info"]]
    trees = [our_tree(structure) for structure in structures]
    outputs = (np.arange(len(trees)) % n_outputs).astype(np.int32)
    table = read_table(X)
    schema, _ = FeatureSchema.learn(table)
    return TreeForest.from_trees(
        TreeSum(join_trees(trees, width=1), np.zeros(n_outputs), outputs),
        schema,
        Target.regression(n_outputs),
        [None] * X.shape[1],
        output=Output(),
        policy=Policy(),
    )


@pytest.mark.parametrize(("objective", "n_outputs"), [("regression", 1), ("multiclass", 3)])
def test_contributions_are_those_of_lightgbm(objective, n_outputs):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 7)).round(2)
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(0, 0.1, 500)
    y = np.digitize(y, [-1, 1]) if n_outputs > 1 else y
    parameters = {"objective": objective, "verbose": -1, "num_threads": 1, "use_missing": False}
    parameters |= {"num_class": n_outputs} if n_outputs > 1 else {}
    booster = lightgbm.train(parameters, lightgbm.Dataset(X, y), num_boost_round=15)
    theirs = booster.predict(X, pred_contrib=True).reshape(len(X), n_outputs, 8)
    found = shap_values(our_forest(booster, X, n_outputs), X)
    ours = np.concatenate(
        [found.values.swapaxes(1, 2), np.tile(found.base, (len(X), 1))[..., None]], 2
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)
