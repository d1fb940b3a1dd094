import numpy as np
import pytest

from spinney.data.matching import match_by_name
from spinney.data.table import Table
from spinney.errors import InvalidInput


def table(*names):
    return Table.from_matrix(np.arange(float(len(names))).reshape(1, -1), names=names)


def test_columns_come_back_in_the_order_asked():
    found = match_by_name(table("a", "b", "c"), ["c", "a", "b"], ignore_extra=False)
    assert [column.values[0] for column in found] == [2, 0, 1]


def test_extra_columns_may_be_ignored():
    found = match_by_name(table("a", "b", "c"), ["b"], ignore_extra=True)
    assert [column.name for column in found] == ["b"]


def test_long_lists_of_differences_are_cut():
    names = [f"feature {k}" for k in range(9)]
    with pytest.raises(InvalidInput) as caught:
        match_by_name(table("zzz"), names, ignore_extra=True)
    assert str(caught.value).count("- feature") == 5
    assert "- ...\n" in str(caught.value)
    assert "zzz" not in str(caught.value)
