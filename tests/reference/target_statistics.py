"""What each row is told of the target at its level, by going through the rows one by one."""

from fractions import Fraction

import numpy as np

from spinney.randomness import Stream, random_bits


def rows_in_order(n_rows, seed, number=0):
    """An order of the seed: by 64 random bits of each row."""
    own = random_bits(seed, Stream.CATEGORIES, number)
    return sorted(range(n_rows), key=lambda row: random_bits(own, Stream.CATEGORIES, row))


def statistics(codes, targets, weights, *, seed, number=0, prior=0.0):
    """Give what training rows are told, and what levels are; exact, then rounded.

    Every level has one row more, ``prior`` standard deviations from the mean of all targets.
    """
    weights = [Fraction(float(w)) for w in weights]
    targets = [Fraction(float(t)) for t in targets]
    pairs = list(zip(weights, targets, strict=True))
    centre = sum(w * t for w, t in pairs) / sum(weights)
    square = sum(w * (t - centre) ** 2 for w, t in pairs) / sum(weights)
    deviation = Fraction(float(square) ** 0.5)
    one_more = centre + Fraction(prior) * deviation
    sums, counts, told = {}, {}, np.empty(len(codes))

    def mean(level):
        return float((sums.get(level, 0) + one_more) / (counts.get(level, 0) + 1))

    for row in rows_in_order(len(codes), seed, number):
        level = codes[row]
        told[row] = mean(level)
        sums[level] = sums.get(level, 0) + weights[row] * targets[row]
        counts[level] = counts.get(level, 0) + weights[row]
    return told, mean


def grid_of(means, weights, groups, halves):
    """Give the means in the middle of equal shares of the rows, and at halves of the outer ones.

    A row of weight 3 counts three times.
    """
    rows = sorted(m for m, w in zip(means, weights, strict=True) for _ in range(int(w)))
    places = [len(rows) * (2 * g + 1) // (2 * groups) for g in range(groups)]
    for halved in range(1, halves + 1):
        end = places[0] // 2**halved
        places += [end, len(rows) - 1 - end]
    return sorted({rows[place] for place in places})
