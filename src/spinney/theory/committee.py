"""What a committee that averages gains over its members."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import InvalidInput, InvalidParameter
from spinney.results import Result, read_only
from spinney.theory.checks import ROUNDING, count, inside, number_array, weight_array
from spinney.theory.votes import check_members
from spinney.typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CommitteeError(Result):
    """Squared errors of a committee and of its members, and what lies between them."""

    average: float
    """E_av: the mean squared error of the members, averaged by their weights."""
    committee: float
    """E_c: the mean squared error of the weighted mean of what they say."""
    ambiguity: float
    """How far members are from the committee: mean squared distance. E_c = E_av - ambiguity."""
    weights: FloatArray
    """(n_members,): add up to 1."""
    biases: FloatArray
    """(n_members,): mean error of each member."""
    covariances: FloatArray
    """(n_members, n_members): of the errors, over the rows."""
    n_rows: int

    def __post_init__(self) -> None:
        for name in ("weights", "biases", "covariances"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def moments(self) -> FloatArray:
        """Mean products of the errors of two members; E_c = w' moments w."""
        products: FloatArray = self.covariances + np.outer(self.biases, self.biases)
        return products

    @property
    def errors(self) -> FloatArray:
        """(n_members,): mean squared error of each member."""
        return self.moments.diagonal()

    @property
    def uncorrelated(self) -> float:
        """E_c if the mean product of any two errors were 0; E_av / M where weights are alike."""
        return float((self.weights**2 * self.errors).sum())

    @property
    def correlations(self) -> FloatArray:
        """(n_members, n_members): of the errors; nan where the error of a member never changes."""
        deviations = np.sqrt(self.covariances.diagonal())
        scale = np.outer(deviations, deviations)
        found = np.full_like(scale, math.nan)
        np.divide(self.covariances, scale, out=found, where=scale > 0.0)
        np.fill_diagonal(found, np.where(deviations > 0.0, 1.0, math.nan))
        clipped: FloatArray = np.clip(found, -1.0, 1.0)
        return clipped

    @property
    def variance(self) -> float:
        """σ²: variance of a member's error over the rows, the mean of all members."""
        return float(self.covariances.diagonal().mean())

    @property
    def correlation(self) -> float:
        """rho: mean covariance of two members over σ²; nan where there is none of them.

        With this rho the variance of the plain mean of the errors is rho σ² + (1 - rho) σ² / M.
        """
        n_members = len(self.weights)
        if n_members < 2 or not self.variance > 0.0:
            return math.nan
        pairs = self.covariances.sum() - self.covariances.trace()
        return float(pairs / (n_members * (n_members - 1)) / self.variance)

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the whole answer as named columns."""
        shown = {
            "E_av, the members": self.average,
            "E_c, the committee": self.committee,
            "ambiguity, E_av - E_c": self.ambiguity,
            "E_c, were errors uncorrelated": self.uncorrelated,
            "correlation of errors": self.correlation,
        }
        return {"quantity": list(shown), "value": list(shown.values())}

    def title(self) -> str:
        """Say in a line what the table shows."""
        members = "1 member" if len(self.weights) == 1 else f"{len(self.weights)} members"
        return f"Squared errors of a committee of {members} on {self.n_rows} rows"


def committee_error(
    predictions: Any, y: Any, *, weights: Any = None, sample_weight: Any = None
) -> CommitteeError:
    """Compare the squared error of a mean of predictions with the errors of its members.

    Two facts hold for any numbers. E_c = w' C w, where C holds the mean products of the errors of
    two members: the less errors go together, the more of them the mean takes away, down to E_av / M
    where no two do. And E_c = E_av - ambiguity: a committee is better than its members are on
    average by just as much as they disagree with it.

    Parameters
    ----------
    predictions : (n_members, n_rows) numbers
    y : (n_rows,) numbers
        The truth; noise on it is an error that all members share.
    weights : (n_members,) numbers, optional
        Of the members, not negative; they are divided by their sum. As a default all are alike.
    sample_weight : (n_rows,) numbers, optional
        How often each row counts.

    Returns
    -------
    CommitteeError

    References
    ----------
    Krogh and Vedelsby (1995), Neural network ensembles, cross validation, and active learning;
    Bishop (2006), Pattern Recognition and Machine Learning, section 14.2.

    Examples
    --------
    >>> print(committee_error([[3.0, 1.0, 6.0, 4.0], [3.0, 3.0, 4.0, 4.0]], [2.0, 2.0, 4.0, 4.0]))
    Squared errors of a committee of 2 members on 4 rows
    quantity                         value
    E_av, the members                    1
    E_c, the committee                 0.5
    ambiguity, E_av - E_c              0.5
    E_c, were errors uncorrelated      0.5
    correlation of errors          -0.3333
    """
    said = _answers("predictions", predictions)
    truth = number_array("y", y)
    if len(truth) != said.shape[1]:
        raise InvalidInput(
            f"y has {len(truth)} numbers and predictions {said.shape}: expected one number for "
            f"each of {said.shape[1]} columns."
        )
    shares, votes = weight_array(sample_weight, len(truth)), member_weights(weights, len(said))
    # Everything is made of errors, so that an offset of y that models know costs no digits; and
    # means of differences from the first, so that errors that are all alike vary by 0.
    counted = shares > 0.0
    errors, shares = (said - truth)[:, counted], shares[counted]
    together = votes @ errors
    apart = votes @ (errors - together) ** 2
    moved = errors - errors[:, :1]
    means = moved @ shares
    centred = moved - means[:, np.newaxis]
    products = (centred * shares) @ centred.T
    return CommitteeError(
        average=float(votes @ (errors**2 @ shares)),
        committee=float(together**2 @ shares),
        ambiguity=float(apart @ shares),
        weights=votes,
        biases=errors[:, 0] + means,
        covariances=(products + products.T) / 2.0,
        n_rows=len(truth),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SamplingCorrelation(Result):
    """How much members vary over training sets, and how much of it they do together."""

    variances: FloatArray
    """(n_points,): σ² of a member over training sets, the mean of all members."""
    covariances: FloatArray
    """(n_points,): of two members over training sets, the mean of all pairs."""
    committee_variances: FloatArray
    """(n_points,): of the mean of all members over training sets."""
    n_members: int
    n_sets: int

    def __post_init__(self) -> None:
        for name in ("variances", "covariances", "committee_variances"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def variance(self) -> float:
        """σ², the mean of all points."""
        return float(self.variances.mean())

    @property
    def correlation(self) -> float:
        """rho: the mean covariance over the mean variance; nan where nothing varies."""
        if self.n_members < 2 or not self.variance > 0.0:
            return math.nan
        return float(self.covariances.mean() / self.variance)

    @property
    def committee_variance(self) -> float:
        """Of the mean of all members, the mean of all points: rho σ² + (1 - rho) σ² / M."""
        return float(self.committee_variances.mean())

    @property
    def limit(self) -> float:
        """The product rho σ²: what no number of members takes away."""
        return float(self.covariances.mean()) if self.n_members > 1 else math.nan

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the whole answer as named columns."""
        shown = {
            "σ², variance of a member": self.variance,
            "correlation of two members": self.correlation,
            "variance of the committee": self.committee_variance,
            "were they independent, σ²/M": self.variance / self.n_members,
            "with members without end": self.limit,
        }
        return {"quantity": list(shown), "value": list(shown.values())}

    def title(self) -> str:
        """Say in a line what the table shows."""
        return (
            f"{self.n_members} members on {len(self.variances)} points, over {self.n_sets} "
            "training sets"
        )


def sampling_correlation(predictions: Any) -> SamplingCorrelation:
    """Measure how members of a committee vary together when the training set is drawn anew.

    This is the rho of rho σ² + (1 - rho) σ² / M: not of errors over rows, as in
    :func:`committee_error`, but of predictions at one point over training sets. Members that see
    the same training rows vary together, and averaging cannot take that away.

    Parameters
    ----------
    predictions : (n_sets, n_members, n_points) numbers
        What the members fitted to each training set say.

    Returns
    -------
    SamplingCorrelation

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, section 15.4.

    Examples
    --------
    >>> said = [[[0.0], [1.0]], [[2.0], [1.0]], [[4.0], [4.0]]]  # 3 sets, 2 members, 1 point
    >>> found = sampling_correlation(said)
    >>> round(found.correlation, 4), round(found.committee_variance, 4)
    (0.8571, 2.1667)
    """
    said = number_array("predictions", predictions, n_axes=3)
    n_sets, n_members, _ = said.shape
    if n_sets < 2:
        raise InvalidInput("predictions are of one training set: expected two or more to vary.")
    moved = said - said[0]  # what is alike in all sets varies by 0, without rounding
    deviations = moved - moved.mean(axis=0)
    variances = (deviations**2).mean(axis=(0, 1))
    together = (deviations.mean(axis=1) ** 2).mean(axis=0)
    # The variance of a mean is a mean of all M² covariances, of which M are variances.
    pairs = n_members * (n_members - 1)
    others = (n_members**2 * together - n_members * variances) / pairs if pairs else 0.0 * together
    return SamplingCorrelation(variances, others, together, n_members, n_sets)


def committee_variance(variance: Any, correlation: float, n_members: int) -> Any:
    """Give rho σ² + (1 - rho) σ² / M, the variance of a mean of M alike members.

    Parameters
    ----------
    variance : number or numbers, not negative
        σ², of one member.
    correlation : float
        rho, of any two; from -1 / (M - 1), below which M members cannot be, to 1.
    n_members : int

    Returns
    -------
    variance : number or numbers

    Examples
    --------
    >>> [round(committee_variance(4.0, 0.25, m), 3) for m in (1, 10, 100)]
    [4.0, 1.3, 1.03]
    """
    members = count("n_members", n_members)
    least = -1.0 / (members - 1) if members > 1 else -1.0
    slack = inside("correlation", correlation, least - ROUNDING, 1.0 + ROUNDING, closed="low high")
    rho = min(max(slack, least), 1.0)
    one = number_array("variance", np.ravel(variance), low=0.0).reshape(np.shape(variance))
    found = rho * one + (1.0 - rho) * one / members
    return float(found) if np.ndim(variance) == 0 else found


def _answers(name: str, values: Any) -> FloatArray:
    check_members(name, np.shape(values))
    return number_array(name, values, n_axes=2)


def member_weights(weights: Any, n_members: int) -> FloatArray:
    """Read weights of members and let them add up to 1; None: all are alike."""
    if weights is None:
        return np.full(n_members, 1.0 / n_members)
    read = number_array("weights", weights, low=0.0)
    if len(read) != n_members or not read.sum() > 0.0:
        raise InvalidParameter(
            f"weights has {len(read)} numbers that add up to {float(read.sum())}: expected "
            f"{n_members}, one for each member, not all of them zero."
        )
    shares: FloatArray = read / read.sum()
    return shares
