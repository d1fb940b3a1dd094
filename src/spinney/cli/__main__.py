"""The argument table of the ``spinney`` command."""

import argparse
import sys
from collections.abc import Sequence

import spinney
from spinney.cli.commands import demo
from spinney.errors import SpinneyError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 when it worked, 1 when it says why not, 2 for wrong arguments."""
    parser = argparse.ArgumentParser(
        prog="spinney", description="Every ensemble in the book, on one engine."
    )
    parser.add_argument("--version", action="version", version=f"spinney {spinney.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    demo.add_arguments(commands.add_parser("demo", help=demo.__doc__))
    chosen = parser.parse_args(arguments)
    try:
        chosen.run(chosen)
    except SpinneyError as error:
        print(f"spinney: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
