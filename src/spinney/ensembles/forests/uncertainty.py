"""Standard errors of what a forest says."""

import numpy as np

from spinney.ensembles.forests.knowledge import Knowledge
from spinney.ensembles.trees.growing import far_exponents
from spinney.errors import InvalidParameter
from spinney.model import TreeForest
from spinney.resampling.bags_recipe import BagRecipe
from spinney.resampling.bags_repeated import repetitions
from spinney.theory.forests import VARIANCES, variance_form, variances_of
from spinney.typing import AnyArray, FloatArray

_ANSWERS_AT_ONCE = 1 << 22


def asks_for_errors(return_std: object) -> bool:
    """Tell whether standard errors are asked for; refuse what is no answer to that."""
    if isinstance(return_std, bool | np.bool_):
        return bool(return_std)
    known = isinstance(return_std, str) and return_std in VARIANCES
    hint = f" The way they are estimated is std_method={return_std!r}." if known else ""
    raise InvalidParameter(f"return_std={return_std!r}: expected True or False.{hint}")


def standard_errors(
    model: TreeForest,
    known: Knowledge,
    leaves: AnyArray,
    method: str,
    *,
    weighs_classes: bool = False,
) -> FloatArray:
    """Estimate the standard deviation of the forest's answers over draws of training rows.

    Parameters
    ----------
    model : the trees
    known : how their rows were drawn
    leaves : (n_rows, n_trees) leaves of the rows asked about
    method : as in ``forest_variance``
    weighs_classes : whether classes have weights that rows are drawn by

    Returns
    -------
    (n_rows, n_outputs)
    """
    if method not in VARIANCES:
        ways = ", ".join(map(repr, VARIANCES))
        raise InvalidParameter(f"std_method={method!r}: expected one of {ways}.")
    recipe = known.recipe
    if recipe.sampler not in ("bootstrap", "subsample"):
        raise InvalidParameter(
            f"return_std=True needs trees that draw rows at random one by one, and these have "
            f"sampler={recipe.sampler!r}. Fit with bootstrap=True or sampler='subsample'."
        )
    if len(model) < 2:
        raise InvalidParameter("return_std=True needs two trees at least; a hundred say little.")
    weights, chances = _meaning_of_weights(recipe, weighs_classes=weighs_classes)
    only_one = recipe.sampler == "subsample" or weights is not None or chances is not None
    if only_one and method != "infinitesimal":
        raise InvalidParameter(
            f"std_method={method!r} needs rows drawn with replacement, each for itself and all "
            "with the same chance, and here they were drawn without replacement or by weights. "
            "Use std_method='infinitesimal'."
        )
    form = variance_form(
        recipe.bags().counts(range(len(model))),
        method=method,
        replacement=recipe.sampler == "bootstrap",
        weights=weights,
        chances=chances,
    )
    nodes = leaves + model.arrays["tree_start"][:-1]
    values = model.arrays["values"]
    exponents = far_exponents(values)
    values = np.ldexp(values, -exponents)
    variances = np.empty((len(leaves), values.shape[1]))
    at_once = max(1, _ANSWERS_AT_ONCE // len(model))
    for first in range(0, len(leaves), at_once):
        some = slice(first, first + at_once)
        for output in range(values.shape[1]):
            variances[some, output] = variances_of(form, values[nodes[some], output].T)
    return np.asarray(np.ldexp(np.sqrt(variances), exponents))


def _meaning_of_weights(
    recipe: BagRecipe, *, weighs_classes: bool
) -> tuple[FloatArray | None, FloatArray | None]:
    """Say how many rows each row stands for, and its chance to be drawn; None: 1, or the former.

    Whole sample weights are repetitions. Others, and those of classes, are chances of one row.
    """
    weights = recipe.weights
    if weights is None or recipe.sampler != "bootstrap":
        return None, None
    if weighs_classes and recipe.n_draws > recipe.n_rows:
        raise InvalidParameter(
            f"return_std=True needs class_weight or whole sample weights, not both: trees drew "
            f"{recipe.n_draws} of {recipe.n_rows} rows, and which repetitions of a row are rows "
            "of their own is not kept. Repeat the rows in X and y, or leave out class_weight."
        )
    if weighs_classes or repetitions(weights) is None:
        return None, weights
    return weights, None
