"""The native kernels of Spinney; see native/ for what they promise."""

from collections.abc import Sequence
import enum
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def available_threads() -> int:
    """CPUs this process may use: affinity and cgroup quota, at least 1."""

def active_isa() -> str:
    """Instruction set of the kernels in use: portable, avx2 or avx512."""

def best_isa() -> str:
    """The widest instruction set this machine has."""

def use_isa(name: str) -> None:
    """Switch the kernels, for tests; SPINNEY_ISA does it from outside."""

class ColumnViews:
    """What native code sees of the columns of a table."""

class Columns(ColumnViews):
    """Borrowed columns of a table."""

    def __init__(self, n_rows: int) -> None: ...

    def add_column(self, values: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]) -> None: ...

    def add_matrix(self, values: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)]) -> None: ...

    def add_sparse(self, rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]) -> None: ...

    @property
    def n_features(self) -> int: ...

def nonzero_columns(matrix: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], one_in: int, n_threads: int) -> tuple:
    """
    Starts of columns, rows and values that are not zero; empty unless these are few.
    """

def find_cuts(columns: ColumnViews, weights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_bins: int, sample_rows: int, n_threads: int) -> list:
    """Cut points of every feature; weights empty or one integer per row."""

def bin_columns(columns: ColumnViews, features: list, n_threads: int) -> NDArray[numpy.uint8]:
    """
    Bins, row-major; a feature is its cut points or (bin of each code, number of bins).
    """

class SparseBins:
    """Bins of the stored values of sparse columns."""

    @property
    def n_rows(self) -> int: ...

    def dense(self, n_threads: int) -> NDArray[numpy.uint8]:
        """Bins, row-major."""

def bin_sparse_columns(columns: ColumnViews, features: list, n_threads: int) -> SparseBins:
    """The same of sparse columns of numbers, for stored values only."""

class SearchGoal:
    """What a search over boxes is after."""

    def __init__(self, start: float, floor: float, enough: float, only_positive_parts: bool) -> None: ...

class BoxSearch:
    """A search for the largest sum, in slices."""

    def advance(self, n_boxes: int) -> None:
        """Opens up to so many boxes."""

    @property
    def is_done(self) -> bool: ...

    @property
    def n_boxes(self) -> int: ...

    @property
    def attained(self) -> float: ...

    @property
    def upper(self) -> float: ...

    def witness(self) -> dict:
        """
        The box of rows with the sum `attained`: low, high, missing and bins per feature.
        """

class Boxes:
    """Trees whose splits speak of cells."""

    def __init__(self, arrays: dict, domain: dict) -> None: ...

    def largest(self, sign: float, goal: SearchGoal) -> BoxSearch:
        """
        A search for the largest score; with sign -1 for the largest negative score.
        """

    def largest_difference(self, features: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sign: float, goal: SearchGoal) -> BoxSearch:
        """
        A search for the largest difference between two cells of a feature (-1: missing), or of such differences.
        """

def read_file(descriptor: int, size: int) -> memoryview | None:
    """
    The first bytes of an open file, for reading only; None if it has fewer.
    """

def weigh_rows(margins: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], least: float, step: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], float, float], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], signs: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], to: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]], n_threads: int) -> tuple[int, int]:
    """
    Weights exp(least - margin) of rows: fills shares, and cells of 30 bits of them with signs; gives the two halves of the exact sum of the shares by their counts. step: whether each row was voted right, and what is added to its margin first, in place, if it was and if it was not. The answers of the step, factors, counts, signs and cells may be empty.
    """

def judge_vote(shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], margins: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple[int, int, float, float]:
    """
    The two halves of the exact sum of the shares of wrong rows, and the least margin of right and of wrong ones. counts and margins may be empty.
    """

def exact_log(x: float) -> float:
    """
    Natural logarithm of a positive number, the same bits on every machine.
    """

def exact_exp(x: float) -> float:
    """e to the x, the same bits on every machine."""

def exact_exp_of(numbers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """e to each number."""

def exact_log_of(numbers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """Natural logarithms of positive numbers."""

@overload
def fill_derivatives(loss: str, parameter: float, y: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradients: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], hessians: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> tuple[float, float]: ...

@overload
def fill_derivatives(loss: str, parameter: float, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradients: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], hessians: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> tuple[float, float]:
    """
    Derivatives of a loss by the score, row by row; gives the largest magnitudes of both. hessians may be empty where all are 1.
    """

@overload
def sum_loss(loss: str, parameter: float, y: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> float: ...

@overload
def sum_loss(loss: str, parameter: float, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> float:
    """Weighted sum of a loss; weights empty: all 1."""

def fill_softmax_derivatives(codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, gradients: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], hessians: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> list[tuple[float, float]]:
    """
    Derivatives of the multinomial loss, class by class; gives the largest magnitudes of both.
    """

def sum_softmax_loss(codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> float:
    """Weighted sum of the multinomial loss; weights empty: all 1."""

def log_link_steps(newton: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], power: float) -> NDArray[numpy.float64]:
    """Exact steps of leaves from Newton's, for losses with log link."""

def leaf_optima(loss: tuple[str, float], targets_and_scores: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], weights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], last: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> NDArray[numpy.float64]:
    """
    Best constant of each node, whose rows are rows[first[i]:last[i]]; weights empty: all 1.
    """

def tie_keys(bins: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int) -> NDArray[numpy.uint64]:
    """A number for every row that depends on its bins alone."""

class RankedQueries:
    """The rows of some queries, to be ranked."""

    def __init__(self, labels_and_gains: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def fill_derivatives(self, loss: tuple[str, int, bool], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradients: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], hessians: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> tuple[float, float]:
        """
        Derivatives of a loss (its name, truncation, normalize) by the scores of all rows; gives the largest magnitudes of both.
        """

    def measure(self, metric: str, k: int, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> NDArray[numpy.float64]:
        """
        NDCG or average precision of the first k places of each query; k of 0: all.
        """

class Forest:
    """A frozen forest, checked when it is made."""

    def __init__(self, arrays: dict, n_features: int, n_outputs: int, value_width: int, n_threads: int = 1) -> None: ...

    def predict(self, columns: ColumnViews, divisor: float, link: str, n_threads: int, road: str = 'best') -> NDArray[numpy.float64]:
        """
        Sums of the trees over the divisor, through the link; (n_rows, n_predicted).
        """

    @overload
    def predict_rows(self, divisor: float, link: str, rows: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
        """
        What predict() says of rows that are numbers already, one behind the other: of categories their codes, NaN for missing.
        """

    @overload
    def predict_rows(self, divisor: float, link: str, rows: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

    def leaf_ids(self, columns: ColumnViews, n_threads: int, road: str = 'best') -> NDArray[numpy.int32]:
        """Leaf of every row in every tree; (n_rows, n_trees)."""

class PackedForest:
    """Nodes of a forest as files hold them, checked when it is made."""

    def __init__(self, arrays: dict, n_features: int, n_outputs: int, value_width: int) -> None: ...

    def unpack(self, n_threads: int) -> dict:
        """The arrays of nodes that are not stored in full, as bytes."""

    def root_counts(self) -> NDArray[numpy.int64]:
        """Counts of the roots; (n_trees,)."""

    def root_weights(self) -> NDArray[numpy.float64]:
        """Weights of the roots; (n_trees,)."""

def apply_link(link: str, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_outputs: int, n_threads: int) -> NDArray[numpy.float64]:
    """Raw scores, row by row, to predictions; (n_rows, n_predicted)."""

def shapley_base(forest: Forest) -> NDArray[numpy.float64]:
    """Raw scores when no feature is known; (n_outputs)."""

def shapley_values(forest: Forest, columns: ColumnViews, players: tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], int], n_threads: int) -> NDArray[numpy.float64]:
    """Path-dependent Shapley values; (n_rows, n_players, n_outputs)."""

def shapley_interactions(forest: Forest, columns: ColumnViews, players: tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], int], n_threads: int) -> NDArray[numpy.float64]:
    """Shapley interactions; (n_rows, n_players, n_players, n_outputs)."""

def interventional_values(forest: Forest, columns: ColumnViews, background: ColumnViews, shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], players: tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], int], n_threads: int) -> NDArray[numpy.float64]:
    """Shapley values against a background; (n_rows, n_players, n_outputs)."""

class TreeSettings:
    """How one tree may grow."""

    def __init__(self) -> None: ...

    @property
    def max_leaf_nodes(self) -> int: ...

    @max_leaf_nodes.setter
    def max_leaf_nodes(self, arg: int, /) -> None: ...

    @property
    def max_depth(self) -> int: ...

    @max_depth.setter
    def max_depth(self, arg: int, /) -> None: ...

    @property
    def min_samples_split(self) -> float: ...

    @min_samples_split.setter
    def min_samples_split(self, arg: float, /) -> None: ...

    @property
    def min_samples_leaf(self) -> float: ...

    @min_samples_leaf.setter
    def min_samples_leaf(self, arg: float, /) -> None: ...

    @property
    def min_gain(self) -> float: ...

    @min_gain.setter
    def min_gain(self, arg: float, /) -> None: ...

    @property
    def max_features(self) -> int: ...

    @max_features.setter
    def max_features(self, arg: int, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

class GradientTreeSettings:
    """How one tree of a boosted sum may grow."""

    def __init__(self) -> None: ...

    @property
    def max_leaf_nodes(self) -> int: ...

    @max_leaf_nodes.setter
    def max_leaf_nodes(self, arg: int, /) -> None: ...

    @property
    def max_depth(self) -> int: ...

    @max_depth.setter
    def max_depth(self, arg: int, /) -> None: ...

    @property
    def leaf_wise(self) -> bool: ...

    @leaf_wise.setter
    def leaf_wise(self, arg: bool, /) -> None: ...

    @property
    def symmetric(self) -> bool: ...

    @symmetric.setter
    def symmetric(self, arg: bool, /) -> None: ...

    @property
    def random_cuts(self) -> bool: ...

    @random_cuts.setter
    def random_cuts(self, arg: bool, /) -> None: ...

    @property
    def min_samples_leaf(self) -> float: ...

    @min_samples_leaf.setter
    def min_samples_leaf(self, arg: float, /) -> None: ...

    @property
    def min_child_weight(self) -> float: ...

    @min_child_weight.setter
    def min_child_weight(self, arg: float, /) -> None: ...

    @property
    def l1(self) -> float: ...

    @l1.setter
    def l1(self, arg: float, /) -> None: ...

    @property
    def l2(self) -> float: ...

    @l2.setter
    def l2(self, arg: float, /) -> None: ...

    @property
    def max_step(self) -> float: ...

    @max_step.setter
    def max_step(self, arg: float, /) -> None: ...

    @property
    def longest_step(self) -> float: ...

    @longest_step.setter
    def longest_step(self, arg: float, /) -> None: ...

    @property
    def every_hessian_counts(self) -> bool: ...

    @every_hessian_counts.setter
    def every_hessian_counts(self, arg: bool, /) -> None: ...

    @property
    def path_smoothing(self) -> float: ...

    @path_smoothing.setter
    def path_smoothing(self, arg: float, /) -> None: ...

    @property
    def min_split_gain(self) -> float: ...

    @min_split_gain.setter
    def min_split_gain(self, arg: float, /) -> None: ...

    @property
    def prune_gain(self) -> float: ...

    @prune_gain.setter
    def prune_gain(self, arg: float, /) -> None: ...

    @property
    def max_features(self) -> float: ...

    @max_features.setter
    def max_features(self, arg: float, /) -> None: ...

    @property
    def max_features_per_tree(self) -> float: ...

    @max_features_per_tree.setter
    def max_features_per_tree(self, arg: float, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def category_smoothing(self) -> float: ...

    @category_smoothing.setter
    def category_smoothing(self, arg: float, /) -> None: ...

    @property
    def category_penalty(self) -> float: ...

    @category_penalty.setter
    def category_penalty(self, arg: float, /) -> None: ...

    @property
    def category_support(self) -> float: ...

    @category_support.setter
    def category_support(self, arg: float, /) -> None: ...

    @property
    def monotone(self) -> list[int]: ...

    @monotone.setter
    def monotone(self, arg: Sequence[int], /) -> None: ...

    @property
    def interactions(self) -> list[list[int]]: ...

    @interactions.setter
    def interactions(self, arg: Sequence[Sequence[int]], /) -> None: ...

class GrownTrees:
    """Trees of a boosted sum while it grows."""

    def __init__(self, width: int = 1) -> None: ...

    def __len__(self) -> int: ...

    @property
    def width(self) -> int:
        """Numbers in the value of a node."""

    def arrays(self) -> dict:
        """The arrays of a forest of these trees."""

    def append_all(self, arrays: dict) -> None:
        """Add the trees of a forest's arrays."""

    def truncate(self, n_trees: int) -> None:
        """Forget all trees but the first."""

    def last_values(self) -> NDArray[numpy.float64]:
        """Values of the nodes of the last tree, copied."""

    def set_last_values(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], learning_rate: float) -> None:
        """Give the nodes of the last tree other values, times the learning rate."""

class Bundling(enum.Enum):
    """Whether sparse features share bytes."""

    AUTO = 0

    NEVER = 1

    ALWAYS = 2

class GradientGrower:
    """Grows the trees of a boosted sum."""

    @overload
    def __init__(self, bins: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_value_bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], categorical: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], cuts: Sequence[Sequence[float]], settings: GradientTreeSettings, learning_rate: float, n_threads: int, bundling: Bundling = Bundling.AUTO) -> None: ...

    @overload
    def __init__(self, bins: SparseBins, n_value_bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], categorical: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], cuts: Sequence[Sequence[float]], settings: GradientTreeSettings, learning_rate: float, n_threads: int, bundling: Bundling = Bundling.AUTO) -> None: ...

    @property
    def n_bundles(self) -> int:
        """Bytes per row, beside those of joint columns."""

    def grow(self, gradients: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], hessians: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights_repeat: bool, weight_scale: float, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], largest: Sequence[tuple[float, float]], into: GrownTrees) -> None:
        """
        Grow one tree and append it; hessians, weights, rows may be empty. Of trees of vectors derivatives are one output behind the other.
        """

    def add_leaf_values(self, trees: GrownTrees, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Add the value of its leaf in the last tree to the score of every row."""

    def add_trees(self, trees: GrownTrees, numbers: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], component: int, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Add some trees, times their weights, to the score of every row."""

    def settle_values(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Smooth values of the nodes of the last tree, and bound them, in place."""

    def node_ranges(self) -> dict:
        """Rows of the nodes of the last tree: rows[first[i]:last[i]] for node i."""

class Criterion(enum.Enum):
    """What a split of an exact tree lowers."""

    SQUARED = 0

    ERROR = 1

    EXPONENTIAL = 2

    HAMMING = 3

class SortedColumns:
    """Rows of every feature by value."""

    def __init__(self, columns: ColumnViews, category_bins: Sequence[Sequence[int]], n_threads: int) -> None: ...

    @property
    def n_rows(self) -> int: ...

    def grow(self, targets: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scales: tuple[float, float], criterion: Criterion, settings: TreeSettings, n_threads: int) -> dict:
        """
        Grow one tree; nodes in preorder. scales: what units of targets and weights are worth.
        """

    def grow_signs(self, cells: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: float, criterion: Criterion, settings: TreeSettings, n_threads: int) -> dict:
        """
        Grow one tree of two classes. cells: the weight of each row, negative in the first class; scale: what a unit of them is worth.
        """

def say_of_rows(said: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], leaf_of_row: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> NDArray[numpy.int8]:
    """
    What the leaf of each row says; (n_rows, 1), a byte each, because rows are many.
    """

class SplitSearch(enum.Enum):
    """How splits are looked for."""

    ADAPTIVE = 0

    EXACT = 1

    HISTOGRAM = 2

    RANDOM = 3

class NodeCriterion(enum.Enum):
    """What a split of a forest's tree lowers."""

    GINI = 0

    ENTROPY = 1

    ERROR = 2

    TWOING = 3

    DKM = 4

    HELLINGER = 5

    GAIN_RATIO = 6

    SQUARED = 7

    POISSON = 8

    ABSOLUTE = 9

class ForestSettings:
    """How the trees of a forest may grow."""

    def __init__(self) -> None: ...

    @property
    def tree(self) -> TreeSettings: ...

    @tree.setter
    def tree(self, arg: TreeSettings, /) -> None: ...

    @property
    def search(self) -> SplitSearch: ...

    @search.setter
    def search(self, arg: SplitSearch, /) -> None: ...

    @property
    def directions(self) -> list[int]: ...

    @directions.setter
    def directions(self, arg: Sequence[int], /) -> None: ...

    @property
    def shuffle(self) -> bool: ...

    @shuffle.setter
    def shuffle(self, arg: bool, /) -> None: ...

class ForestTarget:
    """What trees of a forest are grown for."""

    def __init__(self, labels: tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], numbers: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], outputs: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], scales: tuple[float, float], criterion: NodeCriterion, targets: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bool]) -> None:
        """
        labels: the class of each label of each row, and where the classes of each label begin among the outputs, with their end; none for numbers. outputs: what was subtracted from the numbers of each, and the unit of these as a share of the largest, none for classes. targets: for absolute error those of each row, else none; and whether weights are whole.
        """

class RankedColumns:
    """Every feature as ranks of its values."""

    def __init__(self, columns: ColumnViews, category_bins: Sequence[Sequence[int]], weights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_bins: int, n_threads: int) -> None: ...

    @property
    def n_rows(self) -> int: ...

    def take(self, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> RankedColumns:
        """Some rows, with the ranks they have among all."""

    def grow(self, target: ForestTarget, given: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], draws: tuple[int, Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]], choices: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]], settings: ForestSettings, trees: tuple[int, int], n_threads: int) -> dict:
        """
        Grow trees (first, how many) of a forest; nodes in preorder. given: how often each tree counts each row, or empty; draws: (how many, last ticket of each row), (0, none): every row once; choices: (features each tree may split on, its own seed), each empty or one row per tree.
        """

def draw_repetitions(n_rows: int, draws: tuple[int, Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]], seed: int, trees: tuple[int, int]) -> object:
    """
    How often trees (first, how many) of a forest draw each row; (n_trees, n_rows).
    """

class LeafRows:
    """Training rows behind the leaves of a forest, by their target."""

    def __init__(self, arrays: dict) -> None: ...

    def quantiles(self, leaves: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], levels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> NDArray[numpy.float64]:
        """Quantiles of (n_rows, n_trees) leaves; -1: this tree does not count."""

    def weights(self, leaves: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
        """
        Numbers and weights of the training rows that count for the leaves of one row.
        """

class SplitPlanes:
    """Trees whose nodes are split by planes."""

    def __init__(self, arrays: dict, n_features: int, width: int, n_outputs: int) -> None: ...

    def mean_values(self, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int) -> NDArray[numpy.float64]:
        """
        Means over the trees of the values of leaves; (n_rows, n_outputs). NaN is missing.
        """

def project(matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], feature: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], normal: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], point: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int) -> NDArray[numpy.float64]:
    """
    Sums of normal * (x[feature] - point) for (n_planes, width) terms; (n_planes, n_rows).
    """

def grow_planes(matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], categorical: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], drawn: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], limits: tuple[int, int], seed: int, first_tree: int, n_threads: int) -> dict:
    """
    Grow trees of random planes on the rows drawn for each; limits: (terms of a plane, depth).
    """

def draw_one_side(gradients: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_rows: int, top_rate: float, share: float, seed: int, n_threads: int) -> tuple:
    """Rows with large gradients, and some of the others."""

def draw_minimal_variance(gradients: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], hessians: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_rows: int, share: float, step_share: float, seed: int, n_threads: int) -> tuple:
    """Rows by the size of their derivatives, so that sums vary least."""

def draw_poisson(rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_rows: int, share: float, seed: int, n_threads: int) -> NDArray[numpy.int64]:
    """How often each row counts: Poisson numbers."""

def bayesian_factors(n_rows: int, temperature: float, scale: float, seed: int, n_threads: int) -> NDArray[numpy.float32]:
    """Powers of exponential variates, one per row."""
