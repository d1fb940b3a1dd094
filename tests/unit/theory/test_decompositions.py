"""Bias, variance and noise add up, for any predictions and targets."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter, SpinneyError
from spinney.theory import decompose_squared, decompose_zero_one

FEW = settings(max_examples=80, deadline=None)


@st.composite
def cases(draw, values):
    """Predictions, targets, which predictions are there, weights of points."""
    n_sets, n_points, n_targets = (draw(st.integers(1, 6)) for _ in range(3))
    line = st.lists(values, min_size=n_points, max_size=n_points)
    said = draw(st.lists(line, min_size=n_sets, max_size=n_sets))
    targets = draw(st.lists(line, min_size=n_targets, max_size=n_targets))
    there = np.array(
        draw(
            st.lists(
                st.lists(st.booleans(), min_size=n_points, max_size=n_points),
                min_size=n_sets,
                max_size=n_sets,
            )
        )
    )
    there[0, 0] = True
    weights = draw(st.lists(st.integers(1, 3), min_size=n_points, max_size=n_points))
    return np.array(said), np.array(targets), there, weights


def pairs(said, targets, there, point):
    """All predictions that are there with all targets."""
    return product(said[there[:, point], point].tolist(), targets[:, point].tolist())


@FEW
@given(cases(st.integers(-30, 30)))
def test_squared_errors_are_bias_and_variance_and_noise(case):
    said, targets, there, weights = case
    found = decompose_squared(said, targets, answered=there, sample_weight=weights)
    assert found.points.tolist() == np.flatnonzero(there.any(axis=0)).tolist()
    for place, point in enumerate(found.points):
        of_sets = [Fraction(v) for v in said[there[:, point], point].tolist()]
        of_targets = [Fraction(v) for v in targets[:, point].tolist()]
        main, best = sum(of_sets) / len(of_sets), sum(of_targets) / len(of_targets)
        bias = (main - best) ** 2
        variance = sum((v - main) ** 2 for v in of_sets) / len(of_sets)
        noise = sum((v - best) ** 2 for v in of_targets) / len(of_targets)
        losses = [Fraction(f - t) ** 2 for f, t in pairs(said, targets, there, point)]
        error = sum(losses) / len(losses)
        assert bias + variance + noise == error
        scale = 1e-12 * max(1.0, float(error))
        parts = (found.biases, found.variances, found.noises, found.errors)
        for values, exact in zip(parts, (bias, variance, noise, error), strict=True):
            assert abs(values[place] - float(exact)) <= scale
        assert abs(found.main[place] - float(main)) <= 1e-12 * 30
    total = found.bias + found.variance + found.noise
    assert abs(total - found.error) <= 1e-12 * max(found.error, 1.0)
    shares = np.array(weights)[found.points] / np.array(weights)[found.points].sum()
    assert found.error == pytest.approx(float(shares @ found.errors), abs=1e-12)


@FEW
@given(
    cases(st.sampled_from(["ash", "elm", "oak"])), st.sampled_from(["domingos", "kohavi_wolpert"])
)
def test_shares_of_wrong_labels_add_up(case, method):
    """Identity 15, with noise and several classes."""
    said, targets, there, weights = case
    found = decompose_zero_one(said, targets, method=method, answered=there, sample_weight=weights)
    for place, point in enumerate(found.points):
        both = list(pairs(said, targets, there, point))
        error = float(Fraction(sum(f != t for f, t in both), len(both)))
        assert abs(found.errors[place] - error) <= 1e-12
    parts = (
        found.biases + found.variance_factors * found.variances + found.noise_factors * found.noises
    )
    np.testing.assert_allclose(parts, found.errors, atol=1e-12)
    assert abs(found.bias + found.net_variance + found.net_noise - found.error) <= 1e-12
    assert found.net_variance == pytest.approx(found.unbiased_variance - found.biased_variance)


@FEW
@given(cases(st.sampled_from([-1, 1])))
def test_factors_of_two_classes(case):
    """Domingos, theorem 2: c1 = 2 P(y = y*) - 1, and c2 = 1 or -1."""
    said, targets, there, _ = case
    found = decompose_zero_one(said, targets, answered=there)
    for place, point in enumerate(found.points):
        of_targets = targets[:, point].tolist()
        best = max((-1, 1), key=of_targets.count)  # the first of two that are as frequent
        answers = said[there[:, point], point]
        if found.noises[place] > 0:
            expected = 2 * (answers == best).mean() - 1
            assert found.noise_factors[place] == pytest.approx(expected, abs=1e-12)
        if found.variances[place] > 0:
            assert found.variance_factors[place] == pytest.approx(
                1.0 if found.main[place] == best else -1.0, abs=1e-12
            )
        assert found.biases[place] == float(found.main[place] != best)
        assert found.variances[place] == pytest.approx((answers != found.main[place]).mean())


def test_domingos_by_hand():
    """Three classes: four of ten say b, which is best; six say a, so a is the main label."""
    said = [["a"]] * 5 + [["b"]] * 3 + [["c"]] * 2
    found = decompose_zero_one(said, ["b"])
    assert (found.bias, found.variance) == (1.0, 0.5)
    assert found.variance_factors[0] == pytest.approx(-0.6)  # of those who leave a, 3 in 5 say b
    assert found.error == pytest.approx(0.7)
    assert found.biased_variance == pytest.approx(0.3)
    assert found.unbiased_variance == 0.0
    table = found.to_frame()
    assert table["quantity"].tolist()[2] == "variance where wrong"
    assert table["value"].tolist()[2] == pytest.approx(-0.3)


def test_kohavi_wolpert_by_hand():
    found = decompose_zero_one([[0], [0], [0], [1]], [[0], [1]], method="kohavi_wolpert")
    assert found.bias == pytest.approx(0.0625)
    assert found.variance == pytest.approx(0.1875)
    assert found.noise == pytest.approx(0.25)
    assert found.error == pytest.approx(0.5)


@pytest.mark.parametrize("n_sets", [2, 3, 4])
def test_corrected_parts_are_right_on_average(n_sets):
    """All training sets that can be drawn, each as likely: means of bias and variance are true."""
    values, truth = (0.0, 1.0, 5.0), 1.5
    said = np.array(list(product(values, repeat=n_sets))).T  # a point for each draw
    found = decompose_squared(said, np.full(said.shape[1], truth))
    better = found.corrected()
    assert better.bias == pytest.approx((np.mean(values) - truth) ** 2, rel=1e-12)
    assert better.variance == pytest.approx(np.var(values), rel=1e-12)
    assert found.bias > better.bias
    assert better.error == found.error
    assert better.bias + better.variance == pytest.approx(better.error, rel=1e-13)


@pytest.mark.parametrize("n_sets", [2, 4])
def test_corrected_parts_of_kohavi_and_wolpert_too(n_sets):
    values = ("a", "a", "b", "c")
    said = np.array(list(product(values, repeat=n_sets))).T
    y = np.full(said.shape[1], "b")
    better = decompose_zero_one(said, y, method="kohavi_wolpert").corrected()
    chances = np.array([0.5, 0.25, 0.25])
    assert better.bias == pytest.approx(0.5 * ((chances - [0, 1, 0]) ** 2).sum(), rel=1e-12)
    assert better.variance == pytest.approx(0.5 * (1 - (chances**2).sum()), rel=1e-12)


def test_noise_that_is_known():
    found = decompose_squared([[1.0, 2.0], [3.0, 2.0]], [2.0, 2.0], noise=[0.5, 1.5])
    assert found.noises.tolist() == [0.5, 1.5]
    assert (found.bias, found.variance, found.error) == (0.0, 0.5, 1.5)


def test_a_large_offset_costs_no_digits():
    rng = np.random.default_rng(0)
    said, targets = rng.integers(-99, 99, (5, 7)) / 8.0, rng.integers(-99, 99, (4, 7)) / 8.0
    near, far = (
        decompose_squared(said, targets),
        decompose_squared(said + 2.0**40, targets + 2.0**40),
    )
    for name in ("biases", "variances", "noises", "errors"):
        np.testing.assert_array_equal(getattr(near, name), getattr(far, name))


def test_what_is_not_there_is_not_looked_at():
    there = np.array([[True, False], [True, True]])
    found = decompose_squared([[1.0, math.nan], [3.0, 5.0]], [2.0, 4.0], answered=there)
    assert found.answers.tolist() == [2, 1]
    assert found.biases.tolist() == [0.0, 1.0]
    labels = decompose_zero_one(
        np.array([["a", None], ["a", "b"]], object), ["a", "b"], answered=there
    )
    assert labels.error == 0.0
    assert "1 to 2 models" in labels.title()
    with pytest.raises(InvalidInput, match="predicted once"):
        found.corrected()
    with pytest.raises(InvalidInput, match="no mean"):
        labels.corrected()


@pytest.mark.parametrize(
    ("said", "y", "options", "words"),
    [
        ([1.0, 2.0], [1.0, 2.0], {}, r"predictions has the shape \(2,\)"),
        ([[1.0, 2.0]], [1.0], {}, r"y has the shape \(1,\)"),
        ([[1.0, 2.0]], [[[1.0, 2.0]]], {}, r"y has the shape \(1, 1, 2\)"),
        ([[1.0, math.nan]], [1.0, 2.0], {}, r"predictions\[0, 1\] is nan.*answered="),
        ([[1.0, 2.0]], [1.0, math.nan], {}, r"y\[0, 1\] is nan"),
        ([[1.0, 2.0]], [1.0, 2.0], {"noise": -1.0}, r"noise\[0\] is -1"),
        ([[1.0, 2.0]], [1.0, 2.0], {"noise": [1.0] * 3}, "noise has 3 numbers"),
        ([[1.0, 2.0]], [[1.0, 2.0]] * 2, {"noise": 1.0}, "one target for a point"),
        ([[1.0, 2.0]], [1.0, 2.0], {"answered": [[1, 0]]}, "expected booleans"),
        ([[1.0, 2.0]], [1.0, 2.0], {"answered": [[False] * 2]}, "No prediction is there"),
        ([[1.0, 2.0]], [1.0, 2.0], {"sample_weight": [1.0]}, "sample_weight has 1"),
        (
            [[1.0, 2.0]],
            [1.0, 2.0],
            {"sample_weight": [1.0, 0.0], "answered": [[False, True]]},
            "0 at all points",
        ),
    ],
)
def test_hostile_numbers(said, y, options, words):
    with pytest.raises(SpinneyError, match=words):
        decompose_squared(said, y, **options)


def test_hostile_labels():
    with pytest.raises(InvalidInputType, match="text"):
        decompose_zero_one([["1", "0"]], [1, 0])
    with pytest.raises(InvalidInput, match=r"predictions\[0, 0\] is nan"):
        decompose_zero_one([[math.nan, 0.0]], [1.0, 0.0])
    with pytest.raises(InvalidParameter, match="method='james'"):
        decompose_zero_one([[1, 0]], [1, 0], method="james")
