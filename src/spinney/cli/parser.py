"""The table of arguments, and what is said when one is wrong."""

import argparse
import importlib
import re
from collections.abc import Sequence
from typing import NoReturn

import spinney
from spinney.errors import nearest_names

COMMANDS = (
    *("demo", "train", "predict", "evaluate", "explain"),
    *("certify", "compare", "report", "inspect", "completion"),
)
"""One file each in ``spinney.cli.commands``, in the order of the help."""


class Parser(argparse.ArgumentParser):
    """A parser that takes no abbreviations and suggests what may have been meant."""

    def __init__(self, **settings: object) -> None:
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **settings)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, what may have been meant, and where help is."""
        wrong = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if wrong:
            known = [name.strip(" '") for name in wrong[2].split(",")]
            message += nearest_names(wrong[1], known)
        self.exit(2, f"{self.prog}: {message}\nTry: {self.prog} --help\n")


def build_parser() -> Parser:
    """Make the parser of all commands. No command imports anything heavy before it runs."""
    parser = Parser(
        prog="spinney",
        description="Every ensemble in the book, on one engine.",
        epilog="spinney COMMAND --help tells more, with examples.",
    )
    parser.add_argument("--version", action="version", version=f"spinney {spinney.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name in COMMANDS:
        module = importlib.import_module(f"spinney.cli.commands.{name}")
        summary, _, rest = (module.__doc__ or "").partition("\n")
        own = commands.add_parser(name, help=summary, description=summary + "\n" + rest)
        module.add_arguments(own)
        add_voice_arguments(own)
        own.set_defaults(run=module.run, parser=own)
    return parser


def add_voice_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what every command has."""
    parser.add_argument("--json", action="store_true", help="answer in JSON, for machines")
    parser.add_argument("--quiet", "-q", action="store_true", help="no remarks, no progress")


def parse(parser: Parser, arguments: Sequence[str]) -> argparse.Namespace:
    """Read the arguments; options nobody knows are refused with a suggestion."""
    owner = _owner(parser, arguments)
    known = [text for action in owner._actions for text in action.option_strings]  # noqa: SLF001
    for text in arguments:
        name = text.partition("=")[0]
        if text == "--":
            break
        if re.fullmatch(r"--[a-z][\w-]*", name) and name not in known:
            hint = nearest_names(name, [one for one in known if len(one) > 2])
            owner.error(f"unrecognized arguments: {text}.{hint}")
    return parser.parse_args(arguments)


def _owner(parser: Parser, arguments: Sequence[str]) -> Parser:
    """Find the parser of the command that is meant."""
    first = arguments[0] if arguments else ""
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way in
        if isinstance(action.choices, dict) and first in action.choices:
            owner: Parser = action.choices[first]
            return owner
    return parser
