"""Tests of scikit-learn that our classes do not pass, each with the reason.

They run and must fail: an exception that is none any more is reported.
"""

EXCEPTIONS = {
    "test_voting_verbose": "expects a line of each member on stdout; ours shows one progress bar "
    "on stderr, and is silent where that is no terminal",
}
