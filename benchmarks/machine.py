"""What a result was measured on."""

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILT_FROM = ("src", "native", "CMakeLists.txt", "pyproject.toml")
PEERS = (
    "spinney",
    "numpy",
    "scikit-learn",
    "lightgbm",
    "xgboost-cpu",
    "catboost",
    "hessboost",
)


def describe() -> dict[str, str]:
    versions = {}
    for name in PEERS:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cpu": cpu_name(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{pages / 2**30:.0f} GiB",
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "commit": commit(),
        **versions,
    }


def cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text().splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        if names:
            return names[0]
    return platform.processor() or platform.machine()


def commit() -> str:
    """The commit of this checkout, with a mark when sources of the wheel differ from it."""

    def git(*words: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False
        )

    name = git("rev-parse", "--short=10", "HEAD").stdout.strip() or "unknown"
    changed = git("status", "--porcelain", "--", *BUILT_FROM).stdout.strip()
    return f"{name} with changes" if changed else name
