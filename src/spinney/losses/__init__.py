"""What is minimised: losses, each with its start, its derivatives and its link."""

from spinney.losses.loss import Loss, MultinomialLoss, PointLoss, loss_named
from spinney.losses.margin import MARGIN_LOSSES, MarginLoss, margin_loss

__all__ = [
    "MARGIN_LOSSES",
    "Loss",
    "MarginLoss",
    "MultinomialLoss",
    "PointLoss",
    "loss_named",
    "margin_loss",
]
