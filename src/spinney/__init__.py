"""Spinney: every ensemble in the book, on one engine that proves what it claims.

Names are resolved on first use, so ``import spinney`` costs next to nothing.
"""

import importlib
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spinney.ensembles.adaptive.classifier import AdaBoostClassifier as AdaBoostClassifier
    from spinney.ensembles.adaptive.matrix import boost_matrix as boost_matrix
    from spinney.ensembles.adaptive.regressor import AdaBoostRegressor as AdaBoostRegressor
    from spinney.ensembles.bagging.classifier import BaggingClassifier as BaggingClassifier
    from spinney.ensembles.bagging.iterated import (
        IteratedBaggingRegressor as IteratedBaggingRegressor,
    )
    from spinney.ensembles.bagging.presets import PastingClassifier as PastingClassifier
    from spinney.ensembles.bagging.presets import PastingRegressor as PastingRegressor
    from spinney.ensembles.bagging.presets import RandomPatchesClassifier as RandomPatchesClassifier
    from spinney.ensembles.bagging.presets import RandomPatchesRegressor as RandomPatchesRegressor
    from spinney.ensembles.bagging.presets import (
        RandomSubspaceClassifier as RandomSubspaceClassifier,
    )
    from spinney.ensembles.bagging.presets import RandomSubspaceRegressor as RandomSubspaceRegressor
    from spinney.ensembles.bagging.regressor import BaggingRegressor as BaggingRegressor
    from spinney.ensembles.combining.blending import BlendingClassifier as BlendingClassifier
    from spinney.ensembles.combining.blending import BlendingRegressor as BlendingRegressor
    from spinney.ensembles.combining.stacking import StackingClassifier as StackingClassifier
    from spinney.ensembles.combining.stacking import StackingRegressor as StackingRegressor
    from spinney.ensembles.combining.super_learner import (
        SuperLearnerClassifier as SuperLearnerClassifier,
    )
    from spinney.ensembles.combining.super_learner import (
        SuperLearnerRegressor as SuperLearnerRegressor,
    )
    from spinney.ensembles.combining.voting import VotingClassifier as VotingClassifier
    from spinney.ensembles.combining.voting import VotingRegressor as VotingRegressor
    from spinney.ensembles.combining.weighted_vote import (
        WeightedVoteClassifier as WeightedVoteClassifier,
    )
    from spinney.ensembles.combining.weighted_vote import (
        WeightedVoteRegressor as WeightedVoteRegressor,
    )
    from spinney.ensembles.forests.embedding import RandomTreesEmbedding as RandomTreesEmbedding
    from spinney.ensembles.forests.extra_trees import ExtraTreesClassifier as ExtraTreesClassifier
    from spinney.ensembles.forests.extra_trees import ExtraTreesRegressor as ExtraTreesRegressor
    from spinney.ensembles.forests.isolation import IsolationForest as IsolationForest
    from spinney.ensembles.forests.quantile import (
        QuantileForestRegressor as QuantileForestRegressor,
    )
    from spinney.ensembles.forests.random_forest import (
        RandomForestClassifier as RandomForestClassifier,
    )
    from spinney.ensembles.forests.random_forest import (
        RandomForestRegressor as RandomForestRegressor,
    )
    from spinney.ensembles.forests.rotation import (
        RotationForestClassifier as RotationForestClassifier,
    )
    from spinney.ensembles.forests.rotation import (
        RotationForestRegressor as RotationForestRegressor,
    )
    from spinney.ensembles.functional.classifier import (
        FunctionalGradientBoostingClassifier as FunctionalGradientBoostingClassifier,
    )
    from spinney.ensembles.functional.l2_boost import L2BoostRegressor as L2BoostRegressor
    from spinney.ensembles.functional.regressor import (
        FunctionalGradientBoostingRegressor as FunctionalGradientBoostingRegressor,
    )
    from spinney.ensembles.gradient.classifier import (
        GradientBoostingClassifier as GradientBoostingClassifier,
    )
    from spinney.ensembles.gradient.drop_in import (
        HistGradientBoostingClassifier as HistGradientBoostingClassifier,
    )
    from spinney.ensembles.gradient.drop_in import (
        HistGradientBoostingRegressor as HistGradientBoostingRegressor,
    )
    from spinney.ensembles.gradient.ranker import GradientBoostingRanker as GradientBoostingRanker
    from spinney.ensembles.gradient.regressor import (
        GradientBoostingRegressor as GradientBoostingRegressor,
    )
    from spinney.ensembles.margin.classifier import MarginBoostClassifier as MarginBoostClassifier
    from spinney.ensembles.robust.classifier import RobustBoostClassifier as RobustBoostClassifier
    from spinney.ensembles.selecting.bumping import BumpingClassifier as BumpingClassifier
    from spinney.ensembles.selecting.bumping import BumpingRegressor as BumpingRegressor
    from spinney.ensembles.selecting.dynamic import (
        DynamicSelectionClassifier as DynamicSelectionClassifier,
    )
    from spinney.ensembles.selecting.dynamic import KNORAEClassifier as KNORAEClassifier
    from spinney.ensembles.selecting.dynamic import KNORAUClassifier as KNORAUClassifier
    from spinney.ensembles.selecting.ensemble_selection import (
        EnsembleSelectionClassifier as EnsembleSelectionClassifier,
    )
    from spinney.ensembles.selecting.ensemble_selection import (
        EnsembleSelectionRegressor as EnsembleSelectionRegressor,
    )
    from spinney.ensembles.trees.decision_tree import (
        DecisionTreeClassifier as DecisionTreeClassifier,
    )
    from spinney.ensembles.trees.decision_tree import DecisionTreeRegressor as DecisionTreeRegressor
    from spinney.ensembles.uncertain.calibrated_classifier import (
        CalibratedClassifier as CalibratedClassifier,
    )
    from spinney.ensembles.uncertain.conformal_classifier import (
        ConformalClassifier as ConformalClassifier,
    )
    from spinney.ensembles.uncertain.conformal_regressor import (
        ConformalRegressor as ConformalRegressor,
    )
    from spinney.io.save_load import load as load
    from spinney.io.save_load import save as save

__version__ = _version("spinney")

ESTIMATORS = {
    "AdaBoostClassifier": "spinney.ensembles.adaptive.classifier",
    "AdaBoostRegressor": "spinney.ensembles.adaptive.regressor",
    "BaggingClassifier": "spinney.ensembles.bagging.classifier",
    "BaggingRegressor": "spinney.ensembles.bagging.regressor",
    "BlendingClassifier": "spinney.ensembles.combining.blending",
    "BlendingRegressor": "spinney.ensembles.combining.blending",
    "BumpingClassifier": "spinney.ensembles.selecting.bumping",
    "BumpingRegressor": "spinney.ensembles.selecting.bumping",
    "CalibratedClassifier": "spinney.ensembles.uncertain.calibrated_classifier",
    "ConformalClassifier": "spinney.ensembles.uncertain.conformal_classifier",
    "ConformalRegressor": "spinney.ensembles.uncertain.conformal_regressor",
    "DecisionTreeClassifier": "spinney.ensembles.trees.decision_tree",
    "DecisionTreeRegressor": "spinney.ensembles.trees.decision_tree",
    "DynamicSelectionClassifier": "spinney.ensembles.selecting.dynamic",
    "EnsembleSelectionClassifier": "spinney.ensembles.selecting.ensemble_selection",
    "EnsembleSelectionRegressor": "spinney.ensembles.selecting.ensemble_selection",
    "ExtraTreesClassifier": "spinney.ensembles.forests.extra_trees",
    "ExtraTreesRegressor": "spinney.ensembles.forests.extra_trees",
    "FunctionalGradientBoostingClassifier": "spinney.ensembles.functional.classifier",
    "FunctionalGradientBoostingRegressor": "spinney.ensembles.functional.regressor",
    "GradientBoostingClassifier": "spinney.ensembles.gradient.classifier",
    "GradientBoostingRanker": "spinney.ensembles.gradient.ranker",
    "GradientBoostingRegressor": "spinney.ensembles.gradient.regressor",
    "HistGradientBoostingClassifier": "spinney.ensembles.gradient.drop_in",
    "HistGradientBoostingRegressor": "spinney.ensembles.gradient.drop_in",
    "IsolationForest": "spinney.ensembles.forests.isolation",
    "IteratedBaggingRegressor": "spinney.ensembles.bagging.iterated",
    "KNORAEClassifier": "spinney.ensembles.selecting.dynamic",
    "KNORAUClassifier": "spinney.ensembles.selecting.dynamic",
    "L2BoostRegressor": "spinney.ensembles.functional.l2_boost",
    "MarginBoostClassifier": "spinney.ensembles.margin.classifier",
    "PastingClassifier": "spinney.ensembles.bagging.presets",
    "PastingRegressor": "spinney.ensembles.bagging.presets",
    "QuantileForestRegressor": "spinney.ensembles.forests.quantile",
    "RandomForestClassifier": "spinney.ensembles.forests.random_forest",
    "RandomForestRegressor": "spinney.ensembles.forests.random_forest",
    "RandomPatchesClassifier": "spinney.ensembles.bagging.presets",
    "RandomPatchesRegressor": "spinney.ensembles.bagging.presets",
    "RandomSubspaceClassifier": "spinney.ensembles.bagging.presets",
    "RandomSubspaceRegressor": "spinney.ensembles.bagging.presets",
    "RandomTreesEmbedding": "spinney.ensembles.forests.embedding",
    "RobustBoostClassifier": "spinney.ensembles.robust.classifier",
    "RotationForestClassifier": "spinney.ensembles.forests.rotation",
    "RotationForestRegressor": "spinney.ensembles.forests.rotation",
    "StackingClassifier": "spinney.ensembles.combining.stacking",
    "StackingRegressor": "spinney.ensembles.combining.stacking",
    "SuperLearnerClassifier": "spinney.ensembles.combining.super_learner",
    "SuperLearnerRegressor": "spinney.ensembles.combining.super_learner",
    "VotingClassifier": "spinney.ensembles.combining.voting",
    "VotingRegressor": "spinney.ensembles.combining.voting",
    "WeightedVoteClassifier": "spinney.ensembles.combining.weighted_vote",
    "WeightedVoteRegressor": "spinney.ensembles.combining.weighted_vote",
}
"""Public estimators and where they live; a model file may name these classes and no others."""

_PUBLIC = {
    **ESTIMATORS,
    "boost_matrix": "spinney.ensembles.adaptive.matrix",
    "load": "spinney.io.save_load",
    "save": "spinney.io.save_load",
}

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BlendingClassifier",
    "BlendingRegressor",
    "BumpingClassifier",
    "BumpingRegressor",
    "CalibratedClassifier",
    "ConformalClassifier",
    "ConformalRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "DynamicSelectionClassifier",
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "FunctionalGradientBoostingClassifier",
    "FunctionalGradientBoostingRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRanker",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "IsolationForest",
    "IteratedBaggingRegressor",
    "KNORAEClassifier",
    "KNORAUClassifier",
    "L2BoostRegressor",
    "MarginBoostClassifier",
    "PastingClassifier",
    "PastingRegressor",
    "QuantileForestRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomPatchesClassifier",
    "RandomPatchesRegressor",
    "RandomSubspaceClassifier",
    "RandomSubspaceRegressor",
    "RandomTreesEmbedding",
    "RobustBoostClassifier",
    "RotationForestClassifier",
    "RotationForestRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "SuperLearnerClassifier",
    "SuperLearnerRegressor",
    "VotingClassifier",
    "VotingRegressor",
    "WeightedVoteClassifier",
    "WeightedVoteRegressor",
    "boost_matrix",
    "load",
    "save",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'spinney' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
