"""A batch and the file of those who wait change together, whenever a collector is killed.

Two files cannot be renamed at once. So both are written in full beside their goals; then a small
file, the journal, says that this is decided; then both are renamed. Whoever comes next finishes
what the journal says, and removes what was written and never decided.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from shoal.core.documents import reason
from shoal.core.errors import InputError, OutputError
from shoal.core.temporary import flush, flush_folder, open_private, publish

Write = Callable[[Path], None]


class Journal:
    """What was decided last about a file of records that wait.

    waiting: that file; the journal stands beside it, for the same user alone.
    """

    def __init__(self, waiting: Path) -> None:
        self.waiting = waiting.absolute()
        self.place = self.waiting.with_name(f".{waiting.name}.settled")
        self.decided = self._read()

    def _read(self) -> dict[str, str]:
        if not self.place.exists():
            return {}
        try:
            found = json.loads(self.place.read_text(encoding="utf-8"))
            return {name: str(found[name]) for name in ("token", "inputs", "out", "counts")}
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError(
                where=str(self.place),
                problem="it says what was settled last, and cannot be read; look whether the last "
                "batch is there, then remove it",
            ) from None

    def recover(self, out: Path) -> None:
        """Finish what was decided; remove what was not, of the batch `out` too.

        Guarantee:
            Afterwards batch and waiting file are both as before the last run, or both as after it.
        """
        token = self.decided.get("token", "")
        goals = {self.decided.get("out", ""), *map(str, (out.absolute(), self.waiting, self.place))}
        for goal in sorted(goals - {""}):
            self._finish(Path(goal), token)

    def _finish(self, goal: Path, token: str) -> None:
        for place in sorted(goal.parent.glob(f".{_plain(goal.name)}.{self._mark}-*.settling")):
            if place == self._beside(goal, token):
                publish(place, goal, private=goal == self.waiting)
            else:
                place.unlink()
        flush_folder(goal.parent)

    @property
    def _mark(self) -> str:
        return hashlib.sha256(str(self.waiting).encode()).hexdigest()[:12]

    def _beside(self, goal: Path, token: str) -> Path:
        return goal.with_name(f".{goal.name}.{self._mark}-{token}.settling")

    def counts_of(self, inputs: str) -> dict[str, object] | None:
        """Return what the last run counted, if it settled the same files; None: it did not."""
        if self.decided.get("inputs") != inputs:
            return None
        found: dict[str, object] = json.loads(self.decided["counts"])
        return found

    def replace(
        self,
        out: Path,
        batch: Write | None,
        waiting: Write,
        *,
        inputs: str,
        counts: Mapping[str, object],
    ) -> None:
        """Put a batch and the file of those who wait in place; None: there is no batch.

        Raises:
            OutputError: one of them cannot be written; then both are as they were.
        """
        token = secrets.token_hex(8)
        goals = [(self.waiting, waiting)]
        if batch is not None:
            goals.append((out.absolute(), batch))
        decision = {
            "token": token, "inputs": inputs, "counts": json.dumps(counts),
            "out": str(out.absolute()) if batch is not None else "",
        }  # fmt: skip
        made = []
        try:
            for goal, write in goals:
                made.append(self._beside(goal, token))
                _write(made[-1], write)
            made.append(self._beside(self.place, token))
            _write(made[-1], lambda at: _put(at, json.dumps(decision)))
            os.replace(made[-1], self.place)  # from here on it is decided
        except OSError as error:
            for place in made:
                with suppress(OSError):
                    place.unlink()
            raise OutputError(
                where=str(out), problem=f"cannot be written: {reason(error)}"
            ) from None
        flush_folder(self.place.parent)
        self.decided = decision
        self.recover(out)


def digest_of(places: Sequence[Path], fingerprint: str) -> str:
    """Return what tells files that were settled from all others, their time included."""
    found = hashlib.sha256(fingerprint.encode())
    for each in sorted(place.absolute() for place in places):
        about = each.stat()
        found.update(f"\n{each} {about.st_size} {about.st_mtime_ns} ".encode())
        found.update(hashlib.sha256(each.read_bytes()).digest())
    return found.hexdigest()


def _plain(name: str) -> str:
    """Return a name for `glob` that stands for itself."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


def _put(place: Path, text: str) -> None:
    place.write_text(text, encoding="utf-8")


def _write(place: Path, write: Write) -> None:
    os.close(open_private(str(place), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    write(place)
    flush(place)
