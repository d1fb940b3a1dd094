import errno
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from spinney._native import _ext
from spinney.errors import InvalidFile
from spinney.io import atomic
from spinney.io.atomic import read_bounded, write_atomically
from spinney.model.tree import freeze

SOURCES = Path(atomic.__file__).parents[2]


@pytest.fixture(name="path")
def old_file(tmp_path):
    path = tmp_path / "model.spn"
    path.write_bytes(b"old")
    return path


def only(path: Path) -> bytes:
    """Return the content of the file, which must be alone in its folder."""
    assert list(path.parent.iterdir()) == [path]
    return path.read_bytes()


@pytest.mark.parametrize("data", [b"", b"new", memoryview(b"new"), bytes(5_000_000)])
@pytest.mark.parametrize("kind", [str, Path])
def test_file_is_replaced_and_read_back(path, data, kind):
    write_atomically(kind(path), data)
    assert only(path) == data
    assert read_bounded(kind(path)) == data


def test_relative_path_without_folder_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_atomically("model.spn", b"new")
    assert only(tmp_path / "model.spn") == b"new"


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "disk full"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["open", "write", "fsync", "fchmod", "replace"])
def test_after_any_failure_the_old_file_is_intact_and_alone(path, monkeypatch, step, error):
    owner, name = (Path, step) if step == "replace" else (os, step)

    def fail(*_args):
        raise error

    with monkeypatch.context() as patch, pytest.raises(type(error)) as caught:  # noqa: PT012
        patch.setattr(owner, name, fail)
        write_atomically(path, b"new")
    assert "is intact" in caught.value.__notes__[0]
    assert only(path) == b"old"


def test_failure_in_the_middle_of_the_bytes_leaves_the_old_file(path, monkeypatch):
    real, calls = os.write, []

    def write_a_little(descriptor, view):
        calls.append(len(view))
        if len(calls) == 3:
            raise OSError(errno.ENOSPC, "disk full")
        return real(descriptor, view[:2])

    with monkeypatch.context() as patch, pytest.raises(OSError, match="disk full"):  # noqa: PT012
        patch.setattr(os, "write", write_a_little)
        write_atomically(path, b"seven b")
    assert calls == [7, 5, 3]
    assert only(path) == b"old"


def test_bytes_are_complete_when_the_system_takes_few_at_a_time(path, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, view: real(descriptor, view[:2]))
    write_atomically(path, b"seven b")
    assert only(path) == b"seven b"


def test_a_folder_that_cannot_be_synced_is_no_error(path, monkeypatch):
    real = os.fsync

    def fail_for_folders(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not supported")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fail_for_folders)
    write_atomically(path, b"new")
    assert only(path) == b"new"


def test_file_and_folder_are_synced_in_this_order(path, monkeypatch):
    synced = []
    monkeypatch.setattr(
        os,
        "fsync",
        lambda fd: synced.append((stat.S_ISDIR(os.fstat(fd).st_mode), path.read_bytes())),
    )
    write_atomically(path, b"new")
    assert synced == [(False, b"old"), (True, b"new")]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o664])
def test_permissions_of_the_old_file_are_kept(path, mode):
    path.chmod(mode)
    write_atomically(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_new_file_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "model.spn", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "model.spn").stat().st_mode) == 0o640


def test_symbolic_link_stays_and_its_target_is_replaced(path, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.spn"
    link.symlink_to("../model.spn")
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    dangling = tmp_path / "elsewhere" / "dangling.spn"
    dangling.symlink_to("fresh.spn")
    write_atomically(dangling, b"fresh")
    assert (tmp_path / "elsewhere" / "fresh.spn").read_bytes() == b"fresh"


def test_places_that_cannot_be_written_are_named_with_a_remedy(path, tmp_path, monkeypatch):
    loop = tmp_path / "loop.spn"
    loop.symlink_to("loop.spn")
    pipe = tmp_path / "pipe.spn"
    os.mkfifo(pipe)
    with pytest.raises(FileNotFoundError, match=r"create it .*missing"):
        write_atomically(tmp_path / "missing" / "model.spn", b"new")
    with pytest.raises(FileNotFoundError, match=r"create it .*model\.spn"):
        write_atomically(path / "model.spn", b"new")
    with pytest.raises(IsADirectoryError, match="add a file name"):
        write_atomically(tmp_path, b"new")
    for place in (loop, pipe, "/dev/null"):
        with pytest.raises(OSError, match="choose another path"):
            write_atomically(place, b"new")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(PermissionError, match="write-protected"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert {entry.name for entry in tmp_path.iterdir()} == {"model.spn", "loop.spn", "pipe.spn"}


# Reading


def test_only_regular_files_are_read_and_nothing_blocks(tmp_path):
    pipe = tmp_path / "pipe.spn"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        for place in (pipe, tmp_path / "s", "/dev/zero", "/dev/null"):
            with pytest.raises(InvalidFile, match="pipe, socket or device"):
                read_bounded(place)
    with pytest.raises(InvalidFile, match="is a folder"):
        read_bounded(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_bounded(tmp_path / "missing.spn")


def test_pipe_that_takes_the_place_of_the_file_is_noticed(path, tmp_path, monkeypatch):
    regular = path.stat()
    pipe = tmp_path / "pipe.spn"
    os.mkfifo(pipe)
    monkeypatch.setattr(Path, "stat", lambda _: regular)
    with pytest.raises(InvalidFile, match="pipe, socket or device"):  # and not for ever waiting
        read_bounded(pipe)


def test_too_large_files_are_refused(path, monkeypatch):
    assert read_bounded(path, most=3) == b"old"
    with pytest.raises(InvalidFile, match="3 bytes, at most 2"):
        read_bounded(path, most=2)

    def no_memory(*_args):
        raise MemoryError

    monkeypatch.setattr(_ext, "read_file", no_memory)
    with pytest.raises(InvalidFile, match="more than the memory holds"):
        read_bounded(path)


def test_what_was_read_is_never_copied_because_nobody_can_write_to_it(path):
    for content in (b"12345678", bytes(5_000_000)):
        path.write_bytes(content)
        array = np.frombuffer(read_bounded(path)[4:], np.uint8)
        assert freeze(array) is array
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    path.write_bytes(b"")
    assert read_bounded(path) == b""


def test_what_the_system_cannot_read_is_its_error():
    with pytest.raises(OSError, match="Bad file descriptor"):
        _ext.read_file(-1, 1)


@pytest.mark.parametrize("claimed", [2, 4])
def test_file_that_changes_while_it_is_read_is_refused(path, monkeypatch, claimed):
    fields = list(path.stat())
    fields[stat.ST_SIZE] = claimed
    monkeypatch.setattr(os, "fstat", lambda _: os.stat_result(fields))
    with pytest.raises(InvalidFile, match="changed while"):
        read_bounded(path)


# Killed at any moment

KILLER = """
import os, random, signal, sys, time
from spinney.io.atomic import write_atomically

path, kills = sys.argv[1], int(sys.argv[2])
payloads = [b"A" * 300_000, b"B" * 500_001]
write_atomically(path, payloads[0])
moments = random.Random(7)
for kill in range(kills):
    child = os.fork()
    if child == 0:
        while True:
            for payload in payloads:
                write_atomically(path, payload)
    time.sleep(moments.uniform(0.0005, 0.02))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with open(path, "rb") as file:
        assert file.read() in payloads, f"a third state after kill {kill}"
"""


def test_two_hundred_kills_leave_the_old_file_or_the_new_one(tmp_path):
    path = tmp_path / "model.spn"
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    command = [sys.executable, "-c", KILLER, str(path), "200"]
    run = subprocess.run(
        command, env=environment, timeout=60, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    leftovers = {entry.name for entry in tmp_path.iterdir()} - {"model.spn"}
    assert leftovers, "no kill came in the middle of a save: the test proves nothing"
    assert all(name.startswith(".spinney-") and name.endswith(".tmp") for name in leftovers)
    write_atomically(path, b"the folder is usable")
    assert read_bounded(path) == b"the folder is usable"


def test_interrupt_from_the_keyboard_removes_the_sibling(tmp_path):
    path = tmp_path / "model.spn"
    script = (
        "import sys\nfrom spinney.io.atomic import write_atomically\n"
        "payloads = [b'A' * 300_000, b'B' * 500_001]\nwrite_atomically(sys.argv[1], payloads[0])\n"
        "print('ready', flush=True)\nwhile True:\n"
        "    for payload in payloads:\n        write_atomically(sys.argv[1], payload)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    for _ in range(10):
        with subprocess.Popen(
            [sys.executable, "-c", script, str(path)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as child:
            assert child.stdout is not None
            child.stdout.readline()
            child.send_signal(signal.SIGINT)
            assert child.wait(20) != 0
        assert only(path) in (b"A" * 300_000, b"B" * 500_001)
