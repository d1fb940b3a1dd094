"""Forests drawn at random: repeated features, categories, odd weights; nothing was trained."""

import numpy as np

from spinney.data.intake import read_table
from spinney.data.schema import FeatureSchema
from spinney.data.target import Target
from spinney.model import Policy, TreeForest
from spinney.model.forest import Output, join_trees
from spinney.model.tree import Tree

LEVELS = ["ash", "elm", "fir", "oak", "yew"]


def draw_tree(rng, *, n_numeric, n_categorical, width, depth):
    """One tree of at most ``depth`` levels; a leaf's weight may be 0."""
    nodes, sets = [], []

    def grow(level):
        node = len(nodes)
        nodes.append([-1, 0.0, -1, 0, -1, 0.0])  # feature, threshold, right, missing, set, weight
        if level == depth or rng.random() < 0.15:
            nodes[node][5] = float(rng.choice([0.0, 1.0, 2.0, 0.1, 30.0]))
            return nodes[node][5]
        feature = int(rng.integers(n_numeric + n_categorical))
        nodes[node][0], nodes[node][3] = feature, int(rng.integers(2))
        if feature < n_numeric:
            nodes[node][1] = float(rng.choice([-1.0, 0.0, 0.5, np.inf]))
        else:
            nodes[node][4] = len(sets)
            sets.append(np.packbits(rng.random(256) < 0.5, bitorder="little"))
        weight = grow(level + 1)
        nodes[node][2] = len(nodes)
        nodes[node][5] = weight + grow(level + 1)
        return nodes[node][5]

    grow(0)
    return tree_of(nodes, sets, rng.normal(size=(len(nodes), width)))


def draw_chain(rng, *, n_features, depth):
    """A tree that is one long path with a leaf at every step; features take turns."""
    nodes = []
    for level in range(depth):
        rest = float(2 * (depth - level) + 1)
        nodes.append([level % n_features, float(rng.normal()), len(nodes) + 2, 0, -1, rest])
        nodes.append([-1, 0.0, -1, 0, -1, 2.0])
    nodes.append([-1, 0.0, -1, 0, -1, 1.0])
    return tree_of(nodes, [], rng.normal(size=(len(nodes), 1)))


def tree_of(nodes, sets, values):
    """Make a tree of rows: feature, threshold, right child, missing left, set, weight."""
    feature, threshold, right, missing_left, category_set, weight = zip(*nodes, strict=True)
    return Tree(
        feature=np.array(feature, np.int32),
        threshold=np.array(threshold),
        right=np.array(right, np.int32),
        missing_left=np.array(missing_left, np.uint8),
        category_set=np.array(category_set, np.int32),
        category_sets=np.array(sets, np.uint8).reshape(-1, 32),
        values=values,
        count=np.ones(len(nodes), np.int64),
        weight=np.array(weight),
        gain=np.zeros(len(nodes)),
    )


def draw_forest(seed, *, n_trees=3, n_outputs=1, vectors=False, depth=5, mean=False, shape=(3, 2)):
    """A forest over numeric and categorical features, ``shape`` of each."""
    rng = np.random.default_rng(seed)
    n_numeric, n_categorical = shape
    width = n_outputs if vectors else 1
    trees = [
        draw_tree(rng, n_numeric=n_numeric, n_categorical=n_categorical, width=width, depth=depth)
        for _ in range(n_trees)
    ]
    return forest_of(trees, rng, n_outputs=n_outputs, mean=mean, shape=shape)


def forest_of(trees, rng, *, n_outputs=1, mean=False, shape):
    """Trees with weights, outputs and a baseline of random numbers."""
    (n_numeric, n_categorical), n_trees = shape, len(trees)
    width = trees[0].values.shape[1] if trees else 1
    schema, _ = FeatureSchema.learn(read_table(draw_rows(0, 200, shape)))
    arrays = join_trees(trees, width=width)
    codes = [0] * n_numeric + [len(LEVELS)] * n_categorical
    arrays |= {
        "tree_weight": rng.uniform(0.5, 2.0, n_trees) if mean else rng.normal(size=n_trees),
        "tree_output": np.full(n_trees, -1, np.int32)
        if width > 1
        else rng.integers(n_outputs, size=n_trees).astype(np.int32),
        "baseline": rng.normal(size=n_outputs),
        "categorical": np.array([n > 0 for n in codes], np.uint8),
        "category_start": np.cumsum([0, *codes], dtype=np.int64),
        "category_bins": np.tile(np.array([0, 9, 100, 200, 254], np.uint8), n_categorical),
    }
    output = Output(aggregate="mean" if mean else "sum")
    target = Target.regression(n_outputs)
    return TreeForest(schema, target, arrays, output=output, policy=Policy())


def draw_rows(seed, n_rows, shape=(3, 2)):
    """Rows of numbers and text, a fifth of it missing."""
    rng = np.random.default_rng(seed)
    n_numeric, n_categorical = shape
    numbers = rng.choice([-2.0, -1.0, 0.0, 0.25, 0.5, 3.0], (n_rows, n_numeric)).astype(object)
    texts = rng.choice(np.array(LEVELS, object), (n_rows, n_categorical))
    table = np.concatenate([numbers, texts], axis=1)
    table[rng.random(table.shape) < 0.2] = None
    return table


def plain_rows(forest, table):
    """The rows as the slow twins take them, and the bins of the categories."""
    conformed = forest.conform(table, "the model")
    columns = [column.values.tolist() for column in conformed.columns]
    starts, bins = forest.arrays["category_start"], forest.arrays["category_bins"]
    bin_of_code = {f: bins[starts[f] : starts[f + 1]] for f in range(len(starts) - 1)}
    return list(zip(*columns, strict=True)), bin_of_code
