"""What a report is about: a model, the rows it is asked about, and what it says of them."""

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from spinney.data.intake import read_table
from spinney.data.label_columns import refuse_several
from spinney.data.sources.vector import read_vector
from spinney.data.table import Table
from spinney.data.target import Target, read_labels, read_numbers
from spinney.data.weights import read_weights
from spinney.errors import InvalidInput, InvalidInputType, shorten
from spinney.explain.choosing import used_features
from spinney.explain.reading import model_of
from spinney.model import Model, TreeForest
from spinney.model.derived import DerivedForest
from spinney.model.estimator_model import EstimatorModel
from spinney.model.forest import trees_of
from spinney.parallelism import resolve_n_jobs
from spinney.randomness import seed_from
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of the features of a model, and what is known of them."""

    given: TableLike
    """The table as the user gave it."""
    table: Table
    """The same, as the model reads it; categories it does not know are missing."""
    asked: Table
    """The same, with such categories apart from missing ones if the model tells them apart."""
    target: AnyArray | None
    """Codes of classes, or numbers (n, n_outputs); None if there is no target."""
    weights: FloatArray | None = None
    numbers: AnyArray | None = None
    """What rows are called on the page; None: 0, 1, 2, ..."""

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return self.table.n_rows

    def number_of(self, row: int) -> int:
        """Give the number by which the reader knows a row."""
        return row if self.numbers is None else int(self.numbers[row])


@dataclass(frozen=True, eq=False)
class Subject:
    """A model and rows, read once for all parts of the report."""

    fitted: Any
    model: Model
    rows: Rows
    train: Rows | None
    predictions: FloatArray
    """Probabilities (n, n_classes), or numbers (n, n_outputs)."""
    seed: int

    @property
    def forest(self) -> TreeForest | DerivedForest | None:
        """The model, if it is a sum of trees, behind derived features or not."""
        return self.model if isinstance(self.model, TreeForest | DerivedForest) else None

    @property
    def trees(self) -> TreeForest | None:
        """The trees of ours that the model is made of, whatever it makes of what they say."""
        return self.model.forest if isinstance(self.model, DerivedForest) else trees_of(self.model)

    @functools.cached_property
    def used(self) -> frozenset[int]:
        """The features that some tree looks at; all of them where nobody knows."""
        if isinstance(self.model, DerivedForest):
            derived = self.model.derivation.features
            used = used_features(self.model.forest)
            return frozenset(place for number in used for place in derived[number].places)
        if self.trees is None:
            return frozenset(range(len(self.names)))
        return frozenset(used_features(self.trees))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.model.schema.names

    @property
    def classes(self) -> tuple[str, ...]:
        """Labels as text; none unless it is a classification."""
        labels = self.model.target.classes
        return () if labels is None else tuple(str(label) for label in labels.tolist())

    @property
    def task(self) -> str:
        """``"binary"``, ``"classes"``, ``"numbers"`` or ``"unsupervised"``."""
        target = self.model.target
        if target.classes is not None:
            return "binary" if len(target.classes) == 2 else "classes"
        return "unsupervised" if target.task == "unsupervised" else "numbers"

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of what is predicted."""
        if self.classes:
            return self.classes
        target = self.model.target
        if target.output_names is not None:
            return target.output_names
        n_outputs = self.predictions.shape[1]
        return ("target",) if n_outputs == 1 else tuple(f"output {k}" for k in range(n_outputs))

    @functools.cached_property
    def n_threads(self) -> int:
        """How many threads predictions may use."""
        return resolve_n_jobs(getattr(self.fitted, "n_jobs", None))

    def draw(self, most: int, stream: int = 0) -> AnyArray:
        """Draw rows without replacement, in their order; all of them if there are not more."""
        return draw_rows(self.rows.n_rows, most, self.seed + stream)

    def ask(self, table: Table) -> FloatArray:
        """Ask the model about a table that conforms."""
        return self.model.predictions(table, n_threads=self.n_threads)

    def ask_given(self, X: TableLike) -> FloatArray:
        """Ask the estimator about a table of the user's."""
        return predictions_of(self.fitted, self.model, X)


def draw_rows(n_rows: int, most: int, seed: int) -> AnyArray:
    """Draw numbers of rows without replacement, in their order.

    Examples
    --------
    >>> draw_rows(3, 5, 0)
    array([0, 1, 2])
    """
    if n_rows <= most:
        return np.arange(n_rows)
    chosen = np.random.default_rng(seed).choice(n_rows, most, replace=False)
    return np.sort(chosen)


def read_subject(
    fitted: Any,
    X: TableLike,
    y: Any,
    *,
    train: Any = None,
    sample_weight: Any = None,
    random_state: RandomState = 0,
    row_numbers: AnyArray | None = None,
    train_numbers: AnyArray | None = None,
) -> Subject:
    """Read everything, or say what is wrong with it.

    Numbers of rows are those they have where they come from, for readers to find them there.
    """
    model = model_of(fitted)
    if model is None and isinstance(fitted, BaseEstimator):
        check_is_fitted(fitted)
        model = EstimatorModel.of_table(fitted, X)
    if model is None:
        raise InvalidInputType(
            f"A report is about a fitted estimator or a model_ of Spinney, not about a "
            f"{type(fitted).__name__}. Fit one, or load one with spinney.load(path)."
        )
    refuse_several(model.target, "A report")
    name = type(fitted).__name__
    table, asked = _conformed(model, X, name)
    if table.n_rows < 2:
        raise InvalidInput(f"X has {table.n_rows} rows: a report needs at least 2.")
    _refuse_targets_of_quantiles(model, y)
    weights = read_weights(sample_weight, table.n_rows)
    rows = Rows(X, table, asked, _target(model.target, y, table.n_rows), weights, row_numbers)
    predictions = predictions_of(fitted, model, X)
    learnt = _train(model, train, name, train_numbers)
    return Subject(fitted, model, rows, learnt, predictions, seed_from(random_state))


def _refuse_targets_of_quantiles(model: Model, y: Any) -> None:
    """Several quantiles of one target: no score of the report compares them with it."""
    output = model.output if isinstance(model, TreeForest | DerivedForest) else None
    if y is not None and output is not None and output.link == "increasing":
        raise InvalidInput(
            f"The model predicts {model.target.n_outputs} quantiles of one target, and the report "
            "would compare each with it as if it were the mean. Leave y out, or report on a model "
            "of one quantile."
        )


def _conformed(model: Model, X: TableLike, name: str) -> tuple[Table, Table]:
    """Read a table twice: unknown categories as missing ones, and as the model has them."""
    table = model.schema.conform(
        read_table(X),
        unseen=model.policy.unseen,
        extra=model.policy.extra,
        estimator_name=name,
        unseen_code=model.unseen_code,
    )
    if model.unseen_code == -1:
        return table, table
    columns = [
        replace(column, values=column.values.clip(-1)) if column.levels is not None else column
        for column in table.columns
    ]
    return Table(table.n_rows, columns, names_given=table.names_given), table


def _train(model: Model, train: Any, name: str, numbers: AnyArray | None) -> Rows | None:
    """Read a table, or a pair of a table and its target."""
    if train is None:
        return None
    X, y = train if isinstance(train, tuple) and len(train) == 2 else (train, None)
    table, asked = _conformed(model, X, name)
    return Rows(X, table, asked, _target(model.target, y, table.n_rows), numbers=numbers)


def _target(target: Target, y: Any, n_rows: int) -> AnyArray | None:
    if y is None or target.task == "unsupervised":
        return None
    if target.task == "ranking":
        raise InvalidInput(
            "y is given, but a ranker predicts no relevance: its scores have an order within "
            "queries, and no scale. Leave y out; score(X, y, qid=qid) tells how good the order is."
        )
    if target.classes is None:
        numbers = read_numbers(y, n_rows).reshape(n_rows, -1)
        if numbers.shape[1] != target.n_outputs:
            raise InvalidInput(
                f"y has {numbers.shape[1]} columns, but the model predicts {target.n_outputs} "
                "numbers per row. Give a column for each."
            )
        return numbers
    labels = read_labels(read_vector(y, "y"), n_rows)
    places = {label: code for code, label in enumerate(target.classes.tolist())}
    unknown = [label for label in labels.classes.tolist() if label not in places]
    if unknown:
        raise InvalidInput(
            f"y holds labels the model does not know: {shorten(unknown)}. It was fitted on "
            f"{shorten(target.classes.tolist())}. Give labels of the same type and spelling."
        )
    recode = np.array([places[label] for label in labels.classes.tolist()], np.int64)
    return recode[labels.codes]


def predictions_of(fitted: Any, model: Model, X: TableLike) -> FloatArray:
    """Ask the estimator, which may know more than its model; a bare model is asked itself."""
    if isinstance(fitted, Model) or model.target.task == "unsupervised":
        return model.predictions(X, n_threads=resolve_n_jobs(None))
    if model.target.classes is not None and hasattr(fitted, "predict_proba"):
        return np.asarray(fitted.predict_proba(X), np.float64)
    if model.target.classes is not None:  # votes without probabilities
        return model.predictions(X, n_threads=resolve_n_jobs(None))
    predicted = np.asarray(fitted.predict(X), np.float64)
    return predicted.reshape(len(predicted), -1)
