"""Drawing rows again, leaving rows out, and dividing rows: bootstrap, jackknife, folds."""

from spinney.resampling.bootstrap import BootstrapResult, Interval, bootstrap
from spinney.resampling.draw import (
    DrawBlocks,
    DrawFewer,
    DrawGroups,
    DrawRows,
    DrawSimulated,
)
from spinney.resampling.draws import draw_rows
from spinney.resampling.folds import NestedFold, nested_folds, read_folds
from spinney.resampling.jackknife import JackknifeResult, jackknife, jackknife_after_bootstrap
from spinney.resampling.splitters import Folds, LeaveOneOut, TimeFolds
from spinney.resampling.subsample import RowDraws

__all__ = [
    "BootstrapResult",
    "DrawBlocks",
    "DrawFewer",
    "DrawGroups",
    "DrawRows",
    "DrawSimulated",
    "Folds",
    "Interval",
    "JackknifeResult",
    "LeaveOneOut",
    "NestedFold",
    "RowDraws",
    "TimeFolds",
    "bootstrap",
    "draw_rows",
    "jackknife",
    "jackknife_after_bootstrap",
    "nested_folds",
    "read_folds",
]
