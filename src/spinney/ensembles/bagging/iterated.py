"""Iterated bagging: bags of what earlier bags left unexplained, out of bag."""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import get_tags

from spinney.data.fixed_point import exact_sum, exact_total
from spinney.data.intake import read_table
from spinney.data.row_keys import keys_wanted
from spinney.data.table import Table
from spinney.data.target import read_numbers
from spinney.data.weights import read_weights
from spinney.ensembles.bagging.bagging import BAGGING_RULES, OF_FIT
from spinney.ensembles.bagging.member_table import content_keys, member_table, n_rows_of
from spinney.ensembles.bagging.regressor import BaggingRegressor
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.forests.growing import join_grown, parts_of
from spinney.ensembles.forests.row_order import row_keys
from spinney.ensembles.parameters import Integer, Real, Rule
from spinney.ensembles.routing import one_member_router, to_members
from spinney.errors import InvalidModel
from spinney.model import Model, TreeForest
from spinney.model.forest import Output, narrowest
from spinney.model.member_sum import MemberSum
from spinney.model.model import State
from spinney.progress import follow
from spinney.randomness import Stream, random_bits, seed_from
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike

_SHARED = ("categorical", "category_start", "category_bins", "baseline")


class IteratedBaggingRegressor(RegressorMixin, Estimator):
    """Bagging that also lowers bias: every stage is a bag fitted to what the others left over.

    A stage of bagging predicts each row by the members that did not see it; the next stage is
    fitted to the rest. In-bag predictions would leave nothing to fit. Stages end when the mean
    square of the rest exceeds ``tolerance`` times its least so far, and those up to the least are
    kept; the answer is their sum.

    Parameters
    ----------
    estimator : None or a regressor
        The base learner; None for :class:`DecisionTreeRegressor`. Small trees have bias to lose.
    n_estimators : int
        Members of each stage.
    max_stages : int
        Stages at most.
    tolerance : float
        How far the mean square may rise above its least before it ends; Breiman's is 1.1.
    max_samples, max_features, bootstrap, sampler, block_length, n_jobs, random_state, verbose
        As in :class:`BaggingRegressor`; every bag must leave rows out.

    Attributes
    ----------
    model_ : TreeForest or MemberSum
        The frozen model.
    n_stages_ : int
        Stages that were kept.
    stage_losses_ : ndarray
        Mean square of what was left, out of bag, after each stage that was tried.
    oob_prediction_, oob_score_
        The sum of the stages' predictions out of bag (NaN for rows of weight 0), and its R².

    Notes
    -----
    Intervals take further rows, by ``calibrate(X, y)``. Those of bagging may come from the rows of
    ``fit`` themselves, by members that lack a row; here no member does: a stage learns from what
    earlier ones left of *all* rows, and that has heard of the target of each.

    Rows that are the same in all columns and the target count as one row of their weight (if we
    can read the table), so that no copy of a row in a bag gives away another out of it.

    References
    ----------
    Breiman (2001), Using iterated bagging to debias regressions, Machine Learning 45.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import DecisionTreeRegressor, IteratedBaggingRegressor
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> small = DecisionTreeRegressor(max_leaf_nodes=4)
    >>> bags = IteratedBaggingRegressor(small, random_state=0).fit(X, np.sin(6 * X[:, 0]))
    >>> bags.n_stages_ > 1, bool(bags.stage_losses_.min() < 0.5 * bags.stage_losses_[0])
    (True, True)
    """

    _task = "regression"
    _model_class: ClassVar[type[Model]] = Model  # type: ignore[type-abstract]
    _rules: ClassVar[Mapping[str, Rule]] = {
        **{
            name: BAGGING_RULES[name]
            for name in (
                *("estimator", "n_estimators", "max_samples", "max_features", "bootstrap"),
                *("sampler", "block_length", "n_jobs", "random_state", "verbose"),
            )
        },
        "max_stages": Integer(1),
        "tolerance": Real(1.0),
    }
    oob_score_: float
    oob_prediction_: FloatArray
    stage_losses_: FloatArray

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        max_stages: int = 10,
        tolerance: float = 1.1,
        max_samples: float | None = None,
        max_features: float = 1.0,
        bootstrap: bool = True,
        sampler: Any = None,
        block_length: int | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_stages = max_stages
        self.tolerance = tolerance
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.sampler = sampler
        self.block_length = block_length
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        time: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit bag after bag.

        Parameters
        ----------
        X, y, sample_weight, groups, time, **fit_params
            As in :meth:`BaggingRegressor.fit`; one number per row.

        Returns
        -------
        self
        """
        self._check_parameters()
        if fit_params:
            to_members(self, "fit", fit_params)
        targets, weights = self._read(X, y, sample_weight, by_time=time is not None)
        there = np.flatnonzero(weights)
        seed, left = seed_from(self.random_state), targets
        stages: list[BaggingRegressor] = []
        rests: list[FloatArray] = []
        losses: list[float] = []
        for number in follow(
            range(self.max_stages), self.max_stages, "stage", verbose=self.verbose
        ):
            bag = self._stage(random_bits(seed, Stream.ROWS, number))
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Some inputs do not have OOB scores")
                bag.fit(X, left, weights, groups, time, **fit_params)
            left = left - _out_of_bag(bag, X, there)
            stages.append(bag)
            rests.append(left)
            losses.append(exact_sum(weights[there], left[there] ** 2) / exact_total(weights[there]))
            if losses[-1] > self.tolerance * min(losses):
                break
        n_kept = int(np.argmin(losses)) + 1
        self._adopt(_joined(stages[:n_kept]))
        self.stage_losses_ = np.array(losses)
        self._keep_out_of_bag(targets, rests[n_kept - 1], weights)
        return self

    def _keys_wanted(self) -> tuple[str, ...]:
        return keys_wanted(self._stage(0))

    def _read(
        self, X: TableLike, y: Any, sample_weight: Any, *, by_time: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Give numbers and weights of rows; of rows that are the same the first has the weight."""
        stage = self._stage(0)
        grows_trees = stage._grows_trees(by_time=by_time)  # noqa: SLF001 - which road a stage takes
        table = read_table(X) if grows_trees else member_table(X)
        n_rows = table.n_rows if isinstance(table, Table) else n_rows_of(table)
        name = type(self).__name__
        targets = read_numbers(y, n_rows, multi_output=False, estimator_name=name)
        weights = read_weights(sample_weight, n_rows)
        own = np.ones(n_rows) if weights is None else weights
        grown = isinstance(table, Table)
        keys = row_keys(table, targets) if grown else content_keys(table, targets)
        return targets, own if keys is None else _together(own, keys)

    def _stage(self, seed: int) -> BaggingRegressor:
        names = BaggingRegressor._get_param_names()  # noqa: SLF001 - scikit-learn's own word
        params = {name: value for name, value in self.get_params(False).items() if name in names}
        stage = BaggingRegressor(**params)
        return stage.set_params(random_state=seed, oob_score=True)

    def _keep_out_of_bag(self, targets: FloatArray, left: FloatArray, weights: FloatArray) -> None:
        there = weights > 0
        own, y = weights[there], targets[there]
        total = exact_total(own)
        mean = exact_sum(own, y) / total
        spread = exact_sum(own, (y - mean) ** 2)
        rest = exact_sum(own, left[there] ** 2)
        self.oob_score_ = 1.0 - rest / spread if spread > 0 else float(rest == 0)
        self.oob_prediction_ = np.where(there, targets - left, np.nan)

    @property
    def n_stages_(self) -> int:
        """Stages that were kept."""
        self._check_fitted()
        return int(np.argmin(self.stage_losses_)) + 1

    def predict(self, X: TableLike, **params: Any) -> FloatArray:
        """Sum of what the stages say; (n_rows,).

        ``params`` are routed to ``predict`` of the members.
        """
        if params:
            to_members(self, "predict", params)
        self._check_fitted()
        if params and isinstance(self.model_, MemberSum):  # trees take nothing beside rows
            stages = self.model_.members
            said: FloatArray = np.sum([one.predict(X, **params) for one in stages], axis=0)
            return said
        table = member_table(X) if isinstance(self.model_, MemberSum) else X
        numbers: FloatArray = self._predictions(table)[:, 0]
        return numbers

    def staged_predict(self, X: TableLike) -> Iterator[FloatArray]:
        """Give what ``predict`` would say after each stage."""
        self._check_fitted()
        step = len(self.model_) // self.n_stages_
        for last in range(step, len(self.model_) + 1, step):
            yield self.model_[:last].predictions(
                X, n_threads=self._n_threads(), estimator_name=type(self).__name__
            )[:, 0]

    def get_metadata_routing(self) -> Any:
        """Say what members take beside rows and targets; see scikit-learn's routing."""
        calls = {"fit": "fit", "predict": "predict"}
        return one_member_router(self, self._stage(0).estimator_, calls, OF_FIT)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None and hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _attributes(self) -> State:
        arrays = {"stage_losses": self.stage_losses_, "oob_prediction": self.oob_prediction_}
        return {"oob_score": self.oob_score_}, arrays

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        losses, said = arrays.get("stage_losses"), arrays.get("oob_prediction")
        if (
            losses is None
            or said is None
            or set(arrays) != {"stage_losses", "oob_prediction"}
            or set(meta) != {"oob_score"}
            or type(meta["oob_score"]) is not float
            or any(array.dtype != "<f8" or array.ndim != 1 for array in arrays.values())
            or not len(losses)
            or len(self.model_) % (int(np.argmin(losses)) + 1)
        ):
            raise InvalidModel("what the estimator knows beside its model is missing or unknown")
        self.stage_losses_, self.oob_prediction_ = losses.copy(), said.copy()
        self.oob_score_ = meta["oob_score"]


def _together(weights: FloatArray, keys: AnyArray) -> FloatArray:
    """Give the weight of rows that are the same to the first of them that has any."""
    order = np.argsort(weights == 0, kind="stable")
    _, first, which = np.unique(keys[order], return_index=True, return_inverse=True)
    together = np.zeros(len(weights))
    together[order[first]] = np.bincount(which, weights[order])
    return together


def _out_of_bag(bag: BaggingRegressor, X: TableLike, there: AnyArray) -> FloatArray:
    """Give what a stage says of rows out of bag; of those that all members saw, what it says."""
    said: FloatArray = np.zeros_like(bag.oob_prediction_)
    said[there] = bag.oob_prediction_[there]
    if np.isnan(said).any():
        said = np.where(np.isnan(said), bag.predict(X), said)
    return said


def _joined(stages: list[BaggingRegressor]) -> Model:
    """Make one sum of the stages: of all their trees, or of the stages themselves."""
    first = stages[0].model_
    models = [stage.model_ for stage in stages]
    forests = [model for model in models if isinstance(model, TreeForest)]
    if not isinstance(first, TreeForest) or len(forests) < len(stages):
        return MemberSum(
            stages,
            np.ones(len(stages)),
            form="values",
            link="identity",
            baseline=np.zeros(1),
            schema=first.schema,
            target=first.target,
        )
    arrays = dict(join_grown([parts_of(forest) for forest in forests]))
    arrays["threshold"] = narrowest(arrays["threshold"])
    n_trees = sum(len(forest) for forest in forests)
    arrays["tree_weight"] = np.full(n_trees, 1.0 / len(first))
    arrays["tree_output"] = np.full(n_trees, -1, np.int32)
    arrays |= {name: first.arrays[name] for name in _SHARED}
    output = Output(link="identity", aggregate="sum")
    return TreeForest(first.schema, first.target, arrays, output=output, policy=first.policy)
