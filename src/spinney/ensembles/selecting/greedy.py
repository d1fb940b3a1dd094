"""Greedy selection with replacement: which members, how often, and how that came about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.ensembles.selecting.measures import Measure, first_best
from spinney.randomness import Stream, random_bits
from spinney.results import Result, read_only
from spinney.typing import AnyArray, FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """How far selection goes, and from where."""

    n_steps: int = 100
    """Members in a committee at most, counting repetitions."""
    n_init: int = 1
    """Best members it begins with."""
    patience: int | None = None
    """Steps without a better committee after which it ends; None: all steps are made."""
    n_bags: int = 1
    """Committees, averaged."""
    bag_fraction: float = 0.5
    """Share of the library each of several committees is selected from."""
    keep: float = 1.0
    """Share of the library that is selected from: the best by themselves."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SelectionPath(Result):
    """Every step of every committee: who was added, and what the committee was worth then."""

    bags: AnyArray
    """Number of the committee, from 0."""
    steps: AnyArray
    """Members so far, counting repetitions."""
    members: tuple[str, ...]
    """Who was added."""
    scores: FloatArray
    """Score of the committee, on the rows that are selected on; more is better."""
    kept: AnyArray
    """Whether the step belongs to the committee that is kept: the best one on the way."""

    def __post_init__(self) -> None:
        for name in ("bags", "steps", "scores", "kept"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.members)

    def title(self) -> str:
        """Say in a line what the table shows."""
        n_bags = len(np.unique(self.bags))
        of = "a committee" if n_bags == 1 else f"{n_bags} committees"
        return f"Selection of {of}: {len(self)} steps, {int(self.kept.sum())} kept"

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the steps as named columns."""
        return {
            "bag": self.bags.tolist(),
            "step": self.steps.tolist(),
            "member": self.members,
            "score": self.scores.tolist(),
            "kept": self.kept.tolist(),
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Library(Result):
    """The members that could be selected: their own scores, and their weights."""

    names: tuple[str, ...]
    scores: FloatArray
    """Of each member by itself, on the rows that are selected on; more is better."""
    weights: FloatArray
    """Share of each member in the committee."""
    committee_score: float
    """Of the committee, on the same rows."""

    def __post_init__(self) -> None:
        for name in ("scores", "weights"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def title(self) -> str:
        """Say in a line what the table shows."""
        chosen = int((self.weights > 0).sum())
        return (
            f"{chosen} of {len(self.names)} members selected; their committee scores "
            f"{self.committee_score:.4g}"
        )

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the members as named columns, the heaviest first."""
        order = np.lexsort((-self.scores, -self.weights))
        return {
            "member": [self.names[place] for place in order],
            "score": self.scores[order].tolist(),
            "weight": self.weights[order].tolist(),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Committee:
    """One walk: who was added, the scores on the way, and how many steps are kept."""

    added: tuple[int, ...]
    scores: tuple[float, ...]
    n_kept: int

    def weights(self, n_members: int) -> FloatArray:
        """Give each member's share of the seats."""
        counts = np.bincount(self.added[: self.n_kept], minlength=n_members)
        return np.asarray(counts / self.n_kept)


def select(
    measure: Measure, names: Sequence[str], walk: Walk, seed: int
) -> tuple[Library, SelectionPath]:
    """Select committees from a library, and average them.

    Examples
    --------
    >>> from spinney.ensembles.selecting.fast_measures import measure_of
    >>> from spinney.ensembles.selecting.measures import Answers
    >>> said = np.array([[[0.0], [0.0]], [[3.0], [3.0]], [[9.0], [9.0]]])
    >>> measure = measure_of(Answers(said, np.array([2.0, 2.0]), None, None), None)
    >>> library, path = select(measure, ["low", "near", "high"], Walk(n_steps=3), seed=0)
    >>> print(path)
    Selection of a committee: 3 steps, 3 kept
    bag  step  member  score   kept
      0     1  near       -1   True
      0     2  low     -0.25   True
      0     3  near        0   True
    """
    alone = measure.alone()
    ranked = np.argsort(-alone, kind="stable")
    ranked = ranked[: max(1, round(walk.keep * len(ranked)))]
    bags = [_bag(ranked, walk, seed, number) for number in range(walk.n_bags)]
    committees = [_walked(measure, bag, walk) for bag in bags]
    weights = np.mean([one.weights(measure.n_members) for one in committees], axis=0)
    mean = np.zeros(measure.answers.predictions.shape[1:])
    for member in np.flatnonzero(weights):
        mean += weights[member] * measure.answers.predictions[member]
    library = Library(tuple(names), alone, weights, measure.score(mean))
    return library, _path(committees, names)


def _bag(ranked: AnyArray, walk: Walk, seed: int, number: int) -> AnyArray:
    """Draw the members a committee may choose from, best first; a single one may have all."""
    if walk.n_bags == 1:
        return ranked
    size = max(1, round(walk.bag_fraction * len(ranked)))
    draws = [
        random_bits(random_bits(seed, Stream.ROWS, number), Stream.FEATURES, int(member))
        for member in ranked
    ]
    drawn = np.sort(np.argsort(np.array(draws, np.uint64), kind="stable")[:size])
    return ranked[drawn]


def _walked(measure: Measure, ranked: AnyArray, walk: Walk) -> Committee:
    candidates = np.sort(ranked)  # ties go to the first of the library
    climb = measure.climb(candidates)
    added, scores = list[int](), list[float]()
    best, since_best = -np.inf, 0
    n_init = min(walk.n_init, len(ranked), walk.n_steps)
    while len(added) < walk.n_steps:
        if len(added) < n_init:
            member = int(ranked[len(added)])
        else:
            member = int(candidates[first_best(climb.scores())])
        added.append(member)
        scores.append(climb.add(member))
        since_best = 0 if scores[-1] > best else since_best + 1
        best = max(best, scores[-1])
        if walk.patience is not None and len(added) > n_init and since_best >= walk.patience:
            break
    return Committee(tuple(added), tuple(scores), first_best(np.array(scores)) + 1)


def _path(committees: Sequence[Committee], names: Sequence[str]) -> SelectionPath:
    lengths = [len(one.added) for one in committees]
    return SelectionPath(
        bags=np.repeat(np.arange(len(committees)), lengths),
        steps=np.concatenate([np.arange(1, n + 1) for n in lengths]),
        members=tuple(names[m] for one in committees for m in one.added),
        scores=np.concatenate([one.scores for one in committees]),
        kept=np.concatenate([np.arange(len(c.added)) < c.n_kept for c in committees]),
    )
