"""What each row is told of the target at its level, by going through the rows one by one."""

from fractions import Fraction

import numpy as np

from spinney.randomness import Stream, random_bits


def rows_in_order(n_rows, seed, number=0):
    """An order of the seed: by 64 random bits of each row."""
    own = random_bits(seed, Stream.CATEGORIES, number)
    return sorted(range(n_rows), key=lambda row: random_bits(own, Stream.CATEGORIES, row))


def statistics(codes, targets, weights, *, seed, number=0, prior=0.0, steps=8):
    """Give what training rows are told, and what levels are; exact, then rounded.

    Every level has one row more, ``prior`` standard deviations from the mean of all targets; means
    stand on a grid of so many steps per standard deviation.
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
        exact = (sums.get(level, 0) + one_more) / (counts.get(level, 0) + 1)
        if not deviation:
            return float(exact)
        return float(centre + round((exact - centre) / deviation * steps) * deviation / steps)

    for row in rows_in_order(len(codes), seed, number):
        level = codes[row]
        told[row] = mean(level)
        sums[level] = sums.get(level, 0) + weights[row] * targets[row]
        counts[level] = counts.get(level, 0) + weights[row]
    return told, mean
