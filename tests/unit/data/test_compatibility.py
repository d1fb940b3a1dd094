import itertools

import numpy as np
import pytest

from spinney.data.compatibility import conform_column
from spinney.data.table import Column, Kind
from spinney.errors import InvalidInputType

FEATURES = {
    "numeric": Column("f", Kind.NUMERIC, np.array([1.0])),
    "boolean": Column("f", Kind.BOOLEAN, np.array([1.0])),
    "text": Column.from_dictionary("f", np.array([0]), ["a"]),
    "numbers": Column.from_dictionary("f", np.array([0]), [1]),
    "booleans": Column.from_dictionary("f", np.array([0]), [True]),
    "date": Column("f", Kind.DATE, np.array([0.0])),
    "naive": Column("f", Kind.DATETIME, np.array([0.0]), timezone_aware=False),
    "aware": Column("f", Kind.DATETIME, np.array([0.0]), timezone_aware=True),
    "duration": Column("f", Kind.DURATION, np.array([0.0])),
}
FRIENDS = [
    {"numeric", "boolean"},
    {"date", "naive"},
    {"numbers", "booleans"},
]
ONE_WAY = {
    (given, fitted) for given in ("numeric", "boolean") for fitted in ("numbers", "booleans")
}


def fits(given, fitted):
    pair = {given, fitted}
    return (
        len(pair) == 1 or any(pair <= friends for friends in FRIENDS) or (given, fitted) in ONE_WAY
    )


@pytest.mark.parametrize(("given", "fitted"), list(itertools.product(FEATURES, FEATURES)))
def test_every_pair_of_kinds_fits_or_is_refused(given, fitted):
    column, feature = FEATURES[given], FEATURES[fitted]
    if fits(given, fitted):
        conformed = conform_column(column, feature, 1, unseen="error")
        assert conformed.kind is feature.kind
        assert conformed.levels == feature.levels
    else:
        with pytest.raises(
            InvalidInputType, match=r"Column 'f' is .*, but the model was fitted on"
        ):
            conform_column(column, feature, 1, unseen="error")


@pytest.mark.parametrize("fitted", FEATURES)
def test_a_column_without_a_value_fits_every_feature(fitted):
    empty = Column("f", Kind.NUMERIC, np.array([np.nan, np.nan]))
    conformed = conform_column(empty, FEATURES[fitted], 2, unseen="error")
    assert conformed.kind is FEATURES[fitted].kind
    assert conformed.is_all_missing()
    assert len(conformed.values) == 2
