"""Files that are either the old one or the new one, whatever happens in between.

Faults of the file system (no such folder, no permission, disk full) keep the operating system's
own exception types, so that ``except FileNotFoundError`` works as everywhere in Python; the
message adds what to do.
"""

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

from spinney._native import _ext
from spinney.errors import InvalidFile

_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)  # the first is Windows'
_NOT_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_PERMISSIONS = 0o777


def write_atomically(path: str | os.PathLike[str], data: bytes | memoryview) -> None:
    """Replace the file at ``path`` by ``data``, all or nothing.

    The bytes go to a temporary sibling, reach the disk, and take the name of the old file in one
    step. Readers see the old file or the new one; after any exception, Ctrl-C and a full disk
    included, the old one is untouched and the sibling is gone. Only a killed process or a power
    cut can leave a sibling behind, named ``.spinney-<random>.tmp``; it is safe to delete.

    The new file keeps the permissions of the old one (not its owner or hard links). A symbolic
    link stays, and the file it points to is replaced.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist.
    IsADirectoryError, PermissionError, OSError
        If the path is a folder, a write-protected file, a pipe or a device, or the disk is full.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "model.spn")
    ...     write_atomically(path, b"new")
    ...     path.read_bytes()
    b'new'
    """
    target = Path(os.path.realpath(path))
    permissions = _permissions_of_old(target)
    temporary = target.with_name(f".spinney-{secrets.token_hex(16)}.tmp")
    try:
        _write_synced(temporary, memoryview(data), permissions)
        temporary.replace(target)
    except BaseException as error:
        # The name cannot be guessed, so whatever has it is ours, also if Ctrl-C came in `open`.
        with contextlib.suppress(OSError):
            temporary.unlink()
        error.add_note(
            f"nothing was saved; the previous file at {str(target)!r}, if any, is intact"
        )
        raise
    _sync_folder(target.parent)


def read_bounded(path: str | os.PathLike[str], *, most: int | None = None) -> memoryview:
    """Read a regular file of at most ``most`` bytes, exactly as long as it says it is.

    What is returned is read-only, and nobody else can write to it.

    Raises
    ------
    InvalidFile
        If the path is a folder, pipe, socket or device (which could block or never end), if the
        file is larger than ``most`` or than the memory, or if its size changes while it is read.
    OSError
        If the operating system cannot open it: FileNotFoundError, PermissionError and so on.
    """
    name = os.fspath(path)
    _check_regular(Path(name).stat(), name)  # before opening, which already acts on some devices
    descriptor = os.open(name, os.O_RDONLY | _BINARY | _NOT_WAITING)
    try:
        status = os.fstat(descriptor)  # again: the name may have changed hands in between
        _check_regular(status, name)
        size = status.st_size
        if most is not None and size > most:
            raise InvalidFile(f"{name!r} has {size} bytes, at most {most} are allowed.")
        try:
            content = _ext.read_file(descriptor, size)
        except (MemoryError, ValueError):
            raise InvalidFile(
                f"{name!r} has {size} bytes, more than the memory holds. Check that it is a model."
            ) from None
        os.lseek(descriptor, size, os.SEEK_SET)
        if content is None or os.read(descriptor, 1):
            raise InvalidFile(f"{name!r} changed while it was read. Wait for the writer to finish.")
    finally:
        os.close(descriptor)
    return content


def _permissions_of_old(target: Path) -> int | None:
    """Return the permissions of the file to be replaced, or None if the name is free."""
    if not target.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT,
            "the folder does not exist: create it or choose another path",
            str(target.parent),
        )
    try:
        old = target.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(
            errno.EISDIR, "this is a folder: add a file name, for example model.spn", str(target)
        )
    if not stat.S_ISREG(old.st_mode):  # replacing /dev/null by a file would harm the machine
        raise OSError(
            errno.EINVAL, "neither a file nor a free name: choose another path", str(target)
        )
    if not os.access(target, os.W_OK):  # renaming would succeed, against the owner's wish
        raise PermissionError(
            errno.EACCES,
            "the file is write-protected: allow writing or choose another",
            str(target),
        )
    return stat.S_IMODE(old.st_mode) & _PERMISSIONS


def _write_synced(temporary: Path, view: memoryview, permissions: int | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
    # Opened with the old permissions at once: a private model is at no moment readable by others.
    descriptor = os.open(temporary, flags, 0o666 if permissions is None else permissions)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        if permissions is not None and hasattr(os, "fchmod"):
            os.fchmod(descriptor, permissions)  # gives back what the umask took
        rest = view.cast("B") if view.nbytes else view
        while rest.nbytes:  # the system may take less than it is given, always beyond 2 GiB
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut, where a folder can be synced at all.

    A failure is not an error: the new file is already complete and in place.
    """
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | _BINARY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _check_regular(status: os.stat_result, name: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe, socket or device"
        raise InvalidFile(f"{name!r} is {kind}, not a model file. Give the path of a .spn file.")
