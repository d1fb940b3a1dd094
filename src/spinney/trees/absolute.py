"""Growing a tree that lowers absolute error: its leaves are medians."""

import math

import numpy as np

from spinney._native import _ext
from spinney.data.fixed_point import fixed_products, fixed_weights
from spinney.trees.ranked import ForestSettings, RankedTable
from spinney.typing import AnyArray, FloatArray


def grow_absolute_tree(
    rows: RankedTable, targets: FloatArray, weights: FloatArray | None, settings: ForestSettings
) -> dict[str, AnyArray]:
    """Grow one tree whose every split lowers the absolute error of medians most.

    Parameters
    ----------
    rows : the table
    targets : (n_rows,), finite
    weights : (n_rows,), positive; None for one each
    settings : limits and seed
        Every cut is tried, whatever ``search`` says, unless it says "random".

    Returns
    -------
    dict
        Arrays of nodes in preorder, as ``TreeSum`` takes them.
    """
    centre = float(targets.min() / 2 + targets.max() / 2)
    row_weights = np.ones(len(targets)) if weights is None else weights
    products, product_exponent = fixed_products(row_weights, (targets - centre)[:, np.newaxis])
    # What fixed_products calls repetitions: whole numbers, whose products are exact.
    is_few = float(row_weights.sum()) < 2.0**31
    is_whole = is_few and bool(np.all(row_weights == np.rint(row_weights)))
    integers, exponent = np.empty(0, np.int64), 0
    if weights is not None and is_whole:
        integers = weights.astype(np.int64)
    elif weights is not None:
        integers, exponent = fixed_weights(weights, bits=62)
    grown = _ext.grow_absolute_tree(
        rows._native,  # noqa: SLF001 - one package: the grower of ranks and its sister
        np.ascontiguousarray(targets),
        np.ascontiguousarray(products[:, 0]),
        integers,
        centre,
        (math.ldexp(1.0, product_exponent), math.ldexp(1.0, exponent)),
        is_whole,
        settings.to_native(),
    )
    grown["category_sets"] = grown["category_sets"].reshape(-1, 32)
    return grown
