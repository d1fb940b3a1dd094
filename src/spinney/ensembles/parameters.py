"""Rules for the values of parameters, and the sentences that explain them."""

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from spinney.errors import InvalidParameter, nearest_names
from spinney.model.saved_loss import is_custom


class Rule(Protocol):
    """What a parameter may be."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        ...

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        ...


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number; booleans do not count."""

    least: int
    most: int | None = None

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
            return False
        return self.least <= int(value) and (self.most is None or int(value) <= self.most)

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        if self.most is None:
            return f"an integer of at least {self.least}"
        return f"an integer from {self.least} to {self.most}"


@dataclass(frozen=True, slots=True)
class Real:
    """A finite number in an interval whose ends may be left out."""

    least: float
    most: float = math.inf
    above: bool = False
    """Whether ``least`` itself is left out."""
    below: bool = False
    """Whether ``most`` itself is left out."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
            return False
        try:
            number = float(value)
        except OverflowError:  # an integer beyond all floats
            return False
        high_enough = number > self.least if self.above else number >= self.least
        low_enough = number < self.most if self.below else number <= self.most
        return math.isfinite(number) and high_enough and low_enough

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        low = f"above {self.least:g}" if self.above else f"of at least {self.least:g}"
        high = f"below {self.most:g}" if self.below else f"at most {self.most:g}"
        return f"a number {low}" + ("" if math.isinf(self.most) else f" and {high}")


@dataclass(frozen=True, slots=True)
class Fraction:
    """A float above 0 and up to 1.0, told from the integers by its type."""

    below_one: bool = False
    """Whether 1.0 itself is left out."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        if not isinstance(value, float | np.floating):
            return False
        return 0.0 < float(value) < 1.0 or (float(value) == 1.0 and not self.below_one)

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        return f"a float in (0, 1{')' if self.below_one else ']'} for a share"


@dataclass(frozen=True, slots=True)
class Boolean:
    """True or False."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        return isinstance(value, bool | np.bool_)

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        return "True or False"


@dataclass(frozen=True, slots=True)
class Scoring:
    """How scikit-learn says what is measured."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        if isinstance(value, str):
            return value == "loss" or value in self.words
        return value is None or callable(value)

    @property
    def words(self) -> tuple[str, ...]:
        """Names of scorers, and "loss"."""
        from sklearn.metrics import get_scorer_names  # noqa: PLC0415 - 0.1 s, for few only

        return ("loss", *get_scorer_names())

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        return (
            "'loss', the name of a scorer (sklearn.metrics.get_scorer_names()), a callable "
            "(estimator, X, y), or None for the estimator's own score"
        )


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    options: tuple[str, ...]

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        return isinstance(value, str) and value in self.options

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        return " or ".join(repr(option) for option in self.options)


@dataclass(frozen=True, slots=True)
class Nothing:
    """None, with what it stands for."""

    meaning: str

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        return value is None

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        return f"None for {self.meaning}"


@dataclass(frozen=True, slots=True)
class Jobs:
    """scikit-learn's ``n_jobs``."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        is_bool = isinstance(value, bool | np.bool_)
        is_count = isinstance(value, numbers.Integral) and not is_bool and value != 0
        return value is None or is_count

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        return "a positive number of threads, -1 for all available ones, or None for the default"


@dataclass(frozen=True, slots=True)
class Seed:
    """scikit-learn's ``random_state``."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        if value is None or isinstance(value, np.random.Generator | np.random.RandomState):
            return True
        return Integer(0, 2**64 - 1).accepts(value)

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        return "None, an integer in [0, 2**64), a numpy.random.Generator or a RandomState"


@dataclass(frozen=True, slots=True)
class LossObject:
    """A loss that the user wrote."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        return is_custom(value)

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        return "an object (not a class) with methods value(y, raw) and gradients(y, raw)"


@dataclass(frozen=True, slots=True)
class BaseLearner:
    """An estimator with scikit-learn's methods, not its class; or None."""

    none: str
    """What None stands for."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        needed = ("fit", "predict", "get_params")
        has_methods = all(callable(getattr(value, name, None)) for name in needed)
        return value is None or (has_methods and not isinstance(value, type))

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        return f"None for {self.none}, or an estimator with fit, predict and get_params"


@dataclass(frozen=True, slots=True)
class Checked:
    """Anything here: the code that uses it checks it against the data."""

    expected: str

    def accepts(self, value: Any) -> bool:  # noqa: ARG002 - the protocol's signature
        """Tell whether the value may be used."""
        return True

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        return self.expected


@dataclass(frozen=True, slots=True)
class Either:
    """Any of several rules."""

    rules: tuple[Rule, ...]

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        return any(rule.accepts(value) for rule in self.rules)

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        return ", or ".join(rule.describe() for rule in self.rules)


def either(*rules: Rule) -> Either:
    """Join rules: a value need satisfy only one."""
    return Either(rules)


VERBOSE: Rule = either(Boolean(), Integer(0))
"""Of ``verbose``: 1 shows a bar, and True is 1, but for votes, which print lines then."""


def check_parameters(owner: str, values: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Refuse the first value that breaks its rule.

    Examples
    --------
    >>> check_parameters("Tree", {"max_depth": 0}, {"max_depth": Integer(1)})
    Traceback (most recent call last):
    ...
    spinney.errors.InvalidParameter: max_depth=0 of Tree: expected an integer of at least 1.
    """
    for name, rule in rules.items():
        value = values[name]
        if not rule.accepts(value):
            hint = nearest_names(value, _words(rule)) if isinstance(value, str) else ""
            raise InvalidParameter(
                f"{name}={value!r} of {owner}: expected {rule.describe()}.{hint}"
            )


def _words(rule: Rule) -> tuple[str, ...]:
    if isinstance(rule, Choice):
        return rule.options
    if isinstance(rule, Scoring):
        return rule.words
    if isinstance(rule, Either):
        return tuple(word for part in rule.rules for word in _words(part))
    return ()
