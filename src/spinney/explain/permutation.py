"""Permutation importance: how much worse a model does when a feature tells it nothing."""

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from spinney.data.intake import read_table
from spinney.data.label_columns import refuse_several
from spinney.data.schema import FeatureSchema
from spinney.data.table import Table
from spinney.data.weights import read_weights
from spinney.ensembles.parameters import Integer, check_parameters
from spinney.errors import InvalidInputType, InvalidParameter
from spinney.explain.choosing import used_features
from spinney.explain.importance import Importances
from spinney.explain.reading import forest_of, model_of
from spinney.explain.scoring import check_target, scorer_of, sees_only_predictions
from spinney.explain.shuffling import (
    columns_of_features,
    shuffle_column,
    take_column,
    under_names_of,
)
from spinney.model import Model, TreeForest
from spinney.model.answers import as_members_take
from spinney.model.forest import trees_of
from spinney.model.links import apply_link
from spinney.model.tree import freeze
from spinney.parallelism import resolve_n_jobs
from spinney.progress import follow
from spinney.randomness import RowBits, Stream, random_bits, seed_from
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike

Measure: TypeAlias = Callable[[int | None, AnyArray], float]
"""Scores the model, more being better, with the values of one feature (None: of none) taken from
the rows whose numbers are given. Where rows and predictions come from is its own affair."""


def permutation_importance(
    fitted: Any,
    X: TableLike,
    y: Any = None,
    *,
    scoring: Any = None,
    n_repeats: int = 5,
    sample_weight: Any = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Importances:
    """Measure how much the score falls when the values of a feature are shuffled among rows.

    On rows the model was not trained on this says what a feature does for predictions; on training
    rows it says what the model has made of it. Features that stand for each other share their
    importance, and each alone may seem to have none. A feature no tree looks at has exactly 0 if
    the model is made of our trees; other members are just asked.

    The shuffles are functions of the seed, the feature and the repeat: neither threads nor other
    features change them.

    Parameters
    ----------
    fitted : estimator or model
        Any fitted estimator of Spinney, or any other with scikit-learn's methods; or a model that
        is a sum of trees.
    X, y : table and target, best of rows held out
        No y for a score that needs none.
    scoring : None, name of a scorer, or callable (estimator, X, y)
        None is the estimator's own ``score``: R² or accuracy. An isolation forest has none and
        needs a scorer. Scorers of scikit-learn see only predictions, which trees make from the
        table as it was read once. Any other callable is given the user's own table with one column
        shuffled.
    n_repeats : int
        Shuffles per feature.
    sample_weight : numbers, optional
        Weights of the rows in the score.
    random_state : int, Generator, RandomState or None
    n_jobs : int or None
        Threads for predictions, if the estimator has that parameter; None for its own.

    Returns
    -------
    Importances
        Mean falls of the score; the standard errors are those of the means over repeats, and None
        if there is one repeat only. They say nothing about other rows or another model.

    References
    ----------
    Breiman (2001), Random forests, Machine Learning 45.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import GradientBoostingRegressor
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> fitted = GradientBoostingRegressor(max_iter=100).fit(X[:200], X[:200, 0])
    >>> found = permutation_importance(fitted, X[200:], X[200:, 0], random_state=0)
    >>> bool(found.values[0] > 1 > 0.1 > found.values[1])
    True
    """
    check_parameters("permutation_importance", {"n_repeats": n_repeats}, {"n_repeats": Integer(1)})
    model = model_of(fitted)
    schema = _features_of(fitted, X) if model is None else model.schema
    trees = None if model is None else trees_of(model)
    seed = seed_from(random_state)
    if n_jobs is not None:
        resolve_n_jobs(n_jobs)
    if trees is None:  # members that see tables as they are
        table, features = read_table(X), tuple(range(len(schema.names)))
    else:
        conformed = trees.conform(X, type(fitted).__name__)
        table, features = under_names_of(schema, conformed), used_features(trees)
    weights = read_weights(sample_weight, table.n_rows)
    measure = _measure(fitted, schema, (table, X, y, weights), scoring, n_jobs)
    falls = score_falls(measure, features, table.n_rows, n_repeats, seed)
    n_features = len(schema.names)
    means, errors = np.zeros(n_features), np.zeros(n_features)
    for feature, values in falls.items():
        means[feature] = values.mean()
        errors[feature] = values.std(ddof=1) / np.sqrt(n_repeats) if n_repeats > 1 else 0.0
    return Importances(
        "fall of the score when shuffled",
        schema.names,
        freeze(means),
        freeze(errors) if n_repeats > 1 else None,
    )


def score_falls(
    measure: Measure, features: Iterable[int], n_rows: int, n_repeats: int, seed: int
) -> dict[int, FloatArray]:
    """Give for each feature how much the score falls in each of its shuffles."""
    intact = measure(None, np.arange(n_rows))
    bits_of = RowBits(n_rows)
    falls = {}
    chosen = list(features)
    for feature in follow(chosen, len(chosen), "feature"):
        own_seed = random_bits(seed, Stream.FEATURES, feature)
        falls[feature] = np.array(
            [
                intact - measure(feature, _shuffle(bits_of, own_seed, repeat, n_rows))
                for repeat in range(n_repeats)
            ]
        )
    return falls


def _shuffle(bits_of: RowBits, seed: int, repeat: int, n_rows: int) -> AnyArray:
    """Draw an order of the rows: that of random bits, of which each row has its own."""
    bits = bits_of(random_bits(seed, Stream.ROWS, repeat), Stream.ROWS, range(n_rows))
    return np.argsort(bits, kind="stable")


def _features_of(fitted: Any, X: TableLike) -> FeatureSchema:
    """Name the features of an estimator that has no model of ours: its own, or those of X."""
    if isinstance(fitted, type) or not callable(getattr(fitted, "predict", None)):
        raise InvalidInputType(
            f"permutation_importance asks a fitted estimator, and a {type(fitted).__name__} has no "
            "predict. Pass an estimator of Spinney or scikit-learn after fit, or a model_ of trees."
        )
    if isinstance(fitted, BaseEstimator):
        check_is_fitted(fitted)
    table = read_table(X)
    names = getattr(fitted, "feature_names_in_", None)
    if names is None:
        return FeatureSchema.of_names(table.names, names_given=table.names_given)
    return FeatureSchema.of_names(tuple(map(str, names)), names_given=True)


def _measure(
    fitted: Any,
    schema: FeatureSchema,
    data: tuple[Table, TableLike, Any, FloatArray | None],
    scoring: Any,
    n_jobs: int | None,
) -> Measure:
    table, X, y, weights = data
    model = model_of(fitted)
    if model is not None and model.target.task == "ranking" and not callable(scoring):
        raise InvalidParameter(
            f"scoring={scoring!r} of a ranker: scores mean something within queries only, and they "
            "are not known here. Give the fitted ranker, and a callable that knows them: scoring="
            "lambda fitted, X, y: fitted.score(X, y, qid=qid)."
        )
    given = {} if weights is None else {"sample_weight": weights}
    if isinstance(fitted, Model):
        if scoring is not None:
            raise InvalidParameter(
                f"scoring={scoring!r} of a {type(fitted).__name__}: scorers ask an estimator. Pass "
                "the fitted estimator, or scoring=None for R² or accuracy."
            )
        check_target(fitted, y, scoring, table.n_rows)
        return _own_measure(forest_of(fitted), table, y, given, resolve_n_jobs(n_jobs))
    if n_jobs is not None and "n_jobs" in _parameters(fitted):
        fitted = copy.copy(fitted).set_params(n_jobs=n_jobs)
    scorer = scorer_of(fitted, scoring)
    check_target(fitted, y, scoring, table.n_rows)
    has_trees = model is not None and trees_of(model) is not None
    if not has_trees or not sees_only_predictions(scorer):
        places = columns_of_features(schema, read_table(X))
        whole = X if has_trees else as_members_take(X)

        def ask(feature: int | None, rows: AnyArray) -> float:
            asked = whole if feature is None else shuffle_column(whole, places[feature], rows)
            return float(scorer(fitted, asked, y, **given))

        return ask
    return lambda feature, rows: float(
        scorer(fitted, take_column(table, feature, rows), y, **given)
    )


def _parameters(fitted: Any) -> Mapping[str, Any]:
    known: Mapping[str, Any] = fitted.get_params() if hasattr(fitted, "get_params") else {}
    return known


def _own_measure(
    forest: TreeForest, table: Table, y: Any, given: dict[str, FloatArray], n_threads: int
) -> Measure:
    """Measure R² or accuracy of a model that has no estimator."""
    from sklearn.metrics import accuracy_score, r2_score  # noqa: PLC0415 - 0.1 s, for few only

    refuse_several(forest.target, "The accuracy of a model without its estimator")
    classes = forest.target.classes

    def measure(feature: int | None, rows: AnyArray) -> float:
        scores = forest.raw_scores(take_column(table, feature, rows), n_threads=n_threads)
        answers = apply_link(forest.output.link, scores, n_threads=n_threads)
        if classes is None:
            return float(r2_score(y, answers, **given))
        return float(accuracy_score(y, classes[answers.argmax(axis=1)], **given))

    return measure
