"""Tables that come with scikit-learn."""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer

from spinney.typing import AnyArray


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A table with its target."""

    name: str
    X: AnyArray
    y: AnyArray
    feature_names: tuple[str, ...]


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
