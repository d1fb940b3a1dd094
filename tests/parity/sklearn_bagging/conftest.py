"""What scikit-learn's tests expect around them, and the tests we do not pass."""

import pytest
from sklearn.tests.metadata_routing_common import ConsumingClassifier
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


@pytest.fixture(autouse=True)
def members_predict_labels(monkeypatch):
    """Let their member predict its classes: their bagging tells members codes, ours labels.

    It predicts 0 and 1 whatever it was told, and we refuse members that predict no class of y.
    """
    codes = ConsumingClassifier.predict

    def predict(self, X, **metadata):
        said = codes(self, X, **metadata)
        return self.classes_[said.clip(max=len(self.classes_) - 1)]

    monkeypatch.setattr(ConsumingClassifier, "predict", predict)


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: a mark of scikit-learn's tests")


def pytest_collection_modifyitems(items):
    expect_exceptions(items, "sklearn_bagging", EXCEPTIONS)
