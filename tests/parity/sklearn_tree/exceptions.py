"""Tests of scikit-learn that our classes do not pass, each with the reason.

A key is the name of a test, or of one of its cases. They run and must fail: an exception that is
none any more is reported.
"""

EXCEPTIONS = {}
