"""What errors advise, in the words of the command line: the library speaks to Python."""

import re

_WORDS = (
    (
        r"[Cc]all calibrate\w*\(X, y\)[^.]*\.",
        "Train it with rows held out, so with neither --refit nor --test-share 0.",
    ),
    (
        r"Give numbers, for instance with \.astype\(float\)\.",
        "Give numbers in the file; --missing TEXT reads a text as missing.",
    ),
    (r",? (?:for instance|e\.g\.|for example) with \.astype\([^)]*\)", ""),
    (r",? for instance by subtracting two datetimes", ", such as 10:30:00"),
    (
        r"Encode such columns first, for instance with sklearn\.[\w.]+\.",
        "Leave such columns out (--drop), or choose another family.",
    ),
    (r"Give grid=[^.]*\.", "Give a file of fewer rows, or leave DATA away."),
    (r"see counter_example", "see the rows below"),
    (
        r"[^.;]*\b[Kk]eep \w+(?: \w+)? with pickle or joblib[^.;]*([.;])",
        r" Choose another family\1",
    ),
    (r"[Cc]onvert y\b", "convert the target"),
    (r"\bInput y\b", "The target"),
)
"""Patterns of what only Python users can do, and what to say instead."""


def in_command_words(message: str) -> str:
    """Reword advice that cannot be followed in a terminal.

    Examples
    --------
    >>> in_command_words("'age' is text. Give numbers, for instance with .astype(float).")
    "'age' is text. Give numbers in the file; --missing TEXT reads a text as missing."
    """
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    return message
