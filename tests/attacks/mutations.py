"""Damaged and hostile model files, and a safe place to open them.

``mutate`` makes one bad file out of a good one. ``attack_in_child`` opens many bad files in child
processes and counts what happens. A mutation is *sealed* when its checksums are right, as an
attacker would leave them; sealed files that a reader accepts are counted apart, because nobody can
tell a forged leaf value from an honest one. Everything else that is accepted is a defect.
"""

import ctypes
import hashlib
import json
import multiprocessing
import os
import random
import resource
import signal
import struct
import time
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from spinney.errors import SpinneyError

Probe = Callable[[bytes], bytes]
NUMBERS = (-1, 0, 1, 2**31 - 1, 2**32, 2**63, float("nan"), 1e308)
MEBIBYTE = 1 << 20

# The container, taken apart and put together


@dataclass(frozen=True)
class Parts:
    """A file without its seals. ``area`` is everything from the first section to the digest."""

    version: int
    header: bytes
    area: bytes

    @classmethod
    def of(cls, data: bytes) -> "Parts":
        version, length = struct.unpack_from("<II", data, 8)
        end = 16 + length + 4
        return cls(version, data[16 : 16 + length], data[end + -end % 64 : -32])

    @property
    def table(self) -> Any:
        return json.loads(self.header)

    def with_table(self, table: Any) -> "Parts":
        text = json.dumps(table, sort_keys=True, separators=(",", ":"))  # NaN passes, on purpose
        return replace(self, header=text.encode())

    def sealed(self, magic: bytes = b"\x89SPN\r\n\x1a\n") -> bytes:
        """Join with right length, checksum and digest; the table's own checksums stay as given."""
        front = magic + struct.pack("<II", self.version, len(self.header)) + self.header
        front += struct.pack("<I", zlib.crc32(front))
        body = front + bytes(-len(front) % 64) + self.area
        return body + hashlib.sha256(body).digest()


def reseal(data: bytes) -> bytes:
    """Make every checksum right again after bytes were changed in place."""
    parts = Parts.of(data)
    table = parts.table
    for row in table["sections"]:
        row["crc32"] = zlib.crc32(parts.area[row["offset"] : row["offset"] + row["nbytes"]])
    return parts.with_table(table).sealed()


def is_sealed(data: bytes) -> bool:
    return hashlib.sha256(data[:-32]).digest() == data[-32:]


# Mutations


def mutate(data: bytes, seed: int) -> bytes:
    """Return bytes that differ from ``data``; seeds 0, 1, 2, 3 modulo 4 are the four kinds."""
    rng = random.Random(seed)  # noqa: S311 - repeatable is what is wanted
    kind = (_flip_bits, _cut_or_extend, _move_chunk, _forge)[seed % 4]
    for _ in range(20):  # replacing a 0 by a 0 changes nothing: draw again
        mutated = kind(data, rng)
        if mutated != data:
            return mutated
    return _flip_bits(data, rng)


@dataclass(frozen=True)
class Mutations(Sequence[bytes]):
    """The mutations of one file, each made when it is asked for: 10 000 of them need no memory."""

    data: bytes
    seeds: range

    def __len__(self) -> int:
        return len(self.seeds)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Mutations(self.data, self.seeds[index])
        return mutate(self.data, self.seeds[index])


def _flip_bits(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return b"\x00"
    result = bytearray(data)
    for bit in rng.sample(range(8 * len(data)), rng.randint(1, 8)):
        result[bit // 8] ^= 1 << bit % 8
    return bytes(result)


def _cut_or_extend(data: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.75:
        return data[: rng.randrange(len(data) + 1)]
    more = rng.randint(1, 4096)
    return data + (bytes(more) if rng.random() < 0.5 else rng.randbytes(more))


def _move_chunk(data: bytes, rng: random.Random) -> bytes:
    first, second, third = sorted(rng.randrange(len(data) + 1) for _ in range(3))
    head, one, two, tail = data[:first], data[first:second], data[second:third], data[third:]
    return rng.choice((head + one + tail, head + one + two + two + tail, head + two + one + tail))


def _forge(data: bytes, rng: random.Random) -> bytes:
    """Change one meaning and make the checksums right; what is no container gets flipped bits."""
    try:
        parts = Parts.of(data)
        return rng.choice((_forge_header, _forge_payload, _forge_payload))(parts, rng)
    except (struct.error, ValueError, KeyError, TypeError, IndexError):
        return _flip_bits(data, rng)


def _forge_header(parts: Parts, rng: random.Random) -> bytes:
    table = parts.table
    holder, key = rng.choice(list(_leaves(table)))
    old = holder[key]
    if isinstance(old, str):
        dtypes = ["|u1", "|i1", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8"]
        holder[key] = rng.choice([*dtypes, "", old + "x", old[::-1], "../../etc/passwd", "\ud800"])
    elif isinstance(old, bool) or old is None:
        holder[key] = rng.choice((1, 0, not old, [], {}))
    else:
        holder[key] = rng.choice((*NUMBERS, old + 1, -old, 2 * old, True, str(old), [old]))
    return parts.with_table(table).sealed()


def _leaves(node: Any) -> Any:
    """Every place in a JSON tree that holds a number, a text, a boolean or null."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        if isinstance(node[key], dict | list):
            yield from _leaves(node[key])
        else:
            yield node, key


def _forge_payload(parts: Parts, rng: random.Random) -> bytes:
    table, area = parts.table, bytearray(parts.area)
    row = rng.choice([row for row in table["sections"] if row["nbytes"]])
    numbers = np.frombuffer(area, row["dtype"], int(np.prod(row["shape"])), row["offset"])
    place, other = rng.randrange(numbers.size), rng.randrange(numbers.size)
    if rng.random() < 0.3:  # a child index that points to another node, a leaf with another's value
        numbers[[place, other]] = numbers[[other, place]]
    elif numbers.dtype.kind == "f":
        with np.errstate(over="ignore"):
            numbers[place] = rng.choice((*NUMBERS, float("-inf"), -1e308, 5e-324))
    else:
        drawn = rng.choice([number for number in NUMBERS if isinstance(number, int)])
        wide = np.array([drawn % 2**64], dtype="<u8")  # wraps round, as a C writer would
        numbers[place] = wide.astype(numbers.dtype)[0]
    end = row["offset"] + row["nbytes"]
    row["crc32"] = zlib.crc32(area[row["offset"] : end])
    return replace(parts.with_table(table), area=bytes(area)).sealed()


# The attack


@dataclass(frozen=True)
class Limits:
    """What one file may cost. The allowed memory is that of goal R3: 4 times the file + 16 MB."""

    cpu_seconds: float = 2.0
    wall_seconds: float = 30.0
    start_seconds: float = 120.0  # for a child to import everything and probe the good file
    address_space: int = 1024 * MEBIBYTE  # beyond what the child has after a good file
    bytes_per_byte: int = 4
    bytes_more: int = 16 * MEBIBYTE

    def memory(self, file_size: int) -> int:
        return self.bytes_per_byte * file_size + self.bytes_more


@dataclass
class Report:
    """How many files ended in which way, and the first examples of each way that is a defect."""

    crashed: int = 0
    hung: int = 0
    clean_error: int = 0
    other_exception: int = 0
    accepted_identical: int = 0
    accepted_different: int = 0
    resealed_and_valid: int = 0
    over_memory: int = 0  # counted besides: such a file also ended in one of the ways above
    worst_peak_bytes: int = 0
    files: int = 0
    examples: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def defects(self) -> int:
        accepted = self.accepted_identical + self.accepted_different
        return self.crashed + self.hung + self.other_exception + accepted + self.over_memory

    def count(self, ending: str, index: int, detail: str) -> None:
        setattr(self, ending, getattr(self, ending) + 1)
        if ending in ("clean_error", "resealed_and_valid"):
            self.reasons[detail] += 1
        elif len(self.examples) < 20:
            self.examples.append(f"file {index}: {ending}: {detail}")


def attack_in_child(
    probe: Probe,
    files: Sequence[bytes],
    *,
    original: bytes,
    batch: int = 250,
    limits: Limits | None = None,
) -> Report:
    """Call ``probe`` on every file in child processes and count the endings.

    Parameters
    ----------
    probe : an importable top-level function from the bytes of a file to a fingerprint
        of everything loaded from it: arrays, predictions.
    files : a list, or ``Mutations(data, range(n))``
    original : the good file, whose fingerprint decides between "identical" and "different"

    A child that dies or hangs costs only the file it was busy with; the next child goes on after
    it. If even the good file fails, that is an error of the caller and raised as RuntimeError.
    """
    report = Report()
    while report.files < len(files):
        todo = files[report.files : report.files + batch]
        report.files = _run_child(report, _Task(probe, todo, original, limits or Limits()))
    return report


@dataclass(frozen=True)
class _Task:
    """What one child is sent."""

    probe: Probe
    files: Sequence[bytes]
    original: bytes
    limits: Limits


def _run_child(report: Report, task: _Task) -> int:
    """Run one child over its files; return the number of the first file that is still to do."""
    limits, start = task.limits, report.files
    context = multiprocessing.get_context("spawn")  # fresh: no threads, no memory of the parent
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_work, args=(sender, task), daemon=True)
    child.start()
    sender.close()
    try:
        _await_ready(receiver, limits)
        for index in range(start, start + len(task.files)):
            if not receiver.poll(limits.wall_seconds):
                report.count("hung", index, f"no answer in {limits.wall_seconds} s")
                return index + 1
            try:
                ending, detail, peak, allowed = receiver.recv()
            except EOFError:
                child.join()
                _count_death(report, index, child.exitcode)
                return index + 1
            report.count(ending, index, detail)
            report.worst_peak_bytes = max(report.worst_peak_bytes, peak)
            if peak > allowed:
                report.count("over_memory", index, f"{peak} bytes, allowed are {allowed}")
        return start + len(task.files)
    finally:
        child.kill()
        child.join()
        receiver.close()


def _await_ready(receiver: Connection, limits: Limits) -> None:
    answer = "no answer"
    if receiver.poll(limits.start_seconds):
        with suppress(EOFError):
            answer = receiver.recv()
    if answer != "ready":
        raise RuntimeError(f"the probe fails on the good file: {answer}")


def _count_death(report: Report, index: int, code: int | None) -> None:
    if code == -signal.SIGPROF:
        report.count("hung", index, "the CPU alarm rang")
    else:
        report.count("crashed", index, f"exit code {code}")


# Inside the child


def _work(sender: Connection, task: _Task) -> None:
    with suppress(OSError, AttributeError):
        # Large blocks go back to the system when freed, else a second peak would not be seen.
        ctypes.CDLL(None).mallopt(-3, 128 * 1024)
    try:
        expected = task.probe(task.original)
    except BaseException as error:  # noqa: BLE001 - the parent reports it
        sender.send(repr(error))
        return
    space = _status("VmSize") + task.limits.address_space
    resource.setrlimit(resource.RLIMIT_AS, (space, space))
    sender.send("ready")
    for data in task.files:
        before = _reset_peak()
        # No handler on purpose: the default action ends the process even inside native code.
        signal.setitimer(signal.ITIMER_PROF, task.limits.cpu_seconds)
        ending, detail = _judge(task.probe, data, expected)
        signal.setitimer(signal.ITIMER_PROF, 0)
        sender.send((ending, detail, _status("VmHWM") - before, task.limits.memory(len(data))))


def _judge(probe: Probe, data: bytes, expected: bytes) -> tuple[str, str]:
    try:
        found = probe(data)
    except SpinneyError as error:
        return "clean_error", f"{type(error).__name__}: {error}"[:200]
    except BaseException as error:  # noqa: BLE001 - every kind is a finding
        return "other_exception", f"{type(error).__name__}: {error}"[:200]
    same = found == expected
    if is_sealed(data):
        return "resealed_and_valid", "same fingerprint" if same else "other fingerprint"
    return ("accepted_identical" if same else "accepted_different"), f"{len(data)} bytes"


def _reset_peak() -> int:
    """Forget the highest memory use so far (Linux) and return the present one, in bytes."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _status("VmRSS")


def _status(key: str) -> int:
    with suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return 1024 * int(next(line for line in lines if line.startswith(key)).split()[1])
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def misbehave(data: bytes) -> bytes:
    """Do what the bytes say: the probe with every fault, to test the attack itself."""
    if data == b"crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    while data == b"spin":
        pass
    if data == b"sleep":
        time.sleep(60)
    if data == b"hoard":
        return bytes(np.ones(1 << 26, dtype=np.uint8)[:1])
    if data in (b"raise", b"refuse"):
        raise KeyError(data) if data == b"raise" else SpinneyError(data)
    return bytes(1 << 40) if data == b"explode" else data[:1]
