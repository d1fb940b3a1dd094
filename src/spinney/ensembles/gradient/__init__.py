"""Gradient boosting: trees added one after the other, each along the negative gradient."""
