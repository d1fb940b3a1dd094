"""Tables that come with scikit-learn."""

import numpy as np
from sklearn.datasets import load_breast_cancer

from spinney.datasets.dataset import Dataset


def load_tumours() -> Dataset:
    """Breast tumours of Wisconsin: 569 rows, 30 measures, benign or malignant.

    Examples
    --------
    >>> load_tumours().X.shape
    (569, 30)
    """
    bunch = load_breast_cancer()
    labels = np.asarray(bunch.target_names)[bunch.target]
    return Dataset("breast tumours (Wisconsin)", bunch.data, labels, tuple(bunch.feature_names))
