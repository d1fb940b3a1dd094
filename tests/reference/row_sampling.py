"""Slow twins of the samplers of rows: definitions, in exact fractions and plain loops."""

import math
from fractions import Fraction

import numpy as np

from spinney.randomness import Stream, random_bits


def uniform_of(seed, stream, index):
    """The number in [0, 1) that decides about a row."""
    return Fraction(random_bits(seed, stream, index), 2**64)


def one_side_probabilities(gradients, weights, top_rate, share):
    """1 for the rows on top, one number for all others; ``gradients`` are (n_outputs, n_rows)."""
    sizes = np.abs(gradients.astype(float)).sum(axis=0).astype(np.float32)
    total, on_top = sum(weights), []
    for row in sorted(range(len(sizes)), key=lambda row: (-sizes[row], row)):
        if sum(weights[i] for i in on_top) + weights[row] > top_rate * total:
            break
        on_top.append(row)
    weight = sum(weights[i] for i in on_top)
    others = (share * total - weight) / (total - weight)
    return np.array([1.0 if row in on_top else others for row in range(len(sizes))])


def sizes_of_derivatives(gradients, hessians, weights, step_share):
    """Square roots of g**2 + lambda * h**2, summed over outputs."""
    first, second = gradients.astype(float), hessians.astype(float)
    step = step_share * (np.abs(first) @ weights).sum() / (second @ weights).sum()
    return np.sqrt((first**2 + step**2 * second**2).sum(axis=0))


def minimal_variance_probabilities(sizes, weights, share):
    """min(1, size / limit), where the limit comes from trying how many rows are certain."""
    total = float(sum(weights))
    order = np.argsort(-sizes, kind="stable")
    for n_certain in range(len(sizes)):
        certain, others = order[:n_certain], order[n_certain:]
        left = share * total - sum(weights[i] for i in certain)
        limit = math.fsum(weights[i] * sizes[i] for i in others) / left if left > 0 else math.inf
        if sizes[others].max() <= limit:
            break
    return np.minimum(1.0, sizes / limit)


def poisson_count(seed, row, mean):
    """How often a row of weight 1 counts: the first k at which the distribution passes a draw."""
    uniform = random_bits(seed, Stream.ROWS, row) / 2**64
    return next(
        k
        for k in range(100)
        if uniform < sum(math.exp(-mean) * mean**j / math.factorial(j) for j in range(k + 1))
    )


def bayesian_factor(seed, row, temperature):
    """A power of an exponential variate, divided by its mean."""
    uniform = ((random_bits(seed, Stream.ROW_FACTORS, row) >> 11) + 0.5) / 2**53
    return (-math.log(uniform)) ** temperature / math.gamma(1.0 + temperature)
