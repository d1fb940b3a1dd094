"""What a robust booster is told before it starts."""

from dataclasses import asdict, dataclass

from spinney.ensembles.parameters import Boolean, Choice, Integer, Real, Rule, check_parameters

ALGORITHMS = (
    "mada",
    "smooth",
    "brown",
    "robust",
    "martingale",
    "savage",
    "sigmoid",
    "tangent",
    "ramp",
)
"""The last four are potentials of AnyBoost that are not convex."""

RULES: dict[str, Rule] = {
    "algorithm": Choice(ALGORITHMS),
    "n_rounds": Integer(1),
    "target_error": Real(0.0, 1.0, above=True, below=True),
    "goal_margin": Real(-10.0, 10.0),
    "sigma_final": Real(1e-4, 100.0),
    "smoothness": Real(0.0, 1.0, above=True, below=True),
    "edge": Real(0.0, 0.5, above=True, below=True),
    "least_edge": Real(0.0, 1.0, above=True, below=True),
    "steepness": Real(0.0, above=True),
    "in_hull": Boolean(),
    "largest_step": Real(0.0, above=True),
    "least_node_weight": Real(0.0),
    "keep_distributions": Boolean(),
}


@dataclass(frozen=True, slots=True)
class RobustSettings:
    """Parameters of all robust boosters; each reads those that concern it.

    Raises
    ------
    InvalidParameter
        When a value is outside its range.

    Examples
    --------
    >>> RobustSettings(algorithm="brown", target_error=0.15).n_rounds
    200
    >>> RobustSettings(algorithm="brwn")
    Traceback (most recent call last):
    ...
    spinney.errors.InvalidParameter: algorithm='brwn' ... Did you mean 'brown'?
    """

    algorithm: str = "robust"
    n_rounds: int = 200
    """Most rounds; of "martingale" the number of levels: 20 to 40, best odd to have no ties."""
    target_error: float = 0.1
    """Training error that "brown" and "robust" aim at; a little above the share of wrong labels."""
    goal_margin: float = 0.0
    """Margin θ that "robust" wants of the rows it does not give up."""
    sigma_final: float = 0.1
    """How sharply "robust" judges margins when its clock ends."""
    smoothness: float = 0.1
    """κ of "smooth": no row weighs more than its share of the rows divided by κ."""
    edge: float = 0.05
    """gamma of "smooth": half the least edge its learners are relied on to have."""
    least_edge: float = 1e-3
    """Edge below which "brown" and "robust" count a learner as used up."""
    steepness: float = 1.0
    """λ of "sigmoid" and "ramp"."""
    in_hull: bool = False
    """Whether AnyBoost keeps the sum a weighted mean of its members."""
    largest_step: float = 10.0
    """Longest step of AnyBoost's line search."""
    least_node_weight: float = 20.0
    """Rows that a node of martingale boosting needs to have a learner of its own."""
    keep_distributions: bool = False
    """Whether the trace holds what every round saw."""

    def __post_init__(self) -> None:
        check_parameters("RobustSettings", asdict(self), RULES)
