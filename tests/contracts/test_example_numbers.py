"""What the examples of the lecture notes print are the numbers that they are about."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def run():
    kept = {}

    def once(name):
        if name not in kept:
            kept[name] = runpy.run_path(str(EXAMPLES / f"{name}.py"))
        return kept[name]

    return once


def test_two_moons(run):
    """N31: errors and variances of three learners, in percent."""
    found = run("two_moons_variability")["found"]
    numbers = {"tree": (12.4, 7.3), "10 neighbours": (9.1, 2.6), "logistic regression": (15.1, 1.3)}
    for name, (error, variance) in numbers.items():
        assert 100 * found[name].error == pytest.approx(error, abs=1.5), name
        assert 100 * found[name].variance == pytest.approx(variance, abs=1.5), name
    tree, near, line = (found[name] for name in numbers)
    assert tree.variance > near.variance > line.variance
    assert tree.bias < near.bias < line.bias
    for one in found.values():
        assert abs(one.bias + one.net_variance - one.error) <= 1e-12


def test_three_fits_to_three_sets(run):
    names = run("two_moons_variability")
    disputed = names["disputed"]
    assert disputed["tree"] > 2 * disputed["10 neighbours"] > 0
    assert disputed["10 neighbours"] > disputed["logistic regression"]
    for errors in names["errors"].values():
        assert 0.05 < errors.min() <= errors.max() < 0.2
