"""Who may vote on a row: rules of dynamic selection, as arrays of votes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from spinney.typing import AnyArray, BoolArray, FloatArray

SIMILAR = 0.7
"""Share of members that must answer alike on a row and a neighbour, for the neighbour to count."""


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """What is known of some rows, from their neighbours; nearest first."""

    right: BoolArray
    """(n_rows, n_neighbours, n_members): whether members are right about neighbours."""
    alike: BoolArray
    """Same shape: whether members say of neighbours what they say of the row."""
    shares: FloatArray
    """(n_rows, n_neighbours): how much neighbours count."""


def knora_eliminate(local: Local) -> FloatArray:
    """Let those vote who are right about the most neighbours in a row, from the nearest on.

    That is the largest k for which somebody is right about all of the k nearest. If nobody is right
    about the nearest, everybody votes.
    """
    counted = local.right & (local.shares > 0)[:, :, np.newaxis]
    reach = np.logical_and.accumulate(counted, axis=1).sum(axis=1)
    return _largest(reach)


def knora_union(local: Local) -> FloatArray:
    """Give everybody a vote for each neighbour they are right about; one each if all have none."""
    votes = _sums(local.right, local.shares)
    return np.where(votes.any(axis=1, keepdims=True), votes, 1.0)


def overall_accuracy(local: Local) -> FloatArray:
    """Let those vote who are right about most neighbours."""
    return _largest(_sums(local.right, local.shares))


def class_accuracy(local: Local) -> FloatArray:
    """Let those vote who are most often right where they say what they say of the row."""
    said = _sums(local.alike, local.shares)
    right = _sums(local.alike & local.right, local.shares)
    return _largest(np.divide(right, said, out=np.zeros_like(right), where=said > 0))


def behaviour(local: Local) -> FloatArray:
    """Let those vote who are right about most neighbours that the members answer alike on."""
    similar = local.alike.mean(axis=2) >= SIMILAR
    similar |= ~(similar & (local.shares > 0)).any(axis=1, keepdims=True)
    return _largest(_sums(local.right, local.shares * similar))


METHODS: Mapping[str, Callable[[Local], FloatArray]] = {
    "knora_e": knora_eliminate,
    "knora_u": knora_union,
    "ola": overall_accuracy,
    "lca": class_accuracy,
    "mcb": behaviour,
}
"""Each gives (n_rows, n_members) votes, not all 0 in any row."""


def shares_of_votes(votes: FloatArray, answers: AnyArray, n_classes: int) -> FloatArray:
    """Count votes: each class's share of them; (n_rows, n_classes)."""
    counts = np.stack(
        [(votes * (answers == code)).sum(axis=1) for code in range(n_classes)], axis=1
    )
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _sums(marks: BoolArray, shares: FloatArray) -> FloatArray:
    """Add up the shares of marked neighbours, nearest first; (n_rows, n_members)."""
    total = np.zeros((marks.shape[0], marks.shape[2]))
    for place in range(marks.shape[1]):
        total += marks[:, place] * shares[:, place, np.newaxis]
    return total


def _largest(numbers: AnyArray) -> FloatArray:
    """Give a vote to everybody with the largest number."""
    return np.asarray(numbers == numbers.max(axis=1, keepdims=True), np.float64)
