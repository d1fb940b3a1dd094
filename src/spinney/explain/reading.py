"""What every explanation begins with: the forest behind a fitted estimator, and its words."""

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spinney.data.schema import FeatureSchema
from spinney.data.table import Table
from spinney.data.target import Target
from spinney.errors import InvalidInputType
from spinney.model import Model, TreeForest
from spinney.model.derived import DerivedForest
from spinney.model.forest import Output
from spinney.model.isolation import IsolationTrees
from spinney.model.leaf_rows import LeafRowForest
from spinney.model.links import BINARY_LINKS, prediction_of_score
from spinney.model.median import MedianForest
from spinney.model.projection import PlaneForest
from spinney.typing import AnyArray, FloatArray, TableLike


def model_of(fitted: Any) -> Model | None:
    """Give the frozen model of a fitted estimator, or the model itself; None if there is none."""
    if not isinstance(fitted, Model) and hasattr(fitted, "__sklearn_is_fitted__"):
        check_is_fitted(fitted)
    model = fitted if isinstance(fitted, Model) else getattr(fitted, "model_", None)
    return model if isinstance(model, Model) else None


def forest_of(fitted: Any) -> TreeForest:
    """Give the trees of a fitted estimator, or of a frozen model.

    Of an isolation forest these add up to the mean path length, of a quantile forest to the mean.
    """
    model = model_of(fitted)
    if isinstance(model, IsolationTrees | LeafRowForest):
        model = model.trees
    if isinstance(model, TreeForest):
        return model
    if isinstance(model, DerivedForest):
        raise InvalidInputType(
            f"The trees of this {type(fitted).__name__} split on features that were derived from "
            "those of X (statistics of categories, parts of dates, words of texts), and this "
            "explanation reads the splits themselves. Shapley values, importances, dependence, "
            "effects, interactions and verify take it; or fit with category_encoding='sets', "
            "category_pairs=None, date_features=False and text_features=False."
        )
    if model is not None:
        raise InvalidInputType(
            f"The model of this {type(fitted).__name__} is no sum of Spinney's own trees, so it "
            "cannot be taken apart into them. Pass an estimator that is one, such as gradient "
            f"boosting or a forest; {_instead(model)}permutation_importance takes any estimator of "
            "Spinney."
        )
    raise InvalidInputType(
        f"A {type(fitted).__name__} has no trees to explain. Pass a fitted estimator of Spinney "
        "that is made of trees, or its model_; permutation_importance takes any fitted estimator."
    )


def _instead(model: Model) -> str:
    """Name the explanations that need no sum of trees, where a model can be asked."""
    if not isinstance(model, MedianForest | PlaneForest):
        return ""
    structural = "gain_importance, split_importance, " * isinstance(model, MedianForest)
    return f"{structural}dependence, curves, effects and h_statistic take this one, and "


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """A forest whose answers about its features can be told by the features of the user."""

    forest: TreeForest
    model: TreeForest | DerivedForest

    @property
    def names(self) -> tuple[str, ...]:
        """The features of the user."""
        return self.model.schema.names

    def conform(self, X: TableLike, name: str) -> Table:
        """Read a table of the user as one of the features that the trees split on."""
        return self.model.conform(X, name)

    def read(self, X: TableLike, name: str) -> Table:
        """Read a table of the user as one of the features of the user."""
        if isinstance(self.model, DerivedForest):
            return self.model.read(X, name)
        return self.model.conform(X, name)

    @property
    def players(self) -> tuple[AnyArray, int]:
        """Who gets a share for each feature of the trees, none for each its own; how many."""
        if isinstance(self.model, DerivedForest):
            return self.model.derivation.players
        return np.empty(0, np.int32), len(self.names)

    def from_players(self, values: FloatArray, *axes: int) -> FloatArray:
        """Give what players got to the features of the user, along some axes."""
        if isinstance(self.model, DerivedForest):
            for axis in axes:
                values = self.model.derivation.of_users(values, axis)
        return values

    def by_feature(self, values: FloatArray) -> FloatArray:
        """Add values of features of the trees up by the features of the user."""
        if isinstance(self.model, DerivedForest):
            return self.model.derivation.shared_out(values, 0)
        return values


def shared_forest_of(fitted: Any) -> Shared:
    """Give the trees as ``forest_of`` does, derived features among what they may split on."""
    model = model_of(fitted)
    if isinstance(model, DerivedForest):
        return Shared(model.forest, model)
    forest = forest_of(fitted)
    return Shared(forest, forest)


class Askable(Protocol):
    """A model as a function of features: what explanations need that only ask it about rows."""

    @property
    def schema(self) -> FeatureSchema:
        """The features."""

    @property
    def target(self) -> Target:
        """What is predicted."""

    @property
    def output(self) -> Output:
        """How raw scores become predictions."""

    def conform(self, X: TableLike, estimator_name: str) -> Table:
        """Read a table as one of the features."""

    def raw_scores(self, table: Table, *, n_threads: int = 1) -> FloatArray:
        """Ask about a table that conforms."""


class InputForest:
    """Trees behind a derivation as a function of the user's features."""

    def __init__(self, model: DerivedForest) -> None:
        self.model = model
        self.schema, self.target, self.output = model.schema, model.target, model.output

    def conform(self, X: TableLike, estimator_name: str) -> Table:
        """Read a table as one of the user's features."""
        return self.model.read(X, estimator_name)

    def raw_scores(self, table: Table, *, n_threads: int = 1) -> FloatArray:
        """Derive, then ask the trees."""
        derived = self.model.derivation.of_table(table)
        return self.model.raw_scores(derived, n_threads=n_threads)


class WholeModel:
    """A model that is no sum of trees as a function: what it predicts is its raw score."""

    def __init__(self, model: MedianForest | PlaneForest) -> None:
        self.model = model
        self.schema, self.target, self.output = model.schema, model.target, Output()

    def conform(self, X: TableLike, estimator_name: str) -> Table:
        """Read a table as one of the features."""
        policy = self.model.policy
        return self.schema.conform(
            X, unseen=policy.unseen, extra=policy.extra, estimator_name=estimator_name
        )

    def raw_scores(self, table: Table, *, n_threads: int = 1) -> FloatArray:
        """Predict; (n_rows, n_outputs)."""
        return self.model.predictions(table, n_threads=n_threads)


AskedModel: TypeAlias = InputForest | WholeModel
"""What can only be asked: splits of trees do not tell what it makes of the user's features."""


def askable_of(fitted: Any) -> TreeForest | AskedModel:
    """Give the trees as ``forest_of`` does, or a function where they are no sum over features."""
    model = model_of(fitted)
    if isinstance(model, DerivedForest):
        return InputForest(model)
    if isinstance(model, MedianForest | PlaneForest):
        return WholeModel(model)
    return forest_of(fitted)


def raw_output_names(fitted: Any) -> tuple[str, ...]:
    """Name the raw scores of a model: what its trees add up to, before the link.

    Two classes have one raw score, for the second class; more classes have one each, and so have
    the classes of each of several labels. That of a
    quantile forest is the mean, which is not what its ``predict`` gives.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import GradientBoostingClassifier
    >>> X = np.arange(60.0).reshape(-1, 1)
    >>> fitted = GradientBoostingClassifier(max_iter=2).fit(X, np.where(X[:, 0] < 30, "a", "b"))
    >>> raw_output_names(fitted)
    ('b',)
    """
    if is_quantile_forest(fitted):
        return ("mean",)
    asked = fitted if isinstance(fitted, InputForest | WholeModel) else askable_of(fitted)
    target, output = asked.target, asked.output
    if target.classes is not None:
        classes = [str(label) for label in target.classes]
        return tuple(classes[-1:] if output.link in BINARY_LINKS else classes)
    if target.label_classes is not None:
        names = label_names(target)
        places = range(len(names) if output.link == "identity" else _n_raw_scores(asked))
        return tuple(names[prediction_of_score(output.link, place)] for place in places)
    if target.task == "unsupervised" and output.aggregate == "mean":
        return ("mean path length",)
    if target.output_names is not None:
        return target.output_names
    n_outputs = _n_raw_scores(asked)
    return ("prediction",) if n_outputs == 1 else tuple(f"output {k}" for k in range(n_outputs))


def label_names(target: Target) -> tuple[str, ...]:
    """Name the predictions for rows of several labels: each class of each label."""
    pairs = enumerate(target.label_classes or ())
    return tuple(f"y{k}={label}" for k, classes in pairs for label in classes.tolist())


def is_quantile_forest(fitted: Any) -> bool:
    """Tell whether the trees add up to the mean, where ``predict`` gives quantiles."""
    return isinstance(model_of(fitted), LeafRowForest)


def _n_raw_scores(asked: TreeForest | AskedModel) -> int:
    if isinstance(asked, WholeModel):
        return asked.target.n_outputs
    forest = asked.model if isinstance(asked, InputForest) else asked
    return len(forest.arrays["baseline"])
