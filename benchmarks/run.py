"""Run every benchmark and print its tables; keep the numbers in benchmarks/results.

Kernels are C++ programs built by `make bench`; duels run in an environment that holds the pinned
peers and a wheel of this checkout.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "build/native/bench/benchmarks/kernels"
RESULTS = ROOT / "benchmarks/results"


def json_lines(command: list[str | Path]) -> list[dict]:
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def print_rows(title: str, header: list[str], rows: list[list[str]]) -> str:
    lines = [f"## {title}", "", "| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    text = "\n".join(lines) + "\n"
    print(text)
    return text


def keep(name: str, found: object, text: str) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
    (RESULTS / f"{name}.md").write_text(text)


def run_kernels(python: Path) -> None:
    machine = json_lines(
        [
            python,
            "-c",
            "import json; from benchmarks.machine import describe; print(json.dumps(describe()))",
        ]
    )[0]
    for program in sorted(path for path in KERNELS.glob("bench_*") if path.is_file()):
        found = json_lines([program])
        unit = next(key for key in found[0] if key.startswith("ns_per_"))
        rows = [
            [
                row["kernel"],
                row["isa"],
                str(row["threads"]),
                f"{row[unit]:.2f}",
                f"{row['millions_per_second']:.0f}",
            ]
            for row in found
        ]
        header = ["kernel", "instruction set", "threads", unit.replace("_", " "), "million/s"]
        title = f"{program.name} on {machine['cpu']}, {machine['cores']} cores"
        keep(program.name, {"machine": machine, "kernels": found}, print_rows(title, header, rows))


def duel_table(name: str, found: dict) -> str:
    """Fastest first, with the loss on held-out rows where there is one."""
    ours = found["seconds"]["spinney"]
    header = ["contender", "ms", "ratio to spinney"]
    rows = [
        [peer, f"{1000 * seconds:.0f}", f"{seconds / ours:.2f}"]
        for peer, seconds in sorted(found["seconds"].items(), key=lambda item: item[1])
    ]
    if "losses" in found:
        header.append("held-out loss")
        for row in rows:
            row.append(f"{found['losses'][row[0]]:.5f}")
    return print_rows(f"{name}: {found['workload']}", header, rows)


def run_duels(python: Path) -> None:
    for script in sorted((ROOT / "benchmarks/duels").glob("*.py")):
        if script.name == "stopwatch.py":
            continue
        results = json_lines([python, script])
        text = "\n".join(duel_table(script.stem, found) for found in results)
        machine = ", ".join(f"{key} {value}" for key, value in results[0]["machine"].items())
        keep(f"duel_{script.stem}", results, text + f"\n{machine}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, help="Python of the environment with the peers")
    parser.add_argument("--only", choices=["kernels", "duels"])
    chosen = parser.parse_args()
    if chosen.only != "duels":
        run_kernels(chosen.peers)
    if chosen.only != "kernels":
        run_duels(chosen.peers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
