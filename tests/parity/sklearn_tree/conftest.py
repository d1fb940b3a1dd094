"""What scikit-learn's tests expect around them, and the tests we do not pass."""

import pytest
from tests.parity.sklearn_tree.exceptions import EXCEPTIONS


@pytest.fixture
def global_random_seed():
    return 42


def pytest_collection_modifyitems(items):
    for item in items:
        if "sklearn_tree" not in item.nodeid:
            continue
        item.add_marker(pytest.mark.filterwarnings("default"))
        reason = EXCEPTIONS.get(item.name) or EXCEPTIONS.get(item.originalname)
        if reason is not None:  # strict: a reason that holds no longer is a failure
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
