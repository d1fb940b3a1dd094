"""What pushes the rows of a query up and down, and how good an order is: by the definitions."""

import itertools
import math

import numpy as np

GOLDEN = 0x9E3779B97F4A7C15
WORD = 2**64 - 1


def tie_key(bins):
    """A number that depends on the bins of a row alone."""
    key = 0
    for one in bins:
        z = (key + GOLDEN + int(one)) & WORD
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        key = z ^ (z >> 31)
    return key


def dcg(gains, k=None):
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains[:k]))


def precision(relevant, k=None):
    """Average precision of an order."""
    hits, total = 0, 0.0
    for place, is_relevant in enumerate(relevant[:k], start=1):
        if is_relevant:
            hits += 1
            total += hits / place
    return total / min(sum(relevant), k or len(relevant))


def worth(loss, y, gains, pair, truncation):
    """By how much the metric changes if two places change their rows."""
    if loss == "pairwise":
        return 1.0
    swapped = np.arange(len(y))
    swapped[list(pair)] = swapped[list(reversed(pair))]
    if loss == "map":
        return abs(precision((y > 0)[swapped].tolist()) - precision((y > 0).tolist()))
    best = dcg(np.sort(gains)[::-1], truncation)
    return abs(dcg(gains[swapped]) - dcg(gains)) / best if best > 0 else 0.0


def query_derivatives(loss, y, gains, scores, keys, *, truncation=30, normalize=True):
    """Gradients and hessians of the rows of one query."""
    order = sorted(range(len(y)), key=lambda row: (-scores[row], keys[row], y[row], row))
    y, gains, scores = y[order], gains[order], scores[order]
    gradients, hessians, total = np.zeros(len(y)), np.zeros(len(y)), 0.0
    for i, j in itertools.combinations(range(len(y)), 2):
        if y[i] == y[j] or (loss != "pairwise" and i >= truncation):
            continue
        high, low = (i, j) if y[i] > y[j] else (j, i)
        lead = scores[high] - scores[low]
        value = worth(loss, y, gains, (i, j), truncation)
        if normalize and loss != "pairwise" and scores.min() != scores.max():
            value /= 0.01 + abs(lead)
        p = 1.0 / (1.0 + math.exp(min(lead, 700.0)))
        gradients[high] -= p * value
        gradients[low] += p * value
        hessians[[high, low]] += p * (1.0 - p) * value
        total += 2.0 * p * value
    if normalize and total > 0:
        gradients *= math.log2(1.0 + total) / total
        hessians *= math.log2(1.0 + total) / total
    back = np.argsort(order)
    return gradients[back], hessians[back]


def mean_over_orders(metric, y, gains, scores, k=None):
    """A metric of one query: its mean over all orders of rows with equal scores."""
    found = []
    for order in itertools.permutations(range(len(y))):
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order)):
            at = list(order)
            if metric == "map":
                found.append(precision((y > 0)[at].tolist(), k) if y.any() else 1.0)
            else:
                best = dcg(np.sort(gains)[::-1], k)
                found.append(dcg(gains[at], k) / best if best > 0 else 1.0)
    return float(np.mean(found))
