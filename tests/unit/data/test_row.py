"""Rows without a table around them: dates and durations."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import GradientBoostingRegressor
from spinney.data.intake import read_table
from spinney.data.row import RowReader
from spinney.data.schema import FeatureSchema
from spinney.errors import InvalidInputType

DAYS = pd.date_range("2024-01-01", periods=200, freq="D")
COLUMNS = {
    "nanoseconds": DAYS + pd.to_timedelta(np.arange(200) * 1_000_003, "ns"),
    "seconds": DAYS.astype("datetime64[s]"),
    "aware": DAYS.tz_localize("Europe/Berlin"),
    "durations": pd.to_timedelta(np.arange(200) * 1_234_567_891, "ns"),
    "dates": np.array([day.date() for day in DAYS], object),
    "moments": np.array([day.to_pydatetime() for day in DAYS], object),
}


def fitted_to(column):
    frame = pd.DataFrame({"level": np.arange(200) % 3, "when": column, "word": ["a", "b"] * 100})
    target = np.arange(200.0)
    return frame, GradientBoostingRegressor(max_iter=5, min_samples_leaf=2).fit(frame, target)


@pytest.mark.parametrize("name", COLUMNS)
def test_rows_with_dates_need_no_table_and_give_the_same_bits(name):
    frame, fitted = fitted_to(COLUMNS[name])
    expected, compiled = fitted.predict(frame), fitted.compile()
    for start in (0, 60, 199):
        one = frame.iloc[start : start + 1]
        quick = fitted.model_.quick_predictions(one[["word", "when", "level"]])
        assert quick is not None
        assert quick[0, 0] == expected[start] == compiled(one.iloc[0].to_dict())
    few = fitted.model_.quick_predictions(frame[20:36])
    if frame["when"].dtype == object:
        assert few is None  # a table looks at all objects of a column
    else:
        assert np.array_equal(few[:, 0], expected[20:36])
    assert fitted.model_.quick_predictions(frame[20:37]) is None


@pytest.mark.parametrize("name", COLUMNS)
def test_missing_dates_are_missing_in_every_spelling(name):
    frame, fitted = fitted_to(COLUMNS[name])
    some = frame[:20].copy()
    some.loc[3, "when"] = pd.NaT
    expected = fitted.predict(some)
    assert fitted.model_.quick_predictions(some[3:4])[0, 0] == expected[3]
    for spelling in (None, np.nan, pd.NaT, pd.NA, np.datetime64("NaT")):
        assert fitted.compile()(some.iloc[3].to_dict() | {"when": spelling}) == expected[3]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=9), st.booleans())
def test_seconds_of_a_row_are_those_of_a_column(ticks, is_duration):
    numbers = np.array(ticks, np.int64)
    stamps = pd.to_timedelta(numbers, "ns") if is_duration else pd.to_datetime(numbers, unit="ns")
    tables = [pd.DataFrame({"when": stamps})]
    if not is_duration:
        tables.append(pd.DataFrame({"when": stamps.tz_localize("UTC").tz_convert("Asia/Tokyo")}))
    for frame in tables:
        schema, table = FeatureSchema.learn(read_table(frame))
        reader = RowReader(schema, unseen="missing")
        rows = [reader.read(frame.iloc[i].tolist())[0] for i in range(len(frame))]
        assert np.array_equal(rows, table.columns[0].values)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("nanoseconds", 3.5),
        ("nanoseconds", "2024-01-01"),
        ("nanoseconds", dt.timedelta(days=3)),
        ("nanoseconds", dt.datetime(2024, 1, 1, tzinfo=dt.UTC)),
        ("aware", dt.datetime(2024, 1, 1)),  # noqa: DTZ001 - without a time zone, on purpose
        ("aware", dt.date(2024, 1, 1)),
        ("durations", dt.date(2024, 1, 1)),
        ("durations", 7),
    ],
)
def test_what_is_no_such_date_is_judged_as_a_table(name, wrong):
    frame, fitted = fitted_to(COLUMNS[name])
    one = frame[:1].assign(when=[wrong])
    assert fitted.model_.quick_predictions(one) is None
    for frame_of_rows in (one, pd.concat([one] * 20)):
        with pytest.raises(InvalidInputType, match="Column 'when' is"):
            fitted.predict(frame_of_rows)
    with pytest.raises(InvalidInputType, match="Column 'when' is"):
        fitted.compile()(one.iloc[0].to_dict() | {"when": wrong})


def test_dates_further_away_than_nanoseconds_count_are_left_to_the_table():
    far = pd.Series(np.array(["9999-01-01", "0001-01-01"] * 100, "datetime64[s]"))
    frame, fitted = fitted_to(far)
    expected = fitted.predict(frame)
    assert [fitted.predict(frame[i : i + 1])[0] for i in (0, 1)] == expected[:2].tolist()
