"""Forests: many trees, each grown on rows and features of its own."""
