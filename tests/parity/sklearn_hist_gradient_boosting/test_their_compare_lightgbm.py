"""scikit-learn's ``test_compare_lightgbm.py``, run against our classes."""

from tests.parity.sklearn_hist_gradient_boosting.loading import their_tests

globals().update(their_tests("test_compare_lightgbm"))
