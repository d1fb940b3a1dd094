"""Forests."""
