"""What jobs found, kept in the project's folder: opened again, the project shows it as it was.

It is shown and nothing else: a release is verified anew when it is written, whoever wrote these.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from shoal.core.documents import Document, Json, parse_json
from shoal.core.errors import InputError, OutputError, ShoalError
from shoal.web.folder import Folder, write_text

FOLDER = "answers"
KEPT = ("release", "compare")
"""Tasks whose answers are kept: those that took their time."""
MOST = 64 * 2**20


def keep(folder: Folder, place: Path, task: str, answer: Document, stamp: Json) -> None:
    """Write an answer down; a project whose folder cannot be written goes on without it.

    stamp: what changes where the table does.
    """
    if task in KEPT:
        with suppress(InputError, OutputError):
            text = json.dumps({"stamp": stamp, "answer": answer})
            write_text(folder.writable(place / FOLDER / f"{task}.json"), text)


def kept(folder: Folder, place: Path, stamp: Json) -> dict[str, Document]:
    """Return the answers that a project keeps; what is none is left out.

    An answer about a table that has changed since belongs to no request any more.
    """
    found: dict[str, Document] = {}
    for task in KEPT:
        with suppress(ShoalError, OSError, UnicodeDecodeError):
            file = folder.below(place / FOLDER / f"{task}.json")
            if not file.is_file() or file.stat().st_size > MOST:
                continue
            whole = parse_json(file.read_text(encoding="utf-8"), where=FOLDER)
            answer = whole.get("answer") if isinstance(whole, dict) else None
            if isinstance(whole, dict) and isinstance(answer, dict):
                old = {} if whole.get("stamp") == stamp else {"asked": "", "asked_for": ""}
                found[task] = {**answer, **old, "is_kept": True}
    return found


def stamp_of(folder: Folder, table: Json) -> Json:
    """Return what changes where the file of a table does; None: it is no file."""
    place = table.get("file") if isinstance(table, dict) else table
    if place is None:
        return None
    try:
        about = folder.below(place).stat()
    except (ShoalError, OSError):
        return None
    return [about.st_size, about.st_mtime_ns]
