"""Drawing rows again, leaving rows out, and dividing rows: bootstrap, jackknife, folds."""

from spinney.resampling.bootstrap import Interval, bootstrap_interval
from spinney.resampling.draws import draw_rows
from spinney.resampling.folds import NestedFold, nested_folds, read_folds
from spinney.resampling.splitters import Folds, LeaveOneOut, TimeFolds
from spinney.resampling.subsample import RowDraws

__all__ = [
    "Folds",
    "Interval",
    "LeaveOneOut",
    "NestedFold",
    "RowDraws",
    "TimeFolds",
    "bootstrap_interval",
    "draw_rows",
    "nested_folds",
    "read_folds",
]
