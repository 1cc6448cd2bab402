"""Long work that signals can end.

Python hears a signal only between two of its own steps, in the main thread. A compiled loop
has no such steps: SIGTERM or Ctrl-C would wait until it is done. So the work is done by a second
thread, and the main one does nothing but wait.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import NoReturn, TypeVar

Result = TypeVar("Result")

STACK = 16 << 20
"""Bytes of stack of the second thread: some systems give much less than the main one has."""
POLL = 0.1
"""Seconds between two checks for signals: where waiting cannot be interrupted (Windows)."""

_abandoned: list[threading.Thread] = []


def interruptible(work: Callable[[], Result]) -> Result:
    """Return what `work` returns, or raise what it raises; signals are heard meanwhile.

    What a signal's handler raises is raised here at once. The work itself cannot be ended and
    goes on unheard, in a thread that does not keep the process alive. Outside of the main
    thread, which alone hears signals, the work is just done.

    Example:
        >>> interruptible(lambda: 6 * 7)
        42
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    done = threading.Event()
    results: list[Result] = []
    errors: list[BaseException] = []
    context = copy_context()

    def in_context() -> None:
        try:
            results.append(context.run(work))
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    thread = _started(in_context)
    try:
        while not done.wait(POLL):
            pass
    except BaseException:
        _abandoned.append(thread)
        raise
    thread.join()
    if errors:
        raise errors.pop()
    return results.pop()


def leave(code: int) -> int:
    """Return an exit code, or end the process with it where work goes on that nobody awaits.

    A process that ends in the usual way takes its memory down under such work, and may crash.
    Call it when everything else is done: temporary files are removed, messages printed.
    """
    if any(thread.is_alive() for thread in _abandoned):
        _end(code)
    return code


@contextmanager
def heard_again(delay: float = 0.01) -> Iterator[None]:
    """Interrupt the main thread once more where an interrupt was raised and could not leave.

    A signal's handler may run inside a callback from compiled code (a compiler, a reader), which
    lets no exception out: Python prints it and goes on, and the user's wish to stop is lost.
    """
    before = sys.unraisablehook

    def hook(unraisable: sys.UnraisableHookArgs, /) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            before(unraisable)
            return
        timer = threading.Timer(delay, _interrupt_main)
        timer.daemon = True
        timer.start()

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def _interrupt_main() -> None:
    """Send the main thread a signal of its own: one that this thread gets wakes no sleep of it."""
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


def _started(target: Callable[[], None]) -> threading.Thread:
    before = None
    with suppress(ValueError, RuntimeError):  # a system that knows better
        before = threading.stack_size(STACK)
    try:
        thread = threading.Thread(target=target, name="shoal-work", daemon=True)
        thread.start()
    finally:
        if before is not None:
            threading.stack_size(before)
    return thread


def _end(code: int) -> NoReturn:
    with suppress(Exception):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(code)
