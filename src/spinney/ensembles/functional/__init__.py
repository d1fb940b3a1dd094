"""Gradient descent in a space of functions, with any base learner."""
