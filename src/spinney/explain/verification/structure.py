"""Claims about how features act: one way only, alone, together, or not at all."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import shorten
from spinney.explain.verification.claims import Claim
from spinney.explain.verification.differences import (
    Answers,
    Differences,
    Question,
    Step,
    both_ways,
    steps_of,
)
from spinney.explain.verification.rows import predictions_at, scores_at
from spinney.model import TreeForest
from spinney.typing import AnyArray

_MOST_TOGETHER = 3
"""Mixed differences are taken in up to this many features: 8 rows."""


def check_monotone(about: Differences, budget: int, *, feature: int, direction: int) -> Claim:
    """Prove or refute that the raw score never falls (never rises) as a feature grows."""
    name = about.space.forest.schema.names[feature]
    steps = steps_of(about.space, feature, _nodes_on(about, feature), ordered=True)
    sign = direction * float(np.sign(about.space.forest.divisor))
    answers = about.ask([Question((feature,), (step,), sign) for step in steps], budget)
    way, against = ("rises", "falls") if direction == 1 else ("falls", "rises")
    statement = f"the score never {against} as {name!r} grows"
    return _claim(
        about,
        answers,
        statement=statement,
        proof=f"it {way} or stays at each of {len(steps)} thresholds",
        refutation=f"it {against} between two rows",
        features=(feature,),
    )


def check_unused(about: Differences, budget: int, *, feature: int) -> Claim:
    """Prove or refute that no score depends on a feature."""
    name = about.space.forest.schema.names[feature]
    nodes = _nodes_on(about, feature)
    proof = f"none of {len(nodes)} splits on it has an effect" if len(nodes) else "no split on it"
    steps = steps_of(about.space, feature, nodes, ordered=False)
    questions = [q for step in steps for q in both_ways((feature,), (step,))]
    answers = about.ask(questions, budget)
    return _claim(
        about,
        answers,
        statement=f"{name!r} is not used",
        proof=proof,
        refutation="it alone changes the score between two rows",
        features=(feature,),
    )


def check_interactions(
    about: Differences, budget: int, *, groups: Sequence[tuple[int, ...]]
) -> Claim:
    """Prove or refute that the score is a sum of functions of one group of features each."""
    names = about.space.forest.schema.names
    allowed = [frozenset(group) for group in groups]
    paths = _offending_paths(about, allowed)
    together = sorted({culprit for path in paths for culprit in path.culprits})
    questions = itertools.chain.from_iterable(_mixed(about, paths, one) for one in together)
    answers = about.ask(questions, budget)
    found = answers.question.features if answers.question else ()
    shown = " and ".join(repr(names[f]) for f in found)
    statement = "features interact only within their groups"
    crowded = [path for path in paths if not path.is_examined]
    if crowded and not answers.rows:
        evidence = f"a path of tree {crowded[0].tree} leaves its group; no rows show an effect"
        return Claim(statement=statement, verdict="undecided", evidence=evidence)
    proof = "every path of every tree stays within a group"
    return _claim(
        about,
        answers,
        statement=statement,
        proof=f"{len(paths)} paths leave their group, without effect" if paths else proof,
        refutation=f"{shown} interact: a mixed difference of {2 ** len(found)} rows is not 0",
        features=found,
    )


def _claim(
    about: Differences, answers: Answers, *, features: tuple[int, ...], **texts: str
) -> Claim:
    """Turn the answers to questions that should all be no into a verdict."""
    forest = about.space.forest
    names = tuple(forest.schema.names[f] for f in features)
    known: dict[str, Any] = {"statement": texts["statement"], "features": names}
    searched = f"; {answers.n_boxes} boxes searched" if answers.n_boxes else ""
    if answers.rows:
        raw = tuple(float(score) for score in scores_at(forest, answers.rows, about.output))
        predictions = predictions_at(forest, answers.rows, about.output)
        shown = ", ".join(f"{score:.6g}" for score in raw)
        return Claim(
            verdict="refuted",
            evidence=f"{texts['refutation']}: {shown}; see counter_example",
            counter_example=answers.rows,
            predictions=predictions,
            raw_scores=raw,
            **known,
        )
    if answers.n_open:
        at_most = answers.at_most / abs(about.space.forest.divisor)
        evidence = f"{answers.n_open} questions open, by at most {at_most:.3g}{searched}"
        return Claim(verdict="undecided", evidence=evidence, **known)
    return Claim(verdict="proved", evidence=texts["proof"] + searched, **known)


def _nodes_on(about: Differences, feature: int) -> AnyArray:
    """List the splits on a feature, of trees that add to the output."""
    arrays = about.space.forest.arrays
    adds = np.isin(arrays["tree_output"], (about.output, -1))
    of_tree = np.repeat(adds, np.diff(arrays["tree_start"]))
    return np.flatnonzero((arrays["feature"] == feature) & of_tree)


@dataclass(frozen=True, slots=True)
class _Path:
    """From a root to a leaf, through features that no group holds together."""

    tree: int
    nodes: tuple[int, ...]
    culprits: tuple[tuple[int, ...], ...]
    """The smallest sets of features on it that are in no group, of up to three features."""
    is_examined: bool
    """Whether these are all the sets to examine."""


def _offending_paths(about: Differences, allowed: Sequence[frozenset[int]]) -> list[_Path]:
    arrays = about.space.forest.arrays
    known: dict[frozenset[int], tuple[tuple[tuple[int, ...], ...], bool] | None] = {}
    found = []
    for tree in np.flatnonzero(np.isin(arrays["tree_output"], (about.output, -1))):
        first, last = arrays["tree_start"][tree : tree + 2]
        feature = arrays["feature"][first:last]
        for nodes in _paths(feature, arrays["right"][first:last]):
            used = frozenset(feature[list(nodes)].tolist())
            if used not in known:
                known[used] = _culprits(used, allowed)
            culprits = known[used]
            if culprits is not None:
                places = tuple(int(first) + node for node in nodes)
                found.append(_Path(int(tree), places, *culprits))
    return found


def _paths(feature: AnyArray, right: AnyArray) -> Iterator[tuple[int, ...]]:
    """List the splits above every leaf."""
    above: list[tuple[int, ...]] = [()] * len(feature)
    for node, other in enumerate(right.tolist()):
        if other < 0:
            yield above[node]
        else:
            above[node + 1] = above[other] = (*above[node], node)


def _culprits(
    used: frozenset[int], allowed: Sequence[frozenset[int]]
) -> tuple[tuple[tuple[int, ...], ...], bool] | None:
    """List the smallest subsets in no group, and tell whether there can be no others."""
    if any(used <= group for group in allowed):
        return None
    bad: list[tuple[int, ...]] = []
    for size in range(2, _MOST_TOGETHER + 1):
        for subset in itertools.combinations(sorted(used), size):
            is_new = not any(set(smaller) <= set(subset) for smaller in bad)
            if is_new and not any(group.issuperset(subset) for group in allowed):
                bad.append(subset)
    return tuple(bad), len(used) <= _MOST_TOGETHER


def _mixed(
    about: Differences, paths: Sequence[_Path], together: tuple[int, ...]
) -> Iterator[Question]:
    """Ask about the steps that splits on one path separate, in all these features at once."""
    feature = about.space.forest.arrays["feature"]
    asked: set[tuple[Step, ...]] = set()
    for path in paths:
        if together not in path.culprits:
            continue
        on_path = ([n for n in path.nodes if feature[n] == f] for f in together)
        options = [
            steps_of(about.space, f, np.array(nodes), ordered=False)
            for f, nodes in zip(together, on_path, strict=True)
        ]
        for steps in itertools.product(*options):
            if steps not in asked:
                asked.add(steps)
                yield from both_ways(together, steps)


def list_unused(forest: TreeForest) -> Claim | None:
    """Name the features that no tree has a split on; None if there are none."""
    used = set(forest.arrays["feature"].tolist())
    names = tuple(name for f, name in enumerate(forest.schema.names) if f not in used)
    if not names:
        return None
    statement = f"not used: {shorten(names, most=4)}"
    return Claim(statement=statement, verdict="proved", evidence="no split on it", features=names)
