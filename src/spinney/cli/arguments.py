"""Arguments that several commands share, and how their texts are read."""

import argparse
import ast
from typing import Any


def seed(text: str) -> int:
    """Read a seed."""
    if not text.isascii() or not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number below 2**32")
    return int(text)


def count(text: str) -> int:
    """Read a positive whole number."""
    if not text.isascii() or not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number, 1 or more")
    return int(text)


def share(text: str) -> float:
    """Read a share: from 0 to below 1."""
    return _number(text, 0.0, 1.0, "a number from 0 to below 1, such as 0.2")


def level(text: str) -> float:
    """Read a level of confidence: between 0 and 1."""
    number = _number(text, 0.0, 1.0, "a number between 0 and 1, such as 0.9")
    if number == 0.0:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number between 0 and 1")
    return number


def seconds(text: str) -> float:
    """Read a time; ``90``, ``90s``, ``5m`` and ``1h`` are understood.

    Examples
    --------
    >>> seconds("90"), seconds("1.5m")
    (90.0, 90.0)
    """
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    factor = units.get(text[-1:], 1.0)
    number = text[:-1] if text[-1:] in units else text
    return factor * _number(number, 0.0, float("inf"), "a time such as 90, 90s, 5m or 1h")


def names(text: str) -> list[str]:
    """Read names with commas between them.

    Examples
    --------
    >>> names("age, town")
    ['age', 'town']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


def setting(text: str) -> tuple[str, Any]:
    """Read ``name=value``; values are numbers, true, false, none, lists, or text.

    Examples
    --------
    >>> setting("max_iter=300"), setting("loss=poisson"), setting("verbose=true")
    (('max_iter', 300), ('loss', 'poisson'), ('verbose', True))
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r}: expected name=value, such as max_iter=300")
    return name.strip(), _value(value.strip())


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _number(text: str, low: float, high: float, expected: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not low <= number < high:
        raise argparse.ArgumentTypeError(f"{text!r}: expected {expected}")
    return number


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """Add how files of text are read."""
    group = parser.add_argument_group("how the file is read")
    group.add_argument(
        "--delimiter", metavar="CHARACTER", help="between cells of a CSV file (default: found out)"
    )
    group.add_argument(
        "--missing",
        metavar="TEXT",
        action="append",
        default=[],
        help="a text that means missing, beside the usual ones such as NA; can be repeated",
    )
    group.add_argument(
        "--dates",
        choices=("day-first", "month-first", "none"),
        help="how to read 01/02/2020 (default: by what the other rows allow); none: read no text "
        "and no numbers as dates",
    )
    group.add_argument("--encoding", help="of a CSV file (default: UTF-8, else Windows-1252)")
    group.add_argument("--no-header", action="store_true", help="the first line holds data")


def add_target_arguments(parser: argparse.ArgumentParser, *, known: bool = False) -> None:
    """Add what a table of training or test rows needs; a model may know its target."""
    default = " (default: as in training)" if known else ""
    parser.add_argument(
        *("--target", "-t"), required=not known, metavar="COLUMN", help="what to predict" + default
    )
    parser.add_argument("--weight", metavar="COLUMN", help="how often each row counts")


def add_problem_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what to learn, and from which columns."""
    add_target_arguments(parser)
    parser.add_argument(
        "--task",
        choices=("classification", "regression"),
        help="(default: by the values of the target)",
    )
    add_columns_argument(parser, "--drop", "columns to leave out: a,b,c")
    add_columns_argument(
        parser, "--categorical", "columns of numbers or texts that name categories: a,b,c"
    )
    parser.add_argument("--seed", type=seed, default=0, help="decides all that is drawn (0)")


def add_columns_argument(parser: argparse._ActionsContainer, name: str, text: str) -> None:
    """Add an option that names columns, together or one by one."""
    parser.add_argument(
        name,
        action="append",
        default=[],
        metavar="COLUMNS",
        help=f"{text}; can be repeated, also with a name that has commas",
    )


def add_split_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which rows are held out."""
    parser.add_argument(
        "--test-share",
        type=share,
        default=0.2,
        metavar="SHARE",
        help="rows held out to measure on (0.2; 0 for none)",
    )
