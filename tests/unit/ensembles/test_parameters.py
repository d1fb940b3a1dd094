"""Rules of parameters: what they accept, and the sentences they make."""

import math

import numpy as np
import pytest

from spinney import DecisionTreeClassifier, DecisionTreeRegressor
from spinney.ensembles.parameters import (
    Checked,
    Choice,
    Fraction,
    Integer,
    Nothing,
    Real,
    check_parameters,
    either,
)
from spinney.errors import InvalidParameter, UnknownParameter

NAN = float("nan")

ACCEPTED = [
    (Integer(1), [1, 10**9, np.int8(3), np.uint64(7)]),
    (Integer(2, 255), [2, 255]),
    (Real(0.0), [0, 0.0, 1e300, np.float32(2), 5]),
    (Real(0.0, 1.0, above=True), [1e-300, 1.0, 1]),
    (Fraction(), [1e-9, 0.5, 1.0, np.float32(0.25)]),
    (Choice(("a", "b")), ["a", "b"]),
    (Nothing("all"), [None]),
    (Checked("anything"), [None, 1, {}, NAN]),
    (either(Integer(1), Nothing("all")), [1, None]),
]
REFUSED = [
    (Integer(1), [0, -1, 1.0, True, np.True_, "1", None, NAN, 1j, [1]]),
    (Integer(2, 255), [1, 256]),
    (Real(0.0), [-1e-300, NAN, math.inf, True, "0", None, 1j]),
    (Real(0.0, 1.0, above=True), [0.0, 0, 1.0000001]),
    (Fraction(), [0.0, 1, -0.5, 1.5, NAN, True, "0.5", None]),
    (Choice(("a", "b")), ["A", "", None, 0, b"a"]),
    (Nothing("all"), [0, "", False]),
    (either(Integer(1), Nothing("all")), [0, "None", False]),
]


def pairs(table):
    return [pytest.param(rule, v, id=f"{rule.describe()}-{v!r}") for rule, vs in table for v in vs]


@pytest.mark.parametrize(("rule", "value"), pairs(ACCEPTED))
def test_rule_accepts(rule, value):
    assert rule.accepts(value)


@pytest.mark.parametrize(("rule", "value"), pairs(REFUSED))
def test_rule_refuses(rule, value):
    assert not rule.accepts(value)


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (Integer(1), "an integer of at least 1"),
        (Integer(2, 255), "an integer from 2 to 255"),
        (Real(0.0), "a number of at least 0"),
        (Real(0.0, 1.0, above=True), "a number above 0 and at most 1"),
        (Choice(("a", "b")), "'a' or 'b'"),
        (either(Integer(1), Nothing("no limit")), "an integer of at least 1, or None for no limit"),
    ],
)
def test_rule_finishes_the_sentence(rule, sentence):
    assert rule.describe() == sentence


def test_message_has_owner_parameter_value_expectation_and_suggestion():
    rules = {"loss": either(Choice(("squared", "absolute")), Nothing("squared"))}
    with pytest.raises(InvalidParameter) as caught:
        check_parameters("Boost", {"loss": "sqared"}, rules)
    assert str(caught.value) == (
        "loss='sqared' of Boost: expected 'squared' or 'absolute', or None for squared. "
        "Did you mean 'squared'?"
    )


def test_rules_are_asked_at_fit_and_not_before():
    tree = DecisionTreeClassifier(max_depth=-1)
    tree.set_params(max_bins=1)
    with pytest.raises(InvalidParameter, match="max_depth=-1"):
        tree.fit([[0.0], [1.0]], [0, 1])


def test_parameters_are_checked_before_the_data():
    with pytest.raises(InvalidParameter, match="max_depth=0"):
        DecisionTreeRegressor(max_depth=0).fit("no table", None)


@pytest.mark.parametrize("estimator", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_defaults_pass_their_own_rules(estimator):
    check_parameters(estimator.__name__, estimator().get_params(), estimator._rules)


def test_unknown_parameter_without_a_near_one_lists_what_there_is():
    with pytest.raises(UnknownParameter, match=r"no parameter 'zzz'\. It has 'categorical_feat"):
        DecisionTreeClassifier(zzz=1)


def test_one_wrong_name_leaves_all_parameters_as_they_were():
    tree = DecisionTreeClassifier()
    with pytest.raises(UnknownParameter):
        tree.set_params(max_depth=3, max_dpth=4)
    assert tree.max_depth is None
