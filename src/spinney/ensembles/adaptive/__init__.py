"""Boosting by weights on rows: AdaBoost and its family."""
