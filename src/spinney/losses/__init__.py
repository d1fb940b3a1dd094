"""What is minimised: losses, each with its start, its derivatives and its link."""

from spinney.losses.loss import Loss, MultinomialLoss, PointLoss, loss_named

__all__ = ["Loss", "MultinomialLoss", "PointLoss", "loss_named"]
