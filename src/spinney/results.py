"""What answers have in common: frozen, named, printed as a short table, given as a frame."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import narwhals as nw

from spinney.errors import InvalidParameter
from spinney.markup import card, table
from spinney.typing import AnyArray

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
"""Libraries whose frames ``to_frame`` makes."""
_MOST_ROWS = 12


class Result(abc.ABC):
    """An answer that carries its names: ``print(result)`` shows it, ``to_frame()`` gives it all."""

    @abc.abstractmethod
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the whole answer as named columns of equal length."""

    @abc.abstractmethod
    def title(self) -> str:
        """Say in a line what the table shows."""

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Give the answer as a data frame of pandas, Polars or Arrow.

        Parameters
        ----------
        backend : "pandas", "polars" or "pyarrow"
        """
        if backend not in ("pandas", "polars", "pyarrow"):
            raise InvalidParameter(
                f"backend={backend!r}: expected 'pandas', 'polars' or 'pyarrow'."
            )
        columns = {name: list(values) for name, values in self.columns().items()}
        try:
            return nw.from_dict(columns, backend=backend).to_native()
        except ImportError as problem:
            raise ImportError(
                f"to_frame(backend={backend!r}) needs {backend}: pip install {backend}, or choose "
                "another backend."
            ) from problem

    def __str__(self) -> str:
        return f"{self.title()}\n{format_table(self.columns())}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Show it as a table in notebooks."""
        columns = {name: list(values) for name, values in self.columns().items()}
        return card(self.title(), table(columns, _cell))


def read_only(array: AnyArray) -> AnyArray:
    """Give a view that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view


def format_table(columns: Mapping[str, Sequence[Any]], *, most: int = _MOST_ROWS) -> str:
    """Lay columns out in plain text: names to the left, numbers to the right.

    Examples
    --------
    >>> print(format_table({"feature": ["age", "income"], "gain": [0.75, 12.0]}))
    feature   gain
    age       0.75
    income      12
    """
    n_rows = max((len(values) for values in columns.values()), default=0)
    shown = {name: [_cell(v) for v in list(values)[:most]] for name, values in columns.items()}
    is_text = {
        name: any(isinstance(v, str) for v in list(values)[:most])
        for name, values in columns.items()
    }
    widths = {name: max(map(len, [name, *cells])) for name, cells in shown.items()}

    def line(cells: Mapping[str, str]) -> str:
        placed = (
            cells[name].ljust(width) if is_text[name] else cells[name].rjust(width)
            for name, width in widths.items()
        )
        return "  ".join(placed).rstrip()

    lines = [line({name: name for name in columns})]
    lines += [line({n: c[i] for n, c in shown.items()}) for i in range(min(n_rows, most))]
    if n_rows > most:
        lines.append(f"… and {n_rows - most} more rows; to_frame() has them all")
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
