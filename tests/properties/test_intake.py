"""The same rows through every library give the same table, and nobody's data change."""
# ruff: noqa: PD011 - Column.values is our own
# ruff: noqa: DTZ001 - naive datetimes are input

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spinney.data.intake import read_table
from spinney.data.levels import Levels
from spinney.data.schema import FeatureSchema

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)
SECONDS = st.integers(-(2**33), 2**33)
CELLS = {
    "number": st.floats(allow_nan=False),
    "whole": st.integers(-(2**63), 2**63 - 1),
    "flag": st.booleans(),
    "text": TEXT,
    "moment": SECONDS.map(lambda s: dt.datetime(1970, 1, 1) + dt.timedelta(seconds=s)),
    "day": st.dates(dt.date(1800, 1, 1), dt.date(2200, 1, 1)),
    "span": st.timedeltas(dt.timedelta(days=-9999), dt.timedelta(days=9999)),
}


@st.composite
def logical_tables(draw):
    """Columns of one type each, with None for missing and at least one value present."""
    n_rows = draw(st.integers(1, 8))
    kinds = draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=5))
    columns = {}
    for place, kind in enumerate(kinds):
        cell = st.one_of(st.none(), CELLS[kind])
        values = draw(st.lists(cell, min_size=n_rows, max_size=n_rows))
        values[draw(st.integers(0, n_rows - 1))] = draw(CELLS[kind])
        columns[f"{kind} {place}"] = values
    return columns


POLARS_TYPES = {"number": pl.Float64, "whole": pl.Int64, "moment": pl.Datetime("us")}
ARROW_TYPES = {"number": pa.float64(), "whole": pa.int64(), "moment": pa.timestamp("us")}


def as_polars(columns):
    return pl.DataFrame(
        [
            pl.Series(name, values, dtype=POLARS_TYPES.get(name.split()[0]))
            for name, values in columns.items()
        ]
    )


def as_arrow(columns):
    return pa.table(
        {
            name: pa.array(values, ARROW_TYPES.get(name.split()[0]))
            for name, values in columns.items()
        }
    )


def as_pandas(columns):
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def as_typed_pandas(columns):
    return as_arrow(columns).to_pandas(types_mapper=pd.ArrowDtype)


def as_objects(columns):
    array = np.empty((len(next(iter(columns.values()))), len(columns)), object)
    for place, values in enumerate(columns.values()):
        array[:, place] = values
    return array


def assert_same(one, other, *, names=True):
    assert one.n_rows == other.n_rows
    for a, b in zip(one.columns, other.columns, strict=True):
        assert not names or a.name == b.name
        assert (a.kind, a.levels, a.timezone_aware) == (b.kind, b.levels, b.timezone_aware)
        np.testing.assert_array_equal(a.dense(one.n_rows), b.dense(one.n_rows))


@given(logical_tables())
@settings(deadline=None)
def test_the_same_rows_give_the_same_table_through_every_library(columns):
    reference = read_table(as_pandas(columns))
    for source in (as_polars, as_arrow, as_typed_pandas):
        assert_same(read_table(source(columns)), reference)
    assert_same(read_table(as_objects(columns)), reference, names=False)


@given(st.lists(TEXT, min_size=1, max_size=10), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_categories_never_matters(values, random):
    plain = read_table(pd.DataFrame({"c": values}))
    categories = [*dict.fromkeys(values), "never used"]
    assume("never used" not in values)
    random.shuffle(categories)
    shuffled = pd.Categorical(values, categories=categories)
    assert_same(read_table(pd.DataFrame({"c": shuffled})), plain)
    enum = pl.Series("c", values, dtype=pl.Enum(categories))
    assert_same(read_table(pl.DataFrame([enum])), plain)
    codes = pa.array([categories.index(value) for value in values], pa.int32())
    encoded = pa.DictionaryArray.from_arrays(codes, pa.array(categories))
    assert_same(read_table(pa.table({"c": encoded})), plain)


@given(logical_tables(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_reordered_columns_conform_to_the_same_table(columns, random):
    schema, table = FeatureSchema.learn(read_table(as_polars(columns)))
    names = list(columns)
    random.shuffle(names)
    assert_same(schema.conform(as_polars(columns).select(names)), table)
    assert_same(schema.conform(as_pandas(columns)[names]), table)


@given(logical_tables(), st.data())
@settings(deadline=None)
def test_rows_conform_one_by_one_as_they_do_together(columns, data):
    frame = as_arrow(columns)
    schema, table = FeatureSchema.learn(read_table(frame))
    rows = data.draw(st.lists(st.integers(0, table.n_rows - 1), min_size=1, max_size=6))
    assert_same(schema.conform(frame.take(rows)), table.take(rows))


@given(logical_tables())
@settings(deadline=None)
def test_a_schema_survives_its_file(columns):
    schema, _ = FeatureSchema.learn(read_table(as_polars(columns)))
    assert FeatureSchema.from_state(*schema.to_state()) == schema


@given(
    hnp.arrays(
        st.sampled_from(["f4", "f8", "i2", "i8", "u1", "?", "M8[s]", "U3", ">f8"]),
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=5),
        elements=None,
    ),
    st.booleans(),
)
@settings(deadline=None)
def test_reading_never_changes_the_bytes_of_the_input(array, fortran):
    array = np.asfortranarray(array) if fortran else array
    assume(
        array.dtype.kind != "U" or not any("\ud800" <= c <= "\udfff" for c in "".join(array.flat))
    )
    before = array.tobytes()
    schema, _ = FeatureSchema.learn(read_table(array))
    schema.conform(array)
    assert array.tobytes() == before


@given(logical_tables())
@settings(deadline=None)
def test_reading_never_changes_a_frame(columns):
    for source in (as_polars, as_arrow, as_pandas, as_typed_pandas):
        frame, twin = source(columns), source(columns)
        schema, _ = FeatureSchema.learn(read_table(frame))
        schema.conform(frame)
        assert frame.equals(twin)


@given(
    hnp.arrays(
        "f8",
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.sampled_from([0.0, 0.0, 0.0, 1.5, -2.0, np.nan, np.inf]),
    ),
    st.sampled_from(["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]),
)
@settings(deadline=None)
def test_sparse_tables_hold_the_dense_values(dense, form):
    sparse = read_table(sp.csr_array(dense).asformat(form))
    assert_same(sparse, read_table(dense))
    rows = np.arange(len(dense))[::-1]
    assert_same(sparse.take(rows), read_table(dense[rows]))


@given(
    st.lists(st.one_of(st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False)), min_size=1)
)
def test_number_levels_are_found_exactly(numbers):
    levels = Levels.of(numbers)
    assert list(levels.values) == sorted(set(numbers))
    assert Levels.from_storage("number", levels.offsets, levels.text) == levels
    codes = levels.codes_of(numbers)
    assert [levels.values[code] for code in codes] == numbers
    floats = np.array([float(number) for number in numbers])
    place = {value: code for code, value in enumerate(levels.values)}
    assert levels.codes_of(floats).tolist() == [place.get(x, -1) for x in floats.tolist()]
