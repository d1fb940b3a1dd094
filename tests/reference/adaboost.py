"""Slow twin of AdaBoost: discrete, with exhaustive stumps, as in the paper."""

from types import SimpleNamespace

import numpy as np


def best_stump(X, y, D):
    """Least weighted error; of equals the lowest feature, then threshold, then polarity +1."""
    best = (np.inf, None)
    for feature, column in enumerate(X.T):
        values = np.unique(column)
        for cut in (-np.inf, *((values[1:] + values[:-1]) / 2)):  # -inf: all rows on one side
            for polarity in (1, -1):
                error = D[answers((feature, cut, polarity), X) != y].sum()
                if error < best[0] - 1e-12:  # equals differ by rounding
                    best = (error, (feature, cut, polarity))
    return best


def answers(stump, X):
    feature, cut, polarity = stump
    return np.where(X[:, feature] > cut, polarity, -polarity)


def slow_adaboost(X, y, n_rounds, *, eps_clip=1e-10):
    """y in {-1, 1}. Ends early after a perfect stump, and before one without an edge."""
    D, done = [np.full(len(y), 1 / len(y))], []
    for _ in range(n_rounds):
        error, stump = best_stump(X, y, D[-1])
        if error > 0.5 - 1e-12:
            break
        alpha = 0.5 * np.log((1 - max(error, eps_clip)) / max(error, eps_clip))
        unnormalised = D[-1] * np.exp(-alpha * y * answers(stump, X))
        D.append(unnormalised / unnormalised.sum())
        done.append((stump, alpha, error, unnormalised.sum()))
        if error < eps_clip:
            break
    stumps, alphas, errors, normalisers = zip(*done, strict=True) if done else ((),) * 4
    numbers = {"alphas": alphas, "errors": errors, "normalisers": normalisers, "distributions": D}
    return SimpleNamespace(stumps=stumps, **{k: np.array(v) for k, v in numbers.items()})


def slow_scores(boosted, X):
    """F(x): the weighted sum of the stumps' answers."""
    votes = zip(boosted.alphas, boosted.stumps, strict=True)
    return sum((alpha * answers(stump, X) for alpha, stump in votes), np.zeros(len(X)))
