"""What scikit-learn's tests expect around them, and the tests we do not pass."""

import pytest
from tests.parity.sklearn_bagging.exceptions import EXCEPTIONS
from tests.parity.their_module import expect_exceptions
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def one_thread():
    """Members are tiny, and threads of linear algebra would wait for each other."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def global_random_seed():
    return 42


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: a mark of scikit-learn's tests")


def pytest_collection_modifyitems(items):
    expect_exceptions(items, "sklearn_bagging", EXCEPTIONS)
