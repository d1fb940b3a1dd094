"""scikit-learn's ``test_gradient_boosting.py``, run against our classes."""

from tests.parity.sklearn_hist_gradient_boosting.loading import their_tests

globals().update(their_tests("test_gradient_boosting"))
