"""Tests of scikit-learn that our classes do not pass, each with the reason: none.

They would run and have to fail: an exception that is none any more is reported.
"""

EXCEPTIONS: dict[str, str] = {}
