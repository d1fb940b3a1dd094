"""Bad input to bootstrap and jackknife: refused, with what was wrong and what to do."""

import numpy as np
import pytest
from scipy import sparse

from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter, UnknownParameter
from spinney.resampling import (
    DrawBlocks,
    DrawFewer,
    DrawGroups,
    DrawRows,
    DrawSimulated,
    bootstrap,
    jackknife,
)
from spinney.resampling.keys import read_ranks

X = np.arange(12.0)


@pytest.mark.parametrize("function", [bootstrap, jackknife])
@pytest.mark.parametrize(
    ("rows", "kind", "message"),
    [
        ((), InvalidInput, "needs data"),
        (([],), InvalidInput, "at least two rows, array 0 has 0"),
        (([1.0],), InvalidInput, "at least two rows, array 0 has 1"),
        (([1.0, 2.0], [1.0, 2.0, 3.0]), InvalidInput, r"The arrays have \[2, 3\] rows"),
        (("text",), InvalidInputType, "Array 0 is a str"),
        ((3.0,), InvalidInputType, "Array 0 is float"),
        ((sparse.eye(3),), InvalidInputType, "made dense"),
        (([[1, 2], [3]],), InvalidInput, "parts of different length"),
        (([1.0, np.nan, 2.0],), InvalidInput, "The statistic of the data is nan"),
        (([1, 2, None, 4],), InvalidInput, "Array 0 is numbers but for None in row 2"),
        (([1.0, np.inf, 2.0],), InvalidInput, "The statistic of the data is inf"),
    ],
)
def test_bad_data(function, rows, kind, message):
    with pytest.raises(kind, match=message):
        function(lambda *arrays: arrays[0].mean(), *rows)


@pytest.mark.parametrize("function", [bootstrap, jackknife])
@pytest.mark.parametrize(
    ("statistic", "kind", "message"),
    [
        ("mean", InvalidInputType, "The statistic is 'mean'"),
        (lambda _: "a", InvalidInputType, "The statistic gave str"),
        (lambda _: None, InvalidInput, "The statistic of the data is nan"),
        (np.unique, InvalidInput, r"The statistic gave the shape \(\d+,\) after \(12,\)"),
        (lambda x: np.nan if x.min() > 0 else 1.0, InvalidInput, "not a finite number in"),
    ],
)
def test_bad_statistics(function, statistic, kind, message):
    with pytest.raises(kind, match=message):
        function(statistic, X)


def test_labels_may_be_missing_where_the_statistic_knows_what_to_do():
    labels = np.array(["a", None, "b", "a"], dtype=object)
    assert bootstrap(lambda own: (own == "a").mean(), labels, random_state=0).estimate == 0.5


def test_a_jackknife_does_not_know_time_and_says_who_does():
    with pytest.raises(UnknownParameter, match=r"jackknife takes no argument 'time'.*DrawBlocks"):
        jackknife(np.mean, X, time=X)


@pytest.mark.parametrize("function", [bootstrap, jackknife])
def test_statistic_that_is_not_vectorized(function):
    with pytest.raises(InvalidInput, match="expected one answer for each along axis 0"):
        function(lambda x, **_: x.mean(), X, vectorized=True)
    with pytest.raises(TypeError, match="axis"):
        function(lambda x: x.mean(), X, vectorized=True)


def test_errors_of_the_statistic_are_its_own():
    def broken(_):
        raise ZeroDivisionError("mine")

    for function in (bootstrap, jackknife):
        with pytest.raises(ZeroDivisionError, match="mine"):
            function(broken, X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"level": 0}, "level=0"),
        ({"level": 95}, "level=95"),
        ({"level": "high"}, "level='high'"),
        ({"n_resamples": 1}, "n_resamples=1"),
        ({"n_resamples": 9.5}, r"n_resamples=9\.5"),
        ({"n_resamples": True}, "n_resamples=True"),
        ({"method": "BCA"}, "method='BCA'"),
        ({"method": "percentiles"}, "Did you mean 'percentile'"),
        ({"method": "bca", "draw": DrawFewer(size=3)}, "method='bca' needs draws"),
        ({"method": "bca", "draw": DrawBlocks()}, "method='bca' needs draws"),
        ({"draw": "balance"}, "Did you mean 'balanced'"),
        ({"draw": 3}, "draw=3"),
        ({"draw": DrawFewer(size=0)}, r"size=0\): expected an integer from 1 to 12"),
        ({"draw": DrawFewer(size=13)}, "from 1 to 12"),
        ({"draw": DrawFewer(size=12, replace=False)}, "from 1 to 11"),
        ({"draw": DrawFewer(size=0.5)}, r"size=0\.5"),
        ({"draw": DrawFewer(size=3, rate=0)}, "rate=0"),
        ({"draw": DrawBlocks(length=12)}, "from 1 to 11"),
        ({"draw": DrawBlocks(length=2.0)}, r"length=2\.0"),
        ({"draw": DrawBlocks(kind="stationery")}, "Did you mean 'stationary'"),
        ({"draw": DrawSimulated(3)}, "expected a function"),
        ({"draw": DrawSimulated(lambda _: 3.0)}, r"The sampler gave 3\.0"),
        ({"random_state": -1}, "random_state=-1"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises((InvalidParameter, InvalidInput), match=message):
        bootstrap(np.mean, X, **settings)


def test_bayesian_has_no_studentised_interval():
    with pytest.raises(InvalidParameter, match="has no meaning for weights"):
        bootstrap(np.average, X, draw="bayesian", method="studentised")


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (DrawGroups([1, 2]), r"groups has the shape \(2,\)"),
        (DrawGroups([1] * 12), "All rows are in the same group"),
        (DrawGroups([1.0] * 11 + [np.nan]), "groups contains NaN"),
        (DrawRows(strata=[[1, 2]] * 12), r"strata has the shape \(12, 2\)"),
        (DrawBlocks(time=["x"] * 11 + [None]), "time contains NaN"),
        (DrawBlocks(time=["x"] * 11 + [3]), "cannot be sorted together"),
    ],
)
def test_bad_labels(draw, message):
    with pytest.raises(InvalidInput, match=message):
        bootstrap(np.mean, X, draw=draw)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"delete": 0}, "delete=0: expected an integer from 1 to 11"),
        ({"delete": 12}, "delete=12: expected an integer from 1 to 11"),
        ({"delete": 1.0}, r"delete=1\.0"),
        ({"delete": 3, "groups": [0, 1, 2] * 4}, "delete=3: expected an integer from 1 to 2"),
        ({"groups": ["a"] * 12}, "All rows are in the same group"),
        ({"groups": [1, 2]}, r"groups has the shape \(2,\)"),
        ({"n_subsets": 1}, "n_subsets=1"),
        ({"level": 1.0}, r"level=1\.0"),
    ],
)
def test_bad_settings_of_the_jackknife(settings, message):
    with pytest.raises((InvalidParameter, InvalidInput), match=message):
        jackknife(np.mean, X, **settings)


def test_lists_frames_and_columns_are_data():
    import pandas as pd
    import polars as pl

    known = bootstrap(np.mean, X, random_state=0).interval
    for data in (X.tolist(), pd.Series(X, index=X + 5), pl.Series(X), tuple(X)):
        assert bootstrap(np.mean, data, random_state=0).interval == known
    table = bootstrap(lambda t: t.mean(axis=0), pd.DataFrame({"a": X, "b": -X}), random_state=0)
    assert table.low[0] == pytest.approx(known.low)
    texts = bootstrap(lambda t: float((t == "a").mean()), ["a", "b"] * 6, random_state=0)
    assert texts.estimate == 0.5


def test_stratum_of_one_row_tells_nothing_of_its_own():
    answer = bootstrap(np.mean, X, draw=DrawRows(strata=[0] * 11 + [1]), random_state=0)
    assert answer.method == "bca"
    lonely = bootstrap(np.mean, X, draw=DrawRows(strata=np.arange(12)), random_state=0)
    assert lonely.low == lonely.high == lonely.estimate
    assert lonely.method == "percentile (bca is not defined)"


@pytest.mark.parametrize(
    ("time", "shown"),
    [
        (["9", "10", "11"], r"'9' and '10' in rows 0 and 1"),
        (["31.01.2019", "01.12.2020", "02.12.2020"], r"'31.01.2019' in row 0"),
        (["2019-12", "2020-01", "2020-1"], r"'2019-12' and '2020-1' in rows 0 and 2"),
        (["2024-05-31", "2024-05-31 10:00", "2024-06-01"], r"rows 0 and 1"),
        (np.array(["may", "june", "july"]), r"'may' and 'june' in rows 0 and 1"),
        (["spring", "spring", "spring"], r"'spring' in row 0"),
    ],
)
def test_text_whose_letters_may_not_be_the_order_of_time_is_refused(time, shown):
    with pytest.raises(InvalidInput, match=rf"time is text, {shown}|time is text.*{shown}"):
        read_ranks(time, 3)


@pytest.mark.parametrize(
    ("time", "ranks"),
    [
        (["2020-02-01", "2019-12-31", "2020-02-01"], [1, 0, 1]),
        (["2024-05-31T10:00:00", "2024-05-31T09:00:00", "2023-05-31T10:00:00"], [2, 1, 0]),
        (["2024/W10", "2024/W09", "2023/W52"], [2, 1, 0]),
        (["007", "010", "009"], [0, 2, 1]),
        (["2021", "2019", "2020"], [2, 0, 1]),
    ],
)
def test_text_in_the_order_of_time_is_taken(time, ranks):
    assert read_ranks(time, 3).tolist() == ranks
    assert read_ranks(np.array(time, object), 3).tolist() == ranks
