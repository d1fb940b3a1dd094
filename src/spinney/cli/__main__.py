"""The ``spinney`` command: it reads the arguments, runs one command, and words what went wrong."""

import contextlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from spinney.cli.parser import build_parser, parse
from spinney.cli.voice import Voice
from spinney.cli.wording import in_command_words
from spinney.errors import InterruptedFit, SpinneyError

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns
    -------
    int
        0 when it worked, 1 when it says why not, 130 when it was interrupted. Wrong arguments end
        the process with 2.
    """
    _have_streams()
    chosen = parse(build_parser(), sys.argv[1:] if arguments is None else arguments)
    voice = Voice(as_json=chosen.json, is_quiet=chosen.quiet)
    _speak_unicode()
    try:
        with warnings.catch_warnings():
            _word_warnings(voice)
            status = int(chosen.run(chosen, voice) or 0)
            sys.stdout.flush()
    except (KeyboardInterrupt, InterruptedFit):
        print("\nspinney: interrupted; nothing was written", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever reads has read enough, as `head` does
        _forget_stdout()
        return 0
    except SpinneyError as error:
        return _fail(in_command_words(str(error)))
    except OSError as error:
        return _fail(_os_words(error))
    except MemoryError:
        return _fail("the memory is full. Use fewer rows or columns, or a larger machine.")
    except Exception as error:
        if not type(error).__module__.startswith("pyarrow"):
            raise
        return _fail(f"the table cannot be used: {str(error).splitlines()[0]}")
    return status


def _fail(message: str) -> int:
    print(f"spinney: {message}", file=sys.stderr)
    return 1


def _os_words(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename is not None else ""
    return f"{where}{error.strerror or error}"


def _word_warnings(voice: Voice) -> None:
    """Let warnings be remarks, each said once; an interrupted fit is not worth keeping here."""
    warnings.simplefilter("once")
    warnings.simplefilter("ignore", DeprecationWarning)
    warnings.simplefilter("ignore", FutureWarning)
    warnings.simplefilter("error", InterruptedFit)

    def say(message: Any, *_: Any, **__: Any) -> None:
        voice.remark(f"note: {message}")

    warnings.showwarning = say


def _speak_unicode() -> None:
    """Let names of any script through, also where the locale is C."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _have_streams() -> None:
    """Let answers and remarks go nowhere where a stream was closed, as by ``>&-``."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - until the end


def _forget_stdout() -> None:
    """Keep the interpreter from flushing into a closed pipe when it ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
