"""Bagging: one learner, many samples of the rows and features, one answer."""
