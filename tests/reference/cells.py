"""Claims about a forest, decided by predicting every cell of the grid of its thresholds."""

import itertools

import numpy as np

from spinney.data.table import Column, Kind, Table


def grid_values(forest, feature, *, missing=True):
    """One value per cell: numbers in order, codes of categories, and missing last."""
    if forest.schema.kinds[feature] is Kind.CATEGORICAL:
        codes = list(range(len(forest.schema.levels[feature])))
        return np.array(codes + [-1] * missing, np.int32)
    used = forest.arrays["feature"] == feature
    cuts = np.unique(forest.arrays["threshold"][used].astype(float))
    values = np.append(cuts[cuts < np.inf], np.inf)  # a cell holds its upper end
    return np.append(values, [np.nan] * missing)


def grid_scores(forest, output=0, *, missing=True):
    """Raw scores of all cells; one axis per feature."""
    values = [grid_values(forest, f, missing=missing) for f in range(forest.schema.n_features)]
    columns = np.meshgrid(*values, indexing="ij")
    schema = forest.schema
    table = Table(
        columns[0].size,
        [
            Column(name, kind, np.ascontiguousarray(column.ravel()), levels)
            for name, kind, column, levels in zip(
                schema.names, schema.kinds, columns, schema.levels, strict=True
            )
        ],
        names_given=schema.names_given,
    )
    return forest.raw_scores(table)[:, output].reshape(columns[0].shape)


def largest_fall(scores, feature, direction):
    """How far the score goes against the direction; missing values are not compared."""
    numbers = np.moveaxis(scores, feature, 0)[:-1]
    peak = np.maximum.accumulate(direction * numbers, axis=0)
    return float((peak - direction * numbers).max())


def effect(scores, feature):
    """How far the score moves when one feature moves."""
    return float(np.ptp(scores, axis=feature).max())


def forbidden_interaction(scores, groups):
    """The largest mixed difference in features that are in no group together."""
    worst = 0.0
    for size in range(2, scores.ndim + 1):
        for together in itertools.combinations(range(scores.ndim), size):
            if any(set(together) <= set(group) for group in groups):
                continue
            mixed = scores
            for axis in together:
                mixed = mixed - np.take(mixed, [0], axis=axis)
            worst = max(worst, float(np.abs(mixed).max()))
    return worst
