"""What boosting over a matrix refuses, and in which words."""

import numpy as np
import pytest

from spinney.ensembles.adaptive.matrix import boost_matrix
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter

VOTES = 1.0 - 2.0 * np.eye(8)


@pytest.mark.parametrize(
    ("matrix", "error", "words"),
    [
        ([[1.0, 2.0]], InvalidInput, r"matrix\[0, 1\] is 2.0"),
        ([[1.0], [np.nan]], InvalidInput, r"matrix\[1, 0\] is nan"),
        ([[1.0], [-np.inf]], InvalidInput, "is -inf"),
        ([1.0, -1.0], InvalidInput, r"shape \(2,\)"),
        (np.ones((0, 3)), InvalidInput, r"shape \(0, 3\)"),
        (np.ones((3, 0)), InvalidInput, r"shape \(3, 0\)"),
        ([[1.0, -1.0], [1.0]], InvalidInputType, "table of numbers"),
        ([["a"]], InvalidInputType, "table of numbers"),
        ([[1j]], InvalidInputType, "table of numbers"),
        (None, InvalidInput, "shape"),
        ([[{}]], InvalidInputType, "table of numbers"),
    ],
)
def test_matrices_that_are_none_are_refused(matrix, error, words):
    with pytest.raises(error, match=words):
        boost_matrix(matrix)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"solver": "newtom"}, "Did you mean 'newton'"),
        ({"n_rounds": 0}, "n_rounds=0"),
        ({"n_rounds": 2.5}, "n_rounds=2.5"),
        ({"tol": 0.0}, "tol=0.0"),
        ({"tol": np.nan}, "tol=nan"),
        ({"symmetric": "yes"}, "symmetric='yes'"),
        ({"solver": "frank_wolfe"}, "needs a ball"),
        ({"solver": "frank_wolfe", "radius": -1.0}, "radius=-1.0"),
        ({"radius": 1.0}, "would not be used"),
        ({"loss": "zero_one"}, "there to be plotted"),
        ({"loss": "exponentail"}, "Did you mean 'exponential'"),
        ({"loss": "hinge", "solver": "newton"}, "is not smooth"),
        ({"loss": "savage", "solver": "totally_corrective"}, "is not convex"),
        ({"loss": lambda u: -u}, "at least 0"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, words):
    with pytest.raises(InvalidParameter, match=words):
        boost_matrix(VOTES, **parameters)


@pytest.mark.parametrize("bad", [[1.0], [-1.0] * 8, [np.nan] * 8, [0.0] * 8, "ones"])
def test_weights_that_make_no_sense_are_refused(bad):
    with pytest.raises((InvalidInput, InvalidInputType)):
        boost_matrix(VOTES, sample_weight=bad)
