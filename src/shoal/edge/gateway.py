"""A gateway near the devices: it holds encoded records until their class is strong enough.

Records come in one by one, are encoded, and wait in a file of SQLite. A class that keeps the
promise is released as it is. A record waits for a bounded time, and so many records at most: then
all that wait are settled together (`settle`), and what nobody can help is suppressed and counted.

Guarantee:
    What `receive` has answered is on disk. A record is in one batch, whenever the process is
    killed: a batch is decided in the file first, then written as a whole under its number, and
    written again, byte by byte the same, if nobody knows whether that was done. A number that came
    before is not taken again. A record is released by the model that encoded it: the buffer keeps
    a model until nobody waits for it, so a new one can be rolled out at any time.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from time import time

from shoal.core.errors import InputError
from shoal.edge.loading import ModelSource, document_of, load
from shoal.edge.settle import settle
from shoal.model.column import Rejected
from shoal.model.document_types import Record, Released
from shoal.model.model import RecodingModel

WINDOW, PATIENCE = 10_000, 3600.0
_TABLES = """
create table if not exists seen (name text primary key) without rowid;
create table if not exists held (place integer primary key, at real, model text, row text,
                                 batch integer);
create table if not exists batches (number integer primary key, model text, done integer);
create table if not exists lost (records integer);
create table if not exists models (version text primary key, document text) without rowid;
"""


class Gateway:
    """Holds encoded records of one model; see the module.

    Args:
        folder: where the buffer is and batches are written; for this user alone.
        model: a path, a document or a model.
        window: records that may wait.
        patience: seconds that a record may wait.
        clock: says what time it is.
    """

    def __init__(
        self,
        folder: str | Path,
        model: ModelSource,
        *,
        window: int = WINDOW,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time,
    ) -> None:
        document = document_of(model)
        self.model = (
            model if isinstance(model, RecodingModel) else RecodingModel.from_document(document)
        )
        if self.model.schema.person:
            raise InputError(
                where="the model",
                problem="it counts persons, and a gateway releases records without them; let the "
                "collector settle what devices send",
            )
        self.encoder = load(self.model)
        self.version = self.model.fingerprint
        self.window, self.patience, self.clock = window, patience, clock
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.store = sqlite3.connect(self.folder / "buffer.sqlite", isolation_level=None)
        os.chmod(self.folder / "buffer.sqlite", 0o600)
        self.store.execute("pragma synchronous = full")
        self.store.executescript(_TABLES)
        self.store.execute(
            "insert or ignore into models values (?, ?)", (self.version, self.model.to_json())
        )
        self._finish()

    def close(self) -> None:
        """Close the buffer; what waits in it is there the next time."""
        self.store.close()

    def receive(self, name: str, record: Record, *, encoded: bool = False) -> bool:
        """Take in a record; name: tells it from all others, however often it is sent.

        Returns:
            Whether it is new. In either case it is on disk, and may be acknowledged.

        Raises:
            Rejected: it is no record, or, encoded already, lacks a quasi-identifier.
        """
        released = dict(record) if encoded else self.encoder.encode(record)
        if released is not None and any(n not in released for n in self.encoder.names):
            raise Rejected("a quasi-identifier is not there")
        text = json.dumps(released, ensure_ascii=False, separators=(",", ":"))
        with self._transaction():
            try:
                self.store.execute("insert into seen values (?)", (name,))
            except sqlite3.IntegrityError:
                return False
            if released is not None:
                self.store.execute(
                    "insert into held (at, model, row, batch) values (?, ?, ?, null)",
                    (self.clock(), self.version, text),
                )
        return True

    def release(self, *, flush: bool = False) -> list[Path]:
        """Release the classes that are strong enough; all that wait, where it is time for that.

        flush: it is time for that.

        Returns:
            The batches that were written.
        """
        versions = self.store.execute(
            "select model from held where batch is null group by model order by min(place)"
        ).fetchall()
        is_full = self.waiting > self.window
        written = []
        for (version,) in versions:
            model = self._model(version)
            if model is not None:
                written += self._release(version, model, flush=flush or is_full)
        self.store.execute(
            "delete from models where version != ? and version not in (select model from held)",
            (self.version,),
        )
        return written

    def _model(self, version: str) -> RecodingModel | None:
        """Return a model that records wait for; None where nobody kept it."""
        if version == self.version:
            return self.model
        found = self.store.execute(
            "select document from models where version = ?", (version,)
        ).fetchone()
        return None if found is None else RecodingModel.from_document(json.loads(found[0]))

    def _release(self, version: str, model: RecodingModel, *, flush: bool) -> list[Path]:
        """Release what one model encoded."""
        rows = self.store.execute(
            "select place, at, row from held where batch is null and model = ? order by place",
            (version,),
        ).fetchall()
        records: list[Record] = [json.loads(text) for _, _, text in rows]
        is_time = rows[0][1] <= self.clock() - self.patience
        found = settle(records, model, wait=not (flush or is_time))
        left = {id(row) for row in found.waiting}
        gone = [
            place for (place, _, _), row in zip(rows, records, strict=True) if id(row) not in left
        ]
        if not gone:
            return []
        return self._decide(version, gone, found.released)

    def _decide(self, version: str, gone: list[int], released: list[Released]) -> list[Path]:
        """Write down what a batch is, and then the batch."""
        ordered = sorted(json.dumps(row, ensure_ascii=False, separators=(",", ":"))
                         for row in released)  # fmt: skip
        with self._transaction():
            self.store.executemany("delete from held where place = ?", [(at,) for at in gone])
            if len(gone) > len(released):
                self.store.execute("insert into lost values (?)", (len(gone) - len(released),))
            if ordered:
                made = self.store.execute(
                    "insert into batches (model, done) values (?, 0)", (version,)
                )
                number = made.lastrowid
                self.store.executemany(
                    "insert into held (at, model, row, batch) values (0, ?, ?, ?)",
                    [(version, text, number) for text in ordered],
                )
        return self._finish()

    def _finish(self) -> list[Path]:
        """Write the batches that are decided and, for all that is known, not written."""
        written = []
        waiting = self.store.execute("select number from batches where done = 0").fetchall()
        for (number,) in waiting:
            rows = self.store.execute(
                "select row from held where batch = ? order by place", (number,)
            ).fetchall()
            goal = self.folder / f"batch-{number:06d}.jsonl"
            beside = goal.with_suffix(".part")
            with open(beside, "w", encoding="utf-8", opener=_private) as file:
                file.writelines(f"{text}\n" for (text,) in rows)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, goal)
            with self._transaction():
                self.store.execute("update batches set done = 1 where number = ?", (number,))
                self.store.execute("delete from held where batch = ?", (number,))
            written.append(goal)
        return written

    @property
    def waiting(self) -> int:
        """Return how many records wait, those of other models included."""
        return int(
            self.store.execute("select count(*) from held where batch is null").fetchone()[0]
        )

    @property
    def suppressed(self) -> int:
        """Return how many records were suppressed so far."""
        return int(self.store.execute("select ifnull(sum(records), 0) from lost").fetchone()[0])

    def _transaction(self) -> _Transaction:
        return _Transaction(self.store)


class _Transaction:
    """All of it, or nothing."""

    def __init__(self, store: sqlite3.Connection) -> None:
        self.store = store

    def __enter__(self) -> None:
        self.store.execute("begin immediate")

    def __exit__(self, kind: object, *_: object) -> None:
        self.store.execute("commit" if kind is None else "rollback")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
