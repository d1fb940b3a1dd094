"""What the drop-ins say that scikit-learn's classes do not."""

import numpy as np
import pytest

from spinney import HistGradientBoostingRegressor
from spinney.errors import InvalidInput


@pytest.mark.parametrize(("max_bins", "advice"), [(255, "of 300. Use Grad"), (20, "of 300. Raise")])
def test_too_many_categories_are_refused_with_what_helps(max_bins, advice):
    X = np.arange(300).astype(str)[:, np.newaxis]
    with pytest.raises(InvalidInput, match=advice):
        HistGradientBoostingRegressor(max_bins=max_bins).fit(X, np.arange(300.0))
