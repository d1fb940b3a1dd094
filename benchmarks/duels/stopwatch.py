"""Fair timing: contenders take turns in one run, and the fastest turn of each counts."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

PAUSE = 0.02  # seconds; lets the threads of the contender before fall asleep


@dataclass(frozen=True)
class Turns:
    """Seconds of every turn, and what the last turn gave, by contender."""

    seconds: dict[str, list[float]]
    results: dict[str, object]
    others: float  # share of the machine's processor time that other processes took

    def fastest(self) -> dict[str, float]:
        return {name: min(seconds) for name, seconds in self.seconds.items()}


def take_turns(contenders: Mapping[str, Callable[[], object]], repeats: int) -> Turns:
    """Let every contender work ``repeats`` times, in turns that each start with another one.

    The fastest turn is to be reported, so the first, cold one needs no special treatment as long
    as there are two. Results of a turn are freed outside of the time taken.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    results: dict[str, object] = {}
    names = list(contenders)
    others = OtherProcesses()
    for turn in range(repeats):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            results.pop(name, None)
            time.sleep(PAUSE)
            start = time.perf_counter()
            results[name] = contenders[name]()
            seconds[name].append(time.perf_counter() - start)
    return Turns(seconds, results, others.share())


class OtherProcesses:
    """What the rest of the machine did since this was made; OpenMP suffers most when it works."""

    def __init__(self) -> None:
        self.start = self._clocks()

    @staticmethod
    def _clocks() -> tuple[float, float]:
        """Seconds that processors have passed, and that others than this process have used."""
        first_line = Path("/proc/stat").read_text().split("\n", 1)[0]
        user, nice, system, idle, waiting, *interrupts = map(int, first_line.split()[1:9])
        busy = user + nice + system + sum(interrupts)
        tick = os.sysconf("SC_CLK_TCK")
        return (busy + idle + waiting) / tick, busy / tick - time.process_time()

    def share(self) -> float:
        passed, used = (now - then for now, then in zip(self._clocks(), self.start, strict=True))
        return max(0.0, used / passed) if passed > 0 else 0.0
