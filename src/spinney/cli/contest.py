"""Cross-validation of many learners on the same folds."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spinney.cli.families import FAMILIES
from spinney.cli.measures import LARGER_IS_BETTER, Measured, Scored
from spinney.cli.peers import PEERS, Peer, class_shares, peer_frame
from spinney.cli.problem import LearningProblem
from spinney.cli.wording import in_command_words
from spinney.errors import InvalidInput, SpinneyError
from spinney.progress import Progress
from spinney.typing import AnyArray, FloatArray

Fold = tuple[AnyArray, AnyArray]


@dataclass(slots=True, eq=False)
class Standing:
    """How one learner did."""

    name: str
    measures: dict[str, Measured] = field(default_factory=dict)
    resamples: dict[str, FloatArray] = field(default_factory=dict)
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    problem: str | None = None
    """Why it has no measures."""
    behind: tuple[float, float] | None = None
    """Interval of how much worse it is than the best, on the same resamples."""


class OutOfTime(Exception):  # noqa: N818 - reads as a sentence
    """The time that was given is over."""


class Contest:
    """The same folds for everybody.

    Parameters
    ----------
    problem : rows
    n_folds : how many times everybody learns
    seed : decides folds, draws of learners, and resamples
    deadline : on the clock of ``time.monotonic``; nobody starts a fold after it
    """

    def __init__(
        self, problem: LearningProblem, n_folds: int, seed: int, deadline: float = float("inf")
    ) -> None:
        self._n_classes = 0
        if problem.is_classification:
            classes, codes = np.unique(problem.y.astype(str), return_inverse=True)
            self._n_classes = len(classes)
            problem = replace(problem, y=codes.astype(np.int64))
        self._problem, self._seed, self._deadline = problem, seed, deadline
        self._folds = list(_folds(problem, n_folds, seed))
        self._frame: Any = None

    def measure_of_rank(self) -> str:
        """Name the measure by which learners are ranked."""
        if not self._n_classes:
            return "rmse"
        return "auc" if self._n_classes == 2 else "log_loss"

    def run(self, names: Sequence[str]) -> list[Standing]:
        """Let everybody learn on every fold; the best first, then those without measures."""
        with Progress(len(names) * len(self._folds), "fold") as progress:
            standings = [self._run(name, progress) for name in names]
        return _ranked(standings, self.measure_of_rank())

    def _run(self, name: str, progress: Progress) -> Standing:
        standing = Standing(name)
        problem = self._problem
        shape = (problem.n_rows, self._n_classes) if self._n_classes else (problem.n_rows,)
        said = np.zeros(shape)
        try:
            learn, ask = self._learner(name)
            for train, test in self._folds:
                self._check_time()
                said[test] = self._one_fold((train, test), learn, ask, standing)
                progress.step(name)
        except (SpinneyError, OutOfTime) as reason:
            standing.problem = in_command_words(str(reason))
            return standing
        except Exception as reason:  # noqa: BLE001 - one that fails does not spoil the contest
            standing.problem = f"{type(reason).__name__}: {reason}"
            return standing
        scored = Scored(problem.y, said, problem.weights)
        measured, standing.resamples = scored.resampled(seed=self._seed)
        standing.measures = {one.name: one for one in measured}
        return standing

    def _check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise OutOfTime("the time was over before it had seen all folds")

    def _one_fold(
        self, fold: Fold, learn: Callable[..., Any], ask: Callable[..., Any], standing: Standing
    ) -> Any:
        begin = time.perf_counter()
        learner = learn(fold[0])
        middle = time.perf_counter()
        answers = ask(learner, fold[1])
        standing.fit_seconds += middle - begin
        standing.predict_seconds += time.perf_counter() - middle
        return answers

    def _learner(self, name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
        if name in PEERS:
            return self._peer(PEERS[name])
        problem, n_classes = self._problem, self._n_classes
        if name != "constant" and FAMILIES[name].class_for(problem.task) is None:
            raise InvalidInput(f"it has no estimator for {problem.task}")
        make = _constant if name == "constant" else FAMILIES[name].make

        def learn(rows: AnyArray) -> Any:
            learner = make(problem.task, (), self._seed)
            weights = {} if problem.weights is None else {"sample_weight": problem.weights[rows]}
            return learner.fit(problem.X.take(rows), problem.y[rows], **weights)

        def ask(learner: Any, rows: AnyArray) -> Any:
            X = problem.X.take(rows)
            return class_shares(learner, X, n_classes) if n_classes else learner.predict(X)

        return learn, ask

    def _peer(self, peer: Peer) -> tuple[Callable[..., Any], Callable[..., Any]]:
        if self._frame is None:
            self._frame = peer_frame(self._problem.X)
        frame, n_classes = peer.frame(self._frame), self._n_classes

        def learn(rows: AnyArray) -> Any:
            return peer.fit(self._problem, frame, rows, self._seed)

        def ask(learner: Any, rows: AnyArray) -> Any:
            X = frame.iloc[rows]
            if n_classes:
                return class_shares(learner, X, n_classes)
            return np.asarray(learner.predict(X), np.float64).reshape(-1)

        return learn, ask


def _folds(problem: LearningProblem, n_folds: int, seed: int) -> Iterator[Fold]:
    from sklearn.model_selection import KFold, StratifiedKFold

    rows = np.arange(problem.n_rows)
    if problem.is_classification and np.bincount(problem.y).min() >= n_folds:
        own = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        yield from own.split(rows, problem.y)
    else:
        yield from KFold(n_folds, shuffle=True, random_state=seed).split(rows)


class _Dummy:
    """Says the same of all rows: what everybody has to beat."""

    def __init__(self, task: str) -> None:
        from sklearn.dummy import DummyClassifier, DummyRegressor

        is_classes = task == "classification"
        self._own = DummyClassifier(strategy="prior") if is_classes else DummyRegressor()

    def fit(self, X: Any, y: AnyArray, **weights: Any) -> "_Dummy":
        self._own.fit(np.zeros((X.num_rows, 1)), y, **weights)
        self.classes_ = getattr(self._own, "classes_", None)
        return self

    def predict(self, X: Any) -> Any:
        return self._own.predict(np.zeros((X.num_rows, 1)))

    def predict_proba(self, X: Any) -> Any:
        return self._own.predict_proba(np.zeros((X.num_rows, 1)))


def _constant(task: str, settings: Any, seed: int) -> _Dummy:
    del settings, seed
    return _Dummy(task)


def _ranked(standings: list[Standing], measure: str) -> list[Standing]:
    """Put the best first, and say of the others how far they are behind."""
    sign = -1.0 if LARGER_IS_BETTER[measure] else 1.0
    measured = [one for one in standings if one.measures]
    measured.sort(key=lambda one: sign * one.measures[measure].value)
    for one in measured[1:]:
        worse = sign * (one.resamples[measure] - measured[0].resamples[measure])
        low, high = np.quantile(worse, [0.025, 0.975])
        one.behind = (float(low), float(high))
    return measured + [one for one in standings if not one.measures]
