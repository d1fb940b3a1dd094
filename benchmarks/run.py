"""Run the benchmarks one after the other; each prints its tables and keeps its numbers.

    python -m benchmarks.run --peers PYTHON [--part PART ...] [--only NAME ...] [--quick]

Kernels are C++ programs built by `make bench`; their results are kept in benchmarks/results. Duels
run in an environment that holds the pinned peers and a wheel of this checkout; each keeps its own
in benchmarks/duels/results.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from benchmarks.keeping import replace, table
from benchmarks.machine import ROOT

KERNELS = ROOT / "build/native/bench/benchmarks/kernels"
KERNEL_RESULTS = ROOT / "benchmarks/results"
DUELS = (
    "binning",
    "resources",
    "boosting",
    "predicting",
    "explaining",
    "adaptive",
    "forests",
    "combining",
    "accuracy",
)


def json_lines(command: list[str | Path]) -> list[dict]:
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def kernel_table(title: str, found: list[dict]) -> str:
    rows = []
    for row in found:
        unit = next(key for key in row if key.startswith("ns_per_"))
        item = unit.removeprefix("ns_per_").replace("_", " ")
        rows.append([row["kernel"], row["isa"], str(row["threads"]), f"{row[unit]:.2f}", item])
    return table(title, ["kernel", "instruction set", "threads", "ns", "per"], rows)


def run_kernels(python: Path) -> None:
    ask = "import json; from benchmarks.machine import describe; print(json.dumps(describe()))"
    machine = json_lines([python, "-c", ask])[0]
    for program in sorted(path for path in KERNELS.glob("bench_*") if path.is_file()):
        found = json_lines([program])
        title = f"{program.name} on {machine['cpu']}, {machine['cores']} cores"
        text = kernel_table(title, found)
        print(text, flush=True)
        numbers = json.dumps({"machine": machine, "kernels": found}, indent=1) + "\n"
        replace(KERNEL_RESULTS / f"{program.name}.json", numbers)
        replace(KERNEL_RESULTS / f"{program.name}.md", text)


def run_duel(python: Path, name: str, options: list[str]) -> bool:
    """Whether it ran to its end; what it measured before a failure is kept."""
    command = [python, "-m", f"benchmarks.duels.{name}", *options]
    return subprocess.run(command, check=False, cwd=ROOT).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=Path, required=True, help="Python with the peers")
    parser.add_argument("--part", action="append", choices=["kernels", *DUELS])
    parser.add_argument("--only", action="append", metavar="NAME", help="workloads of one duel")
    parser.add_argument("--quick", action="store_true", help="tiny duels that keep nothing")
    chosen = parser.parse_args()
    parts = chosen.part or ["kernels", *DUELS]
    if chosen.only and (len(parts) > 1 or parts[0] in {"kernels", "binning"}):
        parser.error("--only needs one --part that has named workloads")
    options = ["--quick"] if chosen.quick else []
    for name in chosen.only or []:
        options += ["--only", name]
    if "kernels" in parts and not chosen.quick:
        run_kernels(chosen.peers)
    duels = [name for name in DUELS if name in parts]
    failed = [name for name in duels if not run_duel(chosen.peers.absolute(), name, options)]
    if failed:
        print(f"Failed: {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
