"""Slow twins of bootstrap, jackknife and folds: the definitions, in plain Python."""

from itertools import combinations, product
from math import floor, sqrt
from statistics import NormalDist, fmean

import numpy as np

from spinney.randomness import Stream, random_bits


def every_resample(x):
    """All n**n samples with replacement, each as likely as any other."""
    return [[x[i] for i in rows] for rows in product(range(len(x)), repeat=len(x))]


def slow_draw(seed, number, n_rows):
    """The rows of one resample: the upper 32 bits of each draw, as a share of the rows."""
    own = random_bits(seed, Stream.ROWS, number)
    return [(random_bits(own, Stream.ROWS, i) >> 32) * n_rows >> 32 for i in range(n_rows)]


def slow_stationary(seed, number, n_rows, length):
    """A block ends with a chance of 1/length; the first row follows the last."""
    own = random_bits(seed, Stream.ROWS, number)
    rows = []
    for i in range(n_rows):
        bits = random_bits(own, Stream.ROWS, i)
        starts = i == 0 or bits % 2**32 < round(2**32 / length)
        rows.append((bits >> 32) * n_rows >> 32 if starts else (rows[-1] + 1) % n_rows)
    return rows


def slow_quantile(values, p):
    """The (B + 1) p-th smallest, between neighbours if that is no whole number."""
    ordered, place = sorted(values), p * (len(values) + 1) - 1
    low = min(max(floor(place), 0), len(ordered) - 1)
    high = min(low + 1, len(ordered) - 1)
    share = min(max(place - low, 0.0), 1.0)
    return ordered[low] + share * (ordered[high] - ordered[low])


def slow_jackknife(values, estimate, n, d=1):
    """Bias and standard error from the statistic without each set of d of n rows."""
    mean = fmean(values)
    factor = (n - d) / d
    spread = fmean((v - mean) ** 2 for v in values)
    return factor * (mean - estimate), sqrt(factor * spread)


def slow_delete_m(statistic, groups):
    """Corrected estimate and standard error of Busing et al. (1999), from the rows of groups."""
    whole = [x for rows in groups for x in rows]
    n, g, estimate = len(whole), len(groups), statistic(whole)
    without = [statistic([x for k in range(g) if k != j for x in groups[k]]) for j in range(g)]
    corrected = g * estimate - sum(
        (1 - len(rows) / n) * value for rows, value in zip(groups, without, strict=True)
    )
    variance = 0.0
    for rows, value in zip(groups, without, strict=True):
        h = n / len(rows)
        variance += (h * estimate - (h - 1) * value - corrected) ** 2 / (h - 1) / g
    return corrected, sqrt(variance)


def leave_out(x, statistic, d=1):
    n = len(x)
    return [
        statistic([x[i] for i in range(n) if i not in gone]) for gone in combinations(range(n), d)
    ]


def slow_bca(values, estimate, without, level):
    """Efron (1987)."""
    normal = NormalDist()
    share = fmean((v < estimate) + (v == estimate) / 2 for v in values)
    z0 = normal.inv_cdf(share)
    differences = [fmean(without) - v for v in without]
    a = sum(d**3 for d in differences) / (6 * sum(d**2 for d in differences) ** 1.5)
    ends = []
    for p in ((1 - level) / 2, (1 + level) / 2):
        z = z0 + normal.inv_cdf(p)
        ends.append(slow_quantile(values, normal.cdf(z0 + z / (1 - a * z))))
    return ends


def slow_time_folds(times, n_splits, *, window=None, size=None, gap=0, groups=None):
    """Sorted different times, cut from the end."""
    known = sorted(set(times))
    size = size or len(known) // (n_splits + 1)
    folds = []
    for fold in range(n_splits):
        first = len(known) - (n_splits - fold) * size
        tested = [row for row, t in enumerate(times) if t in known[first : first + size]]
        earlier = known[: first - gap][-(window or len(known)) :]
        learnt = [row for row, t in enumerate(times) if t in earlier]
        if groups is not None:
            taken = {groups[row] for row in tested}
            learnt = [row for row in learnt if groups[row] not in taken]
        folds.append((learnt, tested))
    return folds


def slow_shuffled_folds(n_rows, n_folds, seed):
    """Of every n_folds rows the one with the smallest bits goes to fold 0, and so on."""
    folds = []
    for start in range(0, n_rows, n_folds):
        bits = [random_bits(seed, Stream.ROWS, start + j) for j in range(n_folds)]
        folds += [sorted(bits).index(b) for b in bits]
    return np.array(folds[:n_rows])
