"""scikit-learn's ``test_forest.py``, run against our classes."""

from tests.parity.sklearn_forest.loading import their_tests

globals().update(their_tests())
