"""Gradient boosting for orders: learning to rank."""

from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Any, ClassVar, Self

from spinney.data.queries import read_gains
from spinney.data.target import Target
from spinney.ensembles.gradient.boosting import GradientBoosting
from spinney.ensembles.gradient.callbacks import read_callbacks
from spinney.ensembles.gradient.queries import GivenQueries
from spinney.ensembles.gradient.rules import BOOSTING_RULES
from spinney.ensembles.parameters import Boolean, Checked, Choice, Integer, Nothing, Rule, either
from spinney.losses.ranking import RANKING_LOSSES, RANKING_METRICS, RankingLoss
from spinney.theory.ranking_quality import average_precision, ndcg
from spinney.typing import FloatArray, RandomState, TableLike


class GradientBoostingRanker(GradientBoosting):
    """Gradient boosting of histogram trees that puts the rows of each query into order.

    Rows belong to queries, and ``y`` says how relevant each row is to its query. The model gives
    scores; rows of a query in the order of their scores have the relevant ones first. Only the
    order of scores within a query means anything.

    LambdaMART: every pair of rows of a query pulls at its scores as logistic loss does, times what
    the metric would change by, were the two to change places. The model is the same, bit for bit,
    for every number of threads and every machine, and for every order of the rows.

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
    growth : {"leaf_wise", "level_wise"}
        Best leaf first, or level by level.
    min_samples_leaf : int
        Least weight of rows in a leaf.
    min_child_weight : float
        Least sum of second derivatives in a leaf; without any, the Newton step of a leaf of rows
        that are already certain would have no bound.
    l2_regularization, l1_regularization : float
        Penalties of leaf values.
    max_delta_step : float or None
        Largest step of a leaf, before the learning rate.
    min_split_gain, prune_gain : float
        Loss that a split must remove more than to be made; and that a split with no other below
        it must remove to be kept, once the tree is grown, so that a weak split above a strong one
        survives. Half of what XGBoost calls gain: its ``gamma`` is twice ``prune_gain`` for
        ``tree_method="exact"``, and twice ``min_split_gain`` for its histograms.
    subsample : float
        Share of rows drawn for each round; its trees are grown on those alone.
    max_features, max_features_per_tree : float
        Share of the features drawn at each node, and for each tree, to choose from, rounded up; a
        node draws from those of its tree that ``interaction_cst`` allows.
    max_bins : int
        Most bins for the values of a numeric feature, up to 255; categories have up to 255.
    categorical_features : "from_dtype", None, mask, positions or names
        Which features are categories.
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
        The folds of ``early_stopping="cv"``; none of them divides a query.
    time_budget : float or None
        Seconds after which ``fit`` ends with the round it is in, and says so.
    validation_fraction : float, int or None
        Share or number of queries split off to look at; None: look at the training rows.
    n_iter_no_change, tol : int, float
        Stop when this many rounds brought no more than this.
    verbose : int
        1: show a bar with the time left, in terminals and notebooks. 2: lines elsewhere, too.
    random_state : int, Generator, RandomState or None
        Decides draws of rows and features and of the queries for early stopping.
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

    _task = "ranking"
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
        min_samples_leaf: int = 20,
        min_child_weight: float = 1e-3,
        l2_regularization: float = 0.0,
        l1_regularization: float = 0.0,
        max_delta_step: float | None = None,
        min_split_gain: float = 0.0,
        prune_gain: float = 0.0,
        subsample: float = 1.0,
        max_features: float = 1.0,
        max_features_per_tree: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
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
        self.min_samples_leaf = min_samples_leaf
        self.min_child_weight = min_child_weight
        self.l2_regularization = l2_regularization
        self.l1_regularization = l1_regularization
        self.max_delta_step = max_delta_step
        self.min_split_gain = min_split_gain
        self.prune_gain = prune_gain
        self.subsample = subsample
        self.max_features = max_features
        self.max_features_per_tree = max_features_per_tree
        self.max_bins = max_bins
        self.categorical_features = categorical_features
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

    def fit(  # type: ignore[override] # queries in place of groups and times
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        offset: Any = None,
        X_val: TableLike = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        qid_val: Any = None,
        group_val: Any = None,
        offset_val: Any = None,
        callbacks: Any = None,
    ) -> Self:
        """Add trees that pull relevant rows of a query before the others.

        An interrupt (Ctrl-C) keeps the rounds learnt so far, and warns.

        Parameters
        ----------
        X : table of n rows
            pandas, polars or Arrow table, NumPy array, SciPy sparse matrix.
        y : n whole numbers
            How relevant rows are: 0 is not relevant, and every further grade is more so.
        sample_weight : n numbers, optional
            The same for all rows of a query: a weight of k counts as the query k times. Rows of
            weight 0 are as if absent. Without queries, whole weights repeat rows in the one query.
        qid : n labels, optional
            The query of each row. Rows of a query need not be neighbours.
        group : sizes, optional
            In place of ``qid``: how many neighbouring rows are a query, one query after the other.
            Without both, all rows are one query.
        offset : n numbers, optional
            Scores that are known before; trees are added to them. ``predict`` has to be given
            them too.
        X_val, y_val, sample_weight_val, qid_val, group_val, offset_val : optional
            Rows to measure rounds on, for early stopping, in place of queries split off X. Their
            weights count in the score only.
        callbacks : callable or list of callables, optional
            Called after every round with a view of it: ``round``, ``train_score``,
            ``validation_score``, ``seconds``, and ``model``, which is made when it is asked for.
            One that gives True ends the fit after this round.

        Returns
        -------
        self
        """
        began = monotonic()
        self._check_parameters()
        given = GivenQueries(
            X=X,
            y=y,
            sample_weight=sample_weight,
            qid=qid,
            group=group,
            offset=offset,
            X_val=X_val,
            y_val=y_val,
            sample_weight_val=sample_weight_val,
            qid_val=qid_val,
            group_val=group_val,
            offset_val=offset_val,
        )
        return self._fit(given, began, read_callbacks(callbacks))

    def predict(self, X: TableLike, offset: Any = None) -> FloatArray:
        """Give the score of each row; (n_rows,). More is earlier in the order of its query.

        ``offset`` are n numbers that are added; after a fit with ``offset`` they have to be given.
        """
        scores: FloatArray = self._predictions(X, offset)[:, 0]
        return scores

    def staged_predict(self, X: TableLike, offset: Any = None) -> Iterator[FloatArray]:
        """Give what ``predict`` would say after each round."""
        for scores in self._staged_scores(X, offset):
            yield scores[:, 0]

    def score(
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        offset: Any = None,
    ) -> float:
        """Give the mean over queries of NDCG, or of what ``scoring`` says, at ``eval_at``.

        Of rows with equal scores the mean over all their orders is taken; a query without any
        relevant row counts as 1.

        Parameters
        ----------
        X : table of n rows
        y : n whole numbers
        sample_weight : n numbers, optional
            The same for all rows of a query; without queries whole numbers, which repeat rows.
        qid, group : n labels, or sizes
            The query of each row; without both, all rows are one query.
        offset : n numbers, optional
        """
        scores, k = self.predict(X, offset), self.eval_at
        given: dict[str, Any] = {"qid": qid, "group": group, "sample_weight": sample_weight}
        if self._metric() == "map":
            return average_precision(y, scores, k=k, **given).mean
        return ndcg(y, scores, k=k, label_gain=self.label_gain, **given).mean

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _metric(self) -> str:
        if self.scoring != "loss":
            return self.scoring
        return "map" if self.loss == "map" else "ndcg"

    def _parameters(self) -> dict[str, Any]:
        return {**super()._parameters(), "scoring": "loss"}  # the metric is part of the loss

    def _loss(self, target: Target) -> RankingLoss:  # noqa: ARG002 - classifiers look at it
        gains = read_gains(self.label_gain)
        return RankingLoss(
            name=self.loss,
            gains=gains,
            n_gains=None if self.label_gain is None else len(gains),
            truncation=int(self.truncation),
            normalize=bool(self.normalize),
            metric=self._metric(),
            eval_at=None if self.eval_at is None else int(self.eval_at),
        )
