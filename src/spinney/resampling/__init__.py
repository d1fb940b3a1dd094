"""Drawing rows again: bootstrap."""

from spinney.resampling.bootstrap import Interval, bootstrap_interval

__all__ = ["Interval", "bootstrap_interval"]
