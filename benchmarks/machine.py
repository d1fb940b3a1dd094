"""What a result was measured on."""

import os
import platform
from importlib import metadata
from pathlib import Path

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
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text().splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        cpu = names[0] if names else cpu
    versions = {}
    for name in PEERS:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "cpu": cpu,
        "cores": str(len(os.sched_getaffinity(0))),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        **versions,
    }
