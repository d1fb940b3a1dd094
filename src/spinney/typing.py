"""Aliases used in signatures."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
CodeArray: TypeAlias = npt.NDArray[np.int32]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
ByteArray: TypeAlias = npt.NDArray[np.uint8]
AnyArray: TypeAlias = npt.NDArray[Any]
TableLike: TypeAlias = Any
"""A pandas, polars or Arrow table, a NumPy array, a SciPy sparse matrix, or nested sequences."""
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None
