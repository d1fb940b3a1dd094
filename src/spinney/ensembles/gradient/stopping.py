"""Watching rounds: measuring them, showing them, and saying when they no longer help."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import resample

from spinney.data.target import Target
from spinney.ensembles.gradient.callbacks import Callback, Freeze, RoundView, ask_callbacks
from spinney.ensembles.gradient.labels import labels_again
from spinney.ensembles.gradient.rows import BoostingRows, Part
from spinney.ensembles.gradient.sums import BoostedSum
from spinney.errors import InvalidInput, InvalidParameter
from spinney.losses import Loss
from spinney.model import Model
from spinney.progress import Progress

Measure = Callable[[BoostedSum], float]
"""How good a sum is on some rows; more is better."""

SCORED_ROWS = 10_000
"""Training rows that a scorer sees at most: metrics may cost more than a round."""


STOPS = ("max_iter", "early_stopping", "callback", "time_budget", "interrupt")
"""Why rounds end."""


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """Stop when none of the last rounds was better than the one before them."""

    patience: int
    tolerance: float
    is_share: bool = False
    """Whether the tolerance is a share of what all rounds brought, whatever scores are counted in;
    otherwise it is a difference of scores."""

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> "StoppingRule":
        """Take the rule from the parameters of an estimator."""
        is_share = not params.get("tol_is_a_score", False)
        return cls(params["n_iter_no_change"], params["tol"], is_share)

    def says_stop(self, scores: Sequence[float]) -> bool:
        """Tell whether to stop after these scores, of which more is better.

        Examples
        --------
        >>> rule = StoppingRule(patience=2, tolerance=0.1)
        >>> rule.says_stop([1.0, 1.05, 1.09]), rule.says_stop([1.0, 1.05, 1.2])
        (True, False)
        >>> StoppingRule(2, 0.1, is_share=True).says_stop([0.0, 1e-9, 2e-9, 3e-9])
        False
        """
        if len(scores) <= self.patience:
            return False
        unit = max(scores) - scores[0] if self.is_share else 1.0
        reference = scores[-self.patience - 1] + self.tolerance * unit
        return not any(score > reference for score in scores[-self.patience :])


@dataclass(frozen=True, slots=True)
class Clock:
    """The time a fit has taken, and may take."""

    began: float
    budget: float | None

    @property
    def seconds(self) -> float:
        """Since the fit began."""
        return time.monotonic() - self.began

    def is_over(self, share: float = 1.0) -> bool:
        """Tell whether a share of the budget is used up."""
        return self.budget is not None and self.seconds > share * self.budget


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """Looks at every round; ``rule`` decides by the validation rows, else by the training rows."""

    train: Measure | None
    validation: Measure | None
    rule: StoppingRule | None
    clock: Clock
    progress: Progress
    shown_as: tuple[str, float] = ("loss", -1.0)
    """What measurements are called, and what they are multiplied by to be that."""
    callbacks: tuple[Callback, ...] = ()
    freeze: Freeze | None = None

    def measure(self, grown: BoostedSum) -> None:
        """Measure the sum as it is now."""
        if self.train is not None:
            grown.train_scores.append(self.train(grown))
        if self.validation is not None:
            grown.validation_scores.append(self.validation(grown))
        if self.progress.is_shown:
            self.progress.show(grown.n_rounds_begun, self._words(grown))

    def look(self, grown: BoostedSum) -> str | None:
        """Measure the sum after a round, and give the reason to stop there is, if any."""
        self.measure(grown)
        watched = grown.train_scores if self.validation is None else grown.validation_scores
        if self._callbacks_say_stop(grown):
            return "callback"
        if self.rule is not None and self.rule.says_stop(watched):
            return "early_stopping"
        return "time_budget" if self.clock.is_over() else None

    def _callbacks_say_stop(self, grown: BoostedSum) -> bool:
        if not self.callbacks or self.freeze is None:
            return False
        view = RoundView(
            grown.n_rounds_begun,
            grown.train_scores[-1],
            grown.validation_scores[-1] if self.validation is not None else None,
            self.clock.seconds,
            grown,
            self.freeze,
            grown.weights,
        )
        return ask_callbacks(self.callbacks, view)

    def _words(self, grown: BoostedSum) -> str:
        """Say how good the last round is."""
        name, sign = self.shown_as
        of = {"training": grown.train_scores, "validation": grown.validation_scores}
        return ", ".join(f"{k} {name} {sign * v[-1]:.6g}" for k, v in of.items() if v)


def negative_loss(loss: Loss, rows: BoostingRows, part: Part, n_threads: int) -> Measure:
    """Measure by the loss itself."""
    count = loss.weight_measured(part.weights, rows.n_rows)
    return lambda grown: -loss.total(rows.y, grown.raw, part.weights, n_threads) / count


def by_scorer(
    twin: Any,
    scoring: Any,
    rows: BoostingRows,
    part: Part,
    freeze: Callable[[BoostedSum], Model],
) -> Measure:
    """Measure by a scorer of scikit-learn; ``twin`` is a fitted copy of the estimator.

    Scorers with a name ask only for predictions of the rows they are given, so they get them from
    the scores at hand. Any other callable may ask for anything: it gets an estimator with the
    model so far.
    """
    from sklearn.metrics import check_scoring  # noqa: PLC0415 - 0.1 s, for few only

    scorer = check_scoring(twin, scoring)
    y = part.take(rows.y)
    if rows.target.has_classes:
        y = labels_again(y, rows.target)
    given = {}
    if part.is_weighted and part.weights is not None:
        given["sample_weight"] = part.take(part.weights)
    table = rows.table_of(part) if callable(scoring) else None

    def measure(grown: BoostedSum) -> float:
        if table is None:
            scores = part.take(grown.raw)
            twin._raw_scores = lambda *_: scores  # noqa: SLF001 - it is ours
            twin._predictions = lambda *_: twin._through_link(scores)  # noqa: SLF001
        else:
            twin._adopt(freeze(grown))  # noqa: SLF001
        try:
            score = float(scorer(twin, table, y, **given))
        except (AttributeError, TypeError, ValueError) as error:
            if callable(scoring):
                raise  # it is the user's
            raise InvalidParameter(
                f"scoring={scoring!r} cannot judge {type(twin).__name__}: {error} Use "
                "scoring='loss', or the name of a scorer for what y holds."
            ) from error
        return _comparable(score, scoring, len(y))

    return measure


def _comparable(score: float, scoring: Any, n_rows: int) -> float:
    """Refuse NaN: no round would be better than it, or worse."""
    if math.isnan(score):
        raise InvalidInput(
            f"scoring={scoring!r} is NaN for {n_rows} rows, and no round can be better or worse. "
            "Use a score that these rows define, scoring='loss', or other rows to judge by."
        )
    return score


def check_scorer(scoring: Any, target: Target, *, has_offset: bool) -> None:
    """Refuse scorers that could not measure what is learnt."""
    if has_offset and callable(scoring):
        raise InvalidParameter(
            f"scoring={scoring!r} with offset: a callable asks for predictions of rows and cannot "
            "give their offset. Use scoring='loss', or the name of a scorer."
        )
    if target.label_classes is not None and isinstance(scoring, str) and scoring != "loss":
        raise InvalidParameter(
            f"scoring={scoring!r} is a score of one label per row, but y has {target.n_targets} "
            "columns. Use scoring='loss', None for the share of rows with all labels right, or a "
            "callable of (estimator, X, y)."
        )


def few_rows(rows: BoostingRows, part: Part, seed: int) -> Part:
    """Choose at most ``SCORED_ROWS`` rows of a part, of every class its share."""
    chosen = part.take(np.arange(rows.n_rows, dtype=np.uint32))
    if len(chosen) <= SCORED_ROWS:
        return part
    chosen = resample(
        chosen,
        n_samples=SCORED_ROWS,
        replace=False,
        random_state=seed % 2**32,
        stratify=rows.y[chosen] if rows.target.classes is not None else None,
    )
    return Part(np.sort(chosen), part.weights, part.is_weighted)
