import numpy as np
import pandas as pd
import pytest

from spinney.data.intake import read_table
from spinney.data.schema import FeatureSchema
from spinney.report.checks.columns import same_columns, summarise, unseen_levels
from spinney.report.checks.drift import column_drifts, tell_apart
from spinney.report.checks.leaks import find_leaks, single_powers
from spinney.report.checks.repeats import find_repeats


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_a_copy_of_the_target_is_found_in_every_task(rng):
    noise = rng.normal(size=500)
    y = rng.normal(size=500)
    numbers = read_table(np.column_stack([noise, 3 * y - 2]))
    (leak,) = find_leaks(numbers, y[:, None], 0, seed=0)
    assert (leak.name, leak.is_copy) == ("x1", True)
    codes = rng.integers(0, 3, 500)
    levels = read_table(pd.DataFrame({"a": noise, "b": np.array(["u", "v", "w"])[codes]}))
    (leak,) = find_leaks(levels, codes, 3, seed=0)
    assert (leak.name, leak.is_copy) == ("b", True)
    (leak,) = find_leaks(read_table(np.column_stack([noise, codes > 0])), (codes > 0) * 1, 2, 0)
    assert leak.name == "x1"


def test_a_feature_that_is_missing_where_the_answer_is_yes_leaks(rng):
    y = rng.integers(0, 2, 600)
    x = np.where(y == 1, np.nan, rng.normal(size=600))
    (leak,) = find_leaks(read_table(np.column_stack([x, rng.normal(size=600)])), y, 2, seed=0)
    assert leak.name == "x0"
    assert not leak.is_copy


def test_honest_features_and_row_numbers_do_not_leak(rng):
    X = np.column_stack([rng.normal(size=800), np.arange(800)])
    y = (X[:, 0] + rng.normal(size=800) > 0) * 1
    assert find_leaks(read_table(X), y, 2, seed=0) == ()
    assert single_powers(read_table(X), y, 2, seed=0)[0] > 0.3


def test_repeated_shared_and_contradictory_rows_are_counted():
    table = read_table([[1.0, "a"], [1.0, "a"], [None, "b"], [None, "b"], [2.0, None], [-0.0, "c"]])
    train = read_table([[0.0, "c"], [2.0, None], [5.0, "a"]])
    schema, table = FeatureSchema.learn(table)
    found = find_repeats(table, np.array([0, 1, 0, 0, 1, 1]), schema.conform(train))
    assert (found.n_repeated, found.n_contradictory, found.n_shared) == (2, 2, 2)
    assert found.examples == ((0, 1), (2, 3))


def test_columns_that_number_rows_or_say_nothing_are_found(rng):
    n = 200
    frame = pd.DataFrame(
        {
            "id": np.arange(n) + 1000,
            "key": [f"row {k}" for k in range(n)],
            "constant": 3.0,
            "empty": np.nan,
            "income": rng.normal(size=n),
            "count": rng.integers(0, 9, n),
        }
    )
    found = {s.name: s for s in summarise(read_table(frame), None)}
    assert [name for name, s in found.items() if s.is_id] == ["id", "key"]
    assert [name for name, s in found.items() if s.is_constant] == ["constant", "empty"]
    assert found["empty"].missing_share == 1.0


def test_summaries_hold_quartiles_shares_and_histograms():
    frame = pd.DataFrame({"x": np.arange(101.0), "c": ["a"] * 80 + ["b"] * 20 + [None]})
    x, c = summarise(read_table(frame), read_table(frame))
    assert x.quartiles == (0.0, 25.0, 50.0, 75.0, 100.0)
    assert sum(x.histogram) == pytest.approx(1.0)
    assert x.histogram == x.train_histogram
    assert c.top == (("a", 80 / 101), ("b", 20 / 101))
    assert c.missing_share == pytest.approx(1 / 101)


def test_equal_columns_are_paired_and_others_are_not():
    frame = pd.DataFrame({"a": [1.0, 2.0, np.nan], "b": [1.0, 2.0, np.nan], "c": [1.0, 2.0, 3.0]})
    assert same_columns(read_table(frame)) == [("a", "b")]


def test_unseen_categories_are_counted_by_rows():
    schema, _ = FeatureSchema.learn(read_table(pd.DataFrame({"c": ["a", "b"], "x": [1.0, 2.0]})))
    asked = pd.DataFrame({"x": [0.0] * 4, "c": ["a", "new", "new", None]})
    assert unseen_levels(schema, asked) == {"c": (2, ["new"])}


def test_drift_is_zero_between_equal_tables_and_one_between_different_ones(rng):
    frame = pd.DataFrame({"x": rng.normal(size=300), "c": rng.choice(["a", "b"], 300)})
    schema, table = FeatureSchema.learn(read_table(frame))
    assert [d.distance for d in column_drifts(table, table)] == [0.0, 0.0]
    moved = schema.conform(pd.DataFrame({"x": frame.x + 100, "c": [None] * 300}))
    found = column_drifts(moved, table)
    assert [d.distance for d in found] == [1.0, 1.0]
    assert max(d.p_value for d in found) < 1e-10


def test_the_distance_of_numbers_is_that_of_kolmogorov_and_smirnov(rng):
    from scipy.stats import ks_2samp

    a, b = rng.normal(size=200), rng.normal(0.4, 1.2, size=350)
    (found,) = column_drifts(read_table(a[:, None]), read_table(b[:, None]))
    assert found.distance == pytest.approx(ks_2samp(a, b).statistic, abs=1e-12)


def test_a_booster_tells_moved_tables_apart_and_equal_ones_not(rng):
    a, b = (read_table(rng.normal(size=(800, 3))) for _ in range(2))
    assert abs(tell_apart(a, b, seed=0) - 0.5) < 0.06
    moved = read_table(rng.normal(size=(800, 3)) + np.array([2, 0, 0]))
    assert tell_apart(moved, b, seed=0) > 0.85
