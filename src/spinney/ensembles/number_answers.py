"""What learners of one or several numbers per row have in common: their score."""

from typing import Any

import numpy as np

from spinney.data.target import read_numbers
from spinney.data.weights import read_weights
from spinney.errors import InvalidInput
from spinney.typing import TableLike


class ScoresNumbers:
    """A regressor that tells which y or weights cannot be scored."""

    predict: Any

    def score(self, X: TableLike, y: Any, sample_weight: Any = None) -> float:
        """Give R², the share of the variance that is explained; of several numbers their mean."""
        from sklearn.metrics import r2_score  # noqa: PLC0415 - 0.2 s, for few only

        said = np.asarray(self.predict(X))
        given = read_numbers(y, len(said), type(self).__name__)
        if given.shape != said.shape:
            raise InvalidInput(
                f"y has the shape {np.shape(y)}, but {said.shape} is predicted. Give a column for "
                "each number that was fitted."
            )
        weights = read_weights(sample_weight, len(said))
        return float(r2_score(given, said, sample_weight=weights))
