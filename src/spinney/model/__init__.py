"""The frozen model: what a fitted ensemble is.

Learners produce a model; prediction, explanation, saving and plotting read it and never see an
estimator.
"""

from spinney.model.committee import Committee
from spinney.model.forest import TreeForest
from spinney.model.model import Model, Policy
from spinney.model.program import BranchingProgram
from spinney.model.tree import Tree

__all__ = ["BranchingProgram", "Committee", "Model", "Policy", "Tree", "TreeForest"]
