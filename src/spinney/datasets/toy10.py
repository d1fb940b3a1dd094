"""Ten points on which three rounds of AdaBoost can be followed by hand."""

import numpy as np

from spinney.datasets.dataset import Dataset, number_features


def make_toy10() -> Dataset:
    """Ten points in the plane that three stumps classify without error.

    AdaBoost with the best stump of each round (of equally good ones that of the lower feature, then
    of the lower threshold) goes through the errors 0.30, 0.21 and 0.14 and the votes 0.42, 0.65
    and 0.92 of the example that opens the book of Schapire and Freund.

    Returns
    -------
    Dataset
        Ten rows, labels -1 and 1.

    Examples
    --------
    >>> print(make_toy10())
    toy10: 10 rows, 2 features
    x0  x1   y
     1   2   1
     2   9   1
     3   3  -1
     4   4  -1
     5   1  -1
     6   6   1
     7   8   1
     8   5   1
     9   7  -1
    10  10  -1
    """
    heights = [2.0, 9.0, 3.0, 4.0, 1.0, 6.0, 8.0, 5.0, 7.0, 10.0]
    return Dataset(
        "toy10",
        np.column_stack([np.arange(1.0, 11.0), heights]),
        np.array([1, 1, -1, -1, -1, 1, 1, 1, -1, -1]),
        number_features(2),
        class_names=("minus", "plus"),
        source="after the example of Schapire and Freund, Boosting (2012), chapter 1",
    )
