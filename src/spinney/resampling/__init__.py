"""Drawing rows again, leaving rows out, and dividing rows: bootstrap, jackknife, folds."""

from spinney.resampling.bootstrap import BootstrapResult, Interval, bootstrap
from spinney.resampling.draw import (
    Draw,
    DrawBlocks,
    DrawFewer,
    DrawGroups,
    DrawRows,
    DrawSeparately,
    DrawSimulated,
    DrawWeights,
)
from spinney.resampling.draws import draw_rows
from spinney.resampling.folds import Fold, NestedFold, nested_folds, read_folds
from spinney.resampling.jackknife import JackknifeResult, jackknife, jackknife_after_bootstrap
from spinney.resampling.splitters import Folds, LeaveOneOut, Splitter, TimeFolds
from spinney.resampling.subsample import RowDraws

__all__ = [
    "BootstrapResult",
    "Draw",
    "DrawBlocks",
    "DrawFewer",
    "DrawGroups",
    "DrawRows",
    "DrawSeparately",
    "DrawSimulated",
    "DrawWeights",
    "Fold",
    "Folds",
    "Interval",
    "JackknifeResult",
    "LeaveOneOut",
    "NestedFold",
    "RowDraws",
    "Splitter",
    "TimeFolds",
    "bootstrap",
    "draw_rows",
    "jackknife",
    "jackknife_after_bootstrap",
    "nested_folds",
    "read_folds",
]
