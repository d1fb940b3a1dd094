"""What scikit-learn's tests expect around them, and the tests we do not pass."""

import pytest
from sklearn.tests.metadata_routing_common import ConsumingClassifier
from tests.parity.sklearn_bagging.exceptions import EXCEPTIONS
from tests.parity.their_module import expect_exceptions
from threadpoolctl import threadpool_limits

import spinney

OUR_TREES = ("test_estimator", "test_oob_score_regression")


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


@pytest.fixture(autouse=True)
def trees_of_the_same_library(request, monkeypatch):
    """Let the trees of some tests be ours, as those of scikit-learn's bags are its own.

    One is about the default base learner. The other compares the score out of bag with that of a
    test set by a bound that draws decide: of twelve seeds bags of scikit-learn's trees miss it on
    three, whoever bags them.
    """
    if request.node.originalname in OUR_TREES:
        for name in ("DecisionTreeClassifier", "DecisionTreeRegressor"):
            monkeypatch.setitem(request.function.__globals__, name, getattr(spinney, name))


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: a mark of scikit-learn's tests")


def pytest_collection_modifyitems(items):
    expect_exceptions(items, "sklearn_bagging", EXCEPTIONS)
