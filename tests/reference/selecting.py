"""Slow twins of selection: committees formed one by one, neighbours counted row by row."""

import itertools

import numpy as np

TIE = 1e-12


def first_best(scores):
    best = max(scores)
    return next(i for i, score in enumerate(scores) if score >= best - TIE * abs(best))


def greedy(predictions, score, *, n_steps, n_init=1, patience=None):
    """Every committee is formed and scored; gives who was added, the scores, and how many stay.

    ``predictions`` is (n_members, n_rows, n_outputs), ``score`` takes a mean of some of them.
    """
    members = range(len(predictions))
    alone = [score(predictions[m]) for m in members]
    ranked = sorted(members, key=lambda m: -alone[m])
    added, scores, since, best = [], [], 0, -np.inf
    while len(added) < n_steps:
        if len(added) < min(n_init, len(ranked)):
            chosen = ranked[len(added)]
        else:
            chosen = first_best([score(predictions[[*added, m]].mean(axis=0)) for m in members])
        added.append(chosen)
        scores.append(score(predictions[added].mean(axis=0)))
        since = 0 if scores[-1] > best else since + 1
        best = max(best, scores[-1])
        if patience is not None and len(added) > n_init and since >= patience:
            break
    return added, scores, first_best(scores) + 1


def best_committee(predictions, score, size):
    """The best of all committees of a size, with repetitions: what greedy selection aims at."""
    committees = itertools.combinations_with_replacement(range(len(predictions)), size)
    return max(score(predictions[list(committee)].mean(axis=0)) for committee in committees)


def nearest(points, query, k):
    """Numbers of the k nearest points, nearest first; of equals the first."""
    distances = [float(((point - query) ** 2).sum()) for point in points]
    return sorted(range(len(points)), key=lambda i: (distances[i], i))[:k]


def knora_e(right):
    """``right[i][m]``: whether member m is right about the i-th nearest row."""
    n_members = len(right[0])
    for k in range(len(right), 0, -1):
        perfect = [m for m in range(n_members) if all(right[i][m] for i in range(k))]
        if perfect:
            return [float(m in perfect) for m in range(n_members)]
    return [1.0] * n_members


def knora_u(right):
    votes = [float(sum(row[m] for row in right)) for m in range(len(right[0]))]
    return votes if any(votes) else [1.0] * len(votes)


def ola(right):
    counts = [sum(row[m] for row in right) for m in range(len(right[0]))]
    return [float(count == max(counts)) for count in counts]


def lca(right, alike):
    shares = []
    for m in range(len(right[0])):
        said = [i for i in range(len(right)) if alike[i][m]]
        shares.append(sum(right[i][m] for i in said) / len(said) if said else 0.0)
    return [float(share == max(shares)) for share in shares]


def mcb(right, alike):
    similar = [i for i in range(len(right)) if sum(alike[i]) >= 0.7 * len(alike[i])]
    chosen = similar or range(len(right))
    return ola([right[i] for i in chosen])


def vote(votes, answers, n_classes):
    counts = [0.0] * n_classes
    for ballot, answer in zip(votes, answers, strict=True):
        counts[answer] += ballot
    return [count / sum(counts) for count in counts]
