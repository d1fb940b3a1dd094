"""Bias, variance and noise of predictions that differ from training set to training set."""

from typing import Any

import numpy as np

from spinney.errors import InvalidInput, InvalidInputType
from spinney.theory.checks import choice, number_array, weight_array
from spinney.theory.error_parts import BiasVariance
from spinney.theory.votes import label_codes
from spinney.typing import AnyArray, BoolArray, FloatArray, IntArray

ZERO_ONE = ("domingos", "kohavi_wolpert")
"""Ways to take the share of wrong labels apart."""


def decompose_squared(
    predictions: Any,
    y: Any,
    *,
    noise: Any = 0.0,
    answered: Any = None,
    sample_weight: Any = None,
) -> BiasVariance:
    """Take mean squared errors apart: squared bias + variance + noise.

    Parameters
    ----------
    predictions : (n_sets, n_points) numbers
        What models fitted to different training sets say.
    y : (n_points,) or (n_targets, n_points) numbers
        The truth, without noise; or the target with its noise, which then counts as bias; or
        several targets of the same points, whose scatter is the noise.
    noise : number or (n_points,) numbers
        Variance of the noise, where it is known and y has none.
    answered : (n_sets, n_points) booleans, optional
        Which predictions are there; the others are not looked at.
    sample_weight : (n_points,) numbers, optional
        How often each point counts.

    Returns
    -------
    BiasVariance

    References
    ----------
    Geman, Bienenstock and Doursat (1992), Neural networks and the bias/variance dilemma.

    Examples
    --------
    >>> print(decompose_squared([[1.0, 5.0], [3.0, 5.0]], [3.0, 4.0], noise=0.25))
    Squared error; 2 points, each predicted by 2 models
    quantity      value
    squared bias      1
    variance        0.5
    noise          0.25
    error          1.75
    """
    there = _answered(predictions, answered)
    said = number_array(
        "predictions",
        _filled(predictions, there),
        n_axes=2,
        remedy="Say by answered= which predictions are there.",
    )
    targets = number_array("y", _targets(y, said.shape[1]), n_axes=2)
    spread = number_array("noise", np.ravel(noise), low=0.0)
    if len(spread) not in (1, said.shape[1]) or (len(targets) > 1 and spread.any()):
        raise InvalidInput(
            f"noise has {len(spread)} numbers beside y of {len(targets)} rows: expected one number "
            f"for all of {said.shape[1]} points or one for each, and one target for a point."
        )
    points, shares = _points(there, sample_weight)
    known = np.broadcast_to(spread, said.shape[1:])[points]
    # Differences from a target, so that numbers far from 0 cost no digits.
    base, there = targets[0, points], there[:, points]
    said, targets = said[:, points] - base, targets[:, points] - base
    answers, best = there.sum(axis=0), targets.mean(axis=0)
    off = said - best
    first = off[there.argmax(axis=0), np.arange(len(points))]  # answers alike vary by exactly 0
    moved = np.where(there, off - first, 0.0)
    shift = moved.sum(axis=0) / answers
    centre = first + shift
    scatter = np.where(there, moved - shift, 0.0)
    ones = np.ones(len(points))
    return BiasVariance(
        decomposition="squared",
        points=points,
        main=centre + best + base,
        biases=centre**2,
        variances=(scatter**2).sum(axis=0) / answers,
        noises=((targets - best) ** 2).mean(axis=0) + known,
        errors=_mean_losses(said, targets, there) + known,
        variance_factors=ones,
        noise_factors=ones,
        shares=shares,
        answers=answers,
    )


def decompose_zero_one(
    predictions: Any,
    y: Any,
    *,
    method: str = "domingos",
    answered: Any = None,
    sample_weight: Any = None,
) -> BiasVariance:
    """Take shares of wrong labels apart.

    *Domingos*: bias is 1 where the label predicted most often is not the best one; variance is the
    chance of another label than that. Variance adds to the error where the bias is 0, and takes
    from it where it is 1. *Kohavi and Wolpert*: half the squared differences of the chances of
    labels, in predictions and in targets, which add up to the error with no sign turned.

    Parameters
    ----------
    predictions : (n_sets, n_points) labels
        What models fitted to different training sets say.
    y : (n_points,) or (n_targets, n_points) labels
        The target, all of whose error is then bias; or several targets of the same points, whose
        scatter is the noise.
    method : {"domingos", "kohavi_wolpert"}
    answered : (n_sets, n_points) booleans, optional
        Which predictions are there; the others are not looked at.
    sample_weight : (n_points,) numbers, optional
        How often each point counts.

    Returns
    -------
    BiasVariance

    References
    ----------
    Domingos (2000), A unified bias-variance decomposition, ICML; Kohavi and Wolpert (1996), Bias
    plus variance decomposition for zero-one loss functions, ICML.

    Examples
    --------
    >>> said = [["a", "b", "a"], ["a", "a", "a"], ["b", "b", "a"], ["a", "b", "a"]]
    >>> print(decompose_zero_one(said, ["a", "a", "a"]))
    Share of wrong labels, after Domingos; 3 points, each predicted by 4 models
    quantity                 value
    bias                    0.3333
    variance where right   0.08333
    variance where wrong  -0.08333
    noise                        0
    error                   0.3333
    """
    chosen = choice("method", method, ZERO_ONE)
    there = _answered(predictions, answered)
    targets = _targets(y, there.shape[1])
    classes, (said, truth) = label_codes(predictions=_filled(predictions, there), y=targets)
    points, shares = _points(there, sample_weight)
    said, there, truth = said[:, points], there[:, points], truth[:, points]
    answers = there.sum(axis=0)
    n_classes = len(classes)
    voted = np.stack([((said == k) & there).sum(axis=0) for k in range(n_classes)]) / answers
    drawn = np.stack([(truth == k).sum(axis=0) for k in range(n_classes)]) / len(truth)
    parts = _domingos if chosen == "domingos" else _kohavi_wolpert
    return BiasVariance(
        decomposition=chosen,
        points=points,
        main=classes[voted.argmax(axis=0)],
        errors=1.0 - (voted * drawn).sum(axis=0),
        shares=shares,
        answers=answers,
        **parts(voted, drawn),
    )


def _domingos(voted: FloatArray, drawn: FloatArray) -> dict[str, FloatArray]:
    """Take errors apart, from chances of labels: (n_classes, n_points) predicted, and true."""
    at = np.arange(voted.shape[1])
    best, main = drawn.argmax(axis=0), voted.argmax(axis=0)
    right = voted[best, at]
    biased = best != main
    noises, variances = 1.0 - drawn[best, at], 1.0 - voted[main, at]
    # The chance to say just the label that noise put there, of all the chance that noise did.
    agreed = (voted * drawn).sum(axis=0) - right * drawn[best, at]
    lucky = np.divide(agreed, noises, out=np.zeros_like(noises), where=noises > 0.0)
    turned = np.divide(right, variances, out=np.zeros_like(noises), where=variances > 0.0)
    return {
        "biases": biased.astype(np.float64),
        "variances": variances,
        "noises": noises,
        "variance_factors": np.where(biased, -turned, 1.0),
        "noise_factors": right - lucky,
    }


def _kohavi_wolpert(voted: FloatArray, drawn: FloatArray) -> dict[str, FloatArray]:
    ones = np.ones(voted.shape[1])
    return {
        "biases": 0.5 * ((voted - drawn) ** 2).sum(axis=0),
        "variances": 0.5 * (1.0 - (voted**2).sum(axis=0)),
        "noises": 0.5 * (1.0 - (drawn**2).sum(axis=0)),
        "variance_factors": ones,
        "noise_factors": ones,
    }


def _mean_losses(said: FloatArray, targets: FloatArray, there: BoolArray) -> FloatArray:
    """Give the mean squared difference of each prediction from each target."""
    total = np.zeros(said.shape[1])
    for target in targets:
        total += (np.where(there, said - target, 0.0) ** 2).sum(axis=0)
    losses: FloatArray = total / (there.sum(axis=0) * len(targets))
    return losses


def _answered(predictions: Any, answered: Any) -> BoolArray:
    shape = np.shape(predictions)
    if len(shape) != 2 or 0 in shape:
        raise InvalidInput(
            f"predictions has the shape {shape}: expected (n_sets, n_points), none of them 0. Give "
            "what each model says as a row."
        )
    if answered is None:
        return np.ones(shape, bool)
    there = np.asarray(answered)
    if there.shape != shape or there.dtype.kind != "b":
        raise InvalidInputType(
            f"answered is {there.dtype} of the shape {there.shape}: expected booleans of the shape "
            f"of predictions, {shape}."
        )
    if not there.any():
        raise InvalidInput("No prediction is there, so nothing can be said of errors.")
    return there


def _filled(values: Any, there: BoolArray) -> AnyArray:
    """Put the first prediction that is there in the place of those that are not."""
    array = np.asarray(values)
    return array if there.all() else np.where(there, array, array[there][0])


def _targets(y: Any, n_points: int) -> AnyArray:
    """Read targets as (n_targets, n_points)."""
    targets = np.asarray(y)
    if targets.ndim not in (1, 2) or targets.size == 0 or targets.shape[-1] != n_points:
        raise InvalidInput(
            f"y has the shape {targets.shape}: expected a target for each of {n_points} points, "
            f"({n_points},), or several of each, (n_targets, {n_points})."
        )
    return np.atleast_2d(targets)


def _points(there: BoolArray, sample_weight: Any) -> tuple[IntArray, FloatArray]:
    """Give the points that were predicted, and how much each of them counts."""
    points = np.flatnonzero(there.any(axis=0))
    weights = weight_array(sample_weight, there.shape[1])[points]
    if not weights.sum() > 0.0:
        raise InvalidInput("sample_weight is 0 at all points that were predicted.")
    return points, weights / weights.sum()
