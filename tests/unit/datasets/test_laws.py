"""That random rows follow the laws their recipes state, with fixed seeds and 4 standard errors."""

import math

import numpy as np
import pytest
import sklearn.datasets
from scipy.special import ndtr
from scipy.stats import chi2, ks_2samp

from spinney.datasets import (
    friedman,
    make_esl_spheres,
    make_friedman,
    make_long_servedio,
    make_mease_wyner,
    make_moons,
    make_ringnorm,
    make_shells,
    make_threenorm,
    make_twonorm,
    make_waveform,
    make_xor,
    moons,
    spheres,
)

N_ROWS = 20_000


def within(share, n_rows=N_ROWS):
    """Four standard errors of a share around its expectation."""
    return pytest.approx(share, abs=4.0 * math.sqrt(share * (1.0 - share) / n_rows))


def assert_gaussian(rows, mean, sd):
    """Means, variances and correlations, all within 4.5 standard errors: there are hundreds."""
    n_rows, n_features = rows.shape
    unit = (rows - mean) / sd
    assert np.abs(unit.mean(axis=0)).max() < 4.5 / math.sqrt(n_rows)
    products = unit.T @ unit / n_rows
    assert np.abs(np.diag(products) - 1.0).max() < 4.5 * math.sqrt(2.0 / n_rows)
    assert np.abs(products - np.diag(np.diag(products))).max() < 4.5 / math.sqrt(n_rows)
    assert np.mean(np.abs(unit) < 1.0) == within(0.682689, n_rows * n_features)


def test_twonorm_has_its_means_covariances_and_bayes_error():
    data = make_twonorm(N_ROWS, random_state=0)
    a = 2.0 / math.sqrt(20.0)
    for label in (-1, 1):
        assert_gaussian(data.X[data.y == label], label * a, 1.0)
    assert np.mean(data.y == 1) == within(0.5)
    assert data.bayes_error == pytest.approx(0.0227501319, abs=1e-10)
    assert np.mean(np.sign(data.X.sum(axis=1)) != data.y) == within(data.bayes_error)


def test_the_bayes_error_of_twonorm_is_the_same_in_every_dimension():
    for n_features in (1, 2, 7):
        data = make_twonorm(N_ROWS, n_features=n_features, random_state=1)
        assert np.mean(np.sign(data.X.sum(axis=1)) != data.y) == within(0.02275)


def log_density(X, mean, sd=1.0):
    return -((X - mean) ** 2).sum(axis=1) / (2.0 * sd**2) - X.shape[1] * math.log(sd)


@pytest.mark.parametrize("n_features", [2, 3, 20])
def test_threenorm_has_its_bayes_error(n_features):
    data = make_threenorm(N_ROWS, n_features=n_features, random_state=0)
    a = 2.0 / math.sqrt(n_features)
    alternating = a * (-1.0) ** np.arange(n_features)
    positive = np.logaddexp(log_density(data.X, a), log_density(data.X, -a)) - math.log(2.0)
    guess = np.where(positive > log_density(data.X, alternating), 1, -1)
    assert np.mean(guess != data.y) == within(data.bayes_error)
    assert np.mean(data.y == 1) == within(0.5)
    assert_gaussian(data.X[data.y == -1], alternating, 1.0)
    folded = data.X[data.y == 1] * np.sign(data.X[data.y == 1].sum(axis=1))[:, None]
    # The sum of a row, over √d, is N(±2, 1); folded at 0 its mean is known.
    known = 2.0 * (1.0 - 2.0 * ndtr(-2.0)) + math.sqrt(2.0 / math.pi) * math.exp(-2.0)
    along = folded.sum(axis=1) / math.sqrt(n_features)
    assert along.mean() == pytest.approx(known, abs=4.0 / math.sqrt(len(along)))


def test_the_bayes_error_of_threenorm_is_near_the_published_one():
    errors = [make_threenorm(1, n_features=d).bayes_error for d in (2, 4, 20, 1000)]
    assert errors == pytest.approx([0.1046331556] * 4, abs=1e-10)
    assert errors[0] == pytest.approx(0.105, abs=5e-4)  # printed as 10.5 %


@pytest.mark.parametrize(("distance", "error"), [(2.0, 0.012397), (1.0, 0.014965), (0.0, None)])
def test_ringnorm_has_its_covariances_and_bayes_error(distance, error):
    data = make_ringnorm(N_ROWS, distance=distance, random_state=0)
    a = distance / math.sqrt(20.0)
    assert_gaussian(data.X[data.y == 1], 0.0, 2.0)
    assert_gaussian(data.X[data.y == -1], a, 1.0)
    guess = np.where(log_density(data.X, 0.0, 2.0) > log_density(data.X, a), 1, -1)
    assert np.mean(guess != data.y) == within(data.bayes_error)
    if error is not None:
        assert data.bayes_error == pytest.approx(error, abs=1e-6)


def plane_of_waves():
    """Corners of the triangle that the three base waves span, and how to get into its plane."""
    places = np.arange(1, 22)
    waves = np.array([np.maximum(6.0 - abs(places - peak), 0.0) for peak in (11, 15, 7)])
    plane = np.linalg.qr((waves[1:] - waves[0]).T)[0]
    return (waves - waves[0]) @ plane, lambda X: (X - waves[0]) @ plane


def edge_density(points, start, end):
    """Density of a uniform place on an edge plus a plane Gaussian."""
    length = math.dist(start, end)
    along = (points - start) @ (end - start) / length
    across = ((points - start) ** 2).sum(axis=-1) - along**2
    spread = (ndtr(along) - ndtr(along - length)) / length
    return np.exp(-across / 2.0) / math.sqrt(2.0 * math.pi) * spread


def class_densities(points, corners):
    return np.array(
        [edge_density(points, corners[i], corners[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    )


def test_the_bayes_error_of_waveform_is_an_integral_over_a_plane():
    corners, _ = plane_of_waves()
    step = 0.04
    axes = [
        np.arange(low - 7, high + 7, step)
        for low, high in zip(corners.min(0), corners.max(0), strict=True)
    ]
    grid = np.stack(np.meshgrid(*axes), axis=-1)
    best = class_densities(grid, corners).max(axis=0).sum() * step**2 / 3.0
    assert make_waveform(1).bayes_error == pytest.approx(1.0 - best, abs=1e-6)


def test_waveform_has_its_bayes_error_and_its_class_means():
    data = make_waveform(N_ROWS, random_state=0)
    corners, into_plane = plane_of_waves()
    guess = class_densities(into_plane(data.X), corners).argmax(axis=0)
    assert np.mean(guess != data.y) == within(data.bayes_error)
    for label, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        rows = into_plane(data.X[data.y == label])
        assert np.mean(data.y == label) == within(1.0 / 3.0)
        middle = (corners[i] + corners[j]) / 2.0
        assert np.abs(rows.mean(axis=0) - middle).max() < 4.0 * rows.std() / math.sqrt(len(rows))


@pytest.mark.parametrize("number", [1, 2, 3])
def test_friedman_is_the_function_that_scikit_learn_has(number):
    theirs = getattr(sklearn.datasets, f"make_friedman{number}")
    X, y = theirs(n_samples=200, noise=0.0, random_state=0)
    ours = (friedman.additive_with_product, friedman.impedance, friedman.phase)[number - 1]
    assert ours(X) == pytest.approx(y, rel=1e-12)
    data = make_friedman(number, 200, random_state=0)
    assert np.array_equal(data.clean_y, ours(data.X))


@pytest.mark.parametrize(("number", "sd"), [(1, 1.0), (2, 125.0), (3, 0.1)])
def test_friedman_has_its_noise_and_its_ranges(number, sd):
    data = make_friedman(number, N_ROWS, random_state=0)
    noise = (data.y - data.clean_y)[:, None]
    assert_gaussian(noise, 0.0, sd)
    assert data.bayes_error == pytest.approx(sd**2, rel=1e-15)
    low, high = ([0.0] * 10, [1.0] * 10)
    if number > 1:
        low, high = [0, 40 * math.pi, 0, 1], [100, 560 * math.pi, 1, 11]
    scaled = (data.X - low) / (np.array(high) - low)
    assert scaled.min() >= 0.0
    assert scaled.max() < 1.0
    for column in scaled.T:
        assert column.mean() == pytest.approx(0.5, abs=4.0 / math.sqrt(12 * N_ROWS))
        assert column.min() < 0.001
        assert column.max() > 0.999


def test_friedman_without_noise_and_without_resistance():
    data = make_friedman(2, 30, noise=0.0, random_state=0)
    assert np.array_equal(data.y, data.clean_y)
    assert friedman.phase(np.array([[0.0, 200.0, 0.5, 5.0]])) == pytest.approx([math.pi / 2])


def test_moons_are_where_scikit_learn_has_them():
    theirs, labels = sklearn.datasets.make_moons(200, shuffle=False, noise=None)
    angles = np.tile(np.linspace(0.0, np.pi, 100), 2)
    assert moons.place_on_moons(angles, 2 * labels - 1) == pytest.approx(theirs, abs=1e-15)


def test_noisy_moons_follow_the_law_of_scikit_learn():
    ours = make_moons(4000, noise=0.3, random_state=0)
    X, labels = sklearn.datasets.make_moons(4000, noise=0.3, random_state=0)
    for label in (-1, 1):
        for feature in (0, 1):
            sample = ours.X[ours.y == label, feature]
            assert ks_2samp(sample, X[2 * labels - 1 == label, feature]).pvalue > 1e-3
    assert np.mean(ours.y == 1) == within(0.5, 4000)
    assert ours.bayes_error is None


def test_moons_without_noise_do_not_touch_and_labels_can_be_turned():
    data = make_moons(2000, noise=0.0, label_noise=0.2, random_state=0)
    upper, lower = (data.X[data.clean_y == label] for label in (-1, 1))
    assert np.hypot(*upper.T) == pytest.approx(1.0, abs=1e-12)
    assert np.hypot(*(lower - [1.0, 0.5]).T) == pytest.approx(1.0, abs=1e-12)
    distances = np.hypot(*(upper[:, None] - lower[None]).transpose(2, 0, 1))
    assert distances.min() > 0.1
    assert np.mean(data.y != data.clean_y) == within(0.2, 2000)
    assert data.bayes_error == 0.2


def test_mease_wyner_depends_on_the_first_features_alone():
    data = make_mease_wyner(N_ROWS, n_features=8, n_relevant=3, noise=0.2, random_state=0)
    above = data.X[:, :3].sum(axis=1) > 1.5
    assert np.mean(data.y[above] == 1) == within(0.8, above.sum())
    assert np.mean(data.y[~above] == 1) == within(0.2, (~above).sum())
    correlations = [abs(np.corrcoef(data.y, column)[0, 1]) for column in data.X.T]
    assert min(correlations[:3]) > 0.1
    assert max(correlations[3:]) < 4.0 / math.sqrt(N_ROWS)


def test_no_stump_beats_a_coin_on_xor_while_the_product_is_the_label():
    data = make_xor(N_ROWS, n_features=3, noise=0.0, random_state=0)
    assert (np.sign(-data.X[:, 0] * data.X[:, 1]) == data.y).all()
    for column in data.X.T:
        edges = np.cumsum(data.y[np.argsort(column)]) * 2 - data.y.sum()
        # A random walk stays below 4 standard errors of its end, at every threshold.
        assert np.abs(edges).max() / N_ROWS < 4.0 / math.sqrt(N_ROWS)


def test_spheres_are_cut_at_quantiles_of_chi_square():
    assert pytest.approx(chi2.ppf([1 / 3, 2 / 3], 10), abs=1e-12) == spheres.THIRDS
    assert pytest.approx(chi2.median(10), abs=5e-3) == spheres.MEDIAN
    data = make_esl_spheres(N_ROWS, random_state=0)
    assert np.mean(data.y == 1) == within(chi2.sf(9.34, 10))
    assert_gaussian(data.X, 0.0, 1.0)
    shells = make_shells(N_ROWS, random_state=0)
    squares = (shells.X**2).sum(axis=1)
    for label in (0, 1, 2):
        assert np.mean(shells.y == label) == within(1.0 / 3.0)
    assert squares[shells.y == 0].max() <= spheres.THIRDS[0] < squares[shells.y == 1].min()
    assert squares[shells.y == 1].max() <= spheres.THIRDS[1] < squares[shells.y == 2].min()


def test_bits_of_long_and_servedio_have_three_groups_and_a_majority():
    data = make_long_servedio(N_ROWS, noise=0.1, random_state=0)
    assert (np.abs(data.X) == 1.0).all()
    assert (np.sign(data.X.sum(axis=1)) == data.clean_y).all()
    right = data.clean_y[:, None] == data.X
    first, last = right[:, :11].sum(axis=1), right[:, 11:].sum(axis=1)
    groups = {"large margin": (11, 10), "puller": (11, 0), "penaliser": (5, 6)}
    members = {name: (first == a) & (last == b) for name, (a, b) in groups.items()}
    assert sum(member.sum() for member in members.values()) == N_ROWS
    shares = {name: member.mean() for name, member in members.items()}
    assert shares["large margin"] == within(0.25)
    assert shares["puller"] == within(0.25)
    assert shares["penaliser"] == within(0.5)
    penalisers = right[members["penaliser"]]
    slack = 4.5 * math.sqrt(0.25 / len(penalisers))
    expected = np.repeat([5 / 11, 6 / 10], [11, 10])
    assert np.abs(penalisers.mean(axis=0) - expected).max() < slack
    assert len(np.unique(penalisers[:, :11], axis=0)) == math.comb(11, 5)
    assert np.mean(data.clean_y == 1) == within(0.5)
