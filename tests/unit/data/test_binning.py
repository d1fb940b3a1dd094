import time
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from tests.reference.binning import slow_bins, slow_cut_between, slow_cuts

from spinney._native import _ext
from spinney.data.binning import Binner, CategoryBins, NumericBins, native_columns
from spinney.data.fixed_point import fixed_products, fixed_weights, total_exponent
from spinney.data.intake import read_table
from spinney.data.schema import FeatureSchema

ISAS = ["portable", "avx2", "avx512"]
ISAS = ISAS[: ISAS.index(_ext.best_isa()) + 1]

any_float = st.floats(allow_nan=True, allow_infinity=True, width=64)
tied_float = st.sampled_from([0.0, -0.0, 1.0, 1.5, -2.0, 1e30, np.inf, -np.inf, np.nan, 5e-324])
columns = st.lists(any_float | tied_float, min_size=1, max_size=80).map(np.array)


@pytest.fixture(params=ISAS)
def isa(request):
    before = _ext.active_isa()
    _ext.use_isa(request.param)
    yield request.param
    _ext.use_isa(before)


def learn(values, weights=None, **options):
    table = read_table(np.asarray(values).reshape(len(values), -1))
    return Binner.learn(table, weights, **options), table


def cuts_of(values, weights=None, **options):
    return learn(values, weights, **options)[0].features[0].cuts


@given(columns, st.integers(2, 12) | st.just(255))
@settings(max_examples=300)
def test_cuts_and_bins_equal_their_slow_twins(values, max_bins):
    binner, table = learn(values, max_bins=max_bins)
    expected = slow_cuts(values, np.ones(len(values), int), max_bins)
    assert binner.features[0].cuts.tolist() == expected
    assert binner.transform(table).bins[:, 0].tolist() == slow_bins(values, expected).tolist()


@given(columns, st.integers(2, 9), st.data())
def test_a_weight_is_a_repetition(values, max_bins, data):
    weights = np.array(
        data.draw(st.lists(st.integers(1, 5), min_size=len(values), max_size=len(values))), float
    )
    repeated = np.repeat(values, weights.astype(int))
    assert cuts_of(values, weights, max_bins=max_bins).tolist() == (
        cuts_of(repeated, max_bins=max_bins).tolist()
    )
    assert cuts_of(values, weights, max_bins=max_bins).tolist() == (
        slow_cuts(values, weights, max_bins)
    )


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
@settings(max_examples=500)
def test_cut_separates_its_neighbours_and_is_float32_where_one_does(a, b):
    v, w = min(a, b) + 0.0, max(a, b) + 0.0
    if v == w:
        return
    (cut,) = cuts_of(np.array([v, w]))
    assert v <= cut < w
    assert cut == slow_cut_between(v, w)
    with np.errstate(over="ignore"):
        lowest = np.float32(v)
        lowest = lowest if float(lowest) >= v else np.nextafter(lowest, np.float32(np.inf))
        is_separable = np.isfinite(lowest) and float(lowest) < w
        if is_separable or (np.isneginf(v) and w > -float(np.finfo(np.float32).max)):
            assert float(np.float32(cut)) == cut


@pytest.mark.parametrize(
    ("v", "w", "cut"),
    [
        (1.0, 2.0, 1.5),
        (0.0, np.inf, np.finfo(np.float32).max),
        (-np.inf, 0.0, -np.finfo(np.float32).max),
        (-np.inf, np.inf, np.finfo(np.float32).max),
        (1e300, np.inf, 1e300),
        (1.0, 1.0 + 2**-52, 1.0),
    ],
)
def test_cut_of_known_neighbours(v, w, cut):
    assert cuts_of(np.array([v, w])).tolist() == [cut]


def test_all_distinct_values_get_bins_of_their_own_when_they_fit():
    values = np.arange(255.0)
    assert len(cuts_of(values)) == 254
    assert cuts_of(values).tolist() == (np.arange(254) + 0.5).tolist()


def test_a_heavy_value_keeps_its_own_bin_and_the_others_share_the_rest_evenly():
    values = np.concatenate([np.zeros(5000), np.linspace(1, 2, 1000)])
    binner, table = learn(values, max_bins=11)
    counts = np.bincount(binner.transform(table).bins[:, 0])
    assert counts[0] == 5000
    assert counts[1:].tolist() == [100] * 10


def test_no_value_gives_one_bin_for_values_and_one_for_missing():
    binner, table = learn(np.full(3, np.nan))
    assert binner.features[0].n_value_bins == 1
    assert binner.transform(table).bins.tolist() == [[1], [1], [1]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_cuts", [0, 1, 14, 15, 16, 17, 31, 32, 100, 239, 240, 254])
def test_every_instruction_set_bins_alike(isa, dtype, n_cuts):  # noqa: ARG001 - the fixture acts
    rng = np.random.default_rng(n_cuts)
    cuts = np.unique(rng.normal(size=n_cuts).astype(np.float32)).astype(float)
    values = np.concatenate([rng.normal(size=700), cuts, [np.nan, np.inf, -np.inf, 0.0, -0.0]])
    values = values.astype(dtype)
    table = read_table(values[:, np.newaxis])
    bins = Binner((NumericBins(cuts),)).transform(table).bins[:, 0]
    assert bins.tolist() == slow_bins(values, cuts).tolist()


def test_float32_and_float64_agree_when_no_float32_separates_the_values():
    wide = np.array([[1.0], [1.0 + 2**-40], [1.0 + 2**-39]])
    binner, table = learn(wide)
    narrow = read_table(wide.astype(np.float32))
    as_float64 = read_table(wide.astype(np.float32).astype(np.float64))
    assert binner.transform(table).bins[:, 0].tolist() == [0, 1, 2]
    assert binner.transform(narrow).bins.tolist() == binner.transform(as_float64).bins.tolist()


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_sparse_and_dense_bin_alike(make):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(600, 5)) * (rng.random((600, 5)) < 0.2)
    dense[3, 1] = np.nan
    dense[:, 4] = 0.0
    plain, thin = read_table(dense), read_table(make(dense))
    weights = rng.integers(1, 4, 600).astype(float)
    for given_weights in (None, weights):
        of_dense = Binner.learn(plain, given_weights, max_bins=20)
        of_sparse = Binner.learn(thin, given_weights, max_bins=20)
        for a, b in zip(of_dense.features, of_sparse.features, strict=True):
            assert a.cuts.tolist() == b.cuts.tolist()
        assert (of_dense.transform(plain).bins == of_sparse.transform(thin).dense()).all()


def test_large_tables_are_cut_from_a_sample_that_threads_and_layout_cannot_change():
    values = np.random.default_rng(1).normal(size=(300_000, 3)).astype(np.float32)
    table = read_table(values)
    one = Binner.learn(table, None, n_threads=1)
    variants = {
        "three threads": Binner.learn(table, None, n_threads=3),
        "Fortran order": Binner.learn(read_table(np.asfortranarray(values)), None),
        "float64": Binner.learn(read_table(values.astype(float)), None),
        "sparse": Binner.learn(read_table(sparse.csc_array(values)), None),
    }
    for variant in variants.values():
        for a, b in zip(one.features, variant.features, strict=True):
            assert a.cuts.tolist() == b.cuts.tolist()
    sizes = np.bincount(one.transform(table).bins[:, 0])
    assert sizes.min() * 255 / 300_000 > 0.8
    assert sizes.max() * 255 / 300_000 < 1.2


def test_sparse_and_dense_agree_when_the_sample_holds_no_zero():
    values = np.repeat([1.0, 2.0], 125_000)
    values[17] = 0.0  # one zero among 250 000 rows; the sample may or may not hold it
    for place in range(20):
        rows = np.roll(values, place)
        dense = cuts_of(rows)
        thin = Binner.learn(read_table(sparse.csc_array(rows[:, np.newaxis])), None)
        assert thin.features[0].cuts.tolist() == dense.tolist()


def test_input_is_neither_copied_nor_changed():
    values = np.random.default_rng(2).normal(size=(1000, 4))
    before = values.copy()
    for order in "CF":
        given_array = np.asarray(values, order=order)
        given_array.setflags(write=False)
        table = read_table(given_array)
        assert np.shares_memory(table.matrix, given_array)
        Binner.learn(table, None).transform(table)
        assert (given_array == before).all()


def test_columns_keep_their_arrays_alive():
    columns = native_columns(read_table(np.random.default_rng(3).normal(size=(50_000, 2))))
    cuts = _ext.find_cuts(columns, np.empty(0, np.int64), 255, 200_000, 1)
    expected = cuts_of(np.random.default_rng(3).normal(size=(50_000, 2))[:, :1])
    assert cuts[0].tolist() == expected.tolist()


def category_bins(values, weights=None):
    _, table = FeatureSchema.learn(read_table(np.array(values, object)[:, np.newaxis]))
    binner = Binner.learn(table, weights)
    assert isinstance(binner.features[0], CategoryBins)
    return binner, table


def test_few_categories_have_a_bin_each_and_missing_the_last():
    binner, table = category_bins(["b", None, "a", "b"])
    assert binner.transform(table).bins[:, 0].tolist() == [1, 2, 0, 1]


def test_of_many_categories_the_heaviest_keep_bins_and_the_others_share_one():
    values = [f"{i:04d}" for i in range(400)] + [f"{i:04d}" for i in range(100, 300)]
    binner, table = category_bins(values)
    feature = binner.features[0]
    shared = feature.bin_of_code == 254
    assert feature.n_value_bins == 255
    assert not shared[100:300].any()
    assert shared.sum() == 400 - 254
    repeated = binner.transform(table).bins[:400, 0]
    weights = np.where((np.arange(400) >= 100) & (np.arange(400) < 300), 2.0, 1.0)
    weighted, table = category_bins(values[:400], weights)
    assert weighted.transform(table).bins[:, 0].tolist() == repeated.tolist()


@given(hnp.arrays(float, st.integers(1, 30), elements=st.floats(1e-6, 1e6)), st.randoms())
def test_fixed_weights_do_not_depend_on_order_and_stay_in_their_bits(weights, random):
    integers, exponent = fixed_weights(weights, bits=52)
    order = list(range(len(weights)))
    random.shuffle(order)
    shuffled, same = fixed_weights(weights[order], bits=52)
    assert same == exponent
    assert (shuffled == integers[order]).all()
    assert 2**50 <= integers.sum() < 2**52
    assert np.allclose(np.ldexp(integers.astype(float), exponent), weights, rtol=1e-3)


def test_fixed_weights_over_twelve_decades_keep_the_smallest():
    integers, exponent = fixed_weights(np.geomspace(1e-6, 1e6, 400_000), bits=62)
    assert integers.min() >= 100
    assert exponent < 0


@given(
    hnp.arrays(float, (6, 2), elements=st.floats(-1e9, 1e9)),
    st.lists(st.integers(1, 9), min_size=6, max_size=6),
)
def test_fixed_products_of_integer_weights_equal_repetitions(values, repeats):
    weights = np.array(repeats, float)
    products, exponent = fixed_products(weights, values)
    repeated, same = fixed_products(np.ones(sum(repeats)), np.repeat(values, repeats, axis=0))
    assert same == exponent
    assert (repeated.sum(axis=0) == products.sum(axis=0)).all()
    total = np.ldexp(products.sum(axis=0).astype(float), exponent)
    exact = (weights[:, np.newaxis] * values).sum(axis=0)
    assert np.allclose(total, exact, rtol=1e-12, atol=1e-12 * np.abs(values).max(initial=1e-300))


def test_total_exponent_is_the_first_power_of_two_above_the_sum():
    assert total_exponent(np.array([1.0])) == 1
    assert total_exponent(np.array([1.0, 1.0, 1.0])) == 2
    assert total_exponent(np.array([0.25])) == -1
    assert total_exponent(np.full(1 << 20, 2.0)) == 22


def test_columns_keep_their_arrays_alive_and_take_as_long_each():
    """A hundred thousand were looked through for each one more: minutes, now a moment."""
    before = time.process_time()
    many = _ext.Columns(1)
    none, one = np.empty(0, np.int32), np.ones(1)
    for _ in range(100_000):
        many.add_sparse(none, one[:0])
        many.add_column(one)
    assert many.n_features == 200_000
    assert time.process_time() - before < 10
    borrowed = [weakref.ref(array) for array in (none, one)]
    del none, one
    assert all(array() is not None for array in borrowed)
    del many
    assert all(array() is None for array in borrowed)
