"""Why does splitting the data set work badly? M models on n/M rows each, against M bootstraps.

Parts of a data set that share no row are independent, as theory likes them, and a mean of M models
fitted to them has 1/M of the variance of one. But of one that has seen n/M rows.
"""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from spinney import DecisionTreeRegressor
from spinney.datasets import make_friedman
from spinney.theory import (
    BiasVariance,
    SamplingCorrelation,
    decompose_squared,
    sampling_correlation,
)

N_ROWS, N_SETS = 200, 25
test = make_friedman(1, 500, random_state=0)


def parts_of(way: str, n_members: int, rng: np.random.Generator) -> Any:
    """Give the rows of each member."""
    if way == "split":
        return np.array_split(rng.permutation(N_ROWS), n_members)
    return rng.integers(0, N_ROWS, (n_members, N_ROWS))


def study(learner: Any, way: str, n_members: int) -> tuple[BiasVariance, SamplingCorrelation]:
    """Fit committees to many training sets: the parts of their error, and how members vary."""
    rng = np.random.default_rng(1)
    said = np.empty((N_SETS, n_members, len(test)))
    for number in range(N_SETS):
        train = make_friedman(1, N_ROWS, random_state=1000 + number)
        for place, rows in enumerate(parts_of(way, n_members, rng)):
            said[number, place] = clone(learner).fit(train.X[rows], train.y[rows]).predict(test.X)
    parts = decompose_squared(said.mean(axis=1), test.clean_y, noise=test.bayes_error)
    return parts.corrected(), sampling_correlation(said)


LEARNERS = {"tree": DecisionTreeRegressor(), "linear regression": LinearRegression()}
CASES = [("split", 1), ("split", 5), ("split", 10), ("bootstrap", 10)]
found = {(name, *case): study(LEARNERS[name], *case) for name in LEARNERS for case in CASES}
for name in LEARNERS:
    print(f"{name}: squared bias and variance of the mean; of its members, variance, correlation")
    for way, n_members in CASES:
        parts, members = found[name, way, n_members]
        what = "one model on all rows" if n_members == 1 else f"{way} in {n_members}"
        print(
            f"  {what:22} {parts.bias:6.2f} {parts.variance:6.2f}  error {parts.error:6.2f}"
            f"   {members.variance:6.2f} {members.correlation:5.2f}"
        )
