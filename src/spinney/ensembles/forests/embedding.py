"""Leaves of random trees as features."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names_in

from spinney.data.binning import Binner
from spinney.ensembles.fitting import IntakeSettings, Reading, read_rows
from spinney.ensembles.forests.growing import join_grown, portions
from spinney.ensembles.forests.importances import mean_gain_shares
from spinney.ensembles.forests.member_sequence import MemberSequence
from spinney.ensembles.forests.paths import PassedNodes
from spinney.ensembles.forests.tree_views import TreeViews, as_numbers
from spinney.ensembles.parameters import (
    Boolean,
    Checked,
    Choice,
    Fraction,
    Integer,
    Jobs,
    Nothing,
    Real,
    Rule,
    Seed,
    either,
)
from spinney.ensembles.sharing import mixed_bits
from spinney.ensembles.trees.limits import weight_of
from spinney.errors import InvalidInput, InvalidModel, InvalidParameter
from spinney.model import Model, Policy, TreeForest
from spinney.model.forest import Output, TreeSum, join_trees
from spinney.model.model import State
from spinney.progress import Progress
from spinney.randomness import Stream, random_bits, seed_from
from spinney.resampling.bags import Bags
from spinney.trees.ranked import ForestSettings, RankedTable, TreeTarget
from spinney.trees.settings import TreeSettings
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike


class RandomTreesEmbedding(TransformerMixin, PassedNodes, MemberSequence):
    """Rows as the leaves they fall into: one column per leaf of a forest of random trees.

    Trees are split at random, without a target. Rows that are near each other share leaves, so
    that a linear model on the columns can bend. Every row has a 1 for each tree and 0 elsewhere.

    Parameters
    ----------
    n_estimators : int
        Trees.
    max_depth : int or None
        Longest path from the root, in splits: at most 2 ** max_depth columns per tree.
    min_samples_split, min_samples_leaf : int or float
        Least weight of rows in a node that is split, and in each child; a float is a share.
    min_weight_fraction_leaf : float
        Least share of the total weight in each child.
    max_leaf_nodes : int or None
        Most leaves of a tree.
    min_impurity_decrease : float
        As in scikit-learn, of a random number for each row: of little use.
    sparse_output : bool
        Whether ``transform`` gives a SciPy sparse matrix, or a dense array.
    n_jobs : int or None
        Threads; None for all this process may use.
    random_state : int, Generator, RandomState or None
        Decides the splits.
    verbose : int
        1 shows a bar in terminals and notebooks.
    warm_start : bool
        Whether ``fit`` adds trees to those of the last fit.
    categorical_features : "from_dtype", None, mask, positions or names
        Which features are categories.
    unseen : {"missing", "error"}
        What an unknown category means at transform.
    extra_columns : {"error", "ignore"}
        What unknown columns mean at transform.

    Attributes
    ----------
    model_ : TreeForest
        The frozen model; the value of a leaf is the number of its column.
    estimators_ : list
        The trees as estimators.
    feature_importances_ : ndarray
        Mean share of each feature in the splits of a tree, weighed by what they say of the random
        numbers that trees grow by.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from spinney import RandomTreesEmbedding
    >>> X = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    >>> leaves = RandomTreesEmbedding(n_estimators=5, max_depth=1, random_state=0).fit_transform(X)
    >>> leaves.shape, leaves.sum(axis=1).T.tolist()
    ((5, 10), [[5.0, 5.0, 5.0, 5.0, 5.0]])
    """

    _task = "unsupervised"
    _model_class: ClassVar[type[Model]] = TreeForest
    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_estimators": Integer(1),
        "max_depth": either(Integer(1), Nothing("no limit")),
        "min_samples_split": either(Integer(2), Fraction()),
        "min_samples_leaf": either(Integer(1), Fraction()),
        "min_weight_fraction_leaf": Real(0.0, 0.5),
        "max_leaf_nodes": either(Integer(2), Nothing("no limit")),
        "min_impurity_decrease": Real(0.0),
        "sparse_output": Boolean(),
        "n_jobs": Jobs(),
        "random_state": Seed(),
        "verbose": either(Boolean(), Integer(0)),
        "warm_start": Boolean(),
        "categorical_features": Checked("'from_dtype', None, a mask, positions or names"),
        "unseen": Choice(("missing", "error")),
        "extra_columns": Choice(("error", "ignore")),
    }
    model_: TreeForest

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_depth: int | None = 5,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        sparse_output: bool = True,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        warm_start: bool = False,
        categorical_features: Any = "from_dtype",
        unseen: str = "missing",
        extra_columns: str = "error",
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.extra_columns = extra_columns

    def fit(self, X: TableLike, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : table of n rows
            pandas, polars or Arrow table, NumPy array, SciPy sparse matrix.
        y : ignored
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent.

        Returns
        -------
        self
        """
        del y
        self._check_parameters()
        intake = IntakeSettings(
            estimator_name=type(self).__name__,
            task=self._task,
            categorical_features=self.categorical_features,
            n_threads=self._n_threads(),
        )
        reading = read_rows(X, None, sample_weight, intake)
        before = self.model_ if self.warm_start and hasattr(self, "model_") else None
        if before is None:
            self._seed = seed_from(self.random_state)
        else:
            self._check_goes_on(before, reading)
        self._adopt(self._grown(reading, before))
        return self

    def _check_goes_on(self, before: TreeForest, reading: Reading) -> None:
        """Refuse fewer trees and other columns; warn if there is nothing to grow."""
        if len(before) > self.n_estimators or before.schema != reading.schema:
            raise InvalidParameter(
                f"n_estimators={self.n_estimators} must be larger or equal to len(estimators_)="
                f"{len(before)} when warm_start==True, and columns and categories the same. Ask "
                "for more trees of such a table, or set warm_start=False to begin anew."
            )
        if len(before) == self.n_estimators:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                UserWarning,
                stacklevel=3,
            )

    def fit_transform(self, X: TableLike, y: Any = None, sample_weight: Any = None) -> Any:
        """Grow the trees and give the leaves of the same rows; see ``fit`` and ``transform``."""
        return self.fit(X, y, sample_weight).transform(X)

    def transform(self, X: TableLike) -> Any:
        """Give a 1 for the leaf of each tree a row falls into; (n_rows, n_leaves).

        Parameters
        ----------
        X : table of n rows

        Returns
        -------
        SciPy sparse matrix (CSR), or array if ``sparse_output`` is False
        """
        leaves = self.apply(X)
        starts = self.model_.arrays["tree_start"][:-1]
        columns = self.model_.arrays["values"][:, 0][leaves + starts].astype(np.int32)
        n_rows, n_trees = columns.shape
        ends = np.arange(0, n_rows * n_trees + 1, n_trees, dtype=np.int32)
        ones = np.ones(columns.size)
        shape = (n_rows, self._n_features_out)
        matrix = sparse.csr_matrix((ones, columns.ravel(), ends), shape=shape)
        return matrix if self.sparse_output else matrix.toarray()

    @property
    def estimators_(self) -> TreeViews:
        """The trees as fitted regressors, made when asked for; they predict columns of leaves."""
        self._check_fitted()
        own = self.get_params(deep=False) | {"splitter": "random", "max_features": 1}
        return TreeViews(as_numbers(self.model_), own, self._seed)

    @property
    def n_outputs_(self) -> int:
        """Numbers that trees grow by, drawn for each row: 1."""
        self._check_fitted()
        return 1

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean share of each feature in what splits say of random numbers: how often it is split.

        There is no target that a feature could matter for.
        """
        self._check_fitted()
        return mean_gain_shares(self.model_)

    def compile(self) -> NoReturn:
        """Refuse: leaves are no prediction."""
        raise InvalidInput(
            "RandomTreesEmbedding predicts nothing that one row could be asked about. Use "
            "transform, or apply for the numbers of the leaves."
        )

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Name the columns of ``transform``: ``randomtreesembedding_<tree>_<leaf>``."""
        self._check_fitted()
        _check_feature_names_in(self, input_features, generate_names=False)
        names = [
            f"randomtreesembedding_{number}_{leaf}"
            for number, tree in enumerate(self.model_)
            for leaf in np.flatnonzero(tree.right < 0)
        ]
        return np.array(names, dtype=object)

    @property
    def _n_features_out(self) -> int:
        return int(np.count_nonzero(self.model_.arrays["right"] < 0))

    def _grown(self, reading: Reading, before: TreeForest | None) -> TreeForest:
        binner = Binner.of_categories(reading.table, reading.weights)
        ranked = RankedTable(reading.table, binner, max_bins=2, n_threads=self._n_threads())
        # A number that goes with what stands in a row: the row twice has it twice.
        bits = mixed_bits(reading.table) ^ np.uint64(random_bits(self._seed, Stream.ROWS, 0))
        bits *= np.uint64(0xFF51AFD7ED558CCD)
        bits ^= bits >> np.uint64(33)
        target = TreeTarget.of_numbers(
            (bits >> np.uint64(11)).astype(np.float64)[:, np.newaxis] * 2.0**-53,
            reading.weights,
            criterion="squared",
        )
        trees = range(0 if before is None else len(before), self.n_estimators)
        settings = ForestSettings(tree=self._limits(reading), search="random", shuffle=True)
        parts, bags = [], Bags(ranked.n_rows)
        with Progress(trees.stop, "tree", first=trees.start, verbose=self.verbose) as progress:
            step = max(1, -(-len(trees) // 50) if progress.is_shown else len(trees))
            for some in portions(trees, step):
                parts.append(ranked.grow(target, settings, bags, some))
                progress.show(some.stop)
        arrays = join_grown(parts) if parts else ranked.grow(target, settings, bags, trees)
        new = self._frozen(arrays, reading, binner)
        if before is None:
            return new
        return self._frozen(join_trees([*before, *new], width=1), reading, binner)

    def _frozen(
        self, arrays: Mapping[str, AnyArray], reading: Reading, binner: Binner
    ) -> TreeForest:
        """Freeze trees; the value of a leaf is its column, of other nodes that of the next leaf."""
        is_leaf = arrays["right"] < 0
        columns: AnyArray = np.cumsum(is_leaf) - is_leaf
        return TreeForest.from_trees(
            TreeSum({**arrays, "values": columns[:, np.newaxis].astype(np.float64)}, np.zeros(1)),
            reading.schema,
            reading.target,
            binner.features,
            output=Output(),
            policy=Policy(unseen=self.unseen, extra=self.extra_columns),
        )

    def _limits(self, reading: Reading) -> TreeSettings:
        total = reading.total_weight
        least = weight_of(self.min_samples_leaf, total)
        split = weight_of(self.min_samples_split, total)
        return TreeSettings(
            max_leaf_nodes=self.max_leaf_nodes,
            max_depth=self.max_depth,
            # Any child has a row, whatever it weighs: the usual limits are none.
            min_samples_split=0.0 if self.min_samples_split == 2 else split,
            min_samples_leaf=max(
                0.0 if self.min_samples_leaf == 1 else least, self.min_weight_fraction_leaf * total
            ),
            min_gain=self.min_impurity_decrease * total,
            max_features=1,
            seed=self._seed,
        )

    def _adopt(self, model: Model) -> None:
        """Become the fitted estimator of a model whose leaves are numbered through."""
        super()._adopt(model)
        is_leaf = self.model_.arrays["right"] < 0
        columns: FloatArray = self.model_.arrays["values"]
        if columns.shape[1] != 1 or not np.array_equal(
            columns[is_leaf, 0], np.arange(np.count_nonzero(is_leaf))
        ):
            del self.model_
            raise InvalidModel("the leaves of an embedding are not numbered through")

    def _attributes(self) -> State:
        """Give the seed of further trees."""
        return {"seed": self._seed}, {}

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        """Take back what ``_attributes`` gave, believing nothing."""
        seed = meta.get("seed")
        known = set(meta) == {"seed"} and not arrays
        if not known or type(seed) is not int or not 0 <= seed < 2**64:
            raise InvalidModel("an embedding has the seed of its trees beside its model")
        self._seed = seed
