"""Final estimators that give every member one weight."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from spinney.ensembles.combining.weighing import (
    likelihood_weights,
    nonnegative_weights,
    simplex_weights,
)
from spinney.errors import InvalidInput
from spinney.typing import AnyArray, FloatArray

POOLS = ("simplex", "nonnegative", "best")
"""Weights that sum to 1; that need not; all of it for the member with the least risk."""


class PoolRegressor(RegressorMixin, BaseEstimator):
    """A weighted sum of columns, each what one member predicts.

    Parameters
    ----------
    rule : {"simplex", "nonnegative", "best"}

    Examples
    --------
    >>> Z = np.array([[1.0, 0.0], [2.0, 5.0], [3.0, 1.0]])
    >>> PoolRegressor("simplex").fit(Z, Z[:, 0]).weights_
    array([1., 0.])
    """

    def __init__(self, rule: str = "simplex") -> None:
        self.rule = rule

    def fit(self, X: AnyArray, y: Any, sample_weight: Any = None) -> Self:
        """Find the weights."""
        answers, targets = np.asarray(X, np.float64).T, np.asarray(y, np.float64)
        rows = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        if self.rule == "nonnegative":
            self.weights_ = nonnegative_weights(answers, targets, rows)
        elif self.rule == "simplex":
            self.weights_ = simplex_weights(answers - targets, rows)
        else:
            self.weights_ = best_weights(mean_losses((answers - targets) ** 2, rows))
        return self

    def predict(self, X: AnyArray) -> FloatArray:
        """Sum the columns by their weights."""
        return np.asarray((np.asarray(X, np.float64) * self.weights_).sum(axis=1))


class PoolClassifier(ClassifierMixin, BaseEstimator):
    """A weighted sum of probabilities, each what one member says.

    Parameters
    ----------
    rule : {"simplex", "nonnegative", "best"}
    n_members, n_classes : int
        Columns are those of the first member, then those of the second, and so on; of two classes
        the second one's alone.
    loss : {"squared_error", "log_loss"}
        What the weights make least: Brier's score, or the log loss, on the simplex.
    """

    def __init__(
        self,
        rule: str = "simplex",
        n_members: int = 1,
        n_classes: int = 2,
        loss: str = "squared_error",
    ) -> None:
        self.rule = rule
        self.n_members = n_members
        self.n_classes = n_classes
        self.loss = loss

    def fit(self, X: AnyArray, y: Any, sample_weight: Any = None) -> Self:
        """Find the weights; y are codes of classes."""
        shares = self.shares(X)
        codes = np.asarray(y, np.int64)
        self.classes_ = np.arange(shares.shape[2])
        rows = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        self.weights_ = share_weights(shares, codes, rows, rule=self.rule, loss=self.loss)
        return self

    def shares(self, X: AnyArray) -> FloatArray:
        """Give the members' probabilities as (n_members, n_rows, n_classes)."""
        columns = np.asarray(X, np.float64)
        if self.n_classes == 2:
            return np.stack([1 - columns.T, columns.T], axis=2)
        return columns.reshape(len(columns), self.n_members, -1).transpose(1, 0, 2)

    def predict_proba(self, X: AnyArray) -> FloatArray:
        """Sum the probabilities by their weights, and make them sum to 1."""
        mixed = (self.weights_[:, np.newaxis, np.newaxis] * self.shares(X)).sum(axis=0)
        totals = mixed.sum(axis=1, keepdims=True)
        shares = mixed / np.where(totals > 0, totals, 1)
        return np.asarray(np.where(totals > 0, shares, 1 / mixed.shape[1]))

    def predict(self, X: AnyArray) -> AnyArray:
        """Give the likeliest class."""
        return np.asarray(self.predict_proba(X).argmax(axis=1))


def share_weights(
    shares: FloatArray, codes: AnyArray, rows: FloatArray | None, *, rule: str, loss: str
) -> FloatArray:
    """Find weights of members by the probabilities they give, (n_members, n_rows, n_classes)."""
    right = shares[:, np.arange(len(codes)), codes]
    if rule == "best":
        return best_weights(mean_losses(share_losses(shares, codes, loss), rows))
    if loss == "log_loss":
        if rule != "simplex":
            raise InvalidInput(
                f"{rule!r} weights are found by least squares, not by loss={loss!r}. Use "
                "loss='squared_error', or weights that sum to 1."
            )
        return likelihood_weights(right, rows)
    n_members, _, n_classes = shares.shape
    truth = np.eye(n_classes)[codes]
    of_cells = None if rows is None else np.repeat(rows, n_classes)
    if rule == "simplex":
        return simplex_weights((shares - truth).reshape(n_members, -1), of_cells)
    return nonnegative_weights(shares.reshape(n_members, -1), truth.reshape(-1), of_cells)


def share_losses(shares: FloatArray, codes: AnyArray, loss: str) -> FloatArray:
    """Give the loss of each row and member; (n_members, n_rows)."""
    if loss == "log_loss":
        right = shares[:, np.arange(len(codes)), codes]
        return np.asarray(-np.log(np.maximum(right, 1e-15)))
    truth = np.eye(shares.shape[2])[codes]
    return np.asarray(((shares - truth) ** 2).sum(axis=2))


def mean_losses(losses: FloatArray, rows: FloatArray | None) -> FloatArray:
    """Average (n_members, n_rows) over rows."""
    return np.asarray(np.average(losses, axis=1, weights=rows))


def best_weights(risks: FloatArray) -> FloatArray:
    """Give all weight to the first of the least risks.

    Examples
    --------
    >>> best_weights(np.array([0.3, 0.1, 0.1]))
    array([0., 1., 0.])
    """
    weights: FloatArray = np.eye(len(risks))[int(np.argmin(risks))]
    return weights
