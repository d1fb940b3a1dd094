"""One bar for long work: in terminals and notebooks, and nowhere else.

``verbose=1`` of an estimator shows it; so does ``with show_progress():`` around anything. Where
neither a person nor a notebook looks on, as in pipes and log files, there is silence, unless
``verbose=2`` asks for a line every few seconds. Of bars inside each other the outermost is shown.
"""

import contextlib
import html
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self, TextIO, TypeVar

T = TypeVar("T")

_PAUSES = {"terminal": 0.1, "notebook": 0.25, "lines": 10.0, "nothing": float("inf")}
"""Seconds between two updates."""
_WIDTH = 24
_wanted: ContextVar[int] = ContextVar("spinney_progress_wanted", default=0)
_is_shown: ContextVar[bool] = ContextVar("spinney_progress_is_shown", default=False)


@contextlib.contextmanager
def show_progress(verbose: int = 1) -> Iterator[None]:
    """Show the progress of whatever is long inside the block.

    Parameters
    ----------
    verbose : int
        1: bars in terminals and notebooks. 2: a line every few seconds elsewhere, too. 0: nothing.

    Examples
    --------
    >>> import spinney
    >>> from spinney.progress import show_progress
    >>> with show_progress():
    ...     tree = spinney.DecisionTreeRegressor().fit([[0.0], [1.0]], [1.0, 2.0])
    """
    token = _wanted.set(int(verbose))
    try:
        yield
    finally:
        _wanted.reset(token)


@contextlib.contextmanager
def at_least(verbose: int) -> Iterator[None]:
    """Show what an estimator's ``verbose`` asks for, or more if that was asked for around it.

    Examples
    --------
    >>> with show_progress(2), at_least(0):
    ...     Progress(3, "round").is_shown
    True
    """
    with show_progress(max(int(verbose), _wanted.get())):
        yield


class Progress:
    """How much is done, how fast, and how long the rest will take, on stderr.

    Use it as a context manager. ``first`` is what was done before the clock starts.
    """

    def __init__(
        self,
        total: int,
        unit: str,
        *,
        first: int = 0,
        verbose: int = 0,
        stream: TextIO | None = None,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self.total = total
        """How much there is to do."""
        self._unit, self._first = unit, first
        verbose = max(int(verbose), _wanted.get())
        self._place = "nothing" if _is_shown.get() else _place(self._stream, verbose)
        self._pause = _PAUSES[self._place]
        self._begin = time.monotonic()
        self._last = -float("inf")
        self._done, self._note = first, ""
        self._width = 0
        self._handle: Any = None
        self._token: Any = None

    @property
    def is_shown(self) -> bool:
        """Whether anybody sees it; what it shows need not be computed otherwise."""
        return self._place != "nothing"

    def __enter__(self) -> Self:
        self._begin = time.monotonic()
        if self.is_shown:
            self._token = _is_shown.set(True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def show(self, done: int, note: str = "") -> None:
        """Say that so much is done, unless the last time was just before."""
        self._done, self._note = done, note
        if not self.is_shown:
            return
        now = time.monotonic()
        if now - self._last >= self._pause:
            self._last = now
            self._write(now)

    def step(self, note: str = "") -> None:
        """Say that one more is done."""
        self.show(self._done + 1, note)

    def close(self) -> None:
        """Show how it ended; nothing if it never began."""
        if self.is_shown and self._last > -float("inf"):
            self._write(time.monotonic())
            if self._place == "terminal":
                self._stream.write("\n")
                self._stream.flush()
        self._place, self._pause = "nothing", float("inf")
        if self._token is not None:
            _is_shown.reset(self._token)
            self._token = None

    def _facts(self, now: float) -> list[str]:
        parts = [f"{self._unit} {self._done}/{self.total}"]
        seconds, n_new = now - self._begin, self._done - self._first
        if seconds > 0 and n_new > 0:
            speed = n_new / seconds
            fast = f"{speed:,.0f}/s" if speed >= 100 else f"{speed:.3g}/s"
            parts.append(fast if speed >= 1 else f"{1 / speed:.3g} s each")
            if self._done < self.total:
                parts.append(f"{clock((self.total - self._done) / speed)} left")
            else:
                parts.append(clock(seconds))
        return [*parts, self._note] if self._note else parts  # what a narrow terminal cuts off

    def _write(self, now: float) -> None:
        facts = self._facts(now)
        share = self._done / self.total if self.total else 1.0
        if self._place == "notebook":
            self._write_html(", ".join(facts), share)
        elif self._place == "lines":
            self._stream.write(", ".join(facts) + "\n")
            self._stream.flush()
        else:
            self._write_bar(facts, share)

    def _write_bar(self, facts: list[str], share: float) -> None:
        full, empty = ("━", "─") if _says(self._stream, "━─") else ("#", "-")
        n_full = round(_WIDTH * min(share, 1.0))
        line = f"{full * n_full}{empty * (_WIDTH - n_full)} {', '.join(facts)}"
        line = line[: max(shutil.get_terminal_size().columns - 1, 20)]
        blanks = " " * max(self._width - len(line), 0)
        self._width = len(line)
        self._stream.write(f"\r{line}{blanks}")
        self._stream.flush()

    def _write_html(self, facts: str, share: float) -> None:
        """Change one display of the notebook; no widgets are needed."""
        from IPython.display import HTML, display  # noqa: PLC0415 - only inside a notebook

        shown = HTML(
            f'<progress max="1" value="{min(share, 1.0):.4f}" style="width:16em"></progress> '
            f'<span style="font-family:monospace">{html.escape(facts)}</span>'
        )
        if self._handle is None:
            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)


def follow(items: Iterable[T], total: int, unit: str, *, verbose: int = 0) -> Iterator[T]:
    """Hand items on, and show how many were taken.

    Examples
    --------
    >>> sum(follow([1, 2, 3], 3, "numbers"))
    6
    """
    with Progress(total, unit, verbose=verbose) as progress:
        progress.show(0)
        for item in items:
            yield item
            progress.step()


def clock(seconds: float) -> str:
    """Write seconds as minutes and seconds.

    Examples
    --------
    >>> clock(75.2), clock(4000)
    ('1:15', '1:06:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _place(stream: TextIO, verbose: int) -> str:
    """Say where progress is shown."""
    if verbose < 1:
        return "nothing"
    if _in_notebook():
        return "notebook"
    if stream.isatty():
        return "terminal"
    return "lines" if verbose > 1 else "nothing"


def _in_notebook() -> bool:
    """Tell whether a notebook's kernel runs this; it has imported IPython already."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _says(stream: TextIO, text: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeError, LookupError):
        return False
    return True
