"""The trees of a bag as estimators of their own columns, made when they are asked for."""

from typing import Any

import numpy as np
from sklearn.base import clone

from spinney.data.schema import FeatureSchema
from spinney.data.table import made_up_names
from spinney.ensembles.bagging.job import member_seed
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.forests.tree_views import Views
from spinney.model import TreeForest
from spinney.model.forest import Output
from spinney.resampling.feature_draws import FeatureDraws
from spinney.typing import AnyArray


class MemberTrees(Views):
    """Fitted trees: clones of the base learner, each with the seed it grew by."""

    def __init__(self, forest: TreeForest, base: Any, seed: int, draws: FeatureDraws) -> None:
        self._forest, self._base, self._seed, self._draws = forest, base, seed, draws

    def __len__(self) -> int:
        return len(self._forest)

    def _view(self, place: int) -> Estimator:
        tree: Estimator = clone(self._base).set_params(random_state=member_seed(self._seed, place))
        one = self._forest[place : place + 1]
        features = None if self._draws.takes_all else self._draws.draw(place)
        tree._adopt(of_columns(one, features))  # noqa: SLF001 - how a model becomes an estimator
        return tree


def of_columns(forest: TreeForest, features: AnyArray | None) -> TreeForest:
    """Give the same trees as a model of some columns, which are all that they split on."""
    arrays, schema = dict(forest.arrays), forest.schema
    if features is not None:
        place = np.zeros(len(schema.names), np.int32)
        place[features[::-1]] = np.arange(len(features), dtype=np.int32)[::-1]
        split = arrays["feature"] >= 0
        arrays["feature"] = np.where(split, place[arrays["feature"]], -1).astype(np.int32)
        arrays |= _categories(arrays, features)
        schema = _columns(schema, features)
    output = Output(link="identity", aggregate="mean")
    return TreeForest(schema, forest.target, arrays, output=output, policy=forest.policy)


def _categories(arrays: dict[str, AnyArray], features: AnyArray) -> dict[str, AnyArray]:
    starts, bins = arrays["category_start"], arrays["category_bins"]
    own = [bins[starts[f] : starts[f + 1]] for f in features]
    lengths = [0, *(len(some) for some in own)]
    return {
        "categorical": arrays["categorical"][features],
        "category_start": np.cumsum(lengths).astype(np.int64),
        "category_bins": np.concatenate(own),
    }


def _columns(schema: FeatureSchema, features: AnyArray) -> FeatureSchema:
    """Describe some columns; where one stands there twice, none has a name."""
    named = schema.names_given and len(np.unique(features)) == len(features)
    names = tuple(schema.names[f] for f in features) if named else made_up_names(len(features))
    return FeatureSchema(
        names,
        tuple(schema.kinds[f] for f in features),
        tuple(schema.levels[f] for f in features),
        tuple(schema.timezone_aware[f] for f in features),
        named,
    )
