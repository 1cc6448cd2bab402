"""What clients bring and what jobs make: private files, under new names, deleted on time."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import AsyncIterable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from shoal.formats.endings import ENDINGS
from shoal.service.limits import Limits
from shoal.service.refusals import Refusal, not_there

FORMATS = (*ENDINGS, ".json", ".yaml")
"""What may be brought: tables, models and hierarchies."""


@dataclass(frozen=True, slots=True)
class Table:
    """A file that a client has brought.

    Attributes:
        until: when it is deleted, in seconds of `Store.clock`.
    """

    id: str
    client: str
    path: Path
    bytes: int
    until: float


@dataclass(slots=True)
class Store:
    """The files of the service, in a folder that only this user can read.

    Guarantee:
        A file is seen by the client that brought it and by nobody else. An upload that is not
        whole is not there.
    """

    folder: Path
    limits: Limits
    clock: Callable[[], float] = time.monotonic
    _tables: dict[str, Table] = field(default_factory=dict, repr=False)
    _coming: dict[tuple[str, str], int] = field(default_factory=dict, repr=False)

    async def bring(self, client: str, ending: str, chunks: AsyncIterable[bytes]) -> Table:
        """Keep what a client sends.

        Raises:
            Refusal: it is too large, or the client has too much already.
        """
        if ending not in FORMATS:
            raise Refusal(415, "Format", f"format must be one of {', '.join(FORMATS)}")
        number = _new_id()
        path = self.folder / f"{number}{ending}"
        if len(self._sizes(client)) >= self.limits.tables:
            raise Refusal(429, "TooMany", f"{self.limits.tables} tables are kept; delete some")
        self._coming[client, number] = 0
        try:
            size = await self._write(client, number, path, chunks)
            table = Table(number, client, path, size, self.clock() + self.limits.keep)
            self._tables[number] = table
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        finally:
            self._coming.pop((client, number), None)
        return table

    def _sizes(self, client: str) -> list[int]:
        """Return the bytes of each table of a client, of those that are still coming, too."""
        coming = [size for (whose, _), size in self._coming.items() if whose == client]
        return [*(each.bytes for each in self.tables(client)), *coming]

    async def _write(
        self, client: str, number: str, path: Path, chunks: AsyncIterable[bytes]
    ) -> int:
        size = 0
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            async for chunk in chunks:
                size += len(chunk)
                self._coming[client, number] = size
                if size > self.limits.upload:
                    raise too_large(self.limits.upload)
                if sum(self._sizes(client)) > self.limits.disk:
                    raise Refusal(507, "Full", "no more room for tables; delete some")
                file.write(chunk)
        return size

    def table(self, client: str, number: str) -> Table:
        """Return what a client has brought.

        Raises:
            Refusal: there is no such file of this client.
        """
        found = self._tables.get(number)
        if found is None or found.client != client:
            raise not_there("table")
        return found

    def tables(self, client: str) -> list[Table]:
        """Return all that a client has brought."""
        return [each for each in self._tables.values() if each.client == client]

    def remove(self, table: Table) -> None:
        """Delete a file; a job that reads it has opened it already, or fails."""
        self._tables.pop(table.id, None)
        with suppress(OSError):
            table.path.unlink(missing_ok=True)

    def new_folder(self) -> Path:
        """Return a new private folder for the results of a job."""
        folder = self.folder / _new_id()
        folder.mkdir(mode=0o700)
        return folder

    def sweep(self) -> None:
        """Delete the files whose time is over."""
        now = self.clock()
        for each in [table for table in self._tables.values() if table.until <= now]:
            self.remove(each)


def too_large(most: int) -> Refusal:
    """Return the refusal of an upload."""
    return Refusal(413, "TooLarge", f"a table may have {most:,} bytes; send a part, or Parquet")


def remove_folder(folder: Path) -> None:
    """Delete the results of a job."""
    shutil.rmtree(folder, ignore_errors=True)


def _new_id() -> str:
    return secrets.token_hex(16)
