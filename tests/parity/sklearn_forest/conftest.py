"""What scikit-learn's tests expect around them, and the tests we do not pass."""

import numpy as np
import pytest
import sklearn.datasets
from tests.parity.sklearn_forest.exceptions import EXCEPTIONS
from tests.parity.their_module import expect_exceptions


@pytest.fixture
def global_random_seed():
    return 42


@pytest.fixture(autouse=True)
def same_tables_on_every_machine(monkeypatch):
    """Round the matrices that LAPACK makes: their last bits differ from processor to processor.

    Our draws depend on the bits of the table, and whether a bound holds depends on the draws.
    """
    made = sklearn.datasets.make_low_rank_matrix

    def rounded(*args, **kwargs):
        return np.round(made(*args, **kwargs), 9)

    monkeypatch.setattr(sklearn.datasets, "make_low_rank_matrix", rounded)


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: a mark of scikit-learn's tests")


def pytest_collection_modifyitems(items):
    expect_exceptions(items, "sklearn_forest", EXCEPTIONS)
