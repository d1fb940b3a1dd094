"""One small fitted estimator or frozen model of every kind that a file can hold.

``KINDS`` maps a name to a function that makes it; ``rows_for`` gives 16 rows that any model of a
schema can be asked about, as columns of plain numbers, so that nothing but the model is tested.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from tests.attacks.calibrated_kinds import CALIBRATED
from tests.attacks.probe_rows import rows_for
from tests.attacks.training_rows import N_ROWS, TOWNS, classes, frame, numbers, target

import spinney
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model import BranchingProgram, Committee, Model, Policy, TreeForest
from spinney.model.forest import Output, join_trees
from spinney.model.state import model_from_bytes

N_DEEP_ROWS = 6800
Fitted = Any


def _float32() -> Fitted:
    return spinney.DecisionTreeClassifier(max_leaf_nodes=9).fit(numbers(), classes(list("abc")))


def _float64() -> Fitted:
    close = 1 + np.argsort(np.argsort(numbers()[:, :1], axis=0), axis=0) * 2.0**-50
    return spinney.DecisionTreeRegressor(max_depth=4).fit(close, target())


def _text_categories() -> Fitted:
    table = frame()[["town", "größe"]]
    tree = spinney.DecisionTreeClassifier(unseen="error", extra_columns="ignore", max_depth=5)
    return tree.fit(table, classes(["no", "yes"]))


def _number_categories() -> Fitted:
    X = np.round(numbers())
    return spinney.DecisionTreeRegressor(categorical_features=[0, 2]).fit(X, target())


def _many_categories() -> Fitted:
    texts = np.array([f"level {i}" for i in range(300)], dtype=object).reshape(-1, 1)
    y = np.arange(300) * 7 % 30
    return spinney.DecisionTreeRegressor(max_leaf_nodes=12).fit(texts, y)


def _every_column() -> Fitted:
    return spinney.DecisionTreeRegressor(min_samples_leaf=2).fit(frame(), target())


def _missing_values() -> Fitted:
    X = np.where(numbers() < 2, np.nan, numbers())
    return spinney.DecisionTreeClassifier().fit(X, classes(np.array([1.0, 2.0, 4.0])))


def _integer_classes() -> Fitted:
    y = classes(np.array([-5, 0, 10**12]))
    return spinney.DecisionTreeClassifier(max_depth=3, class_weight="balanced").fit(numbers(), y)


def _boolean_classes() -> Fitted:
    y = classes(np.array([False, True]))
    return spinney.DecisionTreeClassifier(max_depth=3).fit(numbers(), y, np.linspace(0, 3, N_ROWS))


def _object_classes() -> Fitted:
    y = classes(np.array(["häufig", "nie", "selten"], dtype=object))
    weight = {"häufig": 1, "nie": 2.5, "selten": 1}
    return spinney.DecisionTreeClassifier(max_depth=3, class_weight=weight).fit(numbers(), y)


def _vector_leaves() -> Fitted:
    y = np.column_stack([target(), -target(), numbers()[:, 0]])
    return spinney.DecisionTreeRegressor(max_leaf_nodes=8).fit(numbers(), y)


def _several_labels() -> Fitted:
    y = pd.DataFrame({"wood": classes(["ash", "fir", "yew"]), "old": numbers()[:, 0] > 4})
    return spinney.RandomForestClassifier(4, max_depth=3, random_state=7).fit(numbers(), y)


def _boosted_labels() -> Fitted:
    y = pd.DataFrame({"wood": classes(["ash", "fir", "yew"]), "old": numbers()[:, 0] > 4})
    return spinney.GradientBoostingClassifier(max_iter=3).fit(numbers(), y)


def _one_leaf() -> Fitted:
    return spinney.DecisionTreeRegressor().fit(numbers(1), np.full(N_ROWS, 0.1))


def _generator() -> Fitted:
    seed = np.random.default_rng(3)
    drawn = spinney.DecisionTreeClassifier(random_state=seed, max_features="sqrt", max_depth=4)
    return drawn.fit(numbers(), classes(["a", "b"]))


def _legacy_generator() -> Fitted:
    drawn = spinney.DecisionTreeRegressor(
        random_state=np.random.RandomState(3), max_features=0.5, max_depth=3, max_bins=16
    )
    return drawn.fit(numbers(), target())


def _boosted() -> Fitted:
    boosted = spinney.HistGradientBoostingRegressor(
        max_iter=3,
        max_leaf_nodes=4,
        min_samples_leaf=5,
        early_stopping=True,
        random_state=7,
        monotonic_cst={"größe": 0},
        interaction_cst=[{0, 1}, {2}],
    )
    return boosted.fit(frame(), target())


def _ranked() -> Fitted:
    ranked = spinney.GradientBoostingRanker(max_iter=3, label_gain=[0, 1, 4], random_state=7)
    return ranked.fit(frame(), np.arange(N_ROWS) % 3, qid=np.arange(N_ROWS) // 8)


def scattered(n_columns: int, first: int = 1) -> Any:
    """Many numbers from 0 to 1 without an order, and without a generator."""
    size = N_DEEP_ROWS * n_columns
    bits = np.arange(first, first + size, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(32)
    numbers = (bits >> np.uint64(40)).astype(np.float64) / 2.0**24
    return numbers.reshape(N_DEEP_ROWS, n_columns)


def _packed_classes() -> Fitted:
    y = (scattered(1, 10**6)[:, 0] * 9).astype(int)
    return spinney.DecisionTreeClassifier().fit(np.float32(scattered(4)), y)


def _packed_numbers() -> Fitted:
    X = scattered(4)
    X[::50, 1] = np.nan
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["town"] = TOWNS[np.arange(N_DEEP_ROWS) % 5]
    y = np.round(scattered(1, 10**6)[:, 0] * 10) / 7
    return spinney.DecisionTreeRegressor().fit(frame, y)


def _robust_sum() -> Fitted:
    robust = spinney.RobustBoostClassifier(
        algorithm="robust", n_estimators=6, target_error=0.2, store_weights=True
    )
    return robust.fit(frame()[["größe", "town"]], classes(["no", "yes"]))


def _robust_program() -> Fitted:
    walk = spinney.RobustBoostClassifier(algorithm="martingale", n_levels=5, least_node_weight=4)
    return walk.fit(frame(), classes(["no", "yes"]))


def _forest_of_three() -> TreeForest:
    first = _number_categories().model_
    trees = [
        spinney.DecisionTreeRegressor(categorical_features=[0, 2], max_depth=d) for d in (1, 3)
    ]
    more = [tree.fit(np.round(numbers()), target()).model_ for tree in trees]
    arrays = dict(first.arrays)
    arrays |= join_trees([first[0], *(model[0] for model in more)], width=1)
    arrays["tree_weight"] = np.array([1.0, -0.5, 0.25])
    arrays["tree_output"] = np.full(3, -1, np.int32)
    output = Output(link="identity", aggregate="sum")  # no exp: its last bit is the machine's
    return TreeForest(first.schema, first.target, arrays, output=output, policy=Policy())


def _empty_forest() -> TreeForest:
    return _forest_of_three()[:0]


def _program() -> BranchingProgram:
    y = classes(np.array([False, True]))
    walk = spinney.RobustBoostClassifier(algorithm="martingale", n_levels=7, least_node_weight=2)
    return walk.fit(numbers(), y).model_


def _empty_program() -> BranchingProgram:
    forest = _program().members[:0]
    return BranchingProgram(forest, [1, -1, 1], edges=np.zeros(3), shares=np.full(3, 0.5))


def _committee() -> Committee:
    one, two = _forest_of_three(), _number_categories().model_
    inner = Committee([one, two], np.array([1.0, 2.0]), combine="mean", policy=Policy())
    weights = np.array([0.5, 0.25, 1.0])
    return Committee([two, inner, one[:2]], weights, combine="mean", policy=Policy())


def _vote() -> Committee:
    X, y = numbers(), classes(["a", "b", "c"])
    members = [spinney.DecisionTreeClassifier(max_depth=d).fit(X, y).model_ for d in (1, 2, 3)]
    return Committee(members, np.array([1.0, -0.5, 2.0]), combine="vote", policy=Policy())


def _median() -> Model:
    return spinney.AdaBoostRegressor(n_estimators=3).fit(frame(), target()).model_


def _componentwise() -> Model:
    return spinney.L2BoostRegressor(n_estimators=6).fit(numbers(), target()).model_


def _splines() -> Model:
    X = np.column_stack([np.where(numbers() < 1, np.nan, numbers()), np.ones(N_ROWS)])
    return spinney.L2BoostRegressor(learner="spline", n_estimators=6).fit(X, target()).model_


def _isolation() -> Fitted:
    forest = spinney.IsolationForest(n_estimators=3, max_samples=16, random_state=3)
    return forest.set_params(contamination=0.1).fit(frame())


def _isolation_planes() -> Fitted:
    forest = spinney.IsolationForest(n_estimators=2, max_samples=16, random_state=3)
    return forest.set_params(extension_level=2).fit(np.where(numbers() < 1, np.nan, numbers()))


def _isolation_levels() -> Fitted:
    forest = spinney.IsolationForest(n_estimators=2, max_samples=16, random_state=3)
    return forest.set_params(extension_level=2).fit(frame())


def _leaf_rows() -> Fitted:
    weights = np.arange(N_ROWS) % 3
    return spinney.QuantileForestRegressor(4, random_state=5).fit(frame(), target(), weights)


def _embedding() -> Model:
    return spinney.RandomTreesEmbedding(3, max_depth=2, random_state=1).fit(frame()).model_


def _rotation() -> Fitted:
    forest = spinney.RotationForestClassifier(3, max_depth=3, random_state=2)
    return forest.fit(numbers(), classes(["a", "b", "c"]))


def _boosted_vectors() -> Fitted:
    numbers_of_rows = np.column_stack([target(), numbers()[:, 1] - target(), np.sqrt(target())])
    model = spinney.GradientBoostingRegressor(
        max_iter=4, max_leaf_nodes=5, min_samples_leaf=3, subsample=0.8, random_state=7
    )
    return model.fit(frame(), numbers_of_rows, np.arange(N_ROWS) % 3)


def _boosted_quantiles() -> Fitted:
    model = spinney.GradientBoostingRegressor(
        loss="quantile", quantile=[0.1, 0.5, 0.9], max_iter=5, learning_rate=0.9, min_samples_leaf=2
    )
    return model.fit(frame(), target())


def _stack() -> Fitted:
    members = [
        ("tree", spinney.DecisionTreeClassifier(max_depth=3)),
        ("forest", spinney.RandomForestClassifier(2, max_depth=3, random_state=1)),
    ]
    inner = spinney.StackingClassifier(members, "simplex", cv=2)
    outer = spinney.StackingClassifier([("inner", inner), *members[:1], ("gone", "drop")], cv=3)
    return outer.fit(numbers(), classes(["a", "b", "c"]))


def _super_learner() -> Fitted:
    members = [(f"depth{d}", spinney.DecisionTreeRegressor(max_depth=d)) for d in (1, 3)]
    return spinney.SuperLearnerRegressor(members, cv=3).fit(frame(), target())


def _weighted_vote() -> Fitted:
    members = [(f"depth{d}", spinney.DecisionTreeClassifier(max_depth=d)) for d in (1, 3)]
    vote = spinney.WeightedVoteClassifier(members, [1.0, -0.5])
    return vote.fit(frame()[["town", "größe"]], classes(["no", "yes"]))


def _derived() -> Fitted:
    boosted = spinney.GradientBoostingClassifier(
        max_iter=3, max_leaf_nodes=4, min_samples_leaf=5, category_encoding="target", random_state=7
    )
    hues = np.array(["red", "blue", None], dtype=object)[np.arange(N_ROWS) % 3]
    boosted.set_params(category_pairs=[("town", "hue")], date_features=True)
    return boosted.fit(frame().assign(hue=hues), classes(["a", "b", "c"]))


def _texts() -> Fitted:
    boosted = spinney.GradientBoostingRegressor(
        max_iter=3, max_leaf_nodes=4, min_samples_leaf=5, text_features=["said"], random_state=7
    )
    said = [f"{'größer' if k % 3 else 'BIG'} than {k % 7} of them" for k in range(N_ROWS)]
    return boosted.fit(frame().assign(said=said), target())


KINDS: dict[str, Callable[[], Fitted]] = {
    "float32_thresholds": _float32,
    "float64_thresholds": _float64,
    "text_categories": _text_categories,
    "number_categories": _number_categories,
    "many_categories": _many_categories,
    "every_column": _every_column,
    "missing_values": _missing_values,
    "integer_classes": _integer_classes,
    "boolean_classes": _boolean_classes,
    "object_classes": _object_classes,
    "vector_leaves": _vector_leaves,
    "several_labels": _several_labels,
    "one_leaf": _one_leaf,
    "generator": _generator,
    "legacy_generator": _legacy_generator,
    "boosted": _boosted,
    "ranked": _ranked,
    "derived": _derived,
    "texts": _texts,
    "packed_classes": _packed_classes,
    "packed_numbers": _packed_numbers,
    "robust_sum": _robust_sum,
    "robust_program": _robust_program,
    "isolation": _isolation,
    "isolation_planes": _isolation_planes,
    "isolation_levels": _isolation_levels,
    "leaf_rows": _leaf_rows,
    "rotation": _rotation,
    **CALIBRATED,
    "boosted_vectors": _boosted_vectors,
    "boosted_quantiles": _boosted_quantiles,
    "boosted_labels": _boosted_labels,
    "stack": _stack,
    "super_learner": _super_learner,
    "weighted_vote": _weighted_vote,
    "raw_embedding": _embedding,
    "raw_forest": _forest_of_three,
    "raw_empty_forest": _empty_forest,
    "raw_committee": _committee,
    "raw_vote": _vote,
    "raw_median": _median,
    "raw_componentwise": _componentwise,
    "raw_splines": _splines,
    "raw_program": _program,
    "raw_empty_program": _empty_program,
}

COMMITTEES = ("stack", "super_learner", "weighted_vote")
"""Those whose pickles hold members as they are, and what scikit-learn made for them."""


def file_of(kind: str) -> bytes:
    """Make the bytes of a file; names with ``raw_`` are models without an estimator."""
    made = KINDS[kind]()
    return made.to_bytes() if isinstance(made, Model) else to_bytes(made)


def models_of(fitted: Fitted) -> list[Model]:
    """Give the frozen model, or those of all members, and of members of members."""
    if hasattr(fitted, "model_"):
        return [fitted.model_]
    return [model for member in fitted.estimators_ for model in models_of(member)]


def probe_estimator(data: bytes) -> bytes:
    """Load a file, predict, save again: everything that can be asked of it."""
    fitted = from_bytes(data)
    models = models_of(fitted)
    with np.errstate(all="ignore"):
        predicted = fitted.predict(rows_for(models[0].schema))
    text = repr(fitted.get_params()).encode() + repr(predicted.tolist()).encode()
    if hasattr(fitted, "calibration_"):
        ask = getattr(fitted, "predict_set", None) or fitted.predict_interval
        text += repr(ask(rows_for(fitted.model_.schema), 0.8).columns()).encode()
    probed = b"".join(probe_model(model.to_bytes()) for model in models)
    return to_bytes(fitted) + hashlib.sha256(text).digest() + probed


def probe_model(data: bytes) -> bytes:
    """Load a model, predict."""
    model = model_from_bytes(data)
    with np.errstate(all="ignore"):
        predicted = model.predictions(rows_for(model.schema), n_threads=2)
    return model.fingerprint.encode() + predicted.tobytes()
