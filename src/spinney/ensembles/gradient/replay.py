"""What a round of a finished fit saw, worked out again from the same rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data.table import Table
from spinney.ensembles.fitting import Reading, read_rows
from spinney.ensembles.gradient.boosting import GradientBoosting
from spinney.ensembles.gradient.rounds import RoundSettings
from spinney.ensembles.gradient.rows import draw_held_out, weights_in_loss
from spinney.errors import InvalidInput
from spinney.losses import Loss
from spinney.model import TreeForest
from spinney.model.derived import DerivedForest
from spinney.resampling.row_sampling import RowSample, SampledRows
from spinney.typing import AnyArray, FloatArray, TableLike


@dataclass(frozen=True, slots=True, eq=False)
class RoundRows:
    """The rows that the trees of a round were grown on, and the derivatives they were grown from.

    The numbers of rows are those of ``fit``; rows of weight 0 are gone.
    """

    table: Table
    gradients: FloatArray
    """(n_outputs, n_rows), of rows of weight 1, as the trainer rounds them: to 32 bits."""
    hessians: FloatArray | None
    """The same; None: all 1."""
    repeats: FloatArray
    """(n_rows,), how often each row counts: whole weights."""
    factors: FloatArray | None
    """(n_rows,), what derivatives are multiplied with: other weights, and class weights."""
    counted: FloatArray
    """(n_rows,), what the weight of a node is the sum of."""


def settings_of_fit(fitted: GradientBoosting) -> tuple[Loss, RoundSettings]:
    """Say by which loss and settings the model was learnt, if no parameter was changed since."""
    return fitted._settings_of_fit()  # noqa: SLF001 - parameters alone do not tell


def replay_round(
    fitted: GradientBoosting, X: TableLike, y: Any, sample_weight: Any, number: int
) -> RoundRows:
    """Find the rows of a round and their derivatives, given the table that was fitted.

    Rows held out for early stopping and rows that were not drawn are found again too: both follow
    from the seed. Where the rows cannot be those of the fit they are refused.

    Parameters
    ----------
    fitted : estimator
    X, y, sample_weight : what was given to ``fit``
    number : of the round, from 0
    """
    forest = fitted.model_
    if fitted._has_offset:  # noqa: SLF001 - part of how it was learnt
        raise InvalidInput(
            f"This {type(fitted).__name__} was fitted with offset=, which is not among the rows "
            "that are given here. Ask without X and y: then the model alone is looked at."
        )
    if fitted._validation_rows == "by_keys":  # noqa: SLF001
        raise InvalidInput(
            f"This {type(fitted).__name__} was fitted with groups= or time=, by which validation "
            "rows were held out, and they are not among the rows that are given here. Ask without "
            "X and y: then the model alone is looked at."
        )
    loss, settings = settings_of_fit(fitted)
    reading = _read_again(fitted, loss, X, y, sample_weight)
    table = forest.conform(reading.table, type(fitted).__name__)
    factors = fitted._factors(reading)  # noqa: SLF001 - class weights
    in_loss = weights_in_loss(reading.weights, factors)
    train = _training_rows(fitted, reading, loss, in_loss)
    scores = _model_before(fitted, settings, number).raw_scores(table, n_threads=settings.n_threads)
    targets = np.ascontiguousarray(reading.y.reshape(len(reading.y), -1)[:, 0])
    at = loss.derivatives(targets, np.asfortranarray(scores), settings.n_threads)
    sample = settings.sampling.draw(
        number,
        settings.seed,
        _sampled_rows(reading, factors, train),
        (at.gradients, at.hessians),
        settings.n_threads,
    )
    rows = train if sample.rows is None else sample.rows
    repeats, factors, counted = _how_they_count(
        reading.weights, factors, train, counts_rows=settings.leaves_count_rows
    )
    repeats, factors, counted = _as_sampled(repeats, factors, counted, sample)
    return RoundRows(
        table.take(rows),
        at.gradients[:, rows].astype(np.float64),
        at.hessians[:, rows].astype(np.float64) if at.hessians.size else None,
        repeats[rows],
        None if factors is None else factors[rows],
        counted[rows],
    )


def _model_before(fitted: GradientBoosting, settings: RoundSettings, number: int) -> TreeForest:
    """Give the sum that a round was added to: of earlier rounds, without those it left out."""
    n_outputs = fitted.n_trees_per_iteration_
    model = fitted.model_
    trees = model.forest if isinstance(model, DerivedForest) else model
    earlier = trees[: number * n_outputs]
    if settings.dropout.share == 0.0:
        return earlier
    weights = settings.dropout.weights_before(number, settings.seed)
    weights[settings.dropout.draw(number, settings.seed)] = 0.0
    arrays = {**earlier.arrays, "tree_weight": np.repeat(weights, n_outputs)}
    return TreeForest(
        earlier.schema, earlier.target, arrays, output=earlier.output, policy=earlier.policy
    )


def _sampled_rows(reading: Reading, factors: FloatArray | None, train: AnyArray) -> SampledRows:
    """Tell samplers what the fit told them."""
    weights = reading.weights
    if weights is not None:  # held-out rows weigh as little as any other
        known = np.full(len(weights), weights[train].min())
        known[train] = weights[train]
        weights = known
    return SampledRows.of(len(reading.y), train, weights, factors)


def _as_sampled(
    repeats: FloatArray, factors: FloatArray | None, counted: FloatArray, sample: RowSample
) -> tuple[FloatArray, FloatArray | None, FloatArray]:
    """Let rows count as the round drew them."""
    if sample.repeats is not None:
        repeats = counted = sample.repeats.astype(np.float64)
    if sample.factors is not None:
        drawn = sample.factors.astype(np.float64)
        factors = drawn[: len(repeats)] if factors is None else factors * drawn
    return repeats, factors, counted


def _read_again(
    fitted: GradientBoosting, loss: Loss, X: TableLike, y: Any, sample_weight: Any
) -> Reading:
    intake = fitted._intake_settings(multi_output=False)  # noqa: SLF001 - as fit reads them
    reading = read_rows(X, y, sample_weight, intake)
    if not reading.target.same_as(fitted.model_.target):
        raise InvalidInput(
            f"y has {_classes(reading)}, but {type(fitted).__name__} was fitted to "
            f"{_classes(fitted.model_)}. Give the y of the fit."
        )
    fitted._check_reading(reading, loss)  # noqa: SLF001 - as fit checks them
    return reading


def _classes(known: Any) -> str:
    classes = known.target.classes
    return "numbers" if classes is None else f"the classes {', '.join(map(str, classes[:5]))}"


def _training_rows(
    fitted: GradientBoosting, reading: Reading, loss: Loss, in_loss: FloatArray | None
) -> AnyArray:
    """Find the rows that were learnt from: those whose best constant the model begins with."""
    starts = []
    wanted = fitted.model_.arrays["baseline"]
    for rows in _possible_rows(fitted, reading):
        y = np.ascontiguousarray(reading.y.reshape(len(reading.y), -1)[rows, 0])
        starts.append(loss.start(y, None if in_loss is None else in_loss[rows]))
        if np.allclose(starts[-1], wanted, rtol=1e-9, atol=1e-12 * np.abs(y).max()):
            return rows
    raise InvalidInput(
        f"X, y and sample_weight are not what {type(fitted).__name__} was fitted to: the best "
        f"constant for these {len(reading.y)} rows is {_listed(starts[-1])}, but the model begins "
        f"with {_listed(wanted)}. Give the rows of the fit, in their order, with their weights."
    )


def _possible_rows(fitted: GradientBoosting, reading: Reading) -> Iterator[AnyArray]:
    """Give the rows left when some are held out, or all; of files that do not tell, both."""
    every = np.arange(len(reading.y), dtype=np.uint32)
    fraction = fitted.get_params(deep=False)["validation_fraction"]
    kind = fitted._validation_rows  # noqa: SLF001 - part of how it was learnt
    is_unknown = kind is None and fitted.do_early_stopping_ and not hasattr(fitted, "cv_score_")
    if fraction is not None and (kind == "drawn" or is_unknown):
        held_out = draw_held_out(reading, fraction, fitted._seed)  # noqa: SLF001
        yield np.setdiff1d(every, held_out)
    if kind != "drawn":
        yield every


def _how_they_count(
    weights: FloatArray | None, factors: FloatArray | None, train: AnyArray, *, counts_rows: bool
) -> tuple[FloatArray, FloatArray | None, FloatArray]:
    """Tell repetitions from factors as the grower does: repeats, factors, and what is counted."""
    if weights is None:
        ones = np.ones(int(train.max()) + 1)
        return ones, factors, ones
    if (weights[train] % 1.0 == 0.0).all():
        return weights, factors, weights
    ones = np.ones(len(weights))
    return ones, weights_in_loss(weights, factors), ones if counts_rows else weights


def _listed(numbers: FloatArray) -> str:
    return ", ".join(f"{number:.6g}" for number in numbers)
