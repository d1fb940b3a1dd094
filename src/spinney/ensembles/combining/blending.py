"""Blending: the final estimator learns from rows that members were not fitted on."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from spinney.data.keys import read_codes
from spinney.ensembles.combining.combination import Given
from spinney.ensembles.combining.jobs import run_jobs, take_rows
from spinney.ensembles.combining.out_of_fold import OutOfFold, methods_of
from spinney.ensembles.combining.stack import STACK_RULES, ClassStack, NumberStack, Stacking
from spinney.ensembles.combining.stacking import STACK_METHODS
from spinney.ensembles.combining.state import count_from_state, expect_facts
from spinney.ensembles.parameters import Boolean, Choice, Fraction, Rule, Seed
from spinney.ensembles.sharing import bits_of, mix_bits
from spinney.errors import InvalidInput, InvalidInputType
from spinney.model.model import State
from spinney.randomness import Stream, random_bits, seed_from
from spinney.resampling.assigning import latest_rows
from spinney.typing import AnyArray, FloatArray, RandomState

BLEND_RULES: Mapping[str, Rule] = {
    **{name: rule for name, rule in STACK_RULES.items() if name not in ("cv", "repeated")},
    "holdout": Fraction(below_one=True),
    "holdout_rows": Choice(("drawn", "last")),
    "refit": Boolean(),
    "random_state": Seed(),
}

_NOT_HELD_OUT = "the rows that are not held out"


class Blending(Stacking):
    """Base of the blends: a stack with one split."""

    holdout: Any
    holdout_rows: Any
    refit: Any
    random_state: Any
    cv = None

    def _hear(self, given: Given, members: list[tuple[str, Any]]) -> OutOfFold:
        rows, answers = given.rows, self._answers()
        held = self._held_out(given)
        train = np.flatnonzero(~held)
        held = np.flatnonzero(held)
        jobs = [
            replace(job, train=train, where=_NOT_HELD_OUT)
            for job in self._full_jobs(given, members)
        ]
        self._keep_members(members, run_jobs(jobs, self.n_jobs, verbose=self.verbose))
        self.stack_method_ = methods_of(members, self.stack_method)
        columns = []
        for member, method, job in zip(self.estimators_, self.stack_method_, jobs, strict=True):
            said = answers.columns(member, method, take_rows(job.X, held))
            everywhere = np.zeros((rows.n_rows, said.shape[1]))
            everywhere[held] = said
            columns.append(everywhere)
        if self.refit:
            self._fit_all(given, members, self.n_jobs)
        self.n_held_out_ = len(held)
        return OutOfFold(columns, held, 1)

    def _stack_facts(self) -> State:
        return {"n_held_out": self.n_held_out_}, {}

    def _adopt_stack_facts(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        expect_facts(meta, arrays, {"n_held_out"}, set())
        self.n_held_out_ = count_from_state(meta, "n_held_out")

    def _held_out(self, given: Given) -> AnyArray:
        """Choose the rows of the final estimator; booleans."""
        n_rows = given.rows.n_rows
        if n_rows < 2:
            raise InvalidInput(
                f"There is n_samples={n_rows} row: blending needs one to fit members on and "
                "another one for the final estimator. Give more rows."
            )
        if given.time is not None:
            self._refuse_both(given)
            return latest_rows(given.time, self.holdout, given.rows.weights)
        if self.holdout_rows == "last":
            first = min(n_rows - 1, max(1, round(n_rows * (1 - self.holdout))))
            return np.asarray(np.arange(n_rows) >= first)
        strata = np.zeros(n_rows, np.int64)
        if self._task == "classification" and given.rows.y.ndim == 1 and given.groups is None:
            strata = given.rows.y.astype(np.int64)
        bits = self._unit_bits(given)
        seed = random_bits(seed_from(self.random_state), Stream.ROWS, 0)
        mix_bits(bits, np.full(n_rows, seed, np.uint64))
        weights = np.ones(n_rows) if given.rows.weights is None else given.rows.weights
        return draw_units(bits, strata, weights, self.holdout)

    def _refuse_both(self, given: Given) -> None:
        if given.groups is not None:
            raise InvalidInput(
                f"{type(self).__name__} holds out the latest rows by time, which would divide "
                "groups. Give groups or time to fit, or use stacking, whose folds know both."
            )

    def _unit_bits(self, given: Given) -> AnyArray:
        """Give bits to what is held out together: groups, or rows that are the same."""
        if given.groups is not None:
            codes = read_codes(given.groups, given.rows.n_rows, "groups")
            if not codes.any():
                raise InvalidInput(
                    f"All {given.rows.n_rows} rows are of one group: {type(self).__name__} fits "
                    "members on some groups and the final estimator on others. Give rows of two "
                    "groups at least, or leave groups out."
                )
            return codes.astype(np.uint64)
        try:
            bits = given.rows.shared().content_bits()
        except (InvalidInput, InvalidInputType):  # a table only its members can read
            return np.arange(given.rows.n_rows, dtype=np.uint64)
        for column in given.rows.y.reshape(given.rows.n_rows, -1).T:
            mix_bits(bits, bits_of(column))
        return bits


def draw_units(bits: AnyArray, strata: AnyArray, weights: FloatArray, share: float) -> AnyArray:
    """Choose about a share of the weight of every stratum; rows with the same bits together.

    So neither the order of rows matters, nor whether one stands there twice or weighs 2.

    Examples
    --------
    >>> bits = np.array([7, 1, 7, 4], np.uint64)
    >>> draw_units(bits, np.zeros(4, np.int64), np.ones(4), 0.3)
    array([False,  True, False, False])
    """
    held = np.zeros(len(bits), bool)
    sizes = np.bincount(strata, weights)
    for stratum in np.flatnonzero(sizes > 0):
        rows = np.flatnonzero(strata == stratum)
        _, unit = np.unique(bits[rows], return_inverse=True)
        size = np.bincount(unit, weights[rows])
        middle = np.cumsum(size) - size / 2
        chosen = middle < share * size.sum()
        if len(size) > 1:  # one of each stratum on both sides, as far as there are two
            chosen[0], chosen[-1] = True, False
        else:
            chosen[0] = False
        held[rows] = chosen[unit]
    if not held.any():  # every stratum is one unit: then one row will do
        held[0] = True
    return held


class BlendingClassifier(Blending, ClassStack):
    """Members are fitted on most rows, and a final classifier on what they say of the others.

    Cheaper than stacking, every member being fitted once, and for few rows worse. A row that
    stands there k times is held out as a whole, as one of weight k is; classes keep their shares.

    Parameters
    ----------
    estimators : list of (str, estimator), or None
        A member may be ``"drop"``. None: boosting, a random forest and extra trees.
    final_estimator : classifier, "simplex", "nonnegative", "best" or None
        As of ``StackingClassifier``. Rows held out may be few, so the default is one weight per
        member.
    holdout : float
        Share of the rows for the final estimator.
    holdout_rows : {"drawn", "last"}
        *last*: the last rows of the table, for rows in the order of time. With ``time`` given to
        ``fit`` the latest rows are held out, wherever they stand.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}
    refit : bool
        Whether members are fitted again, on all rows, after the final estimator was.
    n_jobs : int or None
        Processes for members that are not ours; ours use their own ``n_jobs``.
    passthrough : bool
        Whether the final estimator sees X too.
    verbose : int
    random_state : int, generator or None
        Decides which rows are held out.

    Attributes
    ----------
    estimators_, named_estimators_, final_estimator_, stack_method_, classes_
        As of ``StackingClassifier``.
    n_held_out_ : int
        Rows the final estimator was fitted on.

    Examples
    --------
    >>> from spinney import BlendingClassifier, ExtraTreesClassifier, RandomForestClassifier
    >>> from spinney.datasets import make_twonorm
    >>> data = make_twonorm(400, random_state=0)
    >>> members = [
    ...     ("forest", RandomForestClassifier(30, random_state=0)),
    ...     ("extra", ExtraTreesClassifier(30, random_state=0)),
    ... ]
    >>> blend = BlendingClassifier(members, random_state=0).fit(data.X, data.y)
    >>> blend.n_held_out_
    80
    """

    _rules: ClassVar[Mapping[str, Rule]] = {**BLEND_RULES, "stack_method": STACK_METHODS}

    def __init__(
        self,
        estimators: Any = None,
        final_estimator: Any = "simplex",
        *,
        holdout: float = 0.2,
        holdout_rows: str = "drawn",
        stack_method: str = "auto",
        refit: bool = False,
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
        random_state: RandomState = None,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.holdout = holdout
        self.holdout_rows = holdout_rows
        self.stack_method = stack_method
        self.refit = refit
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose
        self.random_state = random_state


class BlendingRegressor(Blending, NumberStack):
    """Members are fitted on most rows, and a final regressor on what they say of the others.

    Parameters
    ----------
    estimators : list of (str, estimator), or None
        A member may be ``"drop"``. None: boosting, a random forest and extra trees.
    final_estimator : regressor, "simplex", "nonnegative", "best" or None
        As of ``StackingRegressor``. Rows held out may be few, so the default is one weight per
        member.
    holdout : float
        Share of the rows for the final estimator.
    holdout_rows : {"drawn", "last"}
        *last*: the last rows of the table, for rows in the order of time. With ``time`` given to
        ``fit`` the latest rows are held out, wherever they stand.
    refit : bool
        Whether members are fitted again, on all rows, after the final estimator was.
    n_jobs : int or None
        Processes for members that are not ours; ours use their own ``n_jobs``.
    passthrough : bool
        Whether the final estimator sees X too.
    verbose : int
    random_state : int, generator or None
        Decides which rows are held out.

    Attributes
    ----------
    estimators_, named_estimators_, final_estimator_, stack_method_
        As of ``StackingRegressor``.
    n_held_out_ : int
        Rows the final estimator was fitted on.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from spinney import BlendingRegressor, GradientBoostingRegressor
    >>> from spinney.datasets import make_friedman
    >>> data = make_friedman(1, 500, random_state=0)
    >>> boosting = GradientBoostingRegressor(max_iter=100)
    >>> members = [("boosting", boosting), ("linear", LinearRegression())]
    >>> blend = BlendingRegressor(members, random_state=0).fit(data.X, data.y)
    >>> bool(blend.score(data.X, data.y) > 0.9)
    True
    """

    _rules: ClassVar[Mapping[str, Rule]] = BLEND_RULES

    def __init__(
        self,
        estimators: Any = None,
        final_estimator: Any = "simplex",
        *,
        holdout: float = 0.2,
        holdout_rows: str = "drawn",
        refit: bool = False,
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
        random_state: RandomState = None,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.holdout = holdout
        self.holdout_rows = holdout_rows
        self.refit = refit
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose
        self.random_state = random_state
