"""What each row is told of the target at its level, by going through the rows one by one."""

from fractions import Fraction

import numpy as np

from spinney.randomness import Stream, random_bits


def rows_in_order(n_rows, seed):
    """The order of the seed: by 64 random bits of each row."""
    own = random_bits(seed, Stream.CATEGORIES, 0)
    return sorted(range(n_rows), key=lambda row: random_bits(own, Stream.CATEGORIES, row))


def statistics(codes, targets, weights, *, seed, prior_rows):
    """Give what training rows are told, what levels are, and the prior; exact, then rounded."""
    weights = [Fraction(float(w)) for w in weights]
    targets = [Fraction(float(t)) for t in targets]
    prior = sum(w * t for w, t in zip(weights, targets, strict=True)) / sum(weights)
    sums, counts, told = {}, {}, np.empty(len(codes))

    def mean(level):
        rows = counts.get(level, 0) + Fraction(prior_rows)
        return float((sums.get(level, 0) + Fraction(prior_rows) * prior) / rows)

    for row in rows_in_order(len(codes), seed):
        level = codes[row]
        told[row] = mean(level)
        sums[level] = sums.get(level, 0) + weights[row] * targets[row]
        counts[level] = counts.get(level, 0) + weights[row]
    return told, mean, float(prior)
