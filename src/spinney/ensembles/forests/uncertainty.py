"""Standard errors of what a forest says."""

import numpy as np

from spinney.ensembles.forests.knowledge import Knowledge
from spinney.ensembles.trees.growing import far_exponent
from spinney.errors import InvalidParameter
from spinney.model import TreeForest
from spinney.theory.forests import variance_form, variances_of
from spinney.typing import AnyArray, FloatArray

_ANSWERS_AT_ONCE = 1 << 22


def standard_errors(
    model: TreeForest, known: Knowledge, leaves: AnyArray, method: str
) -> FloatArray:
    """Estimate the standard deviation of the forest's answers over draws of training rows.

    Parameters
    ----------
    model : the trees
    known : how their rows were drawn
    leaves : (n_rows, n_trees) leaves of the rows asked about
    method : as in ``forest_variance``

    Returns
    -------
    (n_rows, n_outputs)
    """
    recipe = known.recipe
    weights = recipe.weights
    whole = weights is None or bool((weights == np.rint(weights)).all())
    if recipe.sampler not in ("bootstrap", "subsample") or recipe.classes is not None or not whole:
        raise InvalidParameter(
            "return_std=True needs trees that draw rows alike: with bootstrap=True or "
            "sampler='subsample', without class_weight, and with whole sample weights or none."
        )
    if len(model) < 2:
        raise InvalidParameter("return_std=True needs two trees at least; a hundred say little.")
    form = variance_form(
        recipe.bags().counts(range(len(model))),
        method=method,
        replacement=recipe.sampler == "bootstrap",
        weights=weights,
    )
    nodes = leaves + model.arrays["tree_start"][:-1]
    values = model.arrays["values"]
    exponent = far_exponent(values)
    values = np.ldexp(values, -exponent)
    variances = np.empty((len(leaves), values.shape[1]))
    at_once = max(1, _ANSWERS_AT_ONCE // len(model))
    for first in range(0, len(leaves), at_once):
        some = slice(first, first + at_once)
        for output in range(values.shape[1]):
            variances[some, output] = variances_of(form, values[nodes[some], output].T)
    return np.asarray(np.ldexp(np.sqrt(variances), exponent))
