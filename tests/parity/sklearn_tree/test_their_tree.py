"""scikit-learn's ``test_tree.py``, run against our classes."""

from tests.parity.sklearn_tree.loading import their_tests

globals().update(their_tests())
