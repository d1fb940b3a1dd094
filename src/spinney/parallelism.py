"""Placeholder."""


from spinney._native import _ext


def resolve_n_jobs(n_jobs: int | None) -> int:
    return _ext.available_threads() if n_jobs is None or n_jobs < 0 else n_jobs
