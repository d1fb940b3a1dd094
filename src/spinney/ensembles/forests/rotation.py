"""Forests whose trees split along directions of their own."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from spinney.ensembles.estimator import Estimator
from spinney.ensembles.fitting import IntakeSettings, Reading, read_rows
from spinney.ensembles.forests.rotation_trees import RotationGrowth, RotationPlan
from spinney.ensembles.forests.row_order import in_order_of_targets
from spinney.ensembles.parameters import (
    VERBOSE,
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
from spinney.ensembles.trees.limits import n_drawn, weight_of
from spinney.ensembles.weak.checks import check_means
from spinney.errors import InvalidInput
from spinney.model import Model, Policy
from spinney.model.projection import PlaneForest
from spinney.progress import at_least
from spinney.randomness import seed_from
from spinney.trees.settings import TreeSettings
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike

_RULES: Mapping[str, Rule] = {
    "n_estimators": Integer(1),
    "rotation": Choice(("pca", "random_combinations")),
    "subset_size": Integer(1, 64),
    "max_depth": either(Integer(1), Nothing("no limit")),
    "min_samples_split": either(Integer(2), Fraction()),
    "min_samples_leaf": either(Integer(1), Fraction()),
    "min_weight_fraction_leaf": Real(0.0, 0.5),
    "max_features": either(
        Integer(1), Fraction(), Choice(("sqrt", "log2")), Nothing("all directions")
    ),
    "bootstrap": Boolean(),
    "extra_columns": Choice(("error", "ignore")),
    "random_state": Seed(),
    "n_jobs": Jobs(),
    "verbose": VERBOSE,
}


class _RotationForest(Estimator):
    """What the classifier and the regressor share: everything but the meaning of the target."""

    _model_class: ClassVar[type[Model]] = PlaneForest
    model_: PlaneForest

    def fit(self, X: TableLike, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : table of n rows
            Numbers, booleans, dates; missing values count as the mean of their feature.
        y : n labels or numbers
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent.

        Returns
        -------
        self
        """
        self._check_parameters()
        params = self.get_params(deep=False)
        intake = IntakeSettings(
            estimator_name=type(self).__name__,
            task=self._task,
            class_weight=params.get("class_weight"),
            n_threads=self._n_threads(),
        )
        given = read_rows(X, y, sample_weight, intake)
        self._refuse_categories(given)
        check_means(given.y, type(self).__name__)
        _refuse_infinities(given)
        reading, _ = in_order_of_targets(given)
        growth = RotationGrowth(reading, self._plan(params, reading))
        with at_least(params["verbose"]):
            self._adopt(growth.forest())
        return self

    def _refuse_categories(self, reading: Reading) -> None:
        names = zip(reading.schema.names, reading.schema.levels, strict=True)
        categories = [name for name, levels in names if levels is not None]
        if categories:
            raise InvalidInput(
                f"Column {categories[0]!r} is categorical, and {type(self).__name__} adds features "
                "up. Leave it out, give it as numbers (one column per category), or use a forest "
                "that splits along the features."
            )

    def _plan(self, params: Mapping[str, Any], reading: Reading) -> RotationPlan:
        n_features = len(reading.schema.names)
        total = reading.total_weight
        split, leaf = params["min_samples_split"], params["min_samples_leaf"]
        return RotationPlan(
            n_trees=params["n_estimators"],
            rotation=params["rotation"],
            subset_size=min(params["subset_size"], n_features),
            bootstrap=bool(params["bootstrap"]),
            limits=TreeSettings(
                max_depth=params["max_depth"],
                # Any child has a row, whatever it weighs: the least limits are none.
                min_samples_split=0.0 if split == 2 else weight_of(split, total),
                min_samples_leaf=max(
                    0.0 if leaf == 1 else weight_of(leaf, total),
                    params["min_weight_fraction_leaf"] * total,
                ),
                max_features=n_drawn(params["max_features"], n_features),
                seed=seed_from(params["random_state"]),
            ),
            n_threads=self._n_threads(),
            policy=Policy(extra=params["extra_columns"]),
        )


def _refuse_infinities(reading: Reading) -> None:
    """Refuse what has no place in a sum, by the row that was given."""
    for column in reading.table.columns:
        is_number = column.levels is None and column.values.dtype.kind == "f"
        if not is_number or not np.isinf(column.values).any():
            continue
        row = int(np.isinf(column.values).argmax())
        row = row if column.rows is None else column.rows[row]
        row = row if reading.kept is None else reading.kept[row]
        raise InvalidInput(
            f"Column {column.name!r}, row {row}: infinite. A rotation adds features up; replace "
            "infinities by a large number or by missing."
        )


class RotationForestClassifier(ClassifierMixin, _RotationForest):
    """A forest whose trees split along sums of a few features instead of single ones.

    Every tree turns the table its own way and is then grown on all rows. ``rotation="pca"``:
    features are put into random groups, and each group is turned to its principal axes, seen on
    some of the classes and three in four of their rows (Rodríguez, Kuncheva and Alonso 2006).
    ``rotation="random_combinations"``: random sums of a few features (Breiman's Forest-RC), drawn
    for each tree. Good where the border between classes runs across the features. Features are
    added up, so a table with categories is refused, with the column's name: give them as numbers.
    The forest is the same for every number of threads and every order of rows.

    Parameters
    ----------
    n_estimators : int
        Trees.
    rotation : {"pca", "random_combinations"}
        How directions are found.
    subset_size : int
        Features that are combined, at most 64.
    max_depth : int or None
        Longest path from the root, in splits.
    min_samples_split, min_samples_leaf : int or float
        Least weight of rows in a node that is split, and in each child; a float is a share.
    min_weight_fraction_leaf : float
        Least share of the total weight in each child.
    max_features : int, float, "sqrt", "log2" or None
        Directions drawn at each node to choose from; there are as many as features.
    bootstrap : bool
        Whether each tree draws rows with replacement, or takes them all.
    class_weight : None, "balanced" or dict
        Weights of classes, multiplied with ``sample_weight``.
    extra_columns : {"error", "ignore"}
        What unknown columns mean at predict.
    random_state : int, Generator, RandomState or None
        Decides the draws.
    n_jobs : int or None
        Threads; None for all this process may use.
    verbose : int
        1 shows a bar in terminals and notebooks.

    Attributes
    ----------
    model_ : PlaneForest
        The frozen model.
    classes_ : ndarray
        Labels, sorted.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from spinney import RotationForestClassifier
    >>> X = [[i / 10, j / 10] for i in range(10) for j in range(10)]
    >>> above = ["yes" if a + b > 0.85 else "no" for a, b in X]
    >>> forest = RotationForestClassifier(n_estimators=10, random_state=0).fit(X, above)
    >>> forest.predict([[0.1, 0.2], [0.9, 0.8]])
    array(['no', 'yes'], dtype='<U3')
    """

    _task = "classification"
    _rules: ClassVar[Mapping[str, Rule]] = {
        **_RULES,
        "class_weight": Checked("None, 'balanced' or a dict from class to weight"),
    }
    classes_: AnyArray

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        rotation: str = "pca",
        subset_size: int = 3,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        bootstrap: bool = False,
        class_weight: Any = None,
        extra_columns: str = "error",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.rotation = rotation
        self.subset_size = subset_size
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.class_weight = class_weight
        self.extra_columns = extra_columns
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        tags.input_tags.string = False
        return tags

    def predict_proba(self, X: TableLike) -> FloatArray:
        """Mean share of each class in the row's leaves; (n_rows, n_classes)."""
        shares: FloatArray = self._predictions(X)
        return shares

    def predict_log_proba(self, X: TableLike) -> FloatArray:
        """Logarithm of ``predict_proba``; -inf where a class has no share."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: TableLike) -> AnyArray:
        """Likeliest class of each row; ties go to the first of ``classes_``."""
        shares = self.predict_proba(X)
        labels: AnyArray = self.classes_[shares.argmax(axis=1)]
        return labels


class RotationForestRegressor(RegressorMixin, _RotationForest):
    """A forest for numbers whose trees split along sums of a few features.

    The parameters are those of :class:`RotationForestClassifier` without ``class_weight``; no rows
    are left out by class. Several targets (2-D ``y``) share their trees.

    Examples
    --------
    >>> from spinney import RotationForestRegressor
    >>> X = [[i / 10, j / 10] for i in range(10) for j in range(10)]
    >>> y = [a - b for a, b in X]
    >>> forest = RotationForestRegressor(n_estimators=10, random_state=0).fit(X, y)
    >>> forest.predict([[0.5, 0.5]]).round(1) + 0.0
    array([0.])
    """

    _task = "regression"
    _rules: ClassVar[Mapping[str, Rule]] = _RULES

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        rotation: str = "pca",
        subset_size: int = 3,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        bootstrap: bool = False,
        extra_columns: str = "error",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.rotation = rotation
        self.subset_size = subset_size
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.extra_columns = extra_columns
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        tags.input_tags.string = False
        tags.target_tags.multi_output = True
        return tags

    def predict(self, X: TableLike) -> FloatArray:
        """Mean over the trees; (n_rows,) or (n_rows, n_outputs)."""
        means: FloatArray = self._predictions(X)
        return means[:, 0] if means.shape[1] == 1 else means
