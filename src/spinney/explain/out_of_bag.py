"""Permutation importance on the rows that trees of a forest did not see."""

from typing import Any

import numpy as np

from spinney.data.binning import native_columns
from spinney.data.label_columns import refuse_several
from spinney.data.table import Table
from spinney.errors import InvalidInput, InvalidInputType
from spinney.explain.importance import Importances
from spinney.explain.reading import forest_of
from spinney.explain.shuffling import take_column
from spinney.model import TreeForest
from spinney.model.tree import freeze
from spinney.randomness import RowBits, Stream, random_bits, seed_from
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike


def out_of_bag_importance(
    fitted: Any, X: TableLike, y: Any, *, random_state: RandomState = None
) -> Importances:
    """Measure how much worse trees do on rows they did not see when a feature is shuffled there.

    Each tree is asked about the rows out of its bag, as they are and with the values of a feature
    shuffled among them. The importance is the mean over trees of what is lost: of accuracy, or
    in squared error (of the means in the leaves, also of a quantile forest). It needs no rows held
    out. A feature that a tree does not look at has exactly 0 there.

    Parameters
    ----------
    fitted : a forest whose trees leave rows out of their bags
    X, y : the table and target it was fitted on
    random_state : int, Generator, RandomState or None
        Decides the shuffles: each is a function of the seed, the feature and the tree.

    Returns
    -------
    Importances
        With the standard errors of the means over trees. They say nothing about other rows.

    References
    ----------
    Breiman (2001), Random forests, Machine Learning 45, section 10.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import RandomForestRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> forest = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, X[:, 0])
    >>> found = out_of_bag_importance(forest, X, X[:, 0], random_state=0)
    >>> bool(found.values[0] > 1 > 0.1 > found.values[1])
    True
    """
    forest = forest_of(fitted)
    if not hasattr(fitted, "out_of_bag"):
        raise InvalidInputType(
            f"A {type(fitted).__name__} knows no rows out of bags. Pass a forest, or use "
            "permutation_importance with rows held out."
        )
    unseen = fitted.out_of_bag(X)
    table = forest.conform(X, type(fitted).__name__)
    target = _target(forest, y, table.n_rows)
    seed = seed_from(random_state)
    n_features = len(forest.schema.names)
    trees = np.flatnonzero(unseen.any(axis=0))
    if len(trees) < 2:
        raise InvalidInput(
            "Fewer than two trees have rows out of their bags. Fit with bootstrap=True, or with a "
            "sampler that leaves rows out, and more trees."
        )
    losses = np.zeros((len(trees), n_features))
    for place, number in enumerate(trees.tolist()):
        rows = np.flatnonzero(unseen[:, number])
        part = table.take(rows)
        losses[place] = _losses(forest[number : number + 1], number, part, target[rows], seed)
    return Importances(
        "loss on unseen rows when shuffled",
        forest.schema.names,
        freeze(losses.mean(axis=0)),
        freeze(losses.std(axis=0, ddof=1) / np.sqrt(len(trees))),
    )


def _target(forest: TreeForest, y: Any, n_rows: int) -> AnyArray:
    """Give the places of labels among the classes, or numbers (n_rows, n_outputs)."""
    refuse_several(forest.target, "Importance out of bag")
    given = np.asarray(y)
    if len(given) != n_rows:
        raise InvalidInput(
            f"Found input variables with inconsistent numbers of samples: {[n_rows, len(given)]}. "
            "Give one target per row of X."
        )
    classes = forest.target.classes
    if classes is None:
        return given.astype(np.float64).reshape(n_rows, -1)
    places = np.searchsorted(classes, given).clip(max=len(classes) - 1)
    if not (classes[places] == given).all():
        raise InvalidInput("y has a label the forest does not know: give the y it was fitted on.")
    return places


def _losses(tree: TreeForest, number: int, table: Table, target: AnyArray, seed: int) -> FloatArray:
    """Give what one tree loses when each feature is shuffled; 0 for those it does not use."""
    used = np.unique(tree.arrays["feature"])
    losses = np.zeros(len(tree.schema.names))
    intact = _loss(tree, table, target)
    bits_of = RowBits(table.n_rows)
    for feature in used[used >= 0].tolist():
        own = random_bits(random_bits(seed, Stream.FEATURES, feature), Stream.ROWS, number)
        order = np.argsort(bits_of(own, Stream.ROWS, range(table.n_rows)), kind="stable")
        losses[feature] = _loss(tree, take_column(table, feature, order), target) - intact
    return losses


def _loss(tree: TreeForest, table: Table, target: AnyArray) -> float:
    leaves = np.asarray(tree.native.leaf_ids(native_columns(table), 1))[:, 0]
    answers = tree.arrays["values"][leaves]
    if tree.target.classes is not None:
        return float((answers.argmax(axis=1) != target).mean())
    return float(((answers - target) ** 2).sum(axis=1).mean())
