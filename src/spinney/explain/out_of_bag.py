"""Permutation importance on the rows that members of a forest or of bagging did not see."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils import _safe_indexing

from spinney.data.binning import native_columns
from spinney.data.intake import read_table
from spinney.data.label_columns import refuse_several
from spinney.data.target import Target
from spinney.ensembles.bagging.member_table import member_table
from spinney.ensembles.uncertain.rows_of_fit import refuse_another_order
from spinney.errors import InvalidInput, InvalidInputType
from spinney.explain.importance import Importances
from spinney.explain.reading import forest_of, model_of
from spinney.explain.shuffling import columns_of_features, shuffle_column, take_column
from spinney.model import TreeForest
from spinney.model.median import MedianForest
from spinney.model.member_bag import MemberBag, ask_member
from spinney.model.tree import freeze
from spinney.randomness import RowBits, Stream, random_bits, seed_from
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike


def out_of_bag_importance(
    fitted: Any, X: TableLike, y: Any, *, random_state: RandomState = None
) -> Importances:
    """Measure how much worse members do on rows they did not see if a feature is shuffled there.

    Each member is asked about the rows out of its bag, as they are and with the values of a feature
    shuffled among them. The importance is the mean over members of what is lost: of accuracy, or
    in squared error (of the means in the leaves, also of a quantile forest). It needs no rows held
    out. A feature that a member does not look at has exactly 0 there.

    Parameters
    ----------
    fitted : a forest, or bagging of any learner, whose members leave rows out of their bags
    X, y : the table and target it was fitted on
    random_state : int, Generator, RandomState or None
        Decides the shuffles: each is a function of the seed, the feature and the member.

    Returns
    -------
    Importances
        With the standard errors of the means over members. They say nothing about other rows.

    References
    ----------
    Breiman (2001), Random forests, Machine Learning 45, section 10.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import RandomForestRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> forest = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, X[:, 0])
    >>> found = out_of_bag_importance(forest, X, X[:, 0], random_state=0)
    >>> bool(found.values[0] > 1 > 0.1 > found.values[1])
    True
    """
    known = model_of(fitted)
    model: TreeForest | MemberBag
    if isinstance(known, MemberBag):
        model = known
    else:
        model = known.trees if isinstance(known, MedianForest) else forest_of(fitted)
    if not hasattr(fitted, "out_of_bag"):
        raise InvalidInputType(
            f"A {type(fitted).__name__} knows no rows out of bags. Pass a forest or bagging, or "
            "use permutation_importance with rows held out."
        )
    unseen = fitted.out_of_bag(X)
    target = _target(model.target, y, len(unseen))
    refuse_another_order(fitted, X, y)
    if isinstance(model, MemberBag):
        ask = _asker_of_members(model, X)
    else:
        ask = _asker_of_trees(model, X, fitted)
    seed = seed_from(random_state)
    members = np.flatnonzero(unseen.any(axis=0))
    if len(members) < 2:
        raise InvalidInput(
            "Fewer than two members have rows out of their bags. Fit with bootstrap=True, or with "
            "a sampler that leaves rows out, and more members."
        )
    losses = np.zeros((len(members), len(model.schema.names)))
    for place, number in enumerate(members.tolist()):
        rows = np.flatnonzero(unseen[:, number])
        used, answers = ask(number, rows)
        own = _losses(answers, used.tolist(), number, target[rows], seed)
        losses[place, used] = own
    return Importances(
        "loss on unseen rows when shuffled",
        model.schema.names,
        freeze(losses.mean(axis=0)),
        freeze(losses.std(axis=0, ddof=1) / np.sqrt(len(members))),
    )


Answers: TypeAlias = Callable[[int | None, AnyArray], FloatArray]
"""What a member says of some rows with the values of a feature (None: none) in another order."""
Asker: TypeAlias = Callable[[int, AnyArray], tuple[AnyArray, Answers]]
"""From the number of a member and rows to the features it looks at and its answers there."""


def _asker_of_trees(forest: TreeForest, X: TableLike, fitted: Any) -> Asker:
    table = forest.conform(X, type(fitted).__name__)

    def ask(number: int, rows: AnyArray) -> tuple[AnyArray, Answers]:
        tree, part = forest[number : number + 1], table.take(rows)

        def answers(feature: int | None, order: AnyArray) -> FloatArray:
            asked = native_columns(take_column(part, feature, order))
            leaves = np.asarray(tree.native.leaf_ids(asked, 1))[:, 0]
            said: FloatArray = tree.arrays["values"][leaves]
            return said

        used = np.unique(tree.arrays["feature"])
        return used[used >= 0], answers

    return ask


def _asker_of_members(bag: MemberBag, X: TableLike) -> Asker:
    whole = member_table(X)
    places = columns_of_features(bag.schema, read_table(X))

    def ask(number: int, rows: AnyArray) -> tuple[AnyArray, Answers]:
        own, part = bag.features[number], _safe_indexing(whole, rows)

        def answers(feature: int | None, order: AnyArray) -> FloatArray:
            asked = part if feature is None else shuffle_column(part, places[feature], order)
            return ask_member(bag.members[number], asked, own, bag.question())

        used = np.arange(len(places)) if own is None else np.unique(own)
        return used, answers

    return ask


def _target(known: Target, y: Any, n_rows: int) -> AnyArray:
    """Give the places of labels among the classes, or numbers (n_rows, n_outputs)."""
    refuse_several(known, "Importance out of bag")
    given = np.asarray(y)
    if len(given) != n_rows:
        raise InvalidInput(
            f"Found input variables with inconsistent numbers of samples: {[n_rows, len(given)]}. "
            "Give one target per row of X."
        )
    classes = known.classes
    if classes is None:
        return given.astype(np.float64).reshape(n_rows, -1)
    places = np.searchsorted(classes, given).clip(max=len(classes) - 1)
    if not (classes[places] == given).all():
        raise InvalidInput("y has a label the ensemble does not know: give the y it was fitted on.")
    return places


def _losses(
    answers: Answers, used: list[int], number: int, target: AnyArray, seed: int
) -> FloatArray:
    """Give what one member loses when each feature that it looks at is shuffled."""
    n_rows = len(target)
    losses = np.zeros(len(used))
    intact = _loss(answers(None, np.arange(n_rows)), target)
    bits_of = RowBits(n_rows)
    for place, feature in enumerate(used):
        own = random_bits(random_bits(seed, Stream.FEATURES, feature), Stream.ROWS, number)
        order = np.argsort(bits_of(own, Stream.ROWS, range(n_rows)), kind="stable")
        losses[place] = _loss(answers(feature, order), target) - intact
    return losses


def _loss(answers: FloatArray, target: AnyArray) -> float:
    """Give the share of errors (places of labels), or the mean squared error (numbers)."""
    if target.ndim == 1:
        return float((answers.argmax(axis=1) != target).mean())
    return float(((answers - target) ** 2).sum(axis=1).mean())
