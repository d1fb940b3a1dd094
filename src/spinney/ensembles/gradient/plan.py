"""What one call of ``fit`` is about to do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from spinney.data.schema import FeatureSchema
from spinney.ensembles.constraints import interaction_groups, monotone_signs
from spinney.ensembles.fitting import IntakeSettings
from spinney.ensembles.gradient.callbacks import Callback
from spinney.ensembles.gradient.dropout import Dropout
from spinney.ensembles.gradient.rounds import RoundSettings
from spinney.ensembles.gradient.rows import BoostingRows, Part
from spinney.ensembles.gradient.stopping import (
    Clock,
    Measure,
    StoppingRule,
    Watch,
    by_scorer,
    few_rows,
    negative_loss,
)
from spinney.ensembles.gradient.sums import BoostedSum
from spinney.errors import InvalidInput, InvalidParameter
from spinney.losses import Loss
from spinney.model import Policy, TreeForest
from spinney.model.derived import DerivedForest
from spinney.model.forest import Output
from spinney.progress import Progress
from spinney.resampling.row_sampling import CHOOSING_SAMPLERS, RowSampling
from spinney.trees.gradient import GradientTreeSettings

_USUAL_LEVELS, _MOST_LEVELS = 6, 16
"""Of symmetric trees: where nothing limits them, and at most, as in CatBoost."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The parameters, the rows and the loss of a fit, and what follows from them."""

    params: Mapping[str, Any]
    schema: FeatureSchema
    rows: BoostingRows
    loss: Loss
    settings: RoundSettings
    stops_early: bool
    """Whether held-out or training rows decide when this fit ends."""
    clock: Clock
    callbacks: tuple[Callback, ...] = ()

    def freeze(self, grown: BoostedSum) -> TreeForest | DerivedForest:
        """Make the model of the trees so far."""
        derivation = self.rows.derivation
        forest = TreeForest.from_trees(
            grown.tree_sum,
            self.schema if derivation is None else derivation.schema,
            self.rows.target,
            self.rows.binned.features,
            output=Output(link=self.loss.link, aggregate="sum"),
            policy=policy_of(self.params),
            weights=grown.tree_weights,
        )
        return forest if derivation is None else DerivedForest(derivation, forest)

    def watch(self, fitted_twin: Callable[[], Any], n_before: int) -> Watch | None:
        """Make the watch over the rounds; None when nobody looks.

        ``fitted_twin`` makes a copy of the estimator that a scorer may ask; ``n_before`` rounds are
        there already.
        """
        params, rows = self.params, self.rows
        verbose = params["verbose"]
        progress = Progress(self.settings.max_rounds, "round", first=n_before, verbose=verbose)
        looks = self.stops_early or bool(verbose) or bool(self.callbacks)
        if not looks and self.clock.budget is None and not progress.is_shown:
            return None
        uses_loss = not self.stops_early or params["scoring"] == "loss"
        twin = None if uses_loss else fitted_twin()
        train = rows.train if uses_loss else few_rows(rows, rows.told_first, self.settings.seed)
        rule = StoppingRule.of(params)
        return Watch(
            self.measure(train, twin) if looks else None,
            None if rows.validation is None else self.measure(rows.validation, twin),
            rule if self.stops_early else None,
            self.clock,
            progress,
            self.loss.measured_as if uses_loss else ("score", 1.0),
            self.callbacks,
            self.freeze,
        )

    def measure(self, part: Part, twin: Any) -> Measure:
        """Measure rows by the loss, or by a scorer that asks the twin."""
        if twin is None:
            return negative_loss(self.loss, self.rows, part, self.settings.n_threads)
        return by_scorer(twin, self.params["scoring"], self.rows, part, self.freeze)


def policy_of(params: Mapping[str, Any]) -> Policy:
    """Say what happens at predict to unknown categories and columns."""
    return Policy(unseen=params["unseen"], extra=params["extra_columns"])


def row_sampling(params: Mapping[str, Any]) -> RowSampling:
    """Say how rounds draw their rows; refuse shares that a sampler cannot keep."""
    sampler, share, top_rate = params["sampler"], params["subsample"], params["top_rate"]
    if sampler in CHOOSING_SAMPLERS and share == 1.0:
        raise InvalidParameter(
            f"sampler={sampler!r} chooses a share of the rows by their derivatives, and "
            "subsample=1.0 leaves nothing to choose. Set subsample below 1, such as 0.3, or "
            "sampler='uniform'."
        )
    if sampler == "one_side" and top_rate >= share:
        raise InvalidParameter(
            f"top_rate={top_rate!r} with subsample={share!r}: rows with the largest gradients are "
            "a part of those that stay, and some of the others have to stay too. Set top_rate "
            "below subsample."
        )
    return RowSampling(sampler, share, top_rate, params["bagging_temperature"])


def with_tree_values(settings: RoundSettings, values: Mapping[str, Any]) -> RoundSettings:
    """Change what trees are like, by the names of parameters."""
    return replace(settings, tree=replace(settings.tree, **values))


def round_settings(
    params: Mapping[str, Any],
    schema: FeatureSchema,
    loss: Loss,
    intake: IntakeSettings,
    *,
    seed: int,
) -> RoundSettings:
    """Turn the parameters of an estimator into settings of rounds and trees."""
    monotone = monotone_signs(params["monotonic_cst"], schema, intake.estimator_name)
    names = schema.names if schema.names_given else None
    if params["monotonic_cst"] is not None and loss.link == "softmax":
        raise InvalidInput(
            "monotonic constraints are not supported for multiclass classification: the classes "
            "share one scale. Set monotonic_cst=None, or learn one class against the others."
        )
    symmetric = params["growth"] == "symmetric"
    if loss.shares_trees:
        _check_shared_trees(params, loss.n_outputs)
    return RoundSettings(
        max_rounds=params["max_iter"],
        learning_rate=params["learning_rate"],
        sampling=row_sampling(params),
        dropout=Dropout(
            params["dropout"],
            params["skip_dropout"],
            params["max_dropped"],
            params["learning_rate"],
        ),
        tree=GradientTreeSettings(
            max_leaf_nodes=params["max_leaf_nodes"],
            max_depth=_levels(params) if symmetric else params["max_depth"],
            leaf_wise=params["growth"] == "leaf_wise",
            symmetric=symmetric,
            random_cuts=params["splitter"] == "random",
            min_samples_leaf=params["min_samples_leaf"],
            min_child_weight=params["min_child_weight"],
            l1=params["l1_regularization"],
            l2=params["l2_regularization"],
            max_step=params["max_delta_step"] or 0.0,
            longest_step=loss.longest_step,
            every_hessian_counts=loss.every_hessian_counts,
            path_smoothing=params["path_smoothing"],
            min_split_gain=params["min_split_gain"],
            prune_gain=params["prune_gain"],
            max_features=params["max_features"],
            max_features_per_tree=params["max_features_per_tree"],
            monotone=monotone,
            interactions=interaction_groups(params["interaction_cst"], schema.n_features, names),
        ),
        exact_steps=params.get("leaf_steps") == "exact",
        leaves_count_rows=params.get("leaves_count_rows", False),
        seed=seed,
        n_threads=intake.n_threads,
    )


def _check_shared_trees(params: Mapping[str, Any], n_outputs: int) -> None:
    """Refuse what trees that several outputs share cannot have."""
    if params["monotonic_cst"] is not None:
        raise InvalidInput(
            f"monotonic constraints are not supported for {n_outputs} outputs that share their "
            "trees: a split that suits one of them need not suit the others. Set "
            "monotonic_cst=None, or fit an estimator for each output."
        )
    if params["growth"] == "symmetric":
        raise InvalidInput(
            f"growth='symmetric' is for trees of one output, and y or quantile asks for "
            f"{n_outputs} that share theirs. Set growth='leaf_wise' or 'level_wise', or fit an "
            "estimator for each output."
        )


def _levels(params: Mapping[str, Any]) -> int:
    """Give the number of levels of a symmetric tree: as many as both limits of its size allow."""
    depth, leaves = params["max_depth"], params["max_leaf_nodes"]
    given = [] if depth is None else [int(depth)]
    if leaves is not None:
        given.append(int(leaves).bit_length() - 1)  # 2**levels leaves
    levels = min(given, default=_USUAL_LEVELS)
    if levels > _MOST_LEVELS:
        raise InvalidParameter(
            f"max_depth={depth!r} and max_leaf_nodes={leaves!r} with growth='symmetric': that is "
            f"{levels} levels, all nodes of which are searched together, and the most are "
            f"{_MOST_LEVELS}. Set max_depth={_MOST_LEVELS} or less; {_USUAL_LEVELS} are usual."
        )
    return levels
