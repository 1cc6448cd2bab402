"""What a model takes on a device: size, time and memory of its export, for each runtime found here.

Each export runs in a process of its own, with no program, with no record, and with all of them: the
differences are what the model takes, and what its records take.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from shoal.core.documents import Document
from shoal.core.errors import InputError
from shoal.edge.export import export
from shoal.edge.loading import document_of
from shoal.jobs.settle import read_records

RUNTIMES = {
    "python": ((sys.executable, "-S", "-E"), "py"),
    "javascript": (("node",), "js"),
    "micropython": (("micropython", "-X", "heapsize=64M"), "py"),
}


class _Used(NamedTuple):
    """CPU seconds and the most memory of a process."""

    cpu: float
    kilobytes: int


def bench(model: str | Path, records: str | Path) -> Document:
    """Measure a model's exports on records as devices have them.

    Raises:
        InputError: there is no record, or an export ends with a fault.
        ModelFormatError: it is no model.
    """
    document = document_of(str(model))
    rows = list(read_records(Path(records)))
    if not rows:
        raise InputError(where=str(records), problem="there is no record in it")
    found: Document = {}
    with TemporaryDirectory() as folder:
        lines = Path(folder) / "records.jsonl"
        lines.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        for name, (command, ending) in RUNTIMES.items():
            if shutil.which(command[0]) is None:
                continue
            program = Path(folder) / f"{name}.{ending}"
            program.write_text(export(document, name), encoding="utf-8")
            found[name] = _measured(command, program, lines, len(rows))
    return {
        "bytes": Path(model).stat().st_size,
        "classes": len(document["counts"] or document.get("regions", [])),
        "records": len(rows),
        "runtimes": found,
    }


def _measured(command: Sequence[str], program: Path, lines: Path, records: int) -> Document:
    nothing = program.with_name(f"nothing{program.suffix}")
    nothing.write_text("", encoding="utf-8")
    alone = _run([*command, str(nothing)], Path(os.devnull))
    loaded = _run([*command, str(program)], Path(os.devnull))
    all_of_them = _run([*command, str(program)], lines)
    seconds = max(all_of_them.cpu - loaded.cpu, 0.001)
    return {
        "export_bytes": program.stat().st_size,
        "seconds_to_load": round(max(loaded.cpu - alone.cpu, 0.0), 3),
        "records_a_second": round(records / seconds),
        "megabytes": round(max(all_of_them.kilobytes - alone.kilobytes, 0) / 1024, 1),
    }


def _run(command: Sequence[str], lines: Path) -> _Used:
    """Run a program with lines as its input, and forget what it writes."""
    with lines.open("rb") as given:
        process = subprocess.Popen(
            command, stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise InputError(where=command[0], problem="the export ended with a fault")
    return _Used(used.ru_utime + used.ru_stime, used.ru_maxrss)
