"""Conformal prediction by its definitions, in loops."""

import math
from fractions import Fraction

import numpy as np


def smallest(values, rank):
    """The rank-th smallest, counted from 1; infinite beyond the ends."""
    if rank > len(values):
        return math.inf
    return sorted(values)[rank - 1] if rank >= 1 else -math.inf


def split_interval(residuals, prediction, level):
    reach = smallest(residuals, math.ceil(Fraction(str(level)) * (len(residuals) + 1)))
    return prediction - reach, prediction + reach


def jackknife_plus(fit, X, y, x, level, *, folds=None):
    """Barber et al. (2021): n fits, each without the fold of a row; its own row by default."""
    n = len(y)
    folds = np.arange(n) if folds is None else np.asarray(folds)
    lows, highs = [], []
    for i in range(n):
        others = folds != folds[i]
        predict = fit(X[others], y[others])
        residual = abs(y[i] - predict(X[i : i + 1])[0])
        said = predict(np.atleast_2d(x))[0]
        lows.append(said - residual)
        highs.append(said + residual)
    alpha = 1 - Fraction(str(level))
    return (
        smallest(lows, math.floor(alpha * (n + 1))),
        smallest(highs, math.ceil((1 - alpha) * (n + 1))),
    )


def after_bootstrap(train_answers, new_answers, unseen, y, level):
    """Kim, Xu & Barber (2020), the mean as aggregate, for one new row."""
    lows, highs = [], []
    for i, lacking in enumerate(unseen):
        members = [b for b, lacks in enumerate(lacking) if lacks]
        if not members:
            continue
        residual = abs(y[i] - np.mean([train_answers[i][b] for b in members]))
        said = np.mean([new_answers[b] for b in members])
        lows.append(said - residual)
        highs.append(said + residual)
    rank = math.ceil(Fraction(str(level)) * (len(lows) + 1))
    return smallest(lows, len(lows) + 1 - rank), smallest(highs, rank)


def aps_score(shares, label, draw=0.0, penalty=0.0, free=0):
    """Romano et al. (2020), and the penalty of Angelopoulos et al. (2021); a pair that sorts.

    The score, and how many classes come before: where scores are equal, fewer are less bad.
    """
    order = sorted(range(len(shares)), key=lambda k: (-shares[k], k))
    place = order.index(label)
    before = sum(shares[k] for k in order[:place])
    # Rounded, so that all classes together are 1 in whatever order they are added up.
    return round(before + draw * shares[label] + penalty * max(0, place + 1 - free), 11), place


def aps_set(calibration, labels, shares, level):
    scores = [aps_score(row, label) for row, label in zip(calibration, labels, strict=True)]
    rank = math.ceil(Fraction(str(level)) * (len(scores) + 1))
    limit = sorted(scores)[rank - 1] if rank <= len(scores) else (math.inf, 0)
    return [k for k in range(len(shares)) if aps_score(shares, k) <= limit]


def cross_set(scores, left_out, level):
    """Jackknife+ for classes: count the rows that scored lower by the model that lacks them."""
    n = len(scores)
    held = []
    for code in range(len(left_out[0])):
        below = sum(scores[i] < left_out[i][code] for i in range(n))
        if below < Fraction(str(level)) * (n + 1):
            held.append(code)
    return held
