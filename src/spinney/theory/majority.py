"""What a majority of voters gets right."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from spinney.errors import InvalidParameter
from spinney.results import Result
from spinney.theory.checks import count, inside, number_array, weight_array
from spinney.theory.committee import member_weights
from spinney.theory.votes import read_votes
from spinney.typing import FloatArray


@dataclass(frozen=True, slots=True, repr=False)
class VoteError(Result):
    """Shares of wrong labels, of a vote and of its voters, and what lies between them."""

    average: float
    """Share of wrong labels of the voters, averaged by their weights."""
    vote: float
    """Share of wrong labels of the vote; the first class in order wins a tie."""
    good: float
    """Share of votes that were wrong where the vote is right: errors that did no harm."""
    bad: float
    """Share of votes that were right where the vote is wrong: knowledge that was outvoted."""
    n_members: int
    n_rows: int

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the whole answer as named columns."""
        shown = {
            "error of the voters": self.average,
            "wrong votes that did no harm": self.good,
            "right votes outvoted": self.bad,
            "error of the vote": self.vote,
        }
        return {"quantity": list(shown), "value": list(shown.values())}

    def title(self) -> str:
        """Say in a line what the table shows."""
        voters = "1 voter" if self.n_members == 1 else f"{self.n_members} voters"
        return f"Shares of wrong labels of a vote of {voters} on {self.n_rows} rows"


def vote_error(votes: Any, y: Any, *, weights: Any = None, sample_weight: Any = None) -> VoteError:
    """Compare the error of a vote with the errors of its voters.

    error of the vote = error of the voters - good + bad. To disagree helps where the vote is right
    and harms where it is wrong; there is no "ambiguity" that only helps, as of squared errors.

    Parameters
    ----------
    votes : (n_members, n_rows) labels
    y : (n_rows,) labels
    weights : (n_members,) numbers, optional
        Of the voters, not negative; as a default all are alike.
    sample_weight : (n_rows,) numbers, optional
        How often each row counts.

    Returns
    -------
    VoteError

    References
    ----------
    Brown and Kuncheva (2010), "Good" and "bad" diversity in majority vote ensembles.

    Examples
    --------
    >>> found = vote_error([[1, 0, 1], [1, 1, 0], [0, 1, 0]], [1, 1, 1])
    >>> round(found.average, 4), round(found.vote, 4), round(found.good, 4), round(found.bad, 4)
    (0.4444, 0.3333, 0.2222, 0.1111)
    """
    classes, said, right = read_votes(votes, y)
    voters, rows = member_weights(weights, len(said)), weight_array(sample_weight, len(right))
    counts = np.stack([voters @ (said == code) for code in range(len(classes))])
    # Weights are sums: what differs by rounding only is a tie, and the first class has it.
    winners = (counts >= counts.max(axis=0) - 1e-12).argmax(axis=0)
    wrong = voters @ (said != right)
    won = winners == right
    return VoteError(
        average=float(wrong @ rows),
        vote=float(rows[~won].sum()),
        good=float((wrong * rows)[won].sum()),
        bad=float(((1.0 - wrong) * rows)[~won].sum()),
        n_members=len(said),
        n_rows=len(right),
    )


def majority_accuracy(
    accuracy: Any, n_voters: int | None = None, *, correlation: float = 0.0
) -> float:
    """Give the chance that more than half of the voters are right; a tie counts half.

    Independent voters who are right more often than not are nearly always right together, if there
    are enough of them: Condorcet's theorem. Correlated ones are not: with voters without end the
    chance stays below 1.

    Parameters
    ----------
    accuracy : number or numbers in [0, 1]
        The chance that a voter is right; numbers: of each voter.
    n_voters : int, optional
        How many; not needed with a number for each voter.
    correlation : float in [0, 1]
        Of what two voters get right, for alike voters. How easy a case is, is then drawn from the
        beta distribution with mean ``accuracy`` that makes this correlation, and the number of
        those who are right is beta-binomial.

    Returns
    -------
    float

    References
    ----------
    Condorcet (1785); Dietterich (2000), Ensemble methods in machine learning: 21 voters who err
    with a chance of 0.3.

    Examples
    --------
    >>> round(1 - majority_accuracy(0.7, 21), 4)
    0.0264
    >>> round(1 - majority_accuracy(0.7, 21, correlation=0.3), 4)
    0.2353
    """
    shares = number_array("accuracy", np.ravel(accuracy), low=0.0, high=1.0)
    rho = inside("correlation", correlation, 0.0, 1.0, closed="low high")
    if np.ndim(accuracy) > 0:
        if rho > 0.0 or n_voters not in (None, len(shares)):
            raise InvalidParameter(
                f"accuracy holds {len(shares)} numbers, one for each voter, with n_voters="
                f"{n_voters!r} and correlation={correlation!r}: expected independent voters, as "
                "many as there are numbers. Give one accuracy for voters who are alike."
            )
        return _more_than_half(_independent(shares))
    voters = count("n_voters", n_voters)
    return _more_than_half(_alike(float(shares[0]), voters, rho))


def majority_limits(accuracy: float, n_voters: int) -> tuple[float, float]:
    """Give the least and the largest accuracy of a majority of voters of this accuracy.

    The largest is reached where a right vote is never wasted: each case has just enough right
    votes, or none. The least is reached where just too few are right, or all.

    Parameters
    ----------
    accuracy : float in [0, 1]
        The chance that a voter is right, the mean of all voters.
    n_voters : int

    Returns
    -------
    least, largest : float

    References
    ----------
    Kuncheva, Whitaker, Shipp and Duin (2003), Limits on the majority vote accuracy in classifier
    fusion: the patterns of success and of failure.

    Examples
    --------
    >>> [round(limit, 4) for limit in majority_limits(0.6, 3)]
    [0.4, 0.9]
    """
    share = inside("accuracy", accuracy, 0.0, 1.0, closed="low high")
    voters = count("n_voters", n_voters)
    enough = voters // 2 + 1
    largest = min(1.0, share * voters / enough)
    least = 1.0 - min(1.0, (1.0 - share) * voters / enough)
    return least, largest


def _more_than_half(chances: FloatArray) -> float:
    """Add the chances of 0, 1, ... right votes that make a majority."""
    n_voters = len(chances) - 1
    tie = 0.5 * chances[n_voters // 2] if n_voters % 2 == 0 else 0.0
    return float(min(1.0, chances[n_voters // 2 + 1 :].sum() + tie))


def _independent(shares: FloatArray) -> FloatArray:
    """Give the chances of 0, 1, ... right votes: add one voter after the other."""
    chances = np.ones(1)
    for share in shares:
        chances = np.append(chances * (1.0 - share), 0.0) + np.append(0.0, chances * share)
    return chances


def _alike(share: float, n_voters: int, rho: float) -> FloatArray:
    """Give the beta-binomial chances of 0, 1, ... right votes."""
    if rho == 1.0 or share in (0.0, 1.0):  # all voters say the same
        chances = np.zeros(n_voters + 1)
        chances[[0, -1]] = 1.0 - share, share
        return chances
    # Rising products in place of beta functions, which lose all digits as rho goes to 0.
    steps = rho * np.arange(n_voters)
    logs = [
        np.append(0.0, np.cumsum(np.log((1.0 - rho) * start + steps)))
        for start in (share, 1.0 - share, 1.0)
    ]
    n_right = np.arange(n_voters + 1)
    ways = gammaln(n_voters + 1) - gammaln(n_right + 1) - gammaln(n_voters - n_right + 1)
    found: FloatArray = np.exp(ways + logs[0] + logs[1][::-1] - logs[2][-1])
    return found / math.fsum(found)
