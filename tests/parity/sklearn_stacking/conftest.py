"""What scikit-learn's tests expect around them, and the tests we do not pass."""

import pytest
from tests.parity.sklearn_stacking.exceptions import EXCEPTIONS
from tests.parity.their_module import expect_exceptions


@pytest.fixture
def global_random_seed():
    return 42


def pytest_collection_modifyitems(items):
    expect_exceptions(items, "sklearn_stacking", EXCEPTIONS)
