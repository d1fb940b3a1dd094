"""Saving and loading: safe files, never pickles."""

from spinney.io.save_load import load, save

__all__ = ["load", "save"]
