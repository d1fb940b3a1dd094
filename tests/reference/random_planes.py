"""Trees of random planes by their definition, one node after the other."""

import math

import numpy as np

from spinney.model.elementary import exact_log
from spinney.randomness import Stream, random_bits


def unit(key, stream, index):
    """Draw a number from [0, 1)."""
    return (random_bits(key, stream, index) >> 11) * 2.0**-53


def normal(key):
    """Draw from the normal distribution: the polar method of Marsaglia and Bray."""
    attempt = 0
    while True:
        u = 2.0 * unit(key, Stream.THRESHOLDS, 2 * attempt) - 1.0
        v = 2.0 * unit(key, Stream.THRESHOLDS, 2 * attempt + 1) - 1.0
        s = u * u + v * v
        if 0.0 < s < 1.0:
            return u * math.sqrt(-2.0 * exact_log(s) / s)
        attempt += 1


def number_of_level(direction, code):
    """Draw what a level is on a plane; it follows from the bits of the term's direction."""
    bits = int(np.float64(direction).view(np.uint64))
    return unit(bits, Stream.CATEGORIES, int(code)) if code >= 0 else np.nan


def range_of(numbers):
    """Give the least and the largest of those that are known; None if there are no two."""
    known = numbers[~np.isnan(numbers)]
    is_range = len(known) and known.min() < known.max()
    return (float(known.min()), float(known.max())) if is_range else None


def plane_of(rows, n_terms, key, categorical):
    """Draw (feature, normal, point) of each term; None if no feature varies among the rows."""
    ranges = {f: range_of(rows[:, f]) for f in range(rows.shape[1])}
    varying, terms = [f for f in ranges if ranges[f]], []
    for k in range(min(n_terms, len(varying))):
        other = k + (random_bits(key, Stream.FEATURES, k) * (len(varying) - k) >> 64)
        varying[k], varying[other] = varying[other], varying[k]
        low, high = ranges[varying[k]]
        direction = normal(random_bits(key, Stream.NODES, 2 + k))
        if varying[k] in categorical:
            codes = rows[:, varying[k]]
            low, high = range_of(np.array([number_of_level(direction, c) for c in codes]))
        elif categorical:  # numbers count in units of their range
            scaled = np.float64(direction) / np.float64(high - low)
            direction = float(scaled) if np.isfinite(scaled) else direction
        share = unit(key, Stream.THRESHOLDS, k)
        point = low * (1.0 - share) + high * share
        point = point if low <= point < high else low
        terms.append((varying[k], direction, point))
    return terms + [(0, 0.0, 0.0)] * (n_terms - len(terms)) if terms else None


def is_left(row, terms, categorical=()):
    """Tell whether a row is left of a plane or on it; what is no number adds nothing."""
    total = 0.0
    for feature, direction, point in terms:
        x = number_of_level(direction, row[feature]) if feature in categorical else row[feature]
        term = direction * (x - point)
        total += 0.0 if np.isnan(term) else term
    return not total > 0.0  # opposite infinities: on the plane


def grow_planes(matrix, drawn, *, n_terms, max_depth, seed, tree, categorical=()):
    """Grow a tree on the drawn rows; lists of nodes in preorder, and of the planes they have.

    Features that are ``categorical`` have codes in the matrix.
    """
    nodes, planes = [], []

    def grow(rows, depth, key):
        node = len(nodes)
        nodes.append([-1, depth, len(rows)])  # right child, depth, count
        terms = None
        if len(rows) >= 2 and depth < max_depth:
            terms = plane_of(rows, n_terms, key, categorical)
        if terms is None:
            return
        planes.append(terms)
        left = np.array([is_left(row, terms, categorical) for row in rows])
        grow(rows[left], depth + 1, random_bits(key, Stream.NODES, 0))
        nodes[node][0] = len(nodes)
        grow(rows[~left], depth + 1, random_bits(key, Stream.NODES, 1))

    root = random_bits(random_bits(seed, Stream.NODES, tree), Stream.NODES, 0)
    with np.errstate(invalid="ignore", over="ignore"):
        grow(matrix[drawn], 0, root)
    return nodes, planes
