"""Temporary files and folders beside their goal: private, and gone with their process.

A file is made with mode 0600 (a folder with 0700) under a name that is new, and locked for as
long as it is used. The system drops the lock when a process dies, whatever killed it; so the
next run to the same goal can tell what is left over from what somebody is still writing.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import shutil
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

try:
    import fcntl as _fcntl
except ImportError:  # Windows: nothing is locked there, and so nothing is swept
    _fcntl = None  # type: ignore[assignment]

_umask = threading.Lock()
_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_BINARY: int = getattr(os, "O_BINARY", 0)


@contextmanager
def beside(goal: Path, *, ending: str = "", is_folder: bool = False) -> Iterator[Path]:
    """Make a file or a folder beside `goal` that only this user can read; remove it at the end.

    Args:
        goal: what it will become, or what it is used for.
        ending: of its name; tells readers and writers the format.
        is_folder: make a folder.

    Guarantee:
        What dead processes left beside this goal is removed first; what a living one uses is
        never touched, and neither is a file of which it is not certain.

    Raises:
        OSError: nothing can be written there.
    """
    sweep(goal)
    path, handle = _create(goal, ending, is_folder)
    try:
        yield path
    finally:
        _remove(path)
        if handle >= 0:
            os.close(handle)


def sweep(goal: Path) -> None:
    """Remove what dead processes left beside a goal."""
    if _fcntl is None:
        return
    pattern = re.compile(rf"\.{re.escape(goal.name)}\.([0-9a-f]{{20}})\.tmp(\.\w+)*")
    with suppress(OSError):  # a folder that cannot be listed
        for entry in os.scandir(goal.parent):
            found = pattern.fullmatch(entry.name)
            if found and _is_from_here(found[1]):
                with suppress(OSError):
                    _remove_if_left(Path(entry.path))


def mode_for(goal: Path, *, private: bool = False) -> int:
    """Return the mode that a file gets when it becomes `goal`.

    A file that is there keeps its own; a new one has what the umask leaves. `private`: 0600.
    """
    if private:
        return 0o600
    with suppress(OSError):
        return stat.S_IMODE(goal.stat().st_mode) & 0o777
    return 0o666 & ~_mask()


def _mask() -> int:
    """Return what the umask takes away; it can only be read by setting it."""
    with _umask:
        mask = os.umask(0o077)
        os.umask(mask)
    return mask


def publish(path: Path, goal: Path, *, private: bool = False) -> None:
    """Rename a temporary file to its goal, and give it the goal's mode."""
    mode = mode_for(goal, private=private)
    with suppress(OSError):  # a file system without modes
        path.chmod(mode)
    os.replace(path, goal)


def publish_folder(path: Path, goal: Path) -> None:
    """Rename a temporary folder and the files in it to its goal: all of them, or nothing.

    Raises:
        OSError: something is there already, other than an empty folder.
    """
    for place in sorted(path.rglob("*")):
        if place.is_file():
            flush(place)
            with suppress(OSError):  # a file system without modes
                place.chmod(mode_for(goal / place.relative_to(path)))
    mode = 0o777 & ~_mask()
    for folder in (*(place for place in path.rglob("*") if place.is_dir()), path):
        flush_folder(folder)
        with suppress(OSError):
            folder.chmod(mode)
    os.replace(path, goal)
    flush_folder(goal.parent)


def flush(path: Path) -> None:
    """Have the bytes of a file on the disk before anything else happens."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    with suppress(OSError):  # some systems cannot open or flush a folder; the files are safe
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Wait until no other process is here with the same folder; a dead one is not in the way."""
    if _fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        _fcntl.flock(handle, _fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def open_private(path: str, flags: int) -> int:
    """Open a file for `open(…, opener=open_private)`: a new one is the user's alone."""
    return os.open(path, flags, 0o600)


def _create(goal: Path, ending: str, is_folder: bool) -> tuple[Path, int]:
    while True:
        path = goal.with_name(f".{goal.name}.{_here()}{secrets.token_hex(4)}.tmp{ending}")
        if is_folder:
            path.mkdir(mode=0o700)
            handle = -1 if _fcntl is None else os.open(path, os.O_RDONLY)
        else:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _BINARY
            handle = os.open(path, flags, 0o600)
            if _fcntl is None:  # an open file cannot be renamed there
                os.close(handle)
                handle = -1
        if handle < 0:
            return path, handle
        with suppress(OSError):  # not every file system can lock; nothing is swept there
            _fcntl.flock(handle, _fcntl.LOCK_EX)
        if _is_at(path, handle):  # nobody swept it before it was locked
            return path, handle
        os.close(handle)


def _remove_if_left(path: Path) -> None:
    """Remove a file or folder that nobody has locked."""
    handle = os.open(path, os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0))
    try:
        about = os.fstat(handle)
        is_ours = about.st_uid == os.geteuid()
        if not is_ours or not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
            return
        _fcntl.flock(handle, _fcntl.LOCK_EX | _fcntl.LOCK_NB)  # fails if somebody is alive
        if _is_at(path, handle):
            _remove(path)
    finally:
        os.close(handle)


def _is_at(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(handle))
    except OSError:
        return False


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


@cache
def _here() -> str:
    """Return 12 digits: 6 for this run of the system, 6 for the machine.

    A lock may not be seen from another machine. So only what was made here is swept: since
    the system started, or before it started anew.
    """
    boot = _text("/proc/sys/kernel/random/boot_id") or secrets.token_hex(8)
    machine = _text("/etc/machine-id") or platform.node() or secrets.token_hex(8)
    return "".join(hashlib.sha256(part.encode()).hexdigest()[:6] for part in (boot, machine))


def _is_from_here(tag: str) -> bool:
    here = _here()
    return tag[:6] == here[:6] or tag[6:12] == here[6:12]


def _text(path: str) -> str:
    with suppress(OSError):
        return Path(path).read_text(encoding="ascii", errors="replace").strip()
    return ""
