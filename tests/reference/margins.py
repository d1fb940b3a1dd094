"""Games between rows and hypotheses over an explicit matrix: slow, direct, for comparison."""

import math

import numpy as np
from scipy.optimize import linprog

from spinney.ensembles.weak.hypothesis import Hypothesis

RUDIN = np.array(  # Rudin, Daubechies & Schapire (2004): AdaBoost cycles, its margin stays at 1/3
    [
        [-1, 1, 1, 1, 1, -1, -1, 1],
        [-1, 1, 1, -1, -1, 1, 1, 1],
        [1, -1, 1, 1, 1, -1, 1, 1],
        [1, -1, 1, 1, -1, 1, 1, 1],
        [1, -1, 1, -1, 1, 1, 1, -1],
        [1, 1, -1, 1, 1, 1, 1, -1],
        [1, 1, -1, 1, 1, 1, -1, 1],
        [1, 1, 1, 1, -1, -1, 1, -1],
    ],
    dtype=float,
)


def best_column(matrix, signs=None):
    """Ask for the column of the highest edge, the first of several; columns are members."""
    signs = np.ones(len(matrix)) if signs is None else signs

    def ask(distribution):
        best = int(np.argmax(distribution @ matrix))
        return Hypothesis(signs * matrix[:, best], best)

    return ask


def best_soft_margin(matrix, caps):
    """Give the largest soft margin and its weights, on the side of the hypotheses.

    Most rho - caps·xi with (matrix w)_i >= rho - xi_i, w and xi not negative, sum w = 1.
    """
    n_rows, n_columns = matrix.shape
    found = linprog(
        np.concatenate([np.zeros(n_columns), [-1.0], caps]),
        A_ub=np.hstack([-matrix, np.ones((n_rows, 1)), -np.eye(n_rows)]),
        b_ub=np.zeros(n_rows),
        A_eq=np.concatenate([np.ones(n_columns), np.zeros(n_rows + 1)])[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * n_columns + [(None, None)] + [(0, None)] * n_rows,
        method="highs",
    )
    return -found.fun, found.x[:n_columns]


def literal_adaboost(matrix, prior, n_rounds):
    """Give chosen columns, alphas and distributions, by multiplying weights as the paper does."""
    distribution, columns, alphas, history = prior / prior.sum(), [], [], []
    for _ in range(n_rounds):
        history.append(distribution)
        best = int(np.argmax(distribution @ matrix))
        error = distribution[matrix[:, best] < 0].sum()
        if error >= 0.5 or error == 0.0:
            break
        alphas.append(0.5 * math.log((1 - error) / error))
        columns.append(best)
        distribution = distribution * np.exp(-alphas[-1] * matrix[:, best])
        distribution = distribution / distribution.sum()
    return columns, np.array(alphas), np.array(history)
