"""Errors: one base, two families, and the words that help."""

import inspect
import pickle

import pytest

from spinney import errors
from spinney.errors import SpinneyError, nearest_names, shorten

CLASSES = [
    cls
    for _, cls in inspect.getmembers(errors, inspect.isclass)
    if issubclass(cls, SpinneyError) and cls is not SpinneyError
]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_error_is_ours_and_a_value_or_type_error(cls):
    assert issubclass(cls, ValueError) or issubclass(cls, TypeError)
    assert cls.__doc__
    assert cls.__module__ == "spinney.errors"


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_error_survives_the_way_home_from_a_worker_process(cls):
    again = pickle.loads(pickle.dumps(cls("what, where, what to do")))
    assert type(again) is cls
    assert str(again) == "what, where, what to do"


def test_native_code_raises_our_classes():
    from spinney._native import _ext

    with pytest.raises(errors.InvalidParameter, match="names no instruction set"):
        _ext.use_isa("nonsense")


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("max_dept", ["max_depth", "n_jobs"], " Did you mean 'max_depth'?"),
        ("colour", ["color", "colours"], " Did you mean 'colours' or 'color'?"),
        ("zzz", ["max_depth"], ""),
        ("a", [], ""),
    ],
)
def test_nearest_names_are_suggested_best_first(name, known, said):
    assert nearest_names(name, known) == said


def test_at_most_three_names_are_suggested():
    assert nearest_names("aaaa", [f"aaa{i}" for i in range(9)]).count("'") == 6


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ([], ""),
        (["a"], "'a'"),
        ([1, 2, 3, 4, 5], "1, 2, 3, 4, 5"),
        (range(7), "0, 1, 2, 3, 4 and 2 more"),
    ],
)
def test_lists_are_shortened(items, text):
    assert shorten(items) == text
