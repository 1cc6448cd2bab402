"""A process of its own that makes one release after the other and answers in JSON lines.

`python -m shoal.jobs.worker` reads `{"id": …, "request": …, "out": …}` line by line. For each it
says which stage it is in, and at the end what the release was like, or why there is none. Texts
of errors that nobody raised on purpose do not go over the pipe: they may quote the data.

It ends with its input, whatever it is doing: nobody is left who would read the answer.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from types import FrameType

import polars as pl

from shoal.core.documents import Document, parse_json
from shoal.core.errors import ShoalError
from shoal.core.interruptible import heard_again
from shoal.jobs.documents import request_from
from shoal.jobs.release import release
from shoal.jobs.requests import ReleaseRequest


def main() -> int:
    """Answer until the input ends."""
    signal.signal(signal.SIGTERM, _terminated)
    lines: SimpleQueue[str | None] = SimpleQueue()
    with suppress(KeyboardInterrupt), heard_again():
        threading.Thread(target=_listen, args=(lines,), daemon=True).start()
        while (line := lines.get()) is not None:
            task = parse_json(line, where="task")
            assert isinstance(task, dict)
            _say(task["id"], **_answer(task))
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # its own, which may come just now
    return 0


def _terminated(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt  # so that temporary files are removed on the way out


def _listen(lines: SimpleQueue[str | None]) -> None:
    for line in sys.stdin:
        lines.put(line)
    lines.put(None)
    os.kill(os.getpid(), signal.SIGTERM)  # in the middle of a release: end that, too


def _say(number: object, **words: object) -> None:
    print(json.dumps({"id": number, **words}), flush=True)


def _answer(task: Mapping[str, object]) -> Document:
    """Make one release; return what it was like, or why there is none."""
    try:
        return {"result": _made(task)}
    except ShoalError as error:
        return {"error": {"kind": type(error).__name__, "problem": str(error)}}
    except MemoryError:
        return {"error": {"kind": "MemoryError", "problem": "memory ran out"}}
    except Exception as error:  # what it says may quote the data
        return {"error": {"kind": "Bug", "problem": f"a bug of ours: {type(error).__name__}"}}


def _made(task: Mapping[str, object]) -> Document:
    request = request_from(task["request"])
    assert isinstance(request, ReleaseRequest)
    _forget_peak()
    began = time.process_time()
    place = Path(str(task["out"]))
    try:
        done = release(request, progress=lambda stage: _say(task["id"], stage=stage))
        sizes = _sizes(place, done.schema.quasi)
    finally:
        place.unlink(missing_ok=True)
    return {
        "report": {**done.report.to_document(), "request": None},
        "sizes": list(sizes),
        "cpu_seconds": round(time.process_time() - began, 4),
        "megabytes": _peak(),
    }


def _sizes(place: Path, quasi: tuple[str, ...]) -> list[int]:
    """Count the classes of a release by the number of binary digits of their size."""
    classes = pl.scan_parquet(place).group_by(list(quasi)).len("records")
    digits = pl.col("records").log(2).floor().cast(pl.Int64)
    counted = classes.group_by(digits.alias("digits")).len("classes").collect()
    found = dict(counted.iter_rows())
    return [int(found.get(place, 0)) for place in range(max(found, default=-1) + 1)]


def _forget_peak() -> None:
    """Have the system measure the most memory anew, where it can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _peak() -> float | None:
    """Return the most memory that was in use, in megabytes; None where nobody can say."""
    with suppress(OSError, IndexError, ValueError):
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmHWM"))
        return round(int(kilobytes) / 1024, 1)
    return None


if __name__ == "__main__":
    sys.exit(main())
