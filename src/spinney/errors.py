"""Every exception Spinney raises, under one base class.

A message answers three questions in the user's words: what was wrong (with the value and the
place), what was expected, what to do. Each class is also a ``ValueError`` or a ``TypeError``, so
that code written for scikit-learn keeps working.
"""

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


class SpinneyError(Exception):
    """Base of all exceptions raised by Spinney."""


class InvalidInput(SpinneyError, ValueError):  # noqa: N818 - reads as a sentence: raise InvalidInput
    """A table, target or weight holds a value that cannot be used."""


class InvalidInputType(SpinneyError, TypeError):  # noqa: N818
    """A table, target or weight is of a kind that cannot be used."""


class NotOffered(InvalidInput, NotImplementedError):  # noqa: N818
    """A task that an estimator was never made for."""


class InvalidParameter(SpinneyError, ValueError):  # noqa: N818
    """A parameter of an estimator has a name or a value that does not exist."""


class UnknownParameter(InvalidParameter, TypeError):  # noqa: N818
    """A parameter was given to an estimator that has none of that name."""


class WeakLearnerFailed(SpinneyError, ValueError):  # noqa: N818
    """A base learner raised, or answered what no learner may answer."""


class InvalidModel(SpinneyError, ValueError):  # noqa: N818
    """The arrays of a model contradict each other."""


class FalseCertificate(SpinneyError, ValueError):  # noqa: N818
    """A certificate states what its own numbers do not bear out."""


class NotSolved(SpinneyError, ValueError):  # noqa: N818
    """A linear program came back without an answer that is good enough."""


class NotCalibrated(SpinneyError, ValueError):  # noqa: N818
    """An interval or a set was asked of an ensemble that does not know how far off it is."""


class InvalidFile(SpinneyError, ValueError):  # noqa: N818
    """A model file is damaged, truncated, or not a model file."""


class NewerFile(InvalidFile):
    """A model file was written by a later format version than this library reads."""


class CannotSave(SpinneyError, TypeError):  # noqa: N818
    """Something inside a fitted estimator has no safe form in a file."""


class InterruptedFit(UserWarning):
    """A fit was interrupted and kept what it had learnt."""


class OutOfTime(UserWarning):
    """A fit used up its time budget and kept what it had learnt."""


class NothingLearnt(UserWarning):
    """A booster found no learner better than guessing, so its model says the same of all rows."""


class SmallWeights(UserWarning):
    """Weights are so small that no leaf can be as heavy as it must be."""


def nearest_names(name: str, known: Iterable[str], *, most: int = 3) -> str:
    """Say which known names look like ``name``, as the end of an error message.

    Examples
    --------
    >>> nearest_names("max_dept", ["max_depth", "max_bins", "n_jobs"])
    " Did you mean 'max_depth'?"
    >>> nearest_names("zzz", ["max_depth"])
    ''
    """
    close = difflib.get_close_matches(name, list(known), n=most, cutoff=0.6)
    if not close:
        return ""
    return f" Did you mean {' or '.join(repr(match) for match in close)}?"


def shorten(items: Iterable[object], *, most: int = 5) -> str:
    """List the first few items for an error message.

    Examples
    --------
    >>> shorten(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    shown = [repr(item) for item in items]
    rest = len(shown) - most
    return ", ".join(shown[:most]) + (f" and {rest} more" if rest > 0 else "")


def refusing(**remedies: str) -> Callable[[Function], Function]:
    """Make a function or method refuse arguments it has not, with what to do instead.

    Examples
    --------
    >>> @refusing(time="Sort the rows.")
    ... def mean(rows): ...
    >>> mean([1, 2], time=[3, 4])
    Traceback (most recent call last):
        ...
    spinney.errors.UnknownParameter: mean takes no argument 'time'. Sort the rows.
    """

    def decorate(function: Function) -> Function:
        known = list(inspect.signature(function).parameters)

        @functools.wraps(function)  # scikit-learn reads the signature through __wrapped__
        def called(*args: Any, **kwargs: Any) -> Any:
            for name in kwargs:
                if name not in known:
                    owner = f"{type(args[0]).__name__}." if known[0] == "self" else ""
                    others = [one for one in known if one != "self"]
                    hint = remedies.get(name) or nearest_names(name, others).strip()
                    hint = hint or f"It takes {shorten(others, most=30)}."
                    raise UnknownParameter(
                        f"{owner}{function.__name__} takes no argument {name!r}. {hint}"
                    )
            return function(*args, **kwargs)

        return cast("Function", called)

    return decorate
