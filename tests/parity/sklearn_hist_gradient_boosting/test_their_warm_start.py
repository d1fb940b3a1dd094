"""scikit-learn's ``test_warm_start.py``, run against our classes."""

from tests.parity.sklearn_hist_gradient_boosting.loading import their_tests

globals().update(their_tests("test_warm_start"))
