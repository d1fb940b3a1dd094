"""Figures; each takes numbers or result objects, draws on matplotlib axes and returns them."""
