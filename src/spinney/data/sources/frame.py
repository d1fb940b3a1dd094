"""Any data frame: find out whose it is, then let its adapter read it."""

import importlib.util
import sys
from collections.abc import Sequence
from typing import Any

import narwhals as nw

from spinney.data.sources.arrow import read_arrow
from spinney.data.sources.pandas import read_pandas
from spinney.data.sources.polars import read_polars
from spinney.data.table import Table
from spinney.errors import InvalidInput, InvalidInputType


def read_frame(X: Any) -> Table | None:
    """Read a data frame of any library; None when ``X`` is not one."""
    if is_pandas_frame(X):  # before Narwhals, whose words about odd labels are not ours
        return read_pandas(X)
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(X, pyarrow.Table | pyarrow.RecordBatch):
        return read_arrow(X)
    known = nw.from_native(X, allow_series=True, pass_through=True)
    if isinstance(known, nw.Series):
        raise InvalidInput(
            f"Expected 2D array, got 1D array instead: X is a {type(X).__name__}, one column. "
            "Reshape your data: pass a frame, for instance series.to_frame()."
        )
    if isinstance(known, nw.DataFrame):
        return _read_eager(known)
    if hasattr(X, "__arrow_c_stream__"):
        return _read_stream(X)
    if isinstance(known, nw.LazyFrame):
        raise InvalidInputType(
            f"X is a {type(X).__module__}.{type(X).__name__}, which is lazy: its rows do not "
            "exist yet. Pass X.collect() (or X.compute(), as your library calls it)."
        )
    return None


def without_unknown_columns(X: Any, known: Sequence[str]) -> Any:
    """Drop the columns of a frame that are not known, before anything in them is read."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return X
    wanted = set(known)
    kept = [name for name in frame.columns if name in wanted]
    return X if len(kept) == len(frame.columns) else frame.select(kept).to_native()


def is_pandas_frame(X: Any) -> bool:
    """Tell whether ``X`` is a pandas frame, without importing pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def _read_eager(frame: Any) -> Table:
    native = frame.to_native()
    owner = frame.implementation
    if owner.is_polars():
        return read_polars(native)
    if owner.is_pyarrow():
        return read_arrow(native)
    if owner.is_pandas_like():  # Modin and cuDF hand over a pandas frame
        return read_pandas(frame.to_pandas())
    return read_arrow(frame.to_arrow())


def _read_stream(X: Any) -> Table:
    installed = (name for name in ("pyarrow", "polars") if importlib.util.find_spec(name))
    backend: Any = next(installed, None)
    if backend is None:
        raise InvalidInputType(
            f"X is a {type(X).__name__} with an Arrow stream, and reading it needs pyarrow or "
            "polars. Install one of them, for instance with pip install pyarrow."
        )
    try:
        frame = nw.from_arrow(X, backend=backend)
    except Exception as problem:
        raise InvalidInputType(
            f"The Arrow stream of {type(X).__name__} is no table: {problem}. Expected a stream "
            "of record batches."
        ) from problem
    return _read_eager(frame)
