"""Gradient boosting for numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from sklearn.base import RegressorMixin

from spinney.data.target import Target
from spinney.ensembles.gradient.boosting import GradientBoosting
from spinney.ensembles.gradient.rules import BOOSTING_RULES
from spinney.ensembles.parameters import Choice, LossObject, Nothing, Real, Rule, either
from spinney.errors import InvalidParameter
from spinney.losses import Loss
from spinney.losses.custom_loss import NUMBER_LINKS, custom_loss, through_inverse_link
from spinney.losses.loss import REGRESSION_LOSSES, loss_named
from spinney.model.saved_loss import SavedLoss, is_custom
from spinney.typing import FloatArray, RandomState, TableLike

_PARAMETER_OF = {"quantile": "quantile", "huber": "huber_delta", "tweedie": "tweedie_power"}
"""Losses that have a parameter, and what it is called."""

LOSS_PARAMETER_RULES: Mapping[str, Rule] = {
    "quantile": either(Real(0.0, 1.0, above=True, below=True), Nothing("other losses")),
    "huber_delta": Real(0.0, above=True),
    "tweedie_power": Real(1.0, 2.0, above=True, below=True),
}


class GradientBoostingRegressor(RegressorMixin, GradientBoosting):
    """Gradient boosting of histogram trees, for numbers.

    The model is the same, bit for bit, for every number of threads and every machine: sums are
    integers, draws are functions of what is drawn, and ``exp`` is our own.

    Parameters
    ----------
    loss : {"squared", "absolute", "huber", "quantile", "poisson", "gamma", "tweedie"} or object
        What is minimised; the last three model the logarithm of the mean. An object has methods
        ``value(y, raw)`` and ``gradients(y, raw)``, which give the loss of each row and its
        derivative by the raw score, or a pair with the second derivative; and, if it likes,
        ``hessian``, ``link``, ``inverse_link`` and ``start``. Both are compared before the first
        round. A file keeps the link and the name of the loss, no code.
    quantile, huber_delta, tweedie_power : float
        The quantile that loss "quantile" estimates; from where loss "huber" grows linearly; the
        power of the mean that is the variance under loss "tweedie", between 1 and 2.
    learning_rate : float
        Factor of every tree.
    max_iter : int
        Rounds of boosting.
    max_leaf_nodes, max_depth : int or None
        Size of a tree.
    growth : {"leaf_wise", "level_wise"}
        Best leaf first, or level by level.
    splitter : {"best", "random"}
        Whether every cut of a feature is judged at a node, or one that is drawn between the lowest
        and the highest bin of its rows (of categories: a place in their order). Missing values go
        where they remove more loss either way. LightGBM's ``extra_trees``.
    min_samples_leaf : int
        Least weight of rows in a leaf.
    min_child_weight : float
        Least sum of second derivatives in a leaf; without any, the Newton step of a leaf of rows
        that are already certain would have no bound.
    l2_regularization, l1_regularization : float
        Penalties of leaf values.
    max_delta_step : float or None
        Largest step of a leaf, before the learning rate.
    path_smoothing : float
        Rows by which the value of every node is drawn towards that of its parent: with ``n`` rows
        of its own (by weight) it is ``(n * own + path_smoothing * parent) / (n + path_smoothing)``.
        Splits are judged by these values. LightGBM's ``path_smooth``.
    min_split_gain, prune_gain : float
        Loss that a split must remove more than to be made; and that a split with no other below
        it must remove to be kept, once the tree is grown, so that a weak split above a strong one
        survives. Half of what XGBoost calls gain: its ``gamma`` is twice ``prune_gain`` for
        ``tree_method="exact"``, and twice ``min_split_gain`` for its histograms.
    leaf_steps : {"exact", "newton"}
        How far a leaf goes under Poisson, gamma and Tweedie loss: to its optimum, or one step of
        Newton's, as other libraries do. Other losses do not look at it.
    subsample : float
        Share of rows drawn for each round; its trees are grown on those alone.
    max_features, max_features_per_tree : float
        Share of the features drawn at each node, and for each tree, to choose from, rounded up; a
        node draws from those of its tree that ``interaction_cst`` allows.
    max_bins : int
        Most bins for the values of a numeric feature, up to 255; categories have up to 255.
    categorical_features : "from_dtype", None, mask, positions or names
        Which features are categories.
    category_encoding : {"auto", "sets", "target"}
        "sets": splits send sets of levels left; beyond 255 levels the rarest share a bin. "target":
        every level is told as the mean target of its rows and their weight; a training row is told
        of rows before it only, in an order that ``random_state`` decides. "auto": both for
        features of more than 255 levels, sets for all others.
    category_pairs : None, "all" or list of pairs of positions or names
        Pairs of categorical features whose levels are told together, as with "target".
    date_features : bool
        Whether year, month, day, weekday and hour of dates stand beside the dates themselves.
    monotonic_cst : None, sequence or dict
        1, -1 or 0 per feature, or by name: the prediction never falls, never rises, or may do both
        as the feature rises.
    interaction_cst : None, "pairwise", "no_interactions" or sequence of groups
        Features that may occur together on a path of a tree; groups are of positions or names.
    unseen : {"missing", "error"}
        What an unknown category means at predict.
    extra_columns : {"error", "ignore"}
        What unknown columns mean at predict.
    warm_start : bool
        Whether ``fit`` goes on with the model of the last ``fit``: up to ``max_iter`` rounds, to
        exactly the model of one uninterrupted fit on the same data.
    early_stopping : bool, "auto" or "cv"
        Whether to stop when rounds no longer help; "auto": given ``X_val``, or more than 10 000
        rows. "cv": folds choose the number of rounds, which are then learnt from all rows.
    cv : int, splitter or iterable of (train, test)
        The folds of ``early_stopping="cv"``. A number of folds divides classes evenly, keeps the
        ``groups`` of ``fit`` whole, and goes forward in its ``time``.
    time_budget : float or None
        Seconds after which ``fit`` ends with the round it is in, and says so.
    scoring : "loss", name of a scorer, callable or None
        What early stopping looks at.
    validation_fraction : float, int or None
        Share or number of rows split off to look at; None: look at the training rows.
    n_iter_no_change, tol : int, float
        Stop when this many rounds brought no more than this.
    verbose : int
        1: show a bar with the time left, in terminals and notebooks. 2: lines elsewhere, too.
    random_state : int, Generator, RandomState or None
        Decides draws of rows, features and cuts and the split for early stopping.
    n_jobs : int or None
        Threads; None for all this process may use.

    Attributes
    ----------
    model_ : TreeForest or DerivedForest
        The frozen model; the latter where trees split on derived features.
    n_iter_, n_trees_per_iteration_ : int
        Rounds, and trees per round.
    train_score_, validation_score_ : ndarray
        Score before the first round and after each one; for "loss" the negative mean loss. Empty
        unless there was early stopping (or ``verbose`` or callbacks, for the training score).
    cv_score_, cv_score_error_ : ndarray
        Of ``early_stopping="cv"``: mean score of the rows that folds left out, before the first
        round and after each one, and its standard error.
    do_early_stopping_ : bool
    stopped_by_ : {"max_iter", "early_stopping", "callback", "time_budget", "interrupt"}
    is_categorical_ : ndarray or None
    feature_importances_ : ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import GradientBoostingRegressor
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> model = GradientBoostingRegressor().fit(X, np.sin(X[:, 0] / 20))
    >>> model.score(X, np.sin(X[:, 0] / 20)) > 0.9
    True
    """

    _task = "regression"
    _rules: ClassVar[Mapping[str, Rule]] = {
        "loss": either(Choice(tuple(REGRESSION_LOSSES)), LossObject()),
        **LOSS_PARAMETER_RULES,
        **BOOSTING_RULES,
        "leaf_steps": Choice(("exact", "newton")),
    }

    def __init__(
        self,
        *,
        loss: Any = "squared",
        quantile: float | None = None,
        huber_delta: float = 1.0,
        tweedie_power: float = 1.5,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        growth: str = "leaf_wise",
        splitter: str = "best",
        min_samples_leaf: int = 20,
        min_child_weight: float = 1e-3,
        l2_regularization: float = 0.0,
        l1_regularization: float = 0.0,
        max_delta_step: float | None = None,
        path_smoothing: float = 0.0,
        min_split_gain: float = 0.0,
        prune_gain: float = 0.0,
        leaf_steps: str = "exact",
        subsample: float = 1.0,
        max_features: float = 1.0,
        max_features_per_tree: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        category_encoding: str = "auto",
        category_pairs: Any = None,
        date_features: bool = False,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        unseen: str = "missing",
        extra_columns: str = "error",
        warm_start: bool = False,
        early_stopping: bool | str = False,
        cv: Any = 5,
        time_budget: float | None = None,
        scoring: Any = "loss",
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.huber_delta = huber_delta
        self.tweedie_power = tweedie_power
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.growth = growth
        self.splitter = splitter
        self.min_samples_leaf = min_samples_leaf
        self.min_child_weight = min_child_weight
        self.l2_regularization = l2_regularization
        self.l1_regularization = l1_regularization
        self.max_delta_step = max_delta_step
        self.path_smoothing = path_smoothing
        self.min_split_gain = min_split_gain
        self.prune_gain = prune_gain
        self.leaf_steps = leaf_steps
        self.subsample = subsample
        self.max_features = max_features
        self.max_features_per_tree = max_features_per_tree
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.category_encoding = category_encoding
        self.category_pairs = category_pairs
        self.date_features = date_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.cv = cv
        self.time_budget = time_budget
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _loss(self, target: Target) -> Loss:  # noqa: ARG002 - classifiers look at it
        params = self._parameters()
        if is_custom(params["loss"]):
            return custom_loss(params["loss"], NUMBER_LINKS, "identity", 1)
        loss = loss_named(params["loss"], REGRESSION_LOSSES)
        name = _PARAMETER_OF.get(params["loss"])
        if name is None:
            return loss
        if params[name] is None:
            raise InvalidParameter(
                f"{name}=None of {type(self).__name__}: loss={self.loss!r} needs it. Give a number "
                "between 0 and 1; 0.5 is the median."
            )
        return replace(loss, parameter=float(params[name]))

    def predict(self, X: TableLike, offset: Any = None) -> FloatArray:
        """Give the expected value of each row; (n_rows,).

        ``offset`` are n numbers that are added to the raw scores; after a fit with ``offset`` they
        have to be given.
        """
        if is_custom(self.loss):
            return self._through_link(self._raw_scores(X, offset))[:, 0]
        expected: FloatArray = self._predictions(X, offset)[:, 0]
        return expected

    def _through_link(self, scores: FloatArray) -> FloatArray:
        if not is_custom(self.loss):
            return super()._through_link(scores)
        if isinstance(self.loss, SavedLoss) and self.loss.has_inverse_link:
            name = self.loss.name
            raise InvalidParameter(
                f"loss={self.loss!r} makes predictions of raw scores by its own inverse_link, and "
                f"a file holds no code. Give the loss again, for example set_params(loss={name}()),"
                " or take raw scores: model_.predictions(X)."
            )
        inverse_link = getattr(self.loss, "inverse_link", None)
        if not callable(inverse_link):
            return super()._through_link(scores)
        return through_inverse_link(self.loss, scores)

    def staged_predict(self, X: TableLike, offset: Any = None) -> Iterator[FloatArray]:
        """Give what ``predict`` would say after each round."""
        for scores in self._staged_scores(X, offset):
            yield self._through_link(scores)[:, 0]
