"""Where compiled kernels are kept: under a hash of all that they were compiled from.

Numba looks anew at a cached function when its own file changes, not when a function that it
calls in another file does: the old code would go on running. So the folder's name carries a
hash of every kernel's source and of the versions that compile it. Other sources, another folder.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar, cast

import numba
import numpy as np
from numba.core import config
from numba.core.caching import FunctionCache, UserProvidedCacheLocator
from numba.core.runtime.nrt import rtsys

__all__ = ["LEFT_OUT", "Decorator", "fingerprint", "kept", "made", "njit", "notice", "place"]

KERNELS = Path(__file__).parent
PREFIX = "shoal-kernels-"
KEPT = 3  # folders of other sources that stay: a second checkout, a version to go back to
WARMED = "warmed"  # a file in a folder of kernels: every one of them is there
IDLE = 3600.0  # seconds without use before one of the others may go
HOW = "set NUMBA_CACHE_DIR to a folder that lasts to keep them"

LEFT_OUT = frozenset(os.environ.get("SHOAL_PLAIN_NUMBA", "").split(",")) - {""}
"""Parts of our way of compiling (`compiler`) that are left out; "1": all of it."""

Kernel = TypeVar("Kernel")

_DECORATING = threading.RLock()
_KERNELS: list[object] = []


class Decorator(Protocol):
    """What makes a kernel of a function; callers see the function."""

    def __call__(self, function: Kernel, /) -> Kernel:
        """Compile it when it is first called."""


class Compiling(Protocol):
    """Numba's `njit`, with all its options; its own annotations know only some."""

    def __call__(self, **options: object) -> Decorator:
        """Return a decorator."""


njit = cast(Compiling, numba.njit)


TRIED = {(0, 68)}
"""Versions of Numba whose inner parts are known to be as they are used here."""

is_ours = numba.version_info.short in TRIED and "1" not in LEFT_OUT
"""Whether kernels are compiled and loaded our way, not Numba's own."""


class _Loaded(FunctionCache):
    """Numba's cache, which loads a kernel without loading all that compiling one needs.

    Numba first imports every function that it can compile: a tenth of a second and 20 MB.
    Compiling does so by itself, should the kernel not be there.
    """

    def load_overload(self, sig: object, target_context: object) -> object:
        rtsys.initialize(target_context)  # the allocator, which some kernels call
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: object, data: object) -> None:
        if not _is_read_only(Path(self._cache_path).parent):
            super().save_overload(sig, data)


def fingerprint(folder: Path = KERNELS) -> str:
    """Return a hash of the kernels' sources and of what compiles them."""
    versions = (numba.__version__, np.__version__, str(sys.implementation.cache_tag))
    digest = sha256(" ".join((*versions, *sorted(LEFT_OUT))).encode())
    for path in sorted(folder.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"\n{path.relative_to(folder).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:20]


def kept(**options: object) -> Decorator:
    """Return Numba's decorator; what it compiles is kept in our `place`.

    Numba asks for its setting once, when a function is decorated. It is set for that moment
    alone, so nothing changes for other users of Numba in the process.
    """

    def decorate(function: Kernel) -> Kernel:
        folder = place()
        with _DECORATING, _setting(folder), _unwritten(folder):
            compiled = njit(cache=folder is not None, **options)(function)
        found = getattr(compiled, "_cache", None)
        if is_ours and type(found) is FunctionCache:
            found.__class__ = _Loaded
        _KERNELS.append(compiled)
        return compiled

    return decorate


class Made(NamedTuple):
    """How many kernels this process has compiled, and how many it has loaded compiled."""

    compiled: int
    loaded: int


def made() -> Made:
    """Count; a kernel that takes other types is another one."""
    stats = [getattr(kernel, "stats", None) for kernel in _KERNELS]
    known = [each for each in stats if each is not None]
    return Made(
        compiled=sum(sum(each.cache_misses.values()) for each in known),
        loaded=sum(sum(each.cache_hits.values()) for each in known),
    )


@contextmanager
def _setting(folder: Path | None) -> Iterator[None]:
    ours = {"CACHE_DIR": str(folder), "CACHE_LOCATOR_CLASSES": ""}
    before = {name: getattr(config, name) for name in ours if hasattr(config, name)}
    for name in before:
        setattr(config, name, ours[name])
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(config, name, value)


@contextmanager
def _unwritten(folder: Path | None) -> Iterator[None]:
    """Let Numba take a folder that it can only read: it would look for another one."""
    if folder is None or not _is_read_only(folder):
        yield
        return
    UserProvidedCacheLocator.ensure_cache_path = lambda self: None  # type: ignore[method-assign]
    try:
        yield
    finally:
        del UserProvidedCacheLocator.ensure_cache_path  # its base has its own


@cache
def _is_read_only(folder: Path) -> bool:
    return _writable(folder) is None


def warmed() -> None:
    """Note that every kernel is compiled: whoever can only read the folder may use it, then."""
    folder = place()
    if folder is not None:
        with suppress(OSError):
            (folder / WARMED).touch()


@cache
def place() -> Path | None:
    """Return the folder for the kernels as they are now; None: there is none, compile each time.

    It is looked for where NUMBA_CACHE_DIR says, beside the kernels, and in the user's folder of
    caches; one that can only be read is taken where `shoal warm` compiled every kernel in it, as
    in a container's image. Where there is none, it is a private temporary folder, and one line on
    standard error says so.

    Guarantee:
        Without NUMBA_CACHE_DIR it is a folder that only this user, or whoever may change the
        kernels themselves, can write: what lies in it is run.
    """
    if not Path(__file__).is_file():  # in a zip: Numba would choose a place of its own
        return None
    name = PREFIX + fingerprint()
    for root in _roots():
        if root is None:
            continue
        if (folder := _writable(root / name)) is not None:
            _sweep(folder)
            return folder
        if is_ours and (root / name / WARMED).is_file():
            return root / name
    root, until = _temporary()
    # Containers often have a read-only package and no home: a first run must still work.
    folder = None if root is None else _writable(root / name)
    where = "not kept" if folder is None else f"kept in {root} {until}"
    notice(
        "neither its own folder nor the home folder can be written, so compiled kernels are "
        f"{where}; {HOW}"
    )
    if folder is not None:
        _sweep(folder)
    return folder


def notice(text: str) -> None:
    """Say something about compiling on standard error, where there is one."""
    if sys.stderr is not None:
        print(f"shoal: {text}", file=sys.stderr)


def _roots() -> Iterator[Path | None]:
    """Yield the folders to try, in order."""
    if asked := getattr(config, "CACHE_DIR", ""):
        yield Path(asked)
    yield KERNELS / "__pycache__"
    local = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
    with suppress(RuntimeError, OSError):  # RuntimeError: nobody knows the home folder
        yield _own((Path(local) if local else Path.home() / ".cache") / "shoal", parents=True)


def _temporary() -> tuple[Path | None, str]:
    """Return a private folder among the temporary ones, and how long it lasts."""
    try:
        base = Path(tempfile.gettempdir())
        user = os.geteuid() if hasattr(os, "geteuid") else "user"
        own = _own(base / f"shoal-{user}")
        if own is not None:
            return own, "until temporary files are cleared"
        if not _is_guarded(base):
            return None, ""
        made = Path(tempfile.mkdtemp(prefix="shoal-"))
    except OSError:
        return None, ""
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made, "until this run ends"


def _own(folder: Path, *, parents: bool = False) -> Path | None:
    """Return a folder, made if need be, that nobody else can write; None if there is no such."""
    try:
        if parents:
            folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    if not hasattr(os, "geteuid"):  # Windows: both places belong to the user
        return folder
    is_private = found.st_uid == os.geteuid() and not found.st_mode & 0o077
    is_ours = stat.S_ISDIR(found.st_mode) and is_private and _is_guarded(folder.parent)
    return folder if is_ours else None


def _is_guarded(folder: Path) -> bool:
    """Say whether others cannot exchange what lies in a folder."""
    mode = folder.stat().st_mode
    return os.name == "nt" or not mode & 0o002 or bool(mode & stat.S_ISVTX)


def _writable(folder: Path) -> Path | None:
    """Return a folder, made if need be, if a file can be made in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)  # it is in use
    except OSError:
        return None
    return folder


def _sweep(folder: Path) -> None:
    """Remove folders of other sources beside this one, but the newest and those in use lately.

    A process that still runs on one of them compiles again what it misses.
    """
    # Another process may remove the same ones at the same moment.
    with suppress(OSError):
        others = [path for path in folder.parent.glob(PREFIX + "*") if path != folder]
        aged = sorted(((path.stat().st_mtime, path) for path in others), reverse=True)
        for used, path in aged[KEPT:]:
            if used < time.time() - IDLE:
                shutil.rmtree(path, ignore_errors=True)
