"""``spinney explain`` of models whose trees split on statistics of levels."""

import re

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import spinney as library
from spinney.model.derived import DerivedForest


@pytest.fixture(scope="module")
def shops(tmp_path_factory):
    """A model of 300 levels, and rows: the level of each is its number, small ones more often."""
    folder = tmp_path_factory.mktemp("shops")
    rng = np.random.default_rng(0)
    codes = np.concatenate([np.arange(300), np.minimum(rng.geometric(0.05, 900), 299)])
    table = pa.table(
        {
            "shop": pa.array([None if i % 40 == 0 else f"shop {c}" for i, c in enumerate(codes)]),
            "age": rng.normal(size=1200),
        }
    )
    y = rng.normal(size=300)[codes] + table.column("age").to_numpy()
    fitted = library.GradientBoostingRegressor(max_iter=10).fit(table, y)
    assert isinstance(fitted.model_, DerivedForest)
    library.save(fitted, folder / "shops.spn")
    rows = table.set_column(0, "shop", pa.array(["a new shop", *table.column("shop")[1:]]))
    parquet.write_table(rows, folder / "rows.parquet")
    return folder


def test_of_many_levels_the_most_frequent_are_chosen(spinney, shops):
    done = spinney("explain", shops / "shops.spn", shops / "rows.parquet", "--feature", "shop")
    assert done.status == 0
    assert re.search(r"the 50 most frequent of 29\d levels; --top N for more", done.err)
    assert "shop 1 " in done.out
    asked = ("--feature", "shop", "--top", "70", "--json")
    found = spinney("explain", shops / "shops.spn", shops / "rows.parquet", *asked).json
    levels = [one["value"] for one in found["points"]]
    assert len(levels) == 70
    assert {None, "shop 1", "shop 2", "shop 5"} <= set(levels)
    assert "a new shop" not in levels


def test_of_texts_the_command_asks_about_rows(spinney, tmp_path):
    texts = [f"the product number {k}" for k in range(100)]
    table = pa.table({"said": texts, "age": np.arange(100.0)})
    fitted = library.GradientBoostingRegressor(max_iter=3).fit(table, np.arange(100.0))
    library.save(fitted, tmp_path / "m.spn")
    parquet.write_table(table, tmp_path / "rows.parquet")
    for data in ((), (tmp_path / "rows.parquet",)):
        done = spinney("explain", tmp_path / "m.spn", *data, "--feature", "said")
        assert done.status == 1
        assert "'said': this is text" in done.err
        assert f"spinney explain {tmp_path / 'm.spn'} DATA --row 0" in done.err
    assert spinney("explain", tmp_path / "m.spn", *data, "--row", "0").status == 0


def test_without_rows_the_command_says_how_to_give_them(spinney, shops):
    done = spinney("explain", shops / "shops.spn", "--feature", "shop")
    assert done.status == 1
    assert f"spinney explain {shops / 'shops.spn'} DATA --feature 'shop'" in done.err
    assert "X=None" not in done.err
