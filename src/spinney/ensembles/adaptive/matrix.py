"""Boosting over an explicit matrix of votes: AdaBoost as coordinate descent, and its relatives.

The matrix holds M[i, j] = y_i h_j(x_i), what column j says of row i times the label: 1 where it is
right, -1 where it is wrong, between them where it is not sure. Weights w of the columns give scores
Mw, the margins y F(x), and boosting minimises their mean loss.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from spinney.data.weights import read_weights
from spinney.ensembles.adaptive.matrix_descent import Descent, Rows, total_weight
from spinney.ensembles.adaptive.matrix_solvers import SOLVERS, frank_wolfe
from spinney.ensembles.parameters import (
    Boolean,
    Choice,
    Integer,
    Nothing,
    Real,
    Rule,
    check_parameters,
    either,
)
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.losses import MarginLoss, margin_loss
from spinney.results import Result, read_only
from spinney.theory.trace import Trace
from spinney.typing import FloatArray, IntArray

_RULES: Mapping[str, Rule] = {
    "solver": Choice((*SOLVERS, "frank_wolfe")),
    "n_rounds": Integer(1),
    "tol": Real(0.0, 1.0, above=True, below=True),
    "symmetric": Boolean(),
    "radius": either(Real(0.0, above=True), Nothing("solvers that need none")),
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MatrixBoost(Result):
    """Weights of the columns of a matrix of votes, and how boosting found them."""

    weights: FloatArray
    """Of each column, all its rounds together; negative where its negative was chosen."""
    chosen: IntArray
    """Column of each round; of Newton's steps the one with the largest edge before the step."""
    signs: IntArray
    """-1 where a round chose the negative of the column."""
    trace: Trace
    """Edges are those of the chosen column, alphas are by how much its weight changed."""
    distribution: FloatArray
    """Weights of rows that the next round would have seen; all 0 where no row pulls any more."""
    edges: FloatArray
    """Of all columns, under that distribution. None is positive at an optimum."""
    scores: FloatArray
    """Of each row: matrix @ weights."""
    min_margin: float
    """Least margin of the rows that have weight."""
    objective: float
    """Mean of φ(score) over the rows, by their weights."""
    gap: float | None
    """How much above its minimum over the ball the objective can be at most; Frank-Wolfe only."""
    loss: MarginLoss
    solver: str

    def __post_init__(self) -> None:
        for name in ("weights", "chosen", "signs", "distribution", "edges", "scores"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def margins(self) -> FloatArray:
        """Scores divided by the sum of magnitudes of the weights: between -1 and 1."""
        return self.scores / total_weight(self.weights)

    def title(self) -> str:
        """Say in a line what the table shows."""
        return (
            f"{len(self.weights)} columns after {len(self.trace)} rounds of {self.solver} with "
            f"{self.loss.name} loss: objective {self.objective:.6g}, least margin "
            f"{self.min_margin:.6g}; ended because {self.trace.stop_reason}"
        )

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the columns of the matrix as rows of a table."""
        counts = np.bincount(self.chosen, minlength=len(self.weights))
        return {
            "column": range(len(self.weights)),
            "weight": self.weights.tolist(),
            "times chosen": counts.tolist(),
            "edge left": self.edges.tolist(),
        }


def boost_matrix(
    matrix: npt.ArrayLike,
    *,
    loss: str | MarginLoss | Callable[[FloatArray], Any] = "exponential",
    solver: Literal["coordinate", "totally_corrective", "newton", "frank_wolfe"] = "coordinate",
    n_rounds: int = 100,
    sample_weight: Any = None,
    tol: float = 1e-10,
    symmetric: bool = False,
    radius: float | None = None,
) -> MatrixBoost:
    """Boost over an explicit matrix of votes.

    Columns get weights of at least 0. A round of ``"coordinate"`` only ever adds to the weight of
    a column, as AdaBoost does; with exponential loss and votes of -1 and 1 it is AdaBoost to the
    letter. To let it go back, count negatives of columns as columns (``symmetric=True``); it then
    approaches the same optimum as the other solvers. These re-optimise, so that weights may fall.

    Parameters
    ----------
    matrix : array of shape (n_rows, n_columns)
        Votes times labels, in [-1, 1].
    loss : str, MarginLoss or callable, default="exponential"
        A name of ``spinney.losses.MARGIN_LOSSES`` or a convex function of the margin. Solvers other
        than ``"coordinate"`` need a loss that is convex and smooth.
    solver : str, default="coordinate"
        ``"coordinate"``: each round moves the weight of the column of the largest edge to its best
        value, in closed form where there is one. ``"totally_corrective"``: each round adds this
        column, then finds the best weights of all columns chosen. ``"newton"``: the best weights of
        all columns, by projected Newton steps. ``"frank_wolfe"``: the same for weights whose
        magnitudes add up to at most ``radius``, with a duality gap that bounds what is missing.
    n_rounds : int, default=100
        At most so many.
    sample_weight : array of shape (n_rows,), default=None
        How much each row counts; divided by their sum they are the distribution that the first
        round sees. None: all the same. A row of weight 0 is scored but has no say.
    tol : float, default=1e-10
        Edges below this are none; Frank-Wolfe stops at a gap below it. Newton's solvers give up
        rows that are separated, where the objective has no minimum, below this share of its start.
    symmetric : bool, default=False
        Whether the negative of each column is a column too: weights may then be negative.
    radius : float, default=None
        Of the ball of ``"frank_wolfe"``.

    Returns
    -------
    MatrixBoost
        Its trace keeps the distributions of all rounds where these are at most a million numbers.

    Examples
    --------
    >>> votes = [[1, 1, -1], [1, -1, 1], [-1, 1, 1]]
    >>> boosted = boost_matrix(votes, n_rounds=3)
    >>> boosted.chosen, boosted.trace.errors.round(6)
    (array([0, 1, 2]), array([0.333333, 0.25    , 0.166667]))
    >>> boost_matrix(votes, solver="totally_corrective").trace.stop_reason
    'the columns separate the rows, and the objective is as good as its infimum 0'
    """
    check_parameters(
        "boost_matrix",
        {
            "solver": solver,
            "n_rounds": n_rounds,
            "tol": tol,
            "symmetric": symmetric,
            "radius": radius,
        },
        _RULES,
    )
    phi = margin_loss(loss)
    _check_fit(phi, solver, radius)
    votes = _read_votes(matrix)
    mass = _read_mass(sample_weight, len(votes))
    counted = mass > 0.0
    rows = Rows(phi, mass[counted], np.log(mass[counted]))
    seen = np.asfortranarray(votes[counted])  # columns are taken one by one
    descent = Descent(seen, rows, signed=bool(symmetric), tol=tol, n_rounds=int(n_rounds))
    gap = None
    if radius is None:
        stop_reason = SOLVERS[solver](descent)
    else:
        stop_reason, gap = frank_wolfe(descent, float(radius))
    return _result(descent, votes, counted, solver, (stop_reason, gap))


def _result(
    descent: Descent,
    votes: FloatArray,
    counted: npt.NDArray[np.bool_],
    solver: str,
    end: tuple[str, float | None],
) -> MatrixBoost:
    point, rounds = descent.point, descent.rounds
    distribution = np.zeros(len(votes))
    distribution[counted] = point.view.distribution
    history = None
    if rounds.keep_distributions:
        history = np.zeros((len(rounds.distributions), len(votes)))
        history[:, counted] = rounds.distributions
    return MatrixBoost(
        weights=point.weights,
        chosen=np.array(rounds.chosen, np.int64),
        signs=np.array(rounds.signs, np.int64),
        trace=rounds.trace(descent.start, end[0], history),
        distribution=distribution,
        edges=descent.edges,
        scores=votes @ point.weights,
        min_margin=float(point.scores.min()) / total_weight(point.weights),
        objective=math.exp(point.view.log_objective),
        gap=end[1],
        loss=descent.rows.loss,
        solver=solver,
    )


def _check_fit(loss: MarginLoss, solver: str, radius: float | None) -> None:
    """Refuse a loss that the solver cannot minimise, and a radius without a ball."""
    loss.derivative(0.0)  # or say why there is none
    if solver != "coordinate" and not (loss.is_convex and loss.is_smooth):
        lacking = "smooth" if loss.is_convex else "convex"
        raise InvalidParameter(
            f"solver={solver!r} needs a convex and smooth loss, and loss={loss.name!r} is not "
            f"{lacking}. Choose solver='coordinate', or another loss."
        )
    if solver == "frank_wolfe" and radius is None:
        raise InvalidParameter(
            "radius=None, and solver='frank_wolfe' needs a ball to stay in: give the largest sum "
            "of magnitudes that weights may have, such as radius=10.0."
        )
    if solver != "frank_wolfe" and radius is not None:
        raise InvalidParameter(
            f"radius={radius!r} would not be used: only solver='frank_wolfe' has one. Leave it out."
        )


def _read_votes(matrix: npt.ArrayLike) -> FloatArray:
    try:
        given = np.asarray(matrix)
        votes = given.astype(np.float64) if given.dtype.kind in "biufO" else None
    except (TypeError, ValueError):  # lines of unequal length, or objects that are no numbers
        votes = None
    if votes is None:
        raise InvalidInputType(
            "matrix cannot be read as a table of numbers: expected lines of equal length, one "
            "number in [-1, 1] per column."
        )
    if votes.ndim != 2 or not votes.size:
        raise InvalidInput(
            f"matrix has shape {votes.shape}: expected one line per row of data and one column per "
            "hypothesis, at least one of each."
        )
    wrong = ~(np.abs(votes) <= 1.0)
    if wrong.any():
        row, column = (int(place[0]) for place in np.nonzero(wrong))
        raise InvalidInput(
            f"matrix[{row}, {column}] is {votes[row, column]}: votes times labels must lie in "
            "[-1, 1]. Correct it, or divide each column by its largest magnitude."
        )
    return votes


def _read_mass(sample_weight: Any, n_rows: int) -> FloatArray:
    weights = read_weights(sample_weight, n_rows)
    mass = np.ones(n_rows) if weights is None else weights / weights.max()
    shares: FloatArray = mass / mass.sum()
    return shares
