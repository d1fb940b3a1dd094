"""The families of ensembles by the names the command line gives them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import spinney
from spinney.errors import InvalidInput, InvalidParameter, nearest_names


@dataclass(frozen=True, slots=True)
class Family:
    """One way to learn, for classes, for numbers, or for both."""

    name: str
    stem: str
    """Of the names of its estimators."""
    what: str
    has_file: bool = True
    """Whether fitted ones have a safe form in a file."""
    is_compared: bool = False
    """Whether ``compare`` tries it unless told otherwise."""
    class_settings: tuple[tuple[str, Any], ...] = ()
    """What its classifiers must be told to give probabilities."""

    def class_for(self, task: str) -> str | None:
        """Name the estimator for a task; None if there is none."""
        ending = "Classifier" if task == "classification" else "Regressor"
        name = self.stem + ending
        return name if name in spinney.ESTIMATORS else None

    def make(self, task: str, settings: Iterable[tuple[str, Any]] = (), seed: int = 0) -> Any:
        """Make an estimator that has learnt nothing yet."""
        name = self.class_for(task)
        if name is None:
            raise InvalidInput(
                f"--model {self.name}: it has no estimator for {task}. Choose another one, such as "
                "boosting or forest."
            )
        estimator = getattr(spinney, name)()
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=seed)
        if task == "classification":
            estimator.set_params(**dict(self.class_settings))
        estimator.set_params(**dict(settings))
        estimator._check_parameters()  # noqa: SLF001 - it is ours; bad values before a long fit
        return estimator


_ALL = (
    Family("boosting", "GradientBoosting", "gradient boosting of trees", is_compared=True),
    Family("forest", "RandomForest", "random forest", is_compared=True),
    Family("extra-trees", "ExtraTrees", "extremely randomised trees", is_compared=True),
    Family("adaboost", "AdaBoost", "AdaBoost, of stumps", is_compared=True),
    Family("tree", "DecisionTree", "a single tree", is_compared=True),
    Family("bagging", "Bagging", "bagged trees", is_compared=True),
    Family("stacking", "Stacking", "a learner on top of others", is_compared=True),
    Family("voting", "Voting", "a vote of different learners", True, True, (("voting", "soft"),)),
    Family("rotation-forest", "RotationForest", "a forest on turned axes", is_compared=True),
    Family(
        "functional-boosting", "FunctionalGradientBoosting", "any learner, any loss", True, True
    ),
    Family("margin-boost", "MarginBoost", "large margins; two classes", is_compared=True),
    Family("robust-boost", "RobustBoost", "for wrong labels; two classes", is_compared=True),
    Family("quantile-forest", "QuantileForest", "a forest that keeps its rows", is_compared=True),
    Family("l2-boost", "L2Boost", "componentwise lines; numbers only", is_compared=True),
    Family(
        "ensemble-selection",
        "EnsembleSelection",
        "members selected from a library",
        is_compared=True,
    ),
    Family("hist-boosting", "HistGradientBoosting", "boosting under scikit-learn's names"),
    Family("pasting", "Pasting", "bagging without repetition"),
    Family("random-subspace", "RandomSubspace", "members that see some features"),
    Family("random-patches", "RandomPatches", "members that see some rows and features"),
    Family("iterated-bagging", "IteratedBagging", "bagging of what is left over"),
    Family("bumping", "Bumping", "the best of trees on resamples"),
    Family("blending", "Blending", "stacking with rows set aside"),
    Family("super-learner", "SuperLearner", "weights learnt out of fold"),
    Family("weighted-vote", "WeightedVote", "a vote with learnt weights"),
    Family("dynamic-selection", "DynamicSelection", "members chosen for each row", False),
    Family("knora-e", "KNORAE", "neighbours that all agree", False),
    Family("knora-u", "KNORAU", "neighbours that vote", False),
)
FAMILIES: Mapping[str, Family] = {family.name: family for family in _ALL}


def family_named(name: str) -> Family:
    """Find a family by its name, or by that of its estimators."""
    if name in FAMILIES:
        return FAMILIES[name]
    stems = {family.stem.casefold(): family for family in _ALL}
    stem = name.removesuffix("Classifier").removesuffix("Regressor").casefold()
    if stem.replace("-", "").replace("_", "") in stems:
        return stems[stem.replace("-", "").replace("_", "")]
    hint = nearest_names(name, FAMILIES)
    raise InvalidParameter(
        f"--model {name!r}: there is no such family.{hint} There are {', '.join(FAMILIES)}."
    )
