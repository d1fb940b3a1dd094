"""Work that joblib does side by side."""

from collections.abc import Callable, Iterable
from typing import Any

from sklearn.utils.parallel import Parallel, delayed


def done_in_order(
    work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Iterable[Any]:
    """Do work for each task; give the results in the order of tasks.

    They come one by one, for whoever counts them, where the active backend can do that, else all
    at the end: "multiprocessing" knows lists only.

    Examples
    --------
    >>> list(done_in_order(pow, [(2, 3), (3, 2)], n_jobs=1))
    [8, 9]
    """
    try:
        run = Parallel(n_jobs=n_jobs, return_as="generator")
    except ValueError:  # a backend of lists says so here, before any work is done
        run = Parallel(n_jobs=n_jobs)
    results: Iterable[Any] = run(delayed(work)(*task) for task in tasks)
    return results
