"""Rows that any model of a schema can be asked about."""

from dataclasses import replace

import numpy as np

from spinney.data.levels import Levels
from spinney.data.schema import FeatureSchema
from spinney.data.table import Column, Kind, Table

TEXTS = ("", "than of them", "BIG, big or größer", "größer", "6 7 8", "İ ΟΔΟΣ 東京", "\n", "them")


def rows_for(schema: FeatureSchema) -> Table:
    """Make 16 rows: all levels in turn, numbers from both tails, missing values."""
    exact = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 1 + 2.0**-50, 1e300, -1e-300]
    floats = np.array([*exact, 0.5, 2.5, 4.0, 5.5, 7.0, 8.5, 1.7e9])
    columns = []
    for place in range(schema.n_features):
        feature = schema.feature(place)
        if feature.kind is Kind.CATEGORICAL:
            codes = (np.arange(16) * 5 + place) % (len(feature.levels) + 1) - 1
            values = codes.astype(np.int32)
        elif feature.kind is Kind.TEXT:
            levels = Levels.of(TEXTS)
            feature = replace(feature, levels=levels)
            values = levels.codes_of([*TEXTS, *[None] * (16 - len(TEXTS))])
        else:
            values = np.roll(floats, place)
        aware = feature.timezone_aware
        column = Column(feature.name, feature.kind, values, feature.levels, timezone_aware=aware)
        columns.append(column)
    return Table(16, columns, names_given=schema.names_given)
