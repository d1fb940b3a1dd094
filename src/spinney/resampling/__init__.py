"""Drawing rows again: bootstrap, subsamples."""

from spinney.resampling.bootstrap import Interval, bootstrap_interval
from spinney.resampling.draws import draw_rows
from spinney.resampling.subsample import RowDraws

__all__ = ["Interval", "RowDraws", "bootstrap_interval", "draw_rows"]
