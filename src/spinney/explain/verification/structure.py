"""Claims about how features act: one way only, alone, together, or not at all."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import shorten
from spinney.explain.verification.asking import MAY_NOT_EXIST, UNDERIVED
from spinney.explain.verification.cells import CellSpace
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
from spinney.model.derived import DerivedForest
from spinney.model.leaf_rows import LeafRowForest
from spinney.typing import AnyArray


def most_together(budget: int) -> int:
    """Give how many features mixed differences are taken in at most: n take 2^n rows.

    Examples
    --------
    >>> most_together(100), most_together(10_000), most_together(100_000)
    (3, 6, 8)
    """
    return max(3, (budget.bit_length() - 1) // 2)


def check_monotone(about: Differences, budget: int, *, feature: int, direction: int) -> Claim:
    """Prove or refute that the raw score never falls (never rises) as a feature grows."""
    name = about.space.model.schema.names[feature]
    way, against = ("rises", "falls") if direction == 1 else ("falls", "rises")
    statement = f"{about.subject} never {against} as {name!r} grows"
    number = about.space.plain_number(feature)
    if number is None:
        evidence = f"the trees know {name!r} by what was derived from it; {UNDERIVED}"
        return Claim(statement=statement, verdict="undecided", evidence=evidence, features=(name,))
    steps = steps_of(about.space, number, _nodes_on(about, number), ordered=True)
    sign = direction * float(np.sign(about.space.forest.divisor))
    answers = about.ask([Question((number,), (step,), sign) for step in steps], budget)
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
    space = about.space
    name = space.model.schema.names[feature]
    nodes_on = {number: _nodes_on(about, number) for number in space.numbers_of(feature)}
    n_nodes = sum(map(len, nodes_on.values()))
    proof = f"none of {n_nodes} splits on it has an effect" if n_nodes else "no split on it"
    questions = [
        question
        for number, nodes in nodes_on.items()
        for step in steps_of(space, number, nodes, ordered=False)
        for question in both_ways((number,), (step,))
    ]
    answers = about.ask(questions, budget)
    is_mean = isinstance(space.model, LeafRowForest) and n_nodes
    return _claim(
        about,
        answers,
        statement=f"{about.subject} does not depend on {name!r}"
        if is_mean
        else f"{name!r} is not used",
        proof=proof,
        refutation=f"it alone changes {about.subject} between two rows",
        features=(feature,),
    )


def check_interactions(
    about: Differences, budget: int, *, groups: Sequence[tuple[int, ...]]
) -> Claim:
    """Prove or refute that the score is a sum of functions of one group of features each."""
    names = about.space.model.schema.names
    allowed = [frozenset(group) for group in groups]
    paths = _offending_paths(about, allowed, most_together(budget))
    together = sorted({culprit for path in paths for culprit in path.culprits})
    questions = itertools.chain.from_iterable(_mixed(about, paths, one) for one in together)
    answers = about.ask(questions, budget)
    asked = answers.question.features if answers.question else ()
    found = tuple(f for number in asked for f in about.space.owners_of(number))
    shown = " and ".join(repr(names[f]) for f in found)
    statement = "features interact only within their groups"
    if isinstance(about.space.model, LeafRowForest):
        statement = f"in {about.subject}, {statement}"
    crowded = [path for path in paths if path.obstacle]
    if crowded and not answers.rows:
        evidence = (
            f"a path of tree {crowded[0].tree} leaves its group; no rows show an effect, but "
            f"{crowded[0].obstacle}"
        )
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
    model = about.space.model
    names = tuple(model.schema.names[f] for f in features)
    known: dict[str, Any] = {"statement": texts["statement"], "features": names}
    searched = f"; {answers.n_boxes} boxes searched" if answers.n_boxes else ""
    if answers.rows:
        raw = tuple(float(score) for score in scores_at(model, answers.rows, about.output))
        predictions = predictions_at(model, answers.rows, about.output)
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
        if isinstance(model, DerivedForest):
            evidence += f"; {MAY_NOT_EXIST}"
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
    """The smallest sets of features on it that are in no group, and can be examined."""
    obstacle: str
    """Why there may be others; empty: there are none."""


def _offending_paths(
    about: Differences, allowed: Sequence[frozenset[int]], most: int
) -> list[_Path]:
    space, arrays = about.space, about.space.forest.arrays
    known: dict[frozenset[int], tuple[tuple[tuple[int, ...], ...], str] | None] = {}
    found = []
    for tree in np.flatnonzero(np.isin(arrays["tree_output"], (about.output, -1))):
        first, last = arrays["tree_start"][tree : tree + 2]
        feature = arrays["feature"][first:last]
        for nodes in _paths(feature, arrays["right"][first:last]):
            numbers = frozenset(feature[list(nodes)].tolist())
            if numbers not in known:
                used = frozenset(f for number in numbers for f in space.owners_of(number))
                known[numbers] = _examinable(space, _culprits(used, allowed, most))
            culprits = known[numbers]
            if culprits is not None:
                places = tuple(int(first) + node for node in nodes)
                found.append(_Path(int(tree), places, *culprits))
    return found


def _examinable(
    space: CellSpace, culprits: tuple[tuple[tuple[int, ...], ...], str] | None
) -> tuple[tuple[tuple[int, ...], ...], str] | None:
    """Keep the sets of features that trees know as they are."""
    if culprits is None:
        return None
    sets, obstacle = culprits
    plain = tuple(one for one in sets if all(space.plain_number(f) is not None for f in one))
    if len(plain) < len(sets):
        obstacle = f"trees know features by what was derived from them; {UNDERIVED}"
    return plain, obstacle


def _paths(feature: AnyArray, right: AnyArray) -> Iterator[tuple[int, ...]]:
    """List the splits above every leaf."""
    above: list[tuple[int, ...]] = [()] * len(feature)
    for node, other in enumerate(right.tolist()):
        if other < 0:
            yield above[node]
        else:
            above[node + 1] = above[other] = (*above[node], node)


def _culprits(
    used: frozenset[int], allowed: Sequence[frozenset[int]], most: int
) -> tuple[tuple[tuple[int, ...], ...], str] | None:
    """List the smallest subsets in no group, and say what there may be beside them.

    All subsets of a smallest one are in groups, so each size grows from the one before.
    """
    groups = {group & used for group in allowed}
    if used in groups:
        return None
    bad: list[tuple[int, ...]] = []
    inside: set[tuple[int, ...]] = {(f,) for f in used}
    size = 1
    while inside and size < most:
        size += 1
        larger = {(*one, f) for one in inside for f in used if f > one[-1]}
        whole = {
            one
            for one in larger
            if all(part in inside for part in itertools.combinations(one, size - 1))
        }
        inside = {one for one in whole if any(group.issuperset(one) for group in groups)}
        bad += sorted(whole - inside)
    if not inside or size >= len(used):
        return tuple(bad), ""
    needed = 4 ** min(len(used), max(map(len, groups)) + 1)
    return tuple(bad), f"{size} features at most are examined together; give budget={needed}"


def _mixed(
    about: Differences, paths: Sequence[_Path], together: tuple[int, ...]
) -> Iterator[Question]:
    """Ask about the steps that splits on one path separate, in all these features at once."""
    feature = about.space.forest.arrays["feature"]
    plain = (about.space.plain_number(f) for f in together)
    numbers = tuple(number for number in plain if number is not None)
    asked: set[tuple[Step, ...]] = set()
    for path in paths:
        if together not in path.culprits:
            continue
        on_path = ([n for n in path.nodes if feature[n] == f] for f in numbers)
        options = [
            steps_of(about.space, f, np.array(nodes), ordered=False)
            for f, nodes in zip(numbers, on_path, strict=True)
        ]
        for steps in itertools.product(*options):
            if steps not in asked:
                asked.add(steps)
                yield from both_ways(numbers, steps)


def list_unused(space: CellSpace) -> Claim | None:
    """Name the features that no tree has a split on; None if there are none."""
    split = [number for number in set(space.forest.arrays["feature"].tolist()) if number >= 0]
    used = {f for number in split for f in space.owners_of(number)}
    names = tuple(name for f, name in enumerate(space.model.schema.names) if f not in used)
    if not names:
        return None
    statement = f"not used: {shorten(names, most=4)}"
    return Claim(statement=statement, verdict="proved", evidence="no split on it", features=names)
