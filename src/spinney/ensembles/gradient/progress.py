"""What ``verbose=1`` shows: one line that changes on a terminal, a few lines elsewhere."""

import sys
import time
from typing import TextIO

from spinney.ensembles.gradient.sums import BoostedSum

_TERMINAL_PAUSE, _PLAIN_PAUSE = 0.1, 10.0
"""Seconds between two updates."""


class Progress:
    """Shows the round, how good it is, the speed and the time left, on stderr."""

    def __init__(
        self,
        max_rounds: int,
        *,
        name: str = "loss",
        sign: float = -1.0,
        stream: TextIO | None = None,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._on_terminal = self._stream.isatty()
        self._pause = _TERMINAL_PAUSE if self._on_terminal else _PLAIN_PAUSE
        self._max_rounds = max_rounds
        self._name, self._sign = name, sign
        self._begin: tuple[float, int, int] | None = None
        self._last = -float("inf")
        self._width = 0

    def show(self, grown: BoostedSum) -> None:
        """Show the sum as it is now, unless it was shown just before."""
        now = time.monotonic()
        n_rounds = len(grown.trees) // len(grown.baseline)
        if self._begin is None:
            self._begin = (now, n_rounds, len(grown.trees))
        if now - self._last >= self._pause:
            self._last = now
            self._write(self._line(grown, n_rounds, now))

    def close(self, grown: BoostedSum) -> None:
        """Show how it ended."""
        if self._begin is not None:
            self._write(self._line(grown, grown.n_rounds, time.monotonic()))
        if self._on_terminal:
            self._stream.write("\n")
            self._stream.flush()

    def _line(self, grown: BoostedSum, n_rounds: int, now: float) -> str:
        parts = [f"round {n_rounds}/{self._max_rounds}"]
        names = (f"training {self._name}", f"validation {self._name}")
        for name, scores in zip(names, (grown.train_scores, grown.validation_scores), strict=True):
            if scores:
                parts.append(f"{name} {self._sign * scores[-1]:.6g}")
        began, first_round, first_tree = self._begin or (now, n_rounds, len(grown.trees))
        seconds = now - began
        if seconds > 0 and n_rounds > first_round:
            parts.append(f"{(len(grown.trees) - first_tree) / seconds:.3g} trees/s")
            left = seconds / (n_rounds - first_round) * (self._max_rounds - n_rounds)
            parts.append(f"{_clock(left)} left")
        return ", ".join(parts)

    def _write(self, line: str) -> None:
        if self._on_terminal:
            blanks = " " * max(self._width - len(line), 0)
            self._width = len(line)
            self._stream.write(f"\r{line}{blanks}")
        else:
            self._stream.write(f"{line}\n")
        self._stream.flush()


def _clock(seconds: float) -> str:
    """Write seconds as minutes and seconds.

    Examples
    --------
    >>> _clock(75.2), _clock(4000)
    ('1:15', '1:06:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
