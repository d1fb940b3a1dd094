"""The loop of the AdaBoost family."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spinney.ensembles.adaptive.variant import Refusal, Round, Variant
from spinney.ensembles.weak.learners import WeakLearner
from spinney.progress import Progress
from spinney.theory.trace import Trace
from spinney.typing import FloatArray

MOST_RESETS = 10
"""Times in a row that weights are reset before boosting gives up; Breiman (1998)."""


@dataclass(slots=True, eq=False)
class Boosted:
    """The rounds so far."""

    rounds: list[Round] = field(default_factory=list)
    distributions: list[FloatArray] | None = None
    stop_reason: str = ""

    @property
    def members(self) -> list[Any]:
        """All members, in the order of rounds."""
        return [member for one in self.rounds for member in one.members]

    @property
    def weights(self) -> FloatArray:
        """Weights of the members in the model."""
        return np.array([weight for one in self.rounds for weight in one.weights])

    def trace(self) -> Trace:
        """Give the numbers of all rounds."""
        kept = self.distributions
        return Trace(
            errors=self._each("error"),
            edges=self._each("edge"),
            alphas=self._each("alpha"),
            normalisers=self._each("normaliser"),
            objective=self._each("objective"),
            min_margins=self._each("min_margin"),
            stop_reason=self.stop_reason,
            distributions=None if kept is None else np.array(kept),
        )

    def _each(self, name: str) -> FloatArray:
        return np.array([getattr(one, name) for one in self.rounds], np.float64)


def boost(
    variant: Variant,
    learner: WeakLearner,
    n_rounds: int,
    *,
    store_weights: bool = False,
    stops: Callable[[Boosted], str] | None = None,
) -> Boosted:
    """Ask, weigh the answer, move the weights; ``n_rounds`` times or until there is nothing to do.

    ``stops`` looks at the rounds after each of them, and says why boosting should end, or "".
    """
    done = Boosted(distributions=[variant.weights.distribution] if store_weights else None)
    with Progress(n_rounds, "round") as progress:
        _add_rounds(done, variant, learner, stops, progress)
    done.stop_reason = done.stop_reason or "all rounds were done"
    return done


def _add_rounds(
    done: Boosted,
    variant: Variant,
    learner: WeakLearner,
    stops: Callable[[Boosted], str] | None,
    progress: Progress,
) -> None:
    """Add rounds until there are enough or something says why not."""
    n_asked = n_resets = 0
    while len(done.rounds) < progress.total and not done.stop_reason:
        outcome = variant.round(learner, n_asked)  # no two questions draw the same rows
        n_asked += 1
        if isinstance(outcome, Refusal):
            learner.check_heeds_weights()
            wants_reset = variant.rules.on_weak_failure == "reset" and n_resets < MOST_RESETS
            if wants_reset and variant.reset():
                n_resets += 1
                if done.distributions is not None:  # what the next round sees
                    done.distributions[-1] = variant.weights.distribution
                continue
            done.stop_reason = str(outcome)
            break
        n_resets = 0
        done.rounds.append(outcome)
        if done.distributions is not None:
            done.distributions.append(variant.weights.distribution)
        done.stop_reason = outcome.ends or (stops(done) if stops is not None else "")
        progress.show(len(done.rounds))
