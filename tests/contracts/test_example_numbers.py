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
    """Trees vary, lines are biased, neighbours do little of either; see N31 for the numbers."""
    found = run("two_moons_variability")["found"]
    tree, near, line = found.values()
    for one, error, variance in ((tree, 14.0, 9.5), (near, 9.5, 3.5), (line, 15.0, 1.5)):
        assert 100 * one.error == pytest.approx(error, abs=1.5)
        assert 100 * one.variance == pytest.approx(variance, abs=1.0)
        assert abs(one.bias + one.net_variance - one.error) <= 1e-12
    assert tree.variance > 2 * near.variance > 2 * line.variance
    assert line.bias > tree.bias + 0.04
    assert line.bias > near.bias + 0.04


def test_three_fits_to_three_sets(run):
    names = run("two_moons_variability")
    disputed = names["disputed"]
    assert disputed["tree"] > 2 * disputed["10 neighbours"] > 2 * disputed["logistic regression"]
    for errors in names["errors"].values():
        assert 0.05 < errors.min() <= errors.max() < 0.2


def test_parts_of_the_data_are_independent_and_too_small(run):
    """Splitting trades variance for bias; the bootstrap takes the variance and leaves the bias."""
    found = run("splitting_the_data")["found"]
    one, five, ten, bag = (
        found["tree", way, size]
        for way, size in (("split", 1), ("split", 5), ("split", 10), ("bootstrap", 10))
    )
    assert one[0].bias + 2.0 < five[0].bias < ten[0].bias - 1.5
    assert one[0].variance / 2 > five[0].variance > ten[0].variance
    # Independent, so that their mean has a tenth of their variance; but that is twice as much.
    assert abs(ten[1].correlation) < 0.05
    assert ten[1].variance > 1.7 * one[1].variance
    assert ten[0].bias > 2.5 * one[0].bias
    assert bag[0].bias < 1.5 * one[0].bias
    assert 0.05 < bag[1].correlation < 0.25
    assert bag[0].error == pytest.approx(6.5, abs=0.7)
    assert min(one[0].error, five[0].error, ten[0].error) > bag[0].error + 2.0


def test_a_stable_learner_gains_nothing_from_any_committee(run):
    found = run("splitting_the_data")["found"]
    one, ten, bag = (
        found["linear regression", way, size]
        for way, size in (("split", 1), ("split", 10), ("bootstrap", 10))
    )
    for other in (ten, bag):
        assert other[0].bias == pytest.approx(one[0].bias, abs=0.2)
        assert other[0].variance > one[0].variance
    assert ten[0].variance > 1.5 * one[0].variance  # eleven numbers learnt from twenty rows
    assert bag[1].correlation > 0.4


def test_both_ways_to_the_variance_agree(run):
    names = run("splitting_the_data")
    for parts, members in names["found"].values():
        plain = parts.variance * (names["N_SETS"] - 1) / names["N_SETS"]
        assert plain == pytest.approx(members.committee_variance, rel=1e-12)


def test_bias_falls_and_variance_grows_with_leaves(run):
    names = run("bias_variance_complexity")
    tree, bag = names["found"].values()
    for results in (tree, bag):
        biases, variances = (
            [getattr(one, part) for one in results] for part in ("bias", "variance")
        )
        assert biases[0] > biases[1] > biases[2] > biases[-1]
        assert variances[0] < variances[2] < variances[-1]
        for one in results:
            assert one.noise == pytest.approx(9.0)
            assert abs(one.bias + one.variance + one.noise - one.error) <= 1e-12 * one.error
    assert 4 <= names["best"]["tree"] <= 16
    assert names["best"]["30 bagged trees"] >= 32
    assert bag[-1].variance < tree[-1].variance / 4
    assert bag[-1].error < min(one.error for one in tree) - 4.0
