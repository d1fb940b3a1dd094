"""Weak learners as boosters see them: trees of ours, any estimator, and what they answer."""
