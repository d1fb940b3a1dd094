"""What is minimised: losses, each with its start, its derivatives and its link."""

from spinney.losses.loss import Loss, PointLoss, loss_named
from spinney.losses.margin import MARGIN_LOSSES, MarginLoss, margin_loss
from spinney.losses.multinomial import MultinomialLoss

__all__ = [
    "MARGIN_LOSSES",
    "Loss",
    "MarginLoss",
    "MultinomialLoss",
    "PointLoss",
    "loss_named",
    "margin_loss",
]
