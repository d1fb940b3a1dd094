"""Small random forests over two numbers and four colours, for proofs by brute force."""

import numpy as np

from spinney.data.intake import read_table
from spinney.data.schema import FeatureSchema
from spinney.data.target import Target
from spinney.model import Policy, TreeForest
from spinney.model.forest import Output, join_trees
from spinney.model.tree import Tree

TABLE = [[0.0, 1.0, "ash"], [1.0, 0.0, "elm"], [2.0, 3.0, "oak"], [3.0, 2.0, "yew"]]
CUTS = (-np.inf, -1.5, -0.25, 0.0, 0.1, 2.0, 1e300, np.inf)


def random_tree(rng, *, depth, width, values):
    """Grow from the root; a node is a dict until all are known."""
    nodes, sets = [], []

    def grow(level):
        node = {"feature": -1, "right": -1, "missing_left": 0, "category_set": -1, "threshold": 0.0}
        place = len(nodes)
        nodes.append(node | {"values": rng.choice(values, width)})
        if level == depth or rng.random() < 0.2:
            return
        nodes[place] |= {"feature": int(rng.integers(3)), "missing_left": int(rng.integers(2))}
        if nodes[place]["feature"] == 2:
            nodes[place]["category_set"] = len(sets)
            sets.append(np.append(rng.integers(0, 16, 1), np.zeros(31)).astype(np.uint8))
        else:
            nodes[place]["threshold"] = float(rng.choice(CUTS))
        grow(level + 1)
        nodes[place]["right"] = len(nodes)
        grow(level + 1)

    grow(0)
    types = {"feature": "<i4", "right": "<i4", "missing_left": "|u1", "category_set": "<i4"}
    arrays = {name: np.array([n[name] for n in nodes], kind) for name, kind in types.items()}
    n = len(nodes)
    return Tree(
        category_sets=np.array(sets, np.uint8).reshape(-1, 32),
        threshold=np.array([node["threshold"] for node in nodes]),
        values=np.array([node["values"] for node in nodes], float),
        count=np.ones(n, np.int64),
        weight=np.ones(n),
        gain=np.zeros(n),
        **arrays,
    )


def random_forest(seed, *, n_trees=3, depth=3, dyadic=True, width=1, **output):
    """Leaf values are eighths, whose sums are exact and cancel often; or any numbers."""
    rng = np.random.default_rng(seed)
    values = np.arange(-4, 5) / 8 if dyadic else rng.normal(size=9)
    trees = [random_tree(rng, depth=depth, width=width, values=values) for _ in range(n_trees)]
    weights = rng.choice([1.0, 2.0, -1.0] if dyadic else [1.0, 0.3, -0.7], n_trees)
    weights[:1] = rng.choice([8.0, -8.0])  # the total has a sign, and is not 0
    return forest_from(trees, weights, width=width, **output)


def forest_from(trees, weights=None, *, width=1, **output):
    schema, _ = FeatureSchema.learn(read_table(TABLE))
    arrays = join_trees(trees, width=width) | {
        "tree_weight": np.ones(len(trees)) if weights is None else np.asarray(weights, float),
        "tree_output": np.full(len(trees), -1, np.int32),
        "baseline": np.full(width, 0.5),
        "categorical": np.array([0, 0, 1], np.uint8),
        "category_start": np.array([0, 0, 0, 4]),
        "category_bins": np.arange(4, dtype=np.uint8),
    }
    target = Target.regression(width)
    return TreeForest(schema, target, arrays, output=Output(**output), policy=Policy())
