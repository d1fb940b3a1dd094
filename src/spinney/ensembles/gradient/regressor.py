"""Gradient boosting for numbers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from sklearn.base import RegressorMixin

from spinney.data.target import Target
from spinney.ensembles.gradient.boosting import GradientBoosting
from spinney.ensembles.gradient.outputs import (
    QuantileLevels,
    describe_levels,
    outputs_taken,
    pinball_score,
    quantile_levels,
    regression_loss,
)
from spinney.ensembles.gradient.rules import AUTOMATIC_RULES
from spinney.ensembles.parameters import Choice, LossObject, Nothing, Real, Rule, either
from spinney.errors import InvalidParameter
from spinney.losses import Loss
from spinney.losses.custom_loss import through_inverse_link
from spinney.losses.loss import REGRESSION_LOSSES
from spinney.model.saved_loss import SavedLoss, is_custom
from spinney.typing import FloatArray, RandomState, TableLike

LOSS_PARAMETER_RULES: Mapping[str, Rule] = {
    "quantile": either(Real(0.0, 1.0, above=True, below=True), Nothing("other losses")),
    "huber_delta": Real(0.0, above=True),
    "tweedie_power": Real(1.0, 2.0, above=True, below=True),
}


class GradientBoostingRegressor(RegressorMixin, GradientBoosting):
    """Gradient boosting of histogram trees, for numbers.

    The model is the same, bit for bit, for every number of threads and every machine: sums are
    integers, draws are functions of what is drawn, and ``exp`` is our own.

    y may have several columns: then a round is one tree, whose leaves hold a value for each, and
    whose splits are those that remove most of the loss of all together. Bring them to one scale if
    they are to count alike. ``min_child_weight`` holds for each of them by itself: where one falls
    short of it in a leaf its value there is 0. ``monotonic_cst`` and ``growth="symmetric"`` are
    refused.

    With no argument it is meant to be a good model of any table. Parameters that are "auto" are
    chosen together, and ``automatic_`` tells what they became. Trees are drawn and shrunken; five
    folds (of more than 5 000 rows, one of them) say how large they should be and how many, and
    then all rows are learnt from by short steps. Fewer than 100 rows are not divided: 100 rounds
    of small trees. Whoever gives ``max_iter`` gets exactly so many rounds, unless
    ``early_stopping`` is given too, and everything else that is "auto" is what is usual: learning
    rate 0.1, 31 leaves, 20 rows per leaf, no penalty and no sampling. So it is with
    ``warm_start=True`` and ``early_stopping=False``, whose ``max_iter`` is then 100.

    Parameters
    ----------
    loss : {"squared", "absolute", "huber", "quantile", "poisson", "gamma", "tweedie"} or object
        What is minimised; the last three model the logarithm of the mean. An object has methods
        ``value(y, raw)`` and ``gradients(y, raw)``, which give the loss of each row and its
        derivative by the raw score, or a pair with the second derivative; and, if it likes,
        ``hessian``, ``link``, ``inverse_link`` and ``start``. Both are compared before the first
        round. A file keeps the link and the name of the loss, no code.
    quantile : float or increasing sequence of floats
        The quantile that loss "quantile" estimates. Several are estimated by one model, whose trees
        they share: ``predict`` gives a column for each, and they never cross.
    huber_delta, tweedie_power : float
        From where loss "huber" grows linearly; the power of the mean that is the variance under
        loss "tweedie", between 1 and 2.
    learning_rate : float or "auto"
        Factor of every tree.
    max_iter : int or "auto"
        Rounds of boosting; "auto": as many as help.
    max_leaf_nodes, max_depth : int or None; the former "auto" too
        Size of a tree.
    growth : {"leaf_wise", "level_wise", "symmetric"}
        Best leaf first, level by level, or level by level with the same split at all nodes of a
        level, as CatBoost's trees: the one that removes most loss in all together. A node that has
        less than ``min_samples_leaf`` on one side of it stays whole. There are ``max_depth``
        levels, and no more than ``2**levels <= max_leaf_nodes`` allows: 4 by default, 6 if both are
        None, at most 16; ``min_split_gain``, ``prune_gain``, ``max_features`` are those of a level.
    splitter : {"best", "random"}
        Whether every cut of a feature is judged at a node, or one that is drawn between the lowest
        and the highest bin of its rows (of categories: a place in their order). Missing values go
        where they remove more loss either way. LightGBM's ``extra_trees``.
    min_samples_leaf : int or "auto"
        Least weight of rows in a leaf.
    min_child_weight : float
        Least sum of second derivatives in a leaf; without any, the Newton step of a leaf of rows
        that are already certain would have no bound.
    l2_regularization, l1_regularization : float; the former "auto" too
        Penalties of leaf values.
    max_delta_step : float or None
        Largest step of a leaf, before the learning rate. Steps of log-odds are never longer than
        10: where a class is improbable Newton's would run away.
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
    subsample : float or "auto"
        Share of rows drawn for each round; its trees are grown on those alone. "auto" leaves
        a ``sampler`` that chooses rows by their derivatives 75 %.
    sampler : {"uniform", "one_side", "minimal_variance", "bayesian", "poisson"}
        How rows of a round are drawn. "uniform": each with the same probability. "one_side" and
        "minimal_variance": rows with large derivatives sooner, and those that are drawn count by
        the inverse of their probability. "bayesian": rows count by random factors. "poisson": rows
        count as often as a bootstrap draws them, ``subsample`` times on average.
    top_rate : float
        Share of the rows, with the largest gradients, that always stay under "one_side".
    bagging_temperature : float
        Power of the exponential factors of "bayesian": 0 makes them all 1, 1 is the Bayesian
        bootstrap.
    dropout : float
        Probability with which each earlier round is left out while a new one is learnt (DART).
    skip_dropout : float
        Probability that a round leaves none out.
    max_dropped : int or None
        Rounds left out at most; None: no limit.
    max_features, max_features_per_tree : float; the former "auto" too
        Share of the features drawn at each node, and for each tree, to choose from, rounded up; a
        node draws from those of its tree that ``interaction_cst`` allows.
    max_bins : int
        Most bins for the values of a numeric feature, up to 255; categories have up to 255.
    categorical_features : "from_dtype", None, mask, positions or names
        Which features are categories.
    category_encoding : {"auto", "sets", "target"}
        "sets": splits send sets of levels left; beyond 255 levels the rarest share a bin. "target":
        every level is told as means of the target of its rows and their weight; a training row is
        told of rows before it only, in orders that ``random_state`` decides. "auto": "target" for
        features of more than 255 levels, "sets" for all others.
    category_pairs : "auto", None, "all" or list of pairs of positions or names
        Pairs of categorical features whose levels are told together, as with "target". "auto":
        those with a feature of more than 255 levels that is told so, if they are at most 50,
        and of several classes or outputs no more than 250 means of targets.
    date_features : "auto" or bool
        Whether year, month, day, weekday and hour of dates, and the time between two dates, stand
        beside the dates themselves; "auto" is True. A date with a monotone constraint stays alone.
    text_features : "auto", bool or list of names or positions
        Columns of strings that are read as texts (length, words, digits, capitals, and how often
        the words occur that tell most of the target) and not as categories. "auto" takes those
        where most strings are different and have several words, True all, False none; a column of
        a categorical type, or that another parameter calls a category, stays one.
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
    early_stopping : bool, "auto", "cv" or "part"
        Whether to stop when rounds no longer help, on rows split off. "cv": folds choose the
        number of rounds, which are then learnt from all rows; "part": one of the folds does.
        "auto": with ``X_val``, those rows choose; otherwise nothing does if ``max_iter`` is given,
        and "cv" or "part" do if it is not.
    cv : int, splitter, iterable of (train, test) or "auto"
        The folds of ``early_stopping="cv"``. A number of folds divides classes evenly, keeps the
        ``groups`` of ``fit`` whole, and goes forward in its ``time``. "auto": 5, or
        fewer where groups or times make no more.
    time_budget : float or None
        Seconds after which ``fit`` ends with the round it is in, and says so.
    scoring : "loss", name of a scorer, callable or None
        What early stopping looks at; None for the estimator's own ``score``.
    validation_fraction : float, int or None
        Share or number of rows split off to look at: of each class its share, with ``groups``
        whole groups, with ``time`` the latest rows. None: look at the training rows.
    n_iter_no_change, tol : int or "auto", float
        Stop when this many rounds brought no more than this share of what all rounds brought.
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
    automatic_ : AutomaticSettings
        What each parameter that was "auto" became; it prints as a table.
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
    _chooses = True
    _rules: ClassVar[Mapping[str, Rule]] = {
        "loss": either(Choice(tuple(REGRESSION_LOSSES)), LossObject()),
        **LOSS_PARAMETER_RULES,
        "quantile": either(LOSS_PARAMETER_RULES["quantile"], QuantileLevels()),
        **AUTOMATIC_RULES,
        "leaf_steps": Choice(("exact", "newton")),
    }

    def __init__(
        self,
        *,
        loss: Any = "squared",
        quantile: float | Sequence[float] | None = None,
        huber_delta: float = 1.0,
        tweedie_power: float = 1.5,
        learning_rate: float | str = "auto",
        max_iter: int | str = "auto",
        max_leaf_nodes: int | str | None = "auto",
        max_depth: int | None = None,
        growth: str = "leaf_wise",
        splitter: str = "best",
        min_samples_leaf: int | str = "auto",
        min_child_weight: float = 1e-3,
        l2_regularization: float | str = "auto",
        l1_regularization: float = 0.0,
        max_delta_step: float | None = None,
        path_smoothing: float = 0.0,
        min_split_gain: float = 0.0,
        prune_gain: float = 0.0,
        leaf_steps: str = "exact",
        subsample: float | str = "auto",
        sampler: str = "uniform",
        top_rate: float = 0.2,
        bagging_temperature: float = 1.0,
        dropout: float = 0.0,
        skip_dropout: float = 0.0,
        max_dropped: int | None = None,
        max_features: float | str = "auto",
        max_features_per_tree: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        category_encoding: str = "auto",
        category_pairs: Any = "auto",
        date_features: bool | str = "auto",
        text_features: Any = "auto",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        unseen: str = "missing",
        extra_columns: str = "error",
        warm_start: bool = False,
        early_stopping: bool | str = "auto",
        cv: Any = "auto",
        time_budget: float | None = None,
        scoring: Any = "loss",
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int | str = "auto",
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
        self.sampler = sampler
        self.top_rate = top_rate
        self.bagging_temperature = bagging_temperature
        self.dropout = dropout
        self.skip_dropout = skip_dropout
        self.max_dropped = max_dropped
        self.max_features = max_features
        self.max_features_per_tree = max_features_per_tree
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.category_encoding = category_encoding
        self.category_pairs = category_pairs
        self.date_features = date_features
        self.text_features = text_features
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._outputs_taken()["multi_output"]
        return tags

    def _loss(self, target: Target) -> Loss:
        return regression_loss(type(self).__name__, self._parameters(), target.n_outputs)

    def _outputs_taken(self) -> dict[str, Any]:
        return outputs_taken(self._parameters())

    def _target(self, given: Target) -> Target:
        levels = quantile_levels(self._parameters())
        return given if levels is None else describe_levels(levels)

    def predict(self, X: TableLike, offset: Any = None) -> FloatArray:
        """Give the expected value of each row.

        ``offset`` are n numbers that are added to the raw scores; after a fit with ``offset`` they
        have to be given.

        Returns
        -------
        (n_rows,), or (n_rows, n_outputs) if y had several columns, or if there are several
        quantiles; those increase from column to column.
        """
        if is_custom(self.loss):
            return self._through_link(self._raw_scores(X, offset))[:, 0]
        return self._in_shape(self._predictions(X, offset))

    def score(
        self, X: TableLike, y: Any, sample_weight: Any = None, *, offset: Any = None
    ) -> float:
        """Give the coefficient of determination; of several quantiles that of the pinball loss.

        That is the mean over levels of ``sklearn.metrics.d2_pinball_score``: 1 is perfect, and a
        constant quantile has 0. Of several outputs it is the mean over them. ``offset`` is that of
        ``predict``.
        """
        levels = quantile_levels(self._parameters())
        if levels is not None:
            return pinball_score(y, self.predict(X, offset), levels, sample_weight)
        if offset is None:
            return float(super().score(X, y, sample_weight))
        from sklearn.metrics import r2_score  # noqa: PLC0415 - 0.1 s, for few only

        return float(r2_score(y, self.predict(X, offset), sample_weight=sample_weight))

    @staticmethod
    def _in_shape(predictions: FloatArray) -> FloatArray:
        return predictions[:, 0] if predictions.shape[1] == 1 else predictions

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
            yield self._in_shape(self._through_link(scores))
