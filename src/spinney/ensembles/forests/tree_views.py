"""The trees of a forest as estimators, made when they are asked for."""

import abc
from collections.abc import Sequence
from typing import Any, overload

from spinney.data.target import Target
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.trees.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from spinney.model import TreeForest
from spinney.model.forest import Output
from spinney.randomness import Stream, random_bits
from spinney.typing import FloatArray

_NOT_OF_TREES = ("n_jobs", "random_state", "class_weight", "categorical_features")


class Views(Sequence[Any]):
    """Fitted trees of one model, each made when it is asked for."""

    @abc.abstractmethod
    def _view(self, place: int) -> Estimator:
        """Make one of them."""

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: Any) -> Any:
        try:
            places = range(len(self))[index]
        except IndexError:
            raise IndexError(
                f"There is no tree {index}: there are {len(self)}, from 0 on."
            ) from None
        if isinstance(places, range):
            return [self._view(place) for place in places]
        return self._view(places)

    def __repr__(self) -> str:
        return f"<{len(self)} trees>"


class TreeViews(Views):
    """Fitted trees that share the forest's arrays; each is a ``DecisionTree...`` of ours."""

    def __init__(
        self,
        model: TreeForest,
        parameters: dict[str, Any],
        seed: int | None,
        shares: FloatArray | None = None,
    ) -> None:
        """Take the trees; shares: of the classes in each node, if the model has votes."""
        self._model, self._parameters, self._seed = model, parameters, seed
        self._shares = shares

    def __len__(self) -> int:
        return len(self._model)

    def _view(self, place: int) -> Estimator:
        is_class = self._model.target.task in ("classification", "multi_classification")
        kind = DecisionTreeClassifier if is_class else DecisionTreeRegressor
        known = [name for name in kind._get_param_names() if name not in _NOT_OF_TREES]  # noqa: SLF001
        own = {name: self._parameters[name] for name in known if name in self._parameters}
        if self._seed is not None:
            own["random_state"] = random_bits(self._seed, Stream.ROWS, place) >> 33
        tree = kind(**own)
        tree._adopt(self._one(place))  # noqa: SLF001 - how a model becomes an estimator
        return tree

    def _one(self, place: int) -> TreeForest:
        one = self._model[place : place + 1]
        if self._shares is None:
            return one
        first, last = self._model.arrays["tree_start"][place : place + 2]
        arrays = {**one.arrays, "values": self._shares[first:last]}
        return TreeForest(one.schema, one.target, arrays, output=one.output, policy=one.policy)


def as_numbers(forest: TreeForest) -> TreeForest:
    """Give trees without a target as trees of the numbers in their leaves."""
    return TreeForest(
        forest.schema,
        Target("regression"),
        forest.arrays,
        output=Output(link="identity", aggregate="mean"),
        policy=forest.policy,
    )
