"""Gradient boosting for orders: learning to rank."""

from collections.abc import Mapping
from typing import Any, ClassVar

from spinney.ensembles.gradient.query_boosting import QueryBoosting
from spinney.ensembles.gradient.rules import BOOSTING_RULES
from spinney.ensembles.parameters import Boolean, Checked, Choice, Integer, Nothing, Rule, either
from spinney.losses.ranking import RANKING_LOSSES, RANKING_METRICS
from spinney.typing import RandomState


class GradientBoostingRanker(QueryBoosting):
    """Gradient boosting of histogram trees that puts the rows of each query into order.

    Rows belong to queries, and ``y`` says how relevant each row is to its query. The model gives
    scores; rows of a query in the order of their scores have the relevant ones first. Only the
    order of scores within a query means anything.

    LambdaMART: every pair of rows of a query pulls at its scores as logistic loss does, times what
    the metric would change by, were the two to change places. The model is the same, bit for bit,
    for every number of threads and every machine, and, unless rows are drawn, for every order of
    the rows.

    Parameters
    ----------
    loss : {"ndcg", "map", "pairwise"}
        What a pair is worth: its part in NDCG; in average precision, where relevance is 0 or 1; or
        1, which is logistic loss of all pairs.
    truncation : int
        A pair counts if one of its rows is among so many first ones of its query; NDCG is taken of
        as many. Somewhat more than the places that matter. Loss "pairwise" looks at all pairs.
    normalize : bool
        Whether queries of many pairs are kept from outweighing the others; and, but for loss
        "pairwise", whether pairs far apart count less.
    label_gain : sequence of numbers or None
        What relevance 0, 1, 2, ... is worth in NDCG; None: 2**relevance - 1, up to relevance 31.
    scoring : {"loss", "ndcg", "map"}
        The metric that early stopping looks at and ``score`` gives; "loss": average precision
        for loss "map", NDCG for the others.
    eval_at : int or None
        How many first places of a query the metric looks at; None: all.
    learning_rate : float
        Factor of every tree.
    max_iter : int
        Rounds of boosting.
    max_leaf_nodes, max_depth : int or None
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
    subsample : float
        Share of rows drawn for each round; its trees are grown on those alone.
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
    dropout, skip_dropout : float
        Probability with which each earlier round is left out while a new one is learnt (DART), and
        that a round leaves none out.
    max_dropped : int or None
        Rounds left out at most; None: no limit.
    max_features, max_features_per_tree : float
        Share of the features drawn at each node, and for each tree, to choose from, rounded up; a
        node draws from those of its tree that ``interaction_cst`` allows.
    max_bins : int
        Most bins for the values of a numeric feature, up to 255; categories have up to 255.
    categorical_features : "from_dtype", None, mask, positions or names
        Which features are categories.
    category_encoding : {"auto", "sets", "target"}
        "sets": splits send sets of levels left; beyond 255 levels the rarest share a bin. "target":
        every level is told as means of the relevance of its rows and their weight; a training row
        is told of rows before it only, in an order that ``random_state`` decides. "auto": "target"
        for features of more than 255 levels, "sets" for all others.
    category_pairs : None, "auto", "all" or list of pairs of positions or names
        Pairs of categorical features whose levels are told together, as with "target". "auto":
        those with a feature of more than 255 levels that is told so, if they are at most 50.
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
    early_stopping : bool, "auto" or "cv"
        Whether to stop when rounds no longer help; "auto": given ``X_val``, or more than 10 000
        rows. "cv": folds choose the number of rounds, which are then learnt from all rows.
    cv : int, splitter or iterable of (train, test)
        The folds of ``early_stopping="cv"``; none of them divides a query. A number of folds
        keeps the ``groups`` of ``fit`` whole, too, and goes forward in its ``time``.
    time_budget : float or None
        Seconds after which ``fit`` ends with the round it is in, and says so.
    validation_fraction : float, int or None
        Share or number of queries split off to look at; None: look at the training rows.
    n_iter_no_change, tol : int, float
        Stop when this many rounds brought no more than this share of what all rounds brought.
    verbose : int
        1: show a bar with the time left, in terminals and notebooks. 2: lines elsewhere, too.
    random_state : int, Generator, RandomState or None
        Decides draws of rows, features and cuts and of the queries for early stopping.
    n_jobs : int or None
        Threads; None for all this process may use.

    Attributes
    ----------
    model_ : TreeForest
        The frozen model.
    n_iter_, n_trees_per_iteration_ : int
        Rounds, and trees per round.
    train_score_, validation_score_ : ndarray
        Mean of the metric over queries before the first round and after each one. Empty unless
        there was early stopping (or ``verbose`` or callbacks, for the training score).
    cv_score_, cv_score_error_ : ndarray
        Of ``early_stopping="cv"``: mean score of the queries that folds left out, before the first
        round and after each one, and its standard error.
    do_early_stopping_ : bool
    stopped_by_ : {"max_iter", "early_stopping", "callback", "time_budget", "interrupt"}
    is_categorical_ : ndarray or None
    feature_importances_ : ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import GradientBoostingRanker
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 3))
    >>> qid = np.repeat(np.arange(60), 10)
    >>> y = (X[:, 0] > 0.5).astype(int) + (X[:, 0] > 1.0)
    >>> model = GradientBoostingRanker(max_iter=20).fit(X, y, qid=qid)
    >>> model.score(X, y, qid=qid) > 0.99
    True
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        "loss": Choice(RANKING_LOSSES),
        "truncation": Integer(1),
        "normalize": Boolean(),
        "label_gain": Checked("None, or the gains of relevance 0, 1, 2, ..."),
        **BOOSTING_RULES,
        "scoring": Choice(("loss", *RANKING_METRICS)),
        "eval_at": either(Integer(1), Nothing("all places")),
    }

    def __init__(
        self,
        *,
        loss: str = "ndcg",
        truncation: int = 30,
        normalize: bool = True,
        label_gain: Any = None,
        scoring: str = "loss",
        eval_at: int | None = 10,
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
        subsample: float = 1.0,
        sampler: str = "uniform",
        top_rate: float = 0.2,
        bagging_temperature: float = 1.0,
        dropout: float = 0.0,
        skip_dropout: float = 0.0,
        max_dropped: int | None = None,
        max_features: float = 1.0,
        max_features_per_tree: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        category_encoding: str = "auto",
        category_pairs: Any = None,
        date_features: bool | str = "auto",
        text_features: Any = "auto",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        unseen: str = "missing",
        extra_columns: str = "error",
        warm_start: bool = False,
        early_stopping: bool | str = False,
        cv: Any = 5,
        time_budget: float | None = None,
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.truncation = truncation
        self.normalize = normalize
        self.label_gain = label_gain
        self.scoring = scoring
        self.eval_at = eval_at
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
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs
