"""Fair timing: contenders take turns in one run, and the fastest turn of each counts."""

import time
from collections.abc import Callable, Mapping


def take_turns(contenders: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Seconds of the fastest turn of each contender, after one turn that is not counted."""
    best = dict.fromkeys(contenders, float("inf"))
    for turn in range(repeats + 1):
        for name, work in contenders.items():
            start = time.perf_counter()
            work()
            seconds = time.perf_counter() - start
            if turn > 0:
                best[name] = min(best[name], seconds)
    return best
