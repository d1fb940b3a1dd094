"""Which nodes of a grown tree become leaves again."""

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv, gammaln

from spinney.data.fixed_point import exact_sums, fixed_weights
from spinney.model.tree import Tree
from spinney.results import Result
from spinney.trees.structure import add_up, levels, parents, ways_to
from spinney.typing import AnyArray, FloatArray, IntArray

_SAME = 1.0 + 2.0**-40
"""Links that differ by less than this are equally weak."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class PruningPath(Result):
    """The best pruned trees for every price of a leaf, each inside the one before."""

    ccp_alphas: FloatArray
    """Prices from which on a smaller tree is best, the first is 0."""
    impurities: FloatArray
    """Impurity of the leaves of that tree, weighted by their rows."""
    n_leaves: IntArray
    """Leaves of that tree."""

    def title(self) -> str:
        """Say what is shown."""
        return "Cost-complexity pruning: the smallest best tree from each price of a leaf on"

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give a row for each tree."""
        return {
            "ccp_alpha": self.ccp_alphas.tolist(),
            "impurity": self.impurities.tolist(),
            "n_leaves": self.n_leaves.tolist(),
        }

    def __getitem__(self, name: str) -> AnyArray:
        """Give a field by its name, as scikit-learn's answer does."""
        if name not in self.__slots__:
            raise KeyError(name)
        found: AnyArray = getattr(self, name)
        return found


def weakest_links(tree: Tree, decrease: FloatArray) -> FloatArray:
    """Give the price of a leaf from which on each node is a leaf, or gone; infinite for leaves.

    Breiman, Friedman, Olshen and Stone (1984): the link that gives least, for each leaf it costs,
    is cut first; its gain is (R(t) - R(T_t)) / (leaves of T_t - 1).

    Parameters
    ----------
    tree : the tree
    decrease : (n_nodes,), not negative
        How much cost each split removes; 0 for leaves.
    """
    is_leaf = tree.right < 0
    n_leaves, saved = add_up(tree, is_leaf), add_up(tree, decrease)
    ends = np.arange(len(tree)) + add_up(tree, np.ones(len(tree), np.int64))
    above = parents(tree)
    price = np.full(len(tree), math.inf)
    link = np.where(is_leaf, math.inf, saved / np.maximum(n_leaves - 1, 1))
    heap = [(float(link[node]), int(node)) for node in np.flatnonzero(~is_leaf)]
    heapq.heapify(heap)
    alpha = 0.0
    while heap:
        weakness, node = heapq.heappop(heap)
        if weakness != link[node] or price[node] < math.inf:
            continue  # told before something below it was cut, or already gone
        alpha = weakness if weakness > alpha * _SAME else alpha
        below = slice(node, ends[node])
        price[below] = np.minimum(price[below], alpha)
        n_leaves[node], saved[node] = 1, 0.0
        while (node := int(above[node])) >= 0:
            children = [node + 1, int(tree.right[node])]
            n_leaves[node] = n_leaves[children].sum()
            saved[node] = decrease[node] + saved[children[0]] + saved[children[1]]
            link[node] = saved[node] / (n_leaves[node] - 1)
            heapq.heappush(heap, (float(link[node]), node))
    price[is_leaf] = math.inf
    return price


def pruning_path(tree: Tree, decrease: FloatArray, impurity: FloatArray) -> PruningPath:
    """Tell the nested trees of ``weakest_links``, in shares of the weight of all rows."""
    price = weakest_links(tree, decrease)
    is_leaf, total = tree.right < 0, float(tree.weight[0])
    inner = ~is_leaf
    alphas = np.unique(np.concatenate([[0.0], price[inner]]))
    lowest = float((tree.weight * impurity)[is_leaf].sum())
    given_up = np.array([decrease[inner & (price <= alpha)].sum() for alpha in alphas])
    n_leaves = np.array([1 + np.count_nonzero(inner & (price > alpha)) for alpha in alphas])
    return PruningPath(alphas / total, (lowest + given_up) / total, n_leaves)


def best_stops(tree: Tree, as_leaf: FloatArray, of_split: FloatArray) -> AnyArray:
    """Say which nodes become leaves so that the sum of all costs is least; ties become leaves.

    Parameters
    ----------
    tree : the tree
    as_leaf : (n_nodes,)
        What each node costs if it is a leaf.
    of_split : (n_nodes,)
        What its split costs if it is not.
    """
    cost, stops = as_leaf.copy(), np.zeros(len(tree), bool)
    for nodes in reversed(levels(tree)):
        inner = nodes[tree.right[nodes] >= 0]
        divided = of_split[inner] + cost[inner + 1] + cost[tree.right[inner]]
        stops[inner] = as_leaf[inner] <= divided
        cost[inner] = np.minimum(as_leaf[inner], divided)
    return stops


def pessimistic_errors(tree: Tree, confidence: float) -> FloatArray:
    """Give the errors to fear in each node: its weight times the upper limit of its error rate.

    C4.5 (Quinlan, 1993): the rate at which so few errors as were seen have the probability
    ``confidence``, by the binomial distribution.

    Examples
    --------
    >>> from spinney import DecisionTreeClassifier
    >>> leaf = DecisionTreeClassifier().fit([[0.0]] * 6, ["a"] * 6).model_[0]
    >>> pessimistic_errors(leaf, 0.25).round(3).tolist()  # 6 (1 - 0.25 ** (1 / 6))
    [1.238]
    """
    errors = tree.weight * (1.0 - tree.values.max(axis=1))
    right = np.maximum(tree.weight - errors, np.finfo(float).tiny)
    limit: FloatArray = tree.weight * betaincinv(errors + 1.0, right, 1.0 - confidence)
    return limit


def description_lengths(tree: Tree, n_features: int, n_bins: IntArray) -> tuple[Any, Any]:
    """Give the bits that tell the classes of a node's rows, and those that tell its split.

    Mehta, Rissanen and Agrawal (1995): a bit says leaf or split; the classes of n rows cost
    their entropy and (k - 1)/2 log(n/2) + log(π^(k/2) / Γ(k/2)) for the shares; a split costs the
    name of its feature, and one of the cuts between its rows or one of the sets of categories.

    Parameters
    ----------
    tree : the tree, of classes
    n_features : how many there are to name
    n_bins : (n_features,)
        Categories of each feature; 0 for numbers.
    """
    n_classes = tree.values.shape[1]
    rows, counts = tree.weight, tree.weight[:, np.newaxis] * tree.values
    with np.errstate(divide="ignore", invalid="ignore"):
        surprise = np.where(counts > 0.0, counts * np.log2(rows[:, np.newaxis] / counts), 0.0)
    shares = (n_classes - 1) / 2.0 * np.log2(np.maximum(rows, 2.0) / 2.0)
    constant = (n_classes / 2.0 * math.log(math.pi) - gammaln(n_classes / 2.0)) / math.log(2.0)
    as_leaf = 1.0 + surprise.sum(axis=1) + shares + (constant if n_classes > 1 else 0.0)
    categories = np.where(tree.feature >= 0, n_bins[tree.feature], 0)
    cuts = np.log2(np.maximum(rows - 1.0, 1.0))
    sets = np.log2(np.maximum(2.0 ** np.minimum(categories, 1000) - 2.0, 1.0))
    of_split = 1.0 + math.log2(n_features) + np.where(categories > 0, sets, cuts)
    return as_leaf, of_split


def class_errors(
    tree: Tree, leaf_of_row: AnyArray, codes: AnyArray, weights: FloatArray | None
) -> FloatArray:
    """Give the weight of rows that each node, as a leaf, would put into a wrong class; (n_nodes,).

    Codes below 0 are classes the tree does not know: always wrong.
    """
    given = np.ones(len(codes)) if weights is None else weights
    whole = fixed_weights(given, bits=52)[0]  # whole numbers: a tie is a tie
    right, total = np.zeros(tree.values.shape, np.int64), np.zeros(len(tree), np.int64)
    known = codes >= 0
    np.add.at(right, (leaf_of_row[known], codes[known]), whole[known])
    np.add.at(total, leaf_of_row, whole)
    own = add_up(tree, right)[np.arange(len(tree)), tree.values.argmax(axis=1)]
    wrong: FloatArray = (add_up(tree, total) - own).astype(np.float64)
    return wrong


def squared_errors(
    tree: Tree, leaf_of_row: AnyArray, targets: FloatArray, weights: FloatArray | None
) -> FloatArray:
    """Give the squared error that each node, as a leaf, would make on its rows; (n_nodes,)."""
    given = np.ones(len(targets)) if weights is None else weights
    starts, nodes = ways_to(tree, leaf_of_row)
    order = np.argsort(nodes, kind="stable")
    row = np.repeat(np.arange(len(targets)), np.diff(starts))[order]
    reached, first = np.unique(nodes[order], return_index=True)
    errors = np.zeros(len(tree))
    for output in range(targets.shape[1]):
        apart = targets[row, output] - tree.values[nodes[order], output]
        errors[reached] += exact_sums(given[row], apart**2, first)
    return errors
