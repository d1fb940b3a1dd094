"""scikit-learn's ``test_weight_boosting.py``, run against our classes."""

from tests.parity.sklearn_weight_boosting.loading import their_tests

globals().update(their_tests())
